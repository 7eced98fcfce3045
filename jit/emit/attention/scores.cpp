// Writes what becomes of scores.
#include "jit/emit/attention/scores.h"

#include <algorithm>
#include <utility>

#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::Level;

namespace {

constexpr int kStrands = 4;  // in which a lane reduces a row
// Of what is subtracted from scores: its rounding changes weights by 1e-4 at most, and theirs are 4e-3, or
// 5e-4 of tf32.
const char* const kNear = "1000.f";

std::string text_of(int number) { return std::to_string(number); }

}  // namespace

ScoresText::ScoresText(const ir::Kernel& kernel, const Target& target)
    : k_(kernel),
      a_(kernel.attention),
      shared_(kernel),
      e_(kernel, target),
      masks_(e_),
      live_(live_expressions(kernel)),
      row_(kernel.outer_rank - 1u),
      column_(kernel.outer_rank) {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    if (!live_[id]) continue;
    const Expr& e = k_.exprs[id];
    if (e.kind == ExprKind::Dot) dots_.push_back(id);
    if (e.kind == ExprKind::Combine) combines_.push_back(id);
    if (e.kind == ExprKind::Reduce) (is_softmax() && e.phase == 1 ? greatest_ : sums_).push_back(id);
  }
  find_row_values();
}

void ScoresText::find_row_values() {
  is_row_value_.assign(k_.exprs.size(), false);
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.kind == ExprKind::Combine) continue;
    const bool is_inner = e.level == Level::Inner;
    for_operands(e, [&](ExprId arg) {
      const bool is_later = e.phase > 0 && expr(arg).phase == 0;
      if (is_inner || ir::is_reduced(e) || is_later) is_row_value_[arg] = true;
    });
  }
  for (const ExprId id : combines_) for_operands(expr(id), [&](ExprId arg) { is_row_value_[arg] = true; });
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    is_row_value_[id] = is_row_value_[id] && expr(id).level == Level::Outer && !is_argument(id) &&
                        !ir::is_reduced(expr(id)) && expr(id).kind != ExprKind::Row;
}

bool ScoresText::is_argument(ExprId id) const { return e_.value(id)[0] == 's'; }

std::string ScoresText::array(ExprId id) const { return name("row_v", id); }

void ScoresText::define_outer(std::uint16_t from, std::uint16_t to) {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.level != Level::Outer || e.phase < from || e.phase >= to) continue;
    if (e.kind == ExprKind::Row || e.kind == ExprKind::Combine) continue;
    if (e.kind == ExprKind::Reduce)
      e_.out.line("const float " + e_.value(id) + " = " + name("found", id) + "[r];");
    else
      e_.define(id);
  }
}

void ScoresText::open_rows() {
  e_.open_unrolled("r", 2);
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[row_],
                                  e_.index("min(first_row + int(r) * 8, size_m - 1)")));
}

void ScoresText::write_start() {
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id]) e_.out.line(e_.dialect.declare_vector(expr(id).dtype, 2, array(id)));
  for (const ExprId id : greatest_)
    e_.out.line("float " + name("found", id) + "[2] = {-SN_INFINITY, -SN_INFINITY};");
  for (const ExprId id : sums_) {
    const std::string first = expr(id).op == Op::Max ? "-SN_INFINITY" : "0.f";
    e_.out.line("float " + name("found", id) + "[2] = {" + first + ", " + first + "};");
  }
  for (const ExprId id : combines_) {
    e_.out.line("float " + name("sums", id) + "[" + text_of(expr(expr(id).args[1]).length / 2) + "];");
    e_.open_unrolled("k", expr(expr(id).args[1]).length / 2);
    e_.out.line(name("sums", id) + "[k] = 0.f;");
    e_.close();
  }
  open_rows();
  define_outer(0, 1);
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id] && expr(id).phase == 0) e_.out.line(array(id) + "[r] = " + e_.value(id) + ";");
  e_.close();
  for (const ExprId id : dots_) e_.out.line("float " + name("scores", id) + "[" + text_of(scores()) + "];");
}

void ScoresText::write_tile() {
  for (const ExprId id : dots_) e_.out.line("tc_hold(" + name("scores", id) + ");");
  for (const ExprId id : combines_)
    e_.out.line("unsigned " + name("weights", id) + "[" + text_of(weights(id)) + "];");
  if (is_softmax()) return write_softmax();
  e_.open("if (is_seen)");
  write_sums(false, 0);
  e_.close();
  e_.open("else");
  write_sums(true, 0);
  e_.close();
}

