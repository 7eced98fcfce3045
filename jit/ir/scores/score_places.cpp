// Finds conditions on the places of scores.
#include "jit/ir/scores/score_places.h"

#include <algorithm>

#include "jit/ir/uses.h"

namespace sinter::ir {

ScorePlaces::ScorePlaces(const Kernel& kernel) : kernel_(kernel), is_place_(kernel.exprs.size()) {
  find_places();
  find_conditions();
}

void ScorePlaces::find_places() {
  const auto is_int = [](DType dtype) { return dtype == DType::i32 || dtype == DType::i64; };
  for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    if (e.kind == ExprKind::Index) is_place_[id] = kernel_.maps[e.map].steps.size() == 1;
    if (e.kind == ExprKind::Scalar) is_place_[id] = is_int(e.dtype) && kernel_.scalars[e.scalar] == e.dtype;
    if (e.kind != ExprKind::Elementwise) continue;
    bool of_places = true;
    for (const ExprId arg : e.args) of_places &= arg == kNone || is_place_[arg];
    switch (e.op) {
      case Op::Add:
      case Op::Sub: is_place_[id] = of_places && e.dtype == DType::i64; break;
      case Op::Cast:
        is_place_[id] = of_places && e.dtype == DType::i64 && is_int(kernel_.exprs[e.args[0]].dtype);
        break;
      case Op::Less:
      case Op::LessEqual: is_place_[id] = of_places && is_int(kernel_.exprs[e.args[0]].dtype); break;
      case Op::And:
      case Op::Or:
      case Op::Not: is_place_[id] = of_places && e.dtype == DType::boolean; break;
      default: break;
    }
  }
}

void ScorePlaces::find_conditions() {
  const std::vector<bool> live = live_expressions(kernel_);
  std::vector<ExprId> todo;
  for (ExprId id = 0; id < kernel_.exprs.size(); ++id)
    if (live[id] && kernel_.exprs[id].kind == ExprKind::Elementwise && kernel_.exprs[id].op == Op::Where)
      todo.push_back(kernel_.exprs[id].args[0]);
  while (!todo.empty()) {
    const ExprId id = todo.back();
    const Expr& e = kernel_.exprs[id];
    todo.pop_back();
    if (std::find(conditions_.begin(), conditions_.end(), id) != conditions_.end()) continue;
    if (is_place(id)) {
      conditions_.push_back(id);
    } else if (e.kind == ExprKind::Elementwise && e.op == Op::And) {
      todo.push_back(e.args[0]);
      todo.push_back(e.args[1]);
    }
  }
  std::sort(conditions_.begin(), conditions_.end());
}

bool ScorePlaces::is_false_with(ExprId id, ExprId condition) const {
  if (id == condition) return true;
  const Expr& e = kernel_.exprs[id];
  return e.kind == ExprKind::Elementwise && e.op == Op::And &&
         (is_false_with(e.args[0], condition) || is_false_with(e.args[1], condition));
}

std::optional<ExprId> ScorePlaces::scalar_without(ExprId id, ExprId condition) const {
  const Expr& e = kernel_.exprs[id];
  if (e.kind == ExprKind::Scalar && kernel_.scalars[e.scalar] == e.dtype) return id;
  const bool chooses = e.kind == ExprKind::Elementwise && e.op == Op::Where;
  if (!chooses || !is_false_with(e.args[0], condition)) return std::nullopt;
  return scalar_without(e.args[2], condition);
}

}  // namespace sinter::ir
