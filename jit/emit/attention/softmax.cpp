// Writes what becomes of a tile of scores in two rounds over them: the greatest, then their exponentials.
#include "jit/emit/attention/scores.h"
#include "jit/emit/dialects/dialect.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

namespace {

std::string text_of(int number) { return std::to_string(number); }

}  // namespace

/// Where all scores of a tile count and are a product times a positive number, the greatest product is looked
/// for. An exponent takes one instruction, so long as what is subtracted is not so large that its own
/// rounding would be seen.
void ScoresText::write_softmax() {
  const std::optional<ScaledDot> dot = scaled_dot(expr(greatest_[0]).args[0]);
  if (!masked_) e_.out.line("float shifted[" + text_of(scores()) + "];");
  e_.out.line("float greatest[2], factor[2], subtracted[2];");
  e_.out.line("bool is_near[2];");
  e_.out.line("const bool is_plain = " + plain_condition() + ";");
  if (dot) e_.out.line("const float powers = " + dot->scale + " * " + kLog2E + ";");
  declare_strands("of_strand", "-SN_INFINITY");
  e_.open("if (is_plain)");
  write_mask();
  write_greatest(false, dot);
  e_.close();
  e_.open("else");
  write_greatest(true, std::nullopt);
  e_.close();
  write_rows();
  write_finish();
  e_.open("if (is_plain && __all_sync(0xffffffffu, is_near[0] && is_near[1]))");
  write_sums(false, 1);
  e_.close();
  e_.open("else");
  if (dot) {
    e_.open("if (is_plain)");
    e_.open_unrolled("i", scores());
    e_.out.line(shifted() + "[i] = " + name("scores", dot->dot) + "[i] * " + dot->scale + ";");
    e_.close();
    e_.close();
  }
  write_sums(true, 1);
  e_.close();
}

void ScoresText::write_greatest(bool exact, const std::optional<ScaledDot>& dot) {
  const ExprId score = expr(greatest_[0]).args[0];
  const auto take = [&](const std::string& value) {
    e_.out.line("of_strand[r][strand] = " + greater("of_strand[r][strand]", value) + ";");
  };
  if (dot) {
    e_.open_unrolled("i", scores());
    e_.out.line("const int r = int(i) / 2 % 2, strand = int(i) / 4 % " + text_of(kStrands) + ";");
    take(name("scores", dot->dot) + "[i]");
    e_.close();
    for (const char* r : {"0", "1"})
      for (int strand = 0; strand < kStrands; ++strand)
        e_.out.line("of_strand[" + std::string(r) + "][" + text_of(strand) + "] *= " + dot->scale + ";");
    return;
  }
  if (masked_) wait_for_combines();
  open_scores(exact, {score}, 0);
  e_.out.line(shifted() + "[i] = " + std::string(exact ? "offset < columns_left ? " : "") + e_.value(score) +
              (exact ? " : -SN_INFINITY;" : ";"));
  take(shifted() + "[i]");
  close_scores();
}

std::string ScoresText::shifted() const { return masked_ ? name("scores", masked_->dot.dot) : "shifted"; }

void ScoresText::write_rows() {
  const ExprId id = greatest_[0];
  e_.open_unrolled("r", 2);
  e_.out.line("greatest[r] = " + joined_strands("of_strand", Op::Max) + ";");
  for (const char* other : {"1", "2"})
    e_.out.line("greatest[r] = " +
                greater("greatest[r]", "tc_of_row(greatest[r], " + std::string(other) + ")") + ";");
  const ExprId subtracted = subtracted_value();
  e_.out.line("float before, now;");
  for (int now = 0; now < 2; ++now) {
    e_.open("");
    if (now)
      e_.out.line(name("found", id) + "[r] = " + greater(name("found", id) + "[r]", "greatest[r]") + ";");
    import_rows(0);
    define_outer(1, 2);
    e_.out.line(std::string(now ? "now" : "before") + " = " + e_.value(subtracted) + ";");
    if (now)
      for (ExprId other = 0; other < k_.exprs.size(); ++other)
        if (is_row_value_[other] && expr(other).phase == 1)
          e_.out.line(array(other) + "[r] = " + e_.value(other) + ";");
    e_.close();
  }
  // A row in which everything so far is minus infinity has sums of 0.
  e_.out.line("factor[r] = before == now ? 1.f : sn_exp_f32(before - now);");
  e_.out.line("greatest[r] = now == -SN_INFINITY ? 0.f : now;");
  e_.out.line("subtracted[r] = -(greatest[r] * " + std::string(kLog2E) + ");");
  e_.out.line("is_near[r] = fabsf(greatest[r]) < " + std::string(kNear) + ";");
  e_.close();
  for (const ExprId sum : sums_)
    for (const char* r : {"0", "1"}) e_.out.line(name("found", sum) + "[" + r + "] *= factor[" + r + "];");
}

void ScoresText::write_shrunk() {
  // Most tiles have no greater score than those before.
  if (combines_.empty()) return;
  e_.open("if (__any_sync(0xffffffffu, factor[0] != 1.f || factor[1] != 1.f))");
  for (const ExprId combine : combines_) {
    e_.open_unrolled("k", expr(expr(combine).args[1]).length / 2);
    e_.out.line(name("sums", combine) + "[k] *= factor[int(k) / 2 % 2];");
    e_.close();
  }
  e_.close();
}

ExprId ScoresText::subtracted_value() const {
  for (const Expr& e : k_.exprs)
    if (e.kind == ExprKind::Elementwise && e.op == Op::Sub && e.args[0] == expr(greatest_[0]).args[0] &&
        e.phase == 1)
      return e.args[1];
  return greatest_[0];
}

}  // namespace sinter::emit
