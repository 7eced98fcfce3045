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

std::string text_of(int number) { return std::to_string(number); }

}  // namespace

ScoresText::ScoresText(const ir::Kernel& kernel, const Target& target)
    : k_(kernel),
      a_(kernel.attention),
      shared_(kernel),
      e_(kernel, target),
      masks_(e_, kernel.attention.rows, kernel.attention.columns),
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
  masked_ = find_masked();
  row_exponential_ = find_row_exponential();
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
  for (const ExprId id : shared_.values())
    e_.loaded[id] = "(int(i) % 2 ? " + name("pair", id) + ".y : " + name("pair", id) + ".x)";
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
  for (const ExprId id : dots_) e_.out.line("float " + name("scores", id) + "[" + text_of(scores()) + "];");
  open_rows();
  define_outer(0, 1);
  for (ExprId id = 0; id < k_.exprs.size(); ++id)
    if (is_row_value_[id] && expr(id).phase == 0) e_.out.line(array(id) + "[r] = " + e_.value(id) + ";");
  e_.close();
  write_subtracted();
}

void ScoresText::write_tile() {
  hold("scores", dots_);
  for (const ExprId id : combines_)
    e_.out.line("unsigned " + name("weights", id) + "[" + text_of(weights(id)) + "];");
  if (is_softmax()) return write_softmax();
  e_.out.line("const bool is_plain = " + plain_condition() + ";");
  e_.open("if (is_plain)");
  write_mask();
  write_sums(false, 0);
  e_.close();
  e_.open("else");
  write_sums(true, 0);
  e_.close();
}

/// What a subgroup multiplies by itself is done where it is written.
void ScoresText::hold(const char* what, const std::vector<ExprId>& ids) {
  if (a_.by == ir::Attention::By::Subgroups) return;
  for (const ExprId id : ids) e_.out.line("tc_hold(" + name(what, id) + ");");
}

void ScoresText::wait_for_combines() {
  if (a_.by == ir::Attention::By::Subgroups) return;
  e_.out.line("tc_finish();");
  hold("sums", combines_);
}

void ScoresText::write_finish() {
  if (a_.by == ir::Attention::By::Subgroups) return;
  wait_for_combines();
  e_.out.line("leave_slot();");
}

void ScoresText::write_dots() {
  for (const ExprId id : dots_) {
    ExprId a = expr(id).args[0], b = expr(id).args[1];
    if (shared_.is_column(a)) std::swap(a, b);
    const int depth = elements_of_step(expr(a).dtype), steps = (expr(a).length + depth - 1) / depth;
    for (int step = 0; step < steps; ++step)
      e_.out.line("tc_dot_" + std::string(name_of(expr(a).dtype)) + "(" + name("scores", id) +
                  ", tc_matrix(own_rows, " + text_of(shared_.offset(a) + shared_.step_bytes(a, step)) +
                  ", 16), tc_matrix(columns, " + text_of(shared_.offset(b) + shared_.step_bytes(b, step)) +
                  ", 16), " + (step ? "1" : "0") + ");");
  }
}

void ScoresText::write_combines() {
  for (const ExprId id : combines_) {
    const ExprId row = expr(id).args[1];
    const int depth = elements_of_step(expr(row).dtype);
    for (int step = 0; step < a_.columns / depth; ++step) {
      const int at = shared_.is_across(row) ? shared_.step_bytes(row, step) : step * depth * kLineBytes;
      e_.out.line("tc_combine_" + std::string(name_of(expr(row).dtype)) + "_" + text_of(expr(row).length) +
                  "(" + name("sums", id) + ", " + name("weights", id) + " + " + text_of(step * 4) +
                  ", tc_matrix(columns, " + text_of(shared_.offset(row) + at) + ", " +
                  (shared_.is_across(row) ? "16" : text_of(shared_.chunk_bytes(row))) + "));");
    }
  }
}