void ScoresText::write_finish() {
  e_.out.line("tc_finish();");
  for (const ExprId id : combines_) e_.out.line("tc_hold(" + name("sums", id) + ");");
  e_.out.line("if (before >= 0 && lane == 0) tc_arrive(empty + 8 * before);");
}

void ScoresText::write_dots() {
  for (const ExprId id : dots_) {
    ExprId a = expr(id).args[0], b = expr(id).args[1];
    if (shared_.is_column(a)) std::swap(a, b);
    const int depth = elements_of_step(expr(a).dtype), steps = (expr(a).length + depth - 1) / depth;
    for (int step = 0; step < steps; ++step)
      e_.out.line("tc_dot_" + std::string(name_of(expr(a).dtype)) + "(" + name("scores", id) +
                  ", tc_matrix(own_rows + " + text_of(shared_.offset(a) + shared_.step_bytes(a, step)) +
                  ", 16), tc_matrix(columns_at + " +
                  text_of(shared_.offset(b) + shared_.step_bytes(b, step)) + ", 16), " + (step ? "1" : "0") +
                  ");");
  }
}

void ScoresText::write_combines() {
  if (combines_.empty()) return;
  e_.out.line("tc_begin();");
  for (const ExprId id : combines_) {
    const ExprId row = expr(id).args[1];
    const int depth = elements_of_step(expr(row).dtype);
    for (int step = 0; step < a_.columns / depth; ++step) {
      const int at = shared_.is_across(row) ? shared_.step_bytes(row, step) : step * depth * kLineBytes;
      e_.out.line("tc_combine_" + std::string(name_of(expr(row).dtype)) + "_" + text_of(expr(row).length) +
                  "(" + name("sums", id) + ", " + name("weights", id) + " + " + text_of(step * 4) +
                  ", tc_matrix(columns_at + " + text_of(shared_.offset(row) + at) + ", " +
                  (shared_.is_across(row) ? "16" : text_of(shared_.chunk_bytes(row))) + "));");
    }
  }
  e_.out.line("tc_end();");
}

void ScoresText::open_scores(bool exact, const std::vector<ExprId>& targets, std::uint16_t phase) {
  e_.open_unrolled("i", scores());
  e_.out.line("const int r = int(i) / 2 % 2, strand = int(i) / 4 % " + text_of(kStrands) +
              ", of_row = first_row + r * 8;");
  e_.out.line(
      "const int of_column = from + int(i) / 4 * 8 + " +
      std::string(shared_.orders_columns() ? "lane % 4 + int(i) % 2 * 4;" : "column_of_lane + int(i) % 2;"));
  const auto place = [&](std::size_t loop, const char* at, const char* size) {
    const std::string text = exact ? "min(" + std::string(at) + ", " + size + " - 1)" : std::string(at);
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loop], e_.index(text)));
  };
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[row_], e_.index("min(of_row, size_m - 1)")));
  place(column_, "of_column", "size_n");
  std::vector<bool> needed(k_.exprs.size());
  for (const ExprId id : targets) needed[id] = true;
  for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
    if (needed[id] && expr(id).level == Level::Inner && expr(id).kind != ExprKind::Dot &&
        !is_known(id, exact, phase))
      for_operands(expr(id), [&](ExprId arg) { needed[arg] = true; });
  for (ExprId id = 0; id < needed.size(); ++id)
    if (needed[id]) define_score(id, exact, phase);
}

bool ScoresText::is_known(ExprId id, bool exact, std::uint16_t phase) const {
  const std::vector<ExprId>& conditions = masks_.conditions();
  if (!exact && std::find(conditions.begin(), conditions.end(), id) != conditions.end()) return true;
  return phase == 1 && is_shifted(id);
}

bool ScoresText::is_shifted(ExprId id) const {
  return !greatest_.empty() && expr(greatest_[0]).args[0] == id;
}

void ScoresText::define_score(ExprId id, bool exact, std::uint16_t phase) {
  const Expr& e = expr(id);
  if (is_argument(id) || e.kind == ExprKind::Row) return;
  if ((phase == 1 || !is_softmax()) && write_exponential(id, exact)) return;
  if (phase == 1 && is_shifted(id)) {
    e_.out.line("const float " + e_.value(id) + " = shifted[i];");
  } else if (e.kind == ExprKind::Dot) {
    e_.out.line("const float " + e_.value(id) + " = " + name("scores", id) + "[i];");
  } else if (e.level == Level::Outer) {
    // What is subtracted from scores is never infinite.
    const bool is_subtracted = phase == 1 && id == subtracted_value();
    e_.out.line(e_.dialect.constant(type_of(e.dtype), e_.value(id),
                                    (is_subtracted ? "greatest" : array_of(id)) + "[r]"));
    e_.define_reciprocal(id);
  } else if (is_known(id, exact, phase)) {
    e_.out.line("const bool " + e_.value(id) + " = true;");
  } else {
    e_.define(id);
  }
}

