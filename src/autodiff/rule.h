// Gradient rules: for each op and operand, a function from the gradient of the result to the gradient of the
// operand.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "src/autodiff/node.h"
#include "src/autodiff/term.h"

namespace sinter::autodiff {

/// Values that a rule reads: operands 0, 1, 2 and the result. Only these are saved.
enum Needs : std::uint8_t { kNothing = 0, kFirst = 1, kSecond = 2, kThird = 4, kResult = 8 };

/// The input of a rule: the recorded op and the gradient of its result. Where the gradients are to have a
/// history, what the rule reads has one, too.
class Step {
 public:
  /// `gradient` has the location of the op.
  Step(Node& node, const Term& gradient, bool differentiable)
      : node_(node), gradient_(gradient), differentiable_(differentiable) {}

  bool differentiable() const { return differentiable_; }

  const Term& gradient() const { return gradient_; }
  /// An operand in the rule's `needs`, or a scalar operand.
  Term operand(std::size_t i) const {
    if (node_.scalar_mask >> i & 1) return {node_.scalar(i), node_.where};
    return {with_history(node_.saved[i], node_.operands[i]), node_.where};
  }
  bool is_scalar(std::size_t i) const { return node_.scalar_mask >> i & 1; }
  /// True iff the first two operands are one tensor: the first operand's rule then gives the gradient of both
  /// uses.
  bool is_of_one_tensor() const { return node_.operands[0] && node_.operands[0] == node_.operands[1]; }
  Term result() const { return {with_history(node_.result, &node_), node_.where}; }

  /// Shape and dtype of an operand that needs a gradient.
  const Shape& shape_of(std::size_t i) const { return node_.operands[i]->shape; }
  DType dtype_of(std::size_t i) const { return node_.operands[i]->dtype; }
  const Shape& shape() const { return node_.shape; }
  std::int64_t integer(std::size_t i) const { return node_.ints[i]; }
  std::span<const std::int64_t> integers(std::size_t first, std::size_t count) const {
    return std::span<const std::int64_t>(node_.ints).subspan(first, count);
  }
  const Location& where() const { return node_.where; }

 private:
  AnyTensor with_history(const trace::ValueRef& value, Node* node) const {
    if (!differentiable_) return AnyTensor(value, nullptr, false);
    return AnyTensor(value, AnyTensor::NodeRef::share(node), true);
  }

  Node& node_;
  const Term& gradient_;
  bool differentiable_;
};

/// The gradient of one operand, made of operations that have gradient rules themselves. A null function:
/// there is none, because the operand or the result is not a float. An undefined term: another operand's rule
/// included it already. Term::zero(): the op is constant in the operand almost everywhere.
struct OperandRule {
  Term (*gradient)(const Step& step) = nullptr;
  std::uint8_t needs = kNothing;
};

struct Rule {
  Op op;
  std::array<OperandRule, 3> operands{};
};

const Rule& rule_of(Op op);

// The rules, by subject; rules.cpp puts them into one table.
extern const std::span<const Rule> kElementwiseRules;
extern const std::span<const Rule> kStructuralRules;
extern const std::span<const Rule> kScanRules;

}  // namespace sinter::autodiff
