// The lanes of a workgroup are dealt out anew: as many rows of lanes more as a lane has columns.
#include "jit/emit/walker/vectors/vectors_of_columns.h"

#include <set>

namespace sinter::emit {

using ir::ExprId;
using ir::Level;

void VectorsOfColumns::write(const InnerWork& work) {
  const Dialect& d = e_.dialect;
  const std::string width = e_.flat(std::to_string(e_.width)), lanes = e_.flat(d.lanes);
  e_.out.line(constant("groups", lanes + " / " + width));
  e_.out.line(constant("number", e_.flat(d.row) + " * " + lanes + " + " + e_.flat(d.lane)));
  e_.out.line(constant("base", e_.flat("unit") + " * " + lanes + " + number % groups * " + width));
  sums_.begin_columns(work, e_.width);
  e_.open(d.when("base < points"));
  split("base", 0, k_.outer_rank, "y");
  const std::vector<ExprId> used = used_in_rows(work);
  HeldRows places;
  for (ExprId id : used) places.elsewhere[id] = "o" + std::to_string(id);
  write_outer_values(used, places);
  loop_.write(work, {.row = "number / groups", .rows = "(" + e_.flat(d.rows) + " * " + width + ")"}, e_.width,
              [&] { vectors_.write_points(work, "y", places, used, {}); });
  e_.close();
  sums_.join_columns(work, d.cast(Type::U32, "number"), d.cast(Type::U32, "groups"));
}

std::vector<ExprId> VectorsOfColumns::used_in_rows(const InnerWork& work) const {
  std::set<ExprId> used;
  const auto use = [&](ExprId id) {
    const ir::Expr& expr = k_.exprs[id];
    // Scalars that are not converted have their names everywhere.
    const bool is_argument = expr.kind == ir::ExprKind::Scalar && k_.scalars[expr.scalar] == expr.dtype;
    if (expr.level == Level::Outer && !is_argument) used.insert(id);
  };
  for (ExprId id : work.reductions) use(k_.exprs[id].args[0]);
  for (ExprId id : work.values) for_operands(k_.exprs[id], use);
  return {used.begin(), used.end()};
}

void VectorsOfColumns::write_outer_values(const std::vector<ExprId>& used, const HeldRows& places) {
  if (used.empty()) return;
  for (ExprId id : used)
    e_.out.line(e_.dialect.declare_vector(k_.exprs[id].dtype, e_.width, places.place(id)));
  e_.open_unrolled("k", e_.width);
  e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[k_.outer_rank - 1u], "y + k"));
  for (ExprId id = 0; id <= used.back(); ++id) {
    if (!live_[id] || k_.exprs[id].level != Level::Outer || k_.exprs[id].phase != 0) continue;
    e_.define(id);
    e_.define_reciprocal(id);
  }
  for (ExprId id : used) e_.out.line(e_.set_element(id, places.place(id)));
  e_.close();
}

}  // namespace sinter::emit
