// What texts have in common whose ordinary lanes go over scores: how values are defined, and rounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jit/emit/attention/row_state.h"
#include "jit/emit/attention/text.h"
#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

class ScoreValues {
 protected:
  /// Of tiles of so many rows and columns. `target` may be another one for each kernel.
  ScoreValues(const ir::Kernel& kernel, const Target& target, int rows, int columns);

  /// Where a text has, of the score at hand, its products (an array dotN for each), the score whose greatest
  /// is known, and what is subtracted from it.
  struct Places {
    std::string element;  // of the arrays: "[u]"
    std::string score, less;
  };

  const ir::Expr& expr(ir::ExprId id) const { return k_.exprs[id]; }
  const ir::Expr& row_of(ir::ExprId combine) const { return expr(expr(combine).args[1]); }
  void line(const std::string& text) { e_.out.line(text); }
  static std::string name(const char* what, ir::ExprId id) { return what + std::to_string(id); }

  bool is_max(ir::ExprId sum) const { return expr(sum).op == Op::Max; }
  std::string infinity(bool negative) const { return e_.dialect.extreme(DType::f32, negative); }
  /// What a reduction of nothing is.
  std::string none(ir::ExprId sum) const { return is_max(sum) ? infinity(true) : "0.f"; }
  std::string greater(const std::string& a, const std::string& b) const;
  std::string joined(ir::ExprId sum, const std::string& a, const std::string& b) const;
  static std::string f32_of(DType dtype, const std::string& bits);
  static std::string rounded(DType dtype, const std::string& value);

  /// Of phases [from, to), but for what is reduced.
  void define_outer(std::uint16_t from, std::uint16_t to);
  /// Defines Inner values that `targets` need, where Outer ones are defined. `is_second`: of the round in
  /// which the greatest score is known.
  void define_inner(const std::vector<ir::ExprId>& targets, bool is_second, const Places& places);
  /// Of the scores whose greatest is known: the greatest of a row, or the greater one of it and another
  /// number.
  ir::ExprId subtracted_value() const;
  /// What is reduced and combined in a row.
  std::vector<ir::ExprId> weighed() const;

  const ir::Kernel& k_;
  const Target target_;
  Expressions e_;
  const Masks masks_;
  const std::vector<bool> live_;
  const RowState state_;
  const std::size_t column_;  // loop
  std::vector<ir::ExprId> rows_, dots_;
  /// Conditions that are known to hold for the scores at hand.
  bool are_all_seen_ = false;
};

}  // namespace sinter::emit