void ScoresText::open_scores(bool exact, const std::vector<ExprId>& targets, std::uint16_t phase) {
  std::vector<bool> needed(k_.exprs.size());
  for (const ExprId id : targets) needed[id] = true;
  for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
    if (needed[id] && expr(id).level == Level::Inner && expr(id).kind != ExprKind::Dot &&
        !is_known(id, exact, phase) && !masks_.margin(id))
      for_operands(expr(id), [&](ExprId arg) { needed[arg] = true; });
  if (exact) write_margins(needed);
  const std::string first = shared_.orders_columns() ? "lane % 4" : "column_of_lane";
  const std::string offset =
      shared_.orders_columns() ? "int(i) / 4 * 8 + int(i) % 2 * 4" : "int(i) / 4 * 8 + int(i) % 2";
  e_.open_unrolled("eight", a_.columns / 8);
  for (const ExprId id : shared_.values())
    if (needed[id]) write_pair(id);
  e_.open_unrolled("j", 4);
  e_.out.line("const int i = int(eight) * 4 + int(j), r = int(i) / 2 % 2, strand = int(i) / 4 % " +
              text_of(kStrands) + ", of_row = first_row + r * 8, offset = " + offset + ";");
  e_.out.line("const int of_column = from + " + first + " + " + offset + ";");
  const auto place = [&](std::size_t loop, const char* at, const char* size) {
    const std::string text = exact ? "min(" + std::string(at) + ", " + size + " - 1)" : std::string(at);
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[loop], e_.index(text)));
  };
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[row_], e_.index("min(of_row, size_m - 1)")));
  place(column_, "of_column", "size_n");
  for (ExprId id = 0; id < needed.size(); ++id)
    if (needed[id]) define_score(id, exact, phase);
}

void ScoresText::close_scores() {
  e_.close();
  e_.close();
}

void ScoresText::write_pair(ExprId id) {
  const std::string at = "columns_at + " + text_of(shared_.offset(id)) + " + int(eight) * 32 + lane % 4 * ";
  e_.out.line("const float2 " + name("pair", id) + " = " +
              (shared_.orders_columns() ? "make_float2(tc_value(" + at + "4), tc_value(" + at + "4 + 16));"
                                        : "tc_values(" + at + "8);"));
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
    e_.out.line("const float " + e_.value(id) + " = " + shifted() + "[i];");
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
  } else if (const std::optional<Margin> margin = masks_.margin(id)) {
    const char* at = margin->step == 0 ? "" : margin->step > 0 ? " + offset" : " - offset";
    e_.out.line("const bool " + e_.value(id) + " = " + name("margin", id) + "[r]" + at +
                (margin->or_equal ? " >= 0;" : " > 0;"));
  } else {
    e_.define(id);
  }
}

std::string ScoresText::array_of(ExprId id) const {
  return ir::is_reduced(expr(id)) ? name("found", id) : array(id);
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
    const std::string value = (exact ? "offset < columns_left ? " : "") + e_.value(expr(id).args[0]) +
                              (exact ? (is_max ? " : -SN_INFINITY" : " : 0.f") : "");
    const std::string strand = name("strands", id) + "[r][strand]";
    e_.out.line(strand + " = " + e_.combine(expr(id).op, DType::f32, strand, "(" + value + ")") + ";");
  }
  for (const ExprId id : combines_)
    e_.out.line(name("weight", id) + "[i] = " + (exact ? "offset < columns_left ? " : "") +
                e_.value(expr(id).args[0]) + (exact ? " : 0.f;" : ";"));
  close_scores();
  for (const ExprId id : sums_) {
    e_.open_unrolled("r", 2);
    const std::string found = name("found", id) + "[r]";
    e_.out.line(found + " = " +
                e_.combine(expr(id).op, DType::f32, found, joined_strands(name("strands", id), expr(id).op)) +
                ";");
    e_.close();
  }
  // Until then tensor cores read the weights of the tile before.
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
  if (is_softmax()) write_shrunk();
}

void ScoresText::write_end() {
  hold("sums", combines_);
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