std::string ScoresText::array_of(ExprId id) const {
  return ir::is_reduced(expr(id)) ? name("found", id) : array(id);
}

/// Where all scores of a tile count and are a product times a positive number, the greatest product is looked
/// for. An exponent takes one instruction, so long as what is subtracted is not so large that its own
/// rounding would be seen: for a score the same whichever way its tile goes, so that results have the same
/// bits in tiles of other sizes.
void ScoresText::write_softmax() {
  const ExprId id = greatest_[0];
  const std::optional<ScaledDot> dot = scaled_dot(expr(id).args[0]);
  e_.out.line("float shifted[" + text_of(scores()) + "], greatest[2], factor[2], subtracted[2];");
  e_.out.line("bool is_near[2];");
  e_.out.line("const bool is_plain = is_seen" + (dot ? " && " + dot->scale + " > 0.f;" : std::string(";")));
  declare_strands("of_strand", "-SN_INFINITY");
  e_.open("if (is_plain)");
  write_greatest(false, dot);
  e_.close();
  e_.open("else");
  write_greatest(true, std::nullopt);
  e_.close();
  write_rows();
  e_.open("if (is_plain && __all_sync(0xffffffffu, is_near[0] && is_near[1]))");
  plain_score_ = dot ? name("scores", dot->dot) + "[i] * " + dot->scale : "shifted[i]";
  write_sums(false, 1);
  e_.close();
  e_.open("else");
  if (dot) {
    e_.open("if (is_plain)");
    e_.open_unrolled("i", scores());
    e_.out.line("shifted[i] = " + plain_score_ + ";");
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
  open_scores(exact, {score}, 0);
  e_.out.line("shifted[i] = " + std::string(exact ? "of_column < size_n ? " : "") + e_.value(score) +
              (exact ? " : -SN_INFINITY;" : ";"));
  take("shifted[i]");
  e_.close();
}

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
  write_finish();
  for (const ExprId combine : combines_) {
    e_.open_unrolled("k", expr(expr(combine).args[1]).length / 2);
    e_.out.line(name("sums", combine) + "[k] *= factor[int(k) / 2 % 2];");
    e_.close();
  }
  for (const ExprId sum : sums_)
    for (const char* r : {"0", "1"}) e_.out.line(name("found", sum) + "[" + r + "] *= factor[" + r + "];");
}

ExprId ScoresText::subtracted_value() const {
  for (const Expr& e : k_.exprs)
    if (e.kind == ExprKind::Elementwise && e.op == Op::Sub && e.args[0] == expr(greatest_[0]).args[0] &&
        e.phase == 1)
      return e.args[1];
  return greatest_[0];
}

void ScoresText::declare_strands(const std::string& name, const std::string& first) {
  std::string row;
  for (int strand = 0; strand < kStrands; ++strand) row += (strand ? ", " : "{") + first;
  e_.out.line("float " + name + "[2][" + text_of(kStrands) + "] = {" + row + "}, " + row + "}};");
}

std::string ScoresText::joined_strands(const std::string& name, Op op) const {
  std::string text = name + "[r][0]";
  for (int strand = 1; strand < kStrands; ++strand)
    text = e_.combine(op, DType::f32, text, name + "[r][" + text_of(strand) + "]");
  return text;
}

std::string ScoresText::greater(const std::string& a, const std::string& b) const {
  return e_.combine(Op::Max, DType::f32, a, b);
}

void ScoresText::import_rows(std::uint16_t phase) {
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id] && expr(id).phase == phase)
      e_.out.line(e_.dialect.constant(type_of(expr(id).dtype), e_.value(id), array(id) + "[r]"));
}

