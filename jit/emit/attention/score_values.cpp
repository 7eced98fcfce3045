// Defines what is computed of scores on ordinary lanes.
#include "jit/emit/attention/score_values.h"

#include <algorithm>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

ScoreValues::ScoreValues(const ir::Kernel& kernel, const Target& target, int rows, int columns)
    : k_(kernel),
      target_(target),
      e_(kernel, target_),
      masks_(e_, rows, columns),
      live_(live_expressions(kernel)),
      state_(kernel),
      column_(kernel.outer_rank) {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    if (!live_[id]) continue;
    if (expr(id).kind == ExprKind::Row) rows_.push_back(id);
    if (expr(id).kind == ExprKind::Dot) dots_.push_back(id);
  }
}

std::string ScoreValues::greater(const std::string& a, const std::string& b) const {
  return e_.combine(Op::Max, DType::f32, a, b);
}

std::string ScoreValues::joined(ExprId sum, const std::string& a, const std::string& b) const {
  return e_.combine(expr(sum).op, DType::f32, a, b);
}

std::string ScoreValues::f32_of(DType dtype, const std::string& bits) {
  return dtype == DType::f32 ? bits : "sn_cast_" + std::string(name_of(dtype)) + "_f32(" + bits + ")";
}

std::string ScoreValues::rounded(DType dtype, const std::string& value) {
  return dtype == DType::f32 ? value : "sn_cast_f32_" + std::string(name_of(dtype)) + "(" + value + ")";
}

void ScoreValues::define_outer(std::uint16_t from, std::uint16_t to) {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.level != Level::Outer || e.phase < from || e.phase >= to) continue;
    if (e.kind == ExprKind::Row || ir::is_reduced(e)) continue;
    e_.define(id);
    e_.define_reciprocal(id);
  }
}

void ScoreValues::define_inner(const std::vector<ExprId>& targets, bool is_second, const Places& places) {
  std::vector<bool> needed(k_.exprs.size());
  const auto is_score = [&](ExprId id) { return is_second && id == expr(state_.greatest).args[0]; };
  const auto is_seen = [&](ExprId id) {
    return are_all_seen_ && std::binary_search(masks_.conditions().begin(), masks_.conditions().end(), id);
  };
  for (const ExprId id : targets) needed[id] = true;
  for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
    if (needed[id] && expr(id).level == Level::Inner && expr(id).kind != ExprKind::Dot && !is_score(id) &&
        !is_seen(id))
      for_operands(expr(id), [&](ExprId arg) { needed[arg] = true; });
  for (ExprId id = 0; id < needed.size(); ++id) {
    if (!needed[id]) continue;
    if (is_second && id == subtracted_value()) {
      line("const float " + e_.value(id) + " = " + places.less + ";");
    } else if (expr(id).level == Level::Outer || expr(id).kind == ExprKind::Row) {
      continue;  // known from the start
    } else if (is_score(id)) {
      line("const float " + e_.value(id) + " = " + places.score + ";");
    } else if (is_seen(id)) {
      line("const bool " + e_.value(id) + " = true;");
    } else if (expr(id).kind == ExprKind::Dot) {
      line("const float " + e_.value(id) + " = " + name("dot", id) + places.element + ";");
    } else {
      e_.define(id);
    }
  }
}

ExprId ScoreValues::subtracted_value() const {
  for (const Expr& e : k_.exprs)
    if (e.kind == ExprKind::Elementwise && e.op == Op::Sub && e.phase == 1 &&
        e.args[0] == expr(state_.greatest).args[0])
      return e.args[1];
  return state_.greatest;
}

std::vector<ExprId> ScoreValues::weighed() const {
  std::vector<ExprId> targets;
  for (const ExprId id : state_.sums) targets.push_back(expr(id).args[0]);
  for (const ExprId id : state_.combines) targets.push_back(expr(id).args[0]);
  return targets;
}

}  // namespace sinter::emit
