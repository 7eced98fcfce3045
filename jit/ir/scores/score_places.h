// Masks of scores that follow from the places of rows and columns alone: causal ones, windows, lengths.
#pragma once

#include <optional>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// What a kernel that goes over scores chooses by where they are.
class ScorePlaces {
 public:
  explicit ScorePlaces(const Kernel& kernel);

  /// An integer, or a comparison of such, whose least and greatest values among rows and columns are known:
  /// made of Index, scalars, sums, differences and casts; Less, LessEqual, And, Or, Not.
  bool is_place(ExprId id) const { return is_place_[id]; }
  /// Those that choose between scores, each not part of another one, ascending.
  const std::vector<ExprId>& conditions() const { return conditions_; }
  /// True iff the value is false wherever the condition is.
  bool is_false_with(ExprId id, ExprId condition) const;
  /// The Scalar that a value is wherever the condition is false; nothing where it is none.
  std::optional<ExprId> scalar_without(ExprId id, ExprId condition) const;

  /// When a value is 0 wherever the condition is false, said by `logic`, whose Truth is what it says:
  ///   is_zero(scalar), is_lowest(scalar)  when a Scalar is 0, or minus infinity
  ///   both(a, b), either(a, b)            when both are so, or one of the two
  ///   unknown()                           when nothing is known
  template <class Logic>
  typename Logic::Truth zero_without(ExprId id, ExprId condition, const Logic& logic) const {
    if (const std::optional<ExprId> scalar = scalar_without(id, condition)) return logic.is_zero(*scalar);
    const Expr& e = kernel_.exprs[id];
    if (e.kind != ExprKind::Elementwise) return logic.unknown();
    const auto zero = [&](std::size_t k) { return zero_without(e.args[k], condition, logic); };
    switch (e.op) {
      case Op::Mul: return logic.either(zero(0), zero(1));
      case Op::Cast:
      case Op::Neg: return zero(0);
      case Op::Add:
      case Op::Sub: return logic.both(zero(0), zero(1));
      case Op::Where: return is_false_with(e.args[0], condition) ? zero(2) : logic.both(zero(1), zero(2));
      case Op::Exp: return lowest_without(e.args[0], condition, logic);
      default: return logic.unknown();
    }
  }
  /// Likewise when it is minus infinity.
  template <class Logic>
  typename Logic::Truth lowest_without(ExprId id, ExprId condition, const Logic& logic) const {
    const Expr& e = kernel_.exprs[id];
    if (e.kind == ExprKind::Elementwise && e.op == Op::Sub)
      return lowest_without(e.args[0], condition, logic);
    const std::optional<ExprId> scalar = scalar_without(id, condition);
    return scalar ? logic.is_lowest(*scalar) : logic.unknown();
  }

 private:
  void find_places();
  void find_conditions();

  const Kernel& kernel_;
  std::vector<bool> is_place_;
  std::vector<ExprId> conditions_;
};

}  // namespace sinter::ir