void ScoresText::write_sums(bool exact, std::uint16_t phase) {
  std::vector<ExprId> targets;
  for (const ExprId id : sums_) targets.push_back(expr(id).args[0]);
  for (const ExprId id : combines_) targets.push_back(expr(id).args[0]);
  for (const ExprId id : combines_)
    e_.out.line("float " + name("weight", id) + "[" + text_of(scores()) + "];");
  for (const ExprId id : sums_)
    declare_strands(name("strands", id), expr(id).op == Op::Max ? "-SN_INFINITY" : "0.f");
  open_scores(exact, targets, phase);
  for (const ExprId id : sums_) {
    const bool is_max = expr(id).op == Op::Max;
    const std::string value = (exact ? "of_column < size_n ? " : "") + e_.value(expr(id).args[0]) +
                              (exact ? (is_max ? " : -SN_INFINITY" : " : 0.f") : "");
    const std::string strand = name("strands", id) + "[r][strand]";
    e_.out.line(strand + " = " + e_.combine(expr(id).op, DType::f32, strand, "(" + value + ")") + ";");
  }
  for (const ExprId id : combines_)
    e_.out.line(name("weight", id) + "[i] = " + (exact ? "of_column < size_n ? " : "") +
                e_.value(expr(id).args[0]) + (exact ? " : 0.f;" : ";"));
  e_.close();
  for (const ExprId id : sums_) {
    e_.open_unrolled("r", 2);
    const std::string found = name("found", id) + "[r]";
    e_.out.line(found + " = " +
                e_.combine(expr(id).op, DType::f32, found, joined_strands(name("strands", id), expr(id).op)) +
                ";");
    e_.close();
  }
  if (!is_softmax()) write_finish();
  for (const ExprId id : combines_) {
    const DType dtype = expr(expr(id).args[1]).dtype;
    const std::string weight = name("weight", id);
    e_.open_unrolled("k", weights(id));
    e_.out.line(name("weights", id) + "[k] = " +
                (is_half(dtype) ? "tc_pair_" + std::string(name_of(dtype)) + "(" + weight + "[2 * k], " +
                                      weight + "[2 * k + 1]);"
                                : "tc_tf32(" + weight + "[k]);"));
    e_.close();
  }
}

void ScoresText::write_end() {
  for (const ExprId id : combines_) e_.out.line("tc_hold(" + name("sums", id) + ");");
  for (const std::vector<ExprId>* found : {&greatest_, &sums_})
    for (const ExprId id : *found) write_whole(id);
  open_rows();
  import_rows(0);
  e_.open("");
  define_finished();
  e_.open("if (first_row + int(r) * 8 < size_m)");
  for (const ir::Store& store : k_.stores) {
    if (expr(store.value).kind == ExprKind::Combine) {
      write_vectors(store);
      continue;
    }
    e_.open("if (lane % 4 == 0)");
    e_.store(store);
    e_.close();
  }
  e_.close();
  e_.close();
  e_.close();
}

void ScoresText::write_whole(ExprId id) {
  const bool is_max = expr(id).op == Op::Max;
  const bool is_joined = std::find(greatest_.begin(), greatest_.end(), id) != greatest_.end();
  e_.open_unrolled("r", 2);
  const std::string found = name("found", id) + "[r]";
  if (!is_joined)
    for (const char* other : {"1", "2"})
      e_.out.line(found + " = " +
                  e_.combine(expr(id).op, DType::f32, found, "tc_of_row(" + found + ", " + other + ")") +
                  ";");
  if (const std::string lowest = is_max ? masks_.greatest_if_skipped(id) : ""; !lowest.empty())
    e_.out.line("if (skips) " + found + " = " + greater(found, lowest) + ";");
  e_.close();
}

void ScoresText::define_finished() {
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    const Expr& e = expr(id);
    if (!live_[id] || e.level != Level::Outer || e.kind == ExprKind::Row || e.kind == ExprKind::Combine)
      continue;
    if (is_row_value_[id] && e.phase == 0) continue;  // imported
    if (e.kind == ExprKind::Reduce)
      e_.out.line("const float " + e_.value(id) + " = " + name("found", id) + "[r];");
    else
      e_.define(id);
  }
}

void ScoresText::write_vectors(const ir::Store& store) {
  const Expr& combine = expr(store.value);
  const int length = expr(combine.args[1]).length;
  const std::string scale = combine.args[2] == ir::kNone ? "" : " * " + e_.value(combine.args[2]);
  e_.out.line("const auto vector" + text_of(store.buffer) + " = b" + text_of(store.buffer) + " + " +
              e_.position(store.map) + " + column_of_lane;");
  e_.open_unrolled("k", length / 8);
  const auto sum = [&](const char* which) {
    return name("sums", store.value) + "[k * 4 + r * 2 + " + which + "]" + scale;
  };
  const std::string to = "(vector" + text_of(store.buffer) + " + k * 8)";
  if (is_half(combine.dtype))
    e_.out.line("*(unsigned*)" + to + " = tc_pair_" + std::string(name_of(combine.dtype)) + "(" + sum("0") +
                ", " + sum("1") + ");");
  else
    e_.out.line("*(float2*)" + to + " = make_float2(" + sum("0") + ", " + sum("1") + ");");
  e_.close();
}

}  // namespace sinter::emit
