// Finds out which tiles of scores count, from where they are.
#include <algorithm>
#include <cstdlib>

#include "jit/emit/attention/text.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

namespace {

std::string both(const std::string& a, const std::string& b) {
  if (a.empty() || b.empty()) return "";
  return a == "true" ? b : b == "true" ? a : a + " && " + b;
}

}  // namespace

Masks::Masks(const Expressions& e, int rows, int columns)
    : e_(e),
      kernel_(e.kernel),
      rows_(rows),
      columns_(columns),
      minus_infinity_(e.dialect.extreme(DType::f32, true)),
      places_(e.kernel) {}

std::optional<int> Masks::step_of(ExprId id) const {
  const Expr& e = kernel_.exprs[id];
  if (e.kind == ExprKind::Scalar) return 0;
  if (e.kind == ExprKind::Index) {
    const ir::IntRef stride = kernel_.maps[e.map].steps.front().strides[kernel_.outer_rank];
    if (stride.is_zero() || stride.is_one()) return stride.is_one() ? 1 : 0;
    return std::nullopt;
  }
  const std::optional<int> a = step_of(e.args[0]);
  if (e.op == Op::Cast || !a) return a;
  const std::optional<int> b = step_of(e.args[1]);
  if (!b) return b;
  return e.op == Op::Add ? *a + *b : *a - *b;
}

std::optional<Margin> Masks::margin(ExprId condition) const {
  const Expr& e = kernel_.exprs[condition];
  if (!places_.is_place(condition) || (e.op != Op::Less && e.op != Op::LessEqual)) return std::nullopt;
  const std::optional<int> from = step_of(e.args[0]), to = step_of(e.args[1]);
  if (!from || !to || std::abs(*to - *from) > 1) return std::nullopt;
  return Margin{e.args[0], e.args[1], e.op == Op::LessEqual, *to - *from};
}

/// The number that a value is wherever the condition is false; empty: it is none.
std::string Masks::value_without(ExprId id, ExprId condition) const {
  const std::optional<ExprId> scalar = places_.scalar_without(id, condition);
  return scalar ? e_.value(*scalar) : "";
}

/// When something is so, as text; empty where that is not known.
struct Masks::Logic {
  using Truth = std::string;
  const Masks& masks;
  Truth is_zero(ExprId scalar) const { return is(scalar, masks.e_.dialect.literal(DType::f32, 0)); }
  Truth is_lowest(ExprId scalar) const { return is(scalar, masks.minus_infinity_); }
  Truth both(const Truth& a, const Truth& b) const { return emit::both(a, b); }
  Truth either(const Truth& a, const Truth& b) const {
    if (a.empty() || b == "true") return b;
    if (b.empty() || a == "true") return a;
    return "(" + a + " || " + b + ")";
  }
  Truth unknown() const { return ""; }

 private:
  Truth is(ExprId scalar, const std::string& number) const {
    return "(" + masks.e_.value(scalar) + " == " + number + ")";
  }
};

/// When a tile in which the condition never holds does not count: text, empty where that is not known.
std::string Masks::may_skip(ExprId condition) const {
  const std::vector<bool> live = live_expressions(kernel_);
  std::string skips = "true";
  for (ExprId id = 0; id < kernel_.exprs.size(); ++id) {
    const Expr& e = kernel_.exprs[id];
    if (!live[id] || !ir::is_reduced(e)) continue;
    if (e.kind == ExprKind::Reduce && e.op == Op::Max) {
      const std::string value = value_without(e.args[0], condition);
      if (value.empty() || value != value_without(e.args[0], conditions().front())) return "";
      continue;
    }
    skips = both(skips, places_.zero_without(e.args[0], condition, Logic{*this}));
  }
  return skips;
}

std::string Masks::greatest_if_skipped(ExprId maximum) const {
  return conditions().empty() ? "" : value_without(kernel_.exprs[maximum].args[0], conditions().front());
}

