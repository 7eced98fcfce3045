// Where the sums of columns are, and how they leave the registers.
#include "jit/emit/walker/column_sums.h"

#include <algorithm>

namespace sinter::emit {

namespace {

constexpr const char* kShared = "sn_columns";
// Of the memory in which lanes leave sums to be joined: more of them at once mean fewer barriers.
constexpr int kSharedBytes = 16 * 1024;

}  // namespace

ColumnSums::ColumnSums(Expressions& e, const Vectors& vectors, const std::vector<bool>& live)
    : LoopText(e), vectors_(vectors) {
  for (const ir::Store& store : k_.stores)
    if (live[store.value] && k_.exprs[store.value].kind == ir::ExprKind::Partial) partials_.push_back(&store);
  if (ir::has_parts(k_) && has_rows())
    e_.use.shared.push_back({kShared, DType::f32, turns_at_once() * e_.width * e_.target.workgroup_size});
}

int ColumnSums::turns_at_once() const {
  const int bytes = 4 * e_.width * e_.target.workgroup_size;
  return std::clamp(kSharedBytes / bytes, 1, k_.row_elements / e_.width);
}

void ColumnSums::find_part() {
  const Dialect& d = e_.dialect;
  const std::string step = e_.flat(std::to_string(k_.part_step)), one = e_.flat("1"),
                    cluster = e_.flat(std::to_string(k_.row_cluster));
  std::string workgroup = e_.flat(d.cast(Type::U32, d.grid(k_).workgroup));
  if (k_.row_cluster > 1) workgroup += " / " + cluster;
  e_.out.line(constant("part", workgroup));
  e_.out.line(constant("groups", e_.flat(e_.integer(k_.parts)) + " / " + step));
  e_.out.line(constant("group", "part / " + step));
  e_.out.line(constant("taken", "(points + " + step + " - " + one + ") / " + step));
  e_.out.line(constant("each", "taken / groups"));
  e_.out.line(constant("more", "taken % groups"));
  e_.out.line(constant("first", "(group * each + (" + choose("group < more", "group", "more") + ")) * " +
                                    step + " + part % " + step));
  e_.out.line(constant("most", "each + (" + choose("group < more", one, e_.flat("0")) + ")"));
  // Of the last points there may be fewer than a step.
  e_.out.line(constant(
      "count", choose("most > " + e_.flat("0") + " && first + (most - " + one + ") * " + step + " >= points",
                      "most - " + one, "most")));
}

void ColumnSums::declare() {
  const int turns = k_.row_elements / e_.width;
  for (const ir::Store* partial : partials_)
    e_.out.line(
        e_.dialect.declare_vector(DType::f32, e_.width, Accumulators::column_sum(partial->value), turns));
  e_.open_unrolled("i", turns);
  e_.open_unrolled("k", e_.width);
  for (const ir::Store* partial : partials_)
    e_.out.line(Accumulators::column_sum(partial->value) + "[i][k] = " + e_.zero(DType::f32) + ";");
  e_.close();
  e_.close();
}

void ColumnSums::finish(HeldForm form) {
  e_.open("");
  e_.out.line(constant("columns", count_of(k_.outer_rank, k_.inner_rank)));
  if (form == HeldForm::Shifted) {
    // All rows of the part begin alike.
    split("first", 0, k_.outer_rank, "");
    e_.out.line(e_.dialect.constant(e_.index_type, "shift", vectors_.shift()));
  }
  const int turns = k_.row_elements / e_.width;
  for (const ir::Store* partial : partials_) {
    if (has_rows()) {
      for (int first = 0; first < turns; first += turns_at_once())
        join_rows(*partial, form, first, std::min(turns_at_once(), turns - first));
      continue;
    }
    e_.open_unrolled("i", turns);
    e_.open_unrolled("k", e_.width);
    store(*partial, form, Accumulators::column_sum(partial->value) + "[i][k]", "k", e_.dialect.lane);
    e_.close();
    e_.close();
  }
  e_.close();
}

/// Each lane leaves its sums of some turns; then lanes take a column each and add up what all rows of lanes
/// have of it.
void ColumnSums::join_rows(const ir::Store& partial, HeldForm form, int first, int turns) {
  const Dialect& d = e_.dialect;
  const auto number = [&](const std::string& text) { return d.cast(Type::U32, text); };
  const std::string all = u32(e_.target.workgroup_size), lanes = number(e_.lanes()), rows = number(d.rows),
                    lane = number(d.lane), row = number(d.row), width = u32(e_.width);
  const auto place = [&](const std::string& element, const std::string& r, const std::string& l) {
    return std::string(kShared) + "[(" + element + ") * " + all + " + " + r + " * " + lanes + " + " + l + "]";
  };
  e_.out.line(d.workgroup_barrier);
  e_.open_unrolled("i", turns);
  e_.open_unrolled("k", e_.width);
  e_.out.line(place(number("i") + " * " + width + " + " + number("k"), row, lane) + " = " +
              Accumulators::column_sum(partial.value) + "[" + std::to_string(first) + " + i][k];");
  e_.close();
  e_.close();
  e_.out.line(d.workgroup_barrier);
  e_.open(d.loop(Type::U32, "at", row + " * " + lanes + " + " + lane, lanes + " * " + u32(turns * e_.width),
                 rows + " * " + lanes));
  e_.out.line(d.constant(Type::U32, "own", "at / " + lanes));
  e_.out.line(d.constant(Type::U32, "own_lane", "at % " + lanes));
  e_.out.line(d.variable(DType::f32, "sum", place("own", u32(0), "own_lane")));
  e_.open(d.loop(Type::U32, "r", u32(1), rows, u32(1)));
  e_.out.line("sum = sum + " + place("own", "r", "own_lane") + ";");
  e_.close();
  e_.out.line(d.constant(Type::U32, "i", u32(first) + " + own / " + width));
  e_.out.line(d.constant(Type::U32, "k", "own % " + width));
  store(partial, form, "sum", "k", "own_lane");
  e_.close();
}

void ColumnSums::store(const ir::Store& partial, HeldForm form, const std::string& value,
                       const std::string& k, const std::string& lane) {
  const std::string width = e_.flat(std::to_string(e_.width)), lanes = e_.flat(e_.lanes()),
                    element = e_.flat(k);
  const auto at_lane = [&](const std::string& turn) {
    return turn_of(turn) + " * " + lanes + " + " + e_.flat(lane);
  };
  std::string column;
  if (form == HeldForm::Elements)
    column = at_lane("(" + e_.flat("i") + " * " + width + " + " + element + ")");
  else
    column = "(" + at_lane(e_.flat("i")) + ") * " + width + " + " + element;
  if (form == HeldForm::Shifted) {
    // As a number that is never negative, what comes before the row is beyond its end.
    e_.out.line(e_.dialect.constant(e_.index_type, "y", e_.index(column) + " - shift"));
    e_.open(e_.dialect.when((k_.wide ? "y >= 0 && " : "") + e_.flat("y") + " < columns"));
    column = e_.flat("y");
  } else {
    e_.out.line(constant("j", column));
    e_.open(e_.dialect.when("j < columns"));
    column = "j";
  }
  split(column, k_.outer_rank, k_.inner_rank, "");
  const std::string at = e_.position(partial.map) + " + " + e_.index("part") + " * " + e_.index("columns");
  e_.out.line(e_.dialect.write(k_, partial.buffer, at, value));
  e_.close();
}

}  // namespace sinter::emit
