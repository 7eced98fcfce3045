// Writes exponentials of scores less a number of their row, or column.
#include <functional>
#include <optional>

#include "jit/emit/attention/scores.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

std::optional<ScoresText::ScaledDot> ScoresText::scaled_dot(ExprId id) const {
  const auto is = [&](ExprId of, Op op) {
    return expr(of).kind == ExprKind::Elementwise && expr(of).op == op;
  };
  const std::function<bool(ExprId)> is_condition = [&](ExprId of) {
    return is_known(of, false, 0) ||
           (is(of, Op::And) && is_condition(expr(of).args[0]) && is_condition(expr(of).args[1]));
  };
  while (is(id, Op::Where) && is_condition(expr(id).args[0])) id = expr(id).args[1];
  if (!is(id, Op::Mul)) return std::nullopt;
  for (const std::size_t k : {0, 1}) {
    const ExprId dot = expr(id).args[k], scale = expr(id).args[1 - k];
    if (expr(dot).kind == ExprKind::Dot && is_argument(scale)) return ScaledDot{dot, e_.value(scale)};
  }
  return std::nullopt;
}

bool ScoresText::write_exponential(ExprId id, bool exact) {
  const Expr& e = expr(id);
  if (e.kind != ExprKind::Elementwise || e.op != Op::Exp) return false;
  const Expr& difference = expr(e.args[0]);
  if (difference.kind != ExprKind::Elementwise || difference.op != Op::Sub) return false;
  const std::string log2e = kLog2E;
  const auto write = [&](const std::string& text) {
    e_.out.line("const float " + e_.value(id) + " = " + text + ";");
    return true;
  };
  if (is_softmax()) {
    if (!is_shifted(difference.args[0]) || difference.args[1] != subtracted_value()) return false;
    if (exact)
      return write("tc_exp2(is_near[r] ? fmaf(" + shifted() + "[i], " + log2e + ", subtracted[r]) : (" +
                   shifted() + "[i] - greatest[r]) * " + log2e + ")");
    const std::optional<ScaledDot> dot = scaled_dot(difference.args[0]);
    return write("tc_exp2(fmaf(" + (dot ? name("scores", dot->dot) : shifted()) + "[i], " +
                 (dot ? "powers" : log2e) + ", subtracted[r]))");
  }
  if (!scaled_dot(difference.args[0])) return false;
  if (row_exponential_ == id) {
    const std::string near = "tc_exp2(" + power(difference.args[0], exact) + ")";
    if (!exact) return write(near);
    return write("is_near[r] ? " + near + " : sn_exp_f32(" +
                 less(difference.args[0], e_.value(difference.args[1]), exact) + ")");
  }
  return write("sn_exp_f32(" + less(difference.args[0], e_.value(difference.args[1]), exact) + ")");
}

std::optional<ExprId> ScoresText::find_row_exponential() const {
  if (is_softmax()) return std::nullopt;
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.kind != ExprKind::Elementwise || e.op != Op::Exp) continue;
    const Expr& difference = expr(e.args[0]);
    if (difference.kind == ExprKind::Elementwise && difference.op == Op::Sub &&
        is_row_value_[difference.args[1]] && scaled_dot(difference.args[0]))
      return id;
  }
  return std::nullopt;
}

void ScoresText::write_subtracted() {
  if (!row_exponential_) return;
  const Expr& difference = expr(expr(*row_exponential_).args[0]);
  const std::string numbers = array(difference.args[1]);
  e_.out.line("const float powers = " + scaled_dot(difference.args[0])->scale + " * " + kLog2E + ";");
  e_.out.line("float subtracted[2];");
  e_.out.line("bool is_near[2];");
  e_.open_unrolled("r", 2);
  e_.out.line("subtracted[r] = -(" + numbers + "[r] * " + kLog2E + ");");
  e_.out.line("is_near[r] = fabsf(" + numbers + "[r]) < " + kNear + ";");
  e_.close();
  e_.out.line("const bool are_near = __all_sync(0xffffffffu, is_near[0] && is_near[1]);");
}

std::string ScoresText::power(ExprId id, bool exact) const {
  const Expr& e = expr(id);
  if (e.op != Op::Where) return "fmaf(" + name("scores", scaled_dot(id)->dot) + "[i], powers, subtracted[r])";
  const std::string chosen = power(e.args[1], exact);
  if (!exact) return chosen;
  return "(" + e_.value(e.args[0]) + " ? " + chosen + " : fmaf(" + e_.value(e.args[2]) + ", " + kLog2E +
         ", subtracted[r]))";
}

std::string ScoresText::less(ExprId id, const std::string& subtracted, bool exact) const {
  const Expr& e = expr(id);
  if (e.op == Op::Where) {
    const std::string chosen = less(e.args[1], subtracted, exact);
    if (!exact) return chosen;
    return "(" + e_.value(e.args[0]) + " ? " + chosen + " : " + e_.value(e.args[2]) + " - " + subtracted +
           ")";
  }
  const std::optional<ScaledDot> dot = scaled_dot(id);
  return "fmaf(" + name("scores", dot->dot) + "[i], " + dot->scale + ", -" + subtracted + ")";
}

}  // namespace sinter::emit