/// Definitions of what an expression may be in a tile: lo and hi of a number, all and no of a condition.
std::vector<std::string> Masks::interval(ExprId id) const {
  const Expr& e = kernel_.exprs[id];
  const auto name = [](const char* what, ExprId of) { return what + std::to_string(of); };
  const auto number = [&](const std::string& low, const std::string& high) -> std::vector<std::string> {
    return {"const i64 " + name("lo", id) + " = " + low + ", " + name("hi", id) + " = " + high + ";"};
  };
  const auto condition = [&](const std::string& all, const std::string& no) -> std::vector<std::string> {
    return {"const bool " + name("all", id) + " = " + all + ", " + name("no", id) + " = " + no + ";"};
  };
  if (e.kind == ExprKind::Scalar) return number(e_.value(id), e_.value(id));
  if (e.kind == ExprKind::Index) {
    const ir::MapStep& step = kernel_.maps[e.map].steps.front();
    std::string low = "i64(" + e_.integer(step.offset) + ")", high = low;
    for (std::size_t loop = 0; loop < step.strides.size(); ++loop) {
      if (step.strides[loop].is_zero()) continue;
      const std::string stride = "i64(" + e_.integer(step.strides[loop]) + ")";
      if (loop + 1 < kernel_.outer_rank) {
        low += " + " + stride + " * " + e_.coordinates[loop];
        high += " + " + stride + " * " + e_.coordinates[loop];
        continue;
      }
      const std::string ends = loop == kernel_.outer_rank ? "column" : "row";
      low += " + min(" + stride + " * first_" + ends + ", " + stride + " * last_" + ends + ")";
      high += " + max(" + stride + " * first_" + ends + ", " + stride + " * last_" + ends + ")";
    }
    return number(low, high);
  }
  const ExprId a = e.args[0], b = e.args[1];
  switch (e.op) {
    case Op::Cast: return number(name("lo", a), name("hi", a));
    case Op::Add: return number(name("lo", a) + " + " + name("lo", b), name("hi", a) + " + " + name("hi", b));
    case Op::Sub: return number(name("lo", a) + " - " + name("hi", b), name("hi", a) + " - " + name("lo", b));
    case Op::Less:
      return condition(name("hi", a) + " < " + name("lo", b), name("lo", a) + " >= " + name("hi", b));
    case Op::LessEqual:
      return condition(name("hi", a) + " <= " + name("lo", b), name("lo", a) + " > " + name("hi", b));
    case Op::And:
      return condition(name("all", a) + " && " + name("all", b), name("no", a) + " || " + name("no", b));
    case Op::Or:
      return condition(name("all", a) + " || " + name("all", b), name("no", a) + " && " + name("no", b));
    default: return condition(name("no", a), name("all", a));  // Not
  }
}

Masks::Tests Masks::tests() const {
  std::vector<bool> needed(kernel_.exprs.size());
  for (const ExprId id : conditions()) needed[id] = true;
  for (ExprId id = static_cast<ExprId>(needed.size()); id-- > 0;)
    if (needed[id])
      for (const ExprId arg : kernel_.exprs[id].args)
        if (arg != ir::kNone) needed[arg] = true;
  const std::string rows = std::to_string(rows_), columns = std::to_string(columns_);
  Tests tests;
  tests.seen = "from + " + columns + " <= size_n";
  if (conditions().empty()) {
    tests.skipped = "false";
    return tests;
  }
  tests.places = {
      "const i64 first_row = i64(row_of_tile), last_row = i64(min(row_of_tile + " + rows + ", size_m) - 1);",
      "const i64 first_column = i64(from), last_column = i64(min(from + " + columns + ", size_n) - 1);"};
  for (ExprId id = 0; id < needed.size(); ++id)
    if (needed[id])
      for (std::string& line : interval(id)) tests.places.push_back(std::move(line));
  for (const ExprId id : conditions()) {
    tests.seen += " && all" + std::to_string(id);
    const std::string skips = may_skip(id);
    if (skips.empty()) continue;
    tests.before.push_back("const bool may_skip" + std::to_string(id) + " = " + skips + ";");
    tests.skipped += (tests.skipped.empty() ? "" : " || ") + std::string("(may_skip") + std::to_string(id) +
                     " && no" + std::to_string(id) + ")";
  }
  if (tests.skipped.empty()) tests.skipped = "false";
  return tests;
}

std::string Masks::text() const {
  const Tests all = tests();
  std::string text;
  for (const std::string& line : all.before) text += "  " + line + "\n";
  const auto function = [&](const char* name, const std::string& value, bool of_places) {
    text += "  const auto " + std::string(name) + " = [&](int from) -> bool {\n";
    if (of_places)
      for (const std::string& line : all.places) text += "    " + line + "\n";
    text += "    return " + value + ";\n  };\n";
  };
  function("is_skipped", all.skipped, all.skipped != "false");
  function("are_all_seen", all.seen, true);
  return text;
}

bool Masks::grows_with_rows() const {
  for (const ExprId id : conditions()) {
    const Expr& e = kernel_.exprs[id];
    if (e.op != Op::Less && e.op != Op::LessEqual) continue;
    // Whether a row's number stands on the greater side.
    std::vector<ExprId> todo{e.args[1]};
    while (!todo.empty()) {
      const Expr& at = kernel_.exprs[todo.back()];
      todo.pop_back();
      if (at.kind == ExprKind::Index &&
          !kernel_.maps[at.map].steps.front().strides[kernel_.outer_rank - 1u].is_zero())
        return true;
      if (at.kind == ExprKind::Elementwise) todo.push_back(at.args[0]);
    }
  }
  return false;
}

}  // namespace sinter::emit
