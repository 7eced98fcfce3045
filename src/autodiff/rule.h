// Gradient rules: for each op and each of its operands, how the gradient of the result becomes that of the
// operand.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "src/autodiff/node.h"
#include "src/autodiff/term.h"

namespace sinter::autodiff {

/// Values a rule reads: operands 0, 1, 2 and the result. Only these are saved.
enum Needs : std::uint8_t { kNothing = 0, kFirst = 1, kSecond = 2, kThird = 4, kResult = 8 };

/// What a rule may look at: the op's record and the gradient of its result.
class Step {
 public:
  Step(const Node& node, const Term& gradient) : node_(node), gradient_(gradient) {}

  Term gradient() const { return gradient_.at(node_.where); }
  /// An operand that the rule declares to need, or a scalar operand.
  Term operand(std::size_t i) const {
    if (node_.scalar_mask >> i & 1) return {node_.scalars[i], node_.where};
    return {AnyTensor(node_.saved[i], nullptr, false), node_.where};
  }
  bool is_scalar(std::size_t i) const { return node_.scalar_mask >> i & 1; }
  /// The first two operands are one tensor: the rule of the first gives the gradient of both uses.
  bool is_of_one_tensor() const { return node_.operands[0] && node_.operands[0] == node_.operands[1]; }
  Term result() const { return {AnyTensor(node_.result, nullptr, false), node_.where}; }

  /// Shape and dtype of an operand whose gradient is asked for.
  const Shape& shape_of(std::size_t i) const { return node_.operands[i]->shape; }
  DType dtype_of(std::size_t i) const { return node_.operands[i]->dtype; }
  const Shape& shape() const { return node_.shape; }
  std::int64_t integer(std::size_t i) const { return node_.ints[i]; }
  std::span<const std::int64_t> integers(std::size_t first, std::size_t count) const {
    return std::span(node_.ints).subspan(first, count);
  }
  const Location& where() const { return node_.where; }

 private:
  const Node& node_;
  const Term& gradient_;
};

/// The gradient for one operand. A null function says that there is none: the op is constant in it almost
/// everywhere, or it is not a float. An undefined term says that another operand's rule gave it already.
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

}  // namespace sinter::autodiff
