// Writes the points of a vector, and the windows that they are reduced over.
#include "jit/emit/walker/vectors/vectors_of_windows.h"

#include <algorithm>

#include "jit/ir/made_of.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;
using ir::IntRef;
using ir::Level;

namespace {

// Above this only the last loop is written out: each point stands there for each element of a vector.
constexpr int kMostWrittenOut = 16;

void add(const IntRef& ref, std::set<std::size_t>& ints) {
  if (ref.kind == IntRef::Kind::Argument) ints.insert(ref.index);
}

/// Neighbours of a vector would be neighbours of windows, too, which begin anywhere.
bool goes_on_in_windows(const ir::Kernel& kernel, std::size_t map) {
  const std::vector<IntRef>& strides = kernel.maps[map].steps.front().strides;
  return std::any_of(strides.begin() + kernel.outer_rank, strides.end(),
                     [](const IntRef& stride) { return stride.is_one(); });
}

}  // namespace

bool is_whole_in_vectors(const ir::Kernel& kernel, ExprId predicate, std::size_t along,
                         const std::vector<std::uint32_t>& dependence, std::set<std::size_t>& ints) {
  for (const ExprId part : ir::made_of(kernel, predicate)) {
    const Expr& expr = kernel.exprs[part];
    if ((dependence[part] >> along & 1) == 0) continue;
    if (expr.kind == ExprKind::Elementwise && expr.op == Op::And) continue;
    if (expr.kind != ExprKind::InBounds || expr.bounds.size() != 1 || !expr.bounds[0].step.is_one() ||
        !ir::is_consecutive(kernel.maps[expr.map], along) || goes_on_in_windows(kernel, expr.map))
      return false;
    const ir::MapStep& step = kernel.maps[expr.map].steps.front();
    if (expr.bounds[0].lower.is_one() || expr.bounds[0].size.is_one() || step.offset.is_one()) return false;
    add(expr.bounds[0].lower, ints);
    add(expr.bounds[0].size, ints);
    add(step.offset, ints);
    for (std::size_t loop = 0; loop < step.strides.size(); ++loop) {
      if (loop != along && step.strides[loop].is_one()) return false;
      add(step.strides[loop], ints);
    }
  }
  return true;
}

bool lies_in_vectors(const ir::Kernel& kernel, ExprId load, std::size_t along,
                     const std::vector<std::uint32_t>& dependence) {
  const Expr& expr = kernel.exprs[load];
  std::set<std::size_t> ints;
  return expr.kind == ExprKind::Load && ir::is_consecutive(kernel.maps[expr.map], along) &&
         !goes_on_in_windows(kernel, expr.map) &&
         (expr.predicate == ir::kNone ||
          is_whole_in_vectors(kernel, expr.predicate, along, dependence, ints));
}

bool has_vectors_of_windows(const ir::Kernel& kernel, const Target& target) {
  if (kernel.inner_sizes.empty() || kernel.split || kernel.phases != 2 || kernel.outer_rank == 0 ||
      !target.dialect->has_vectors(kernel, target))
    return false;
  const std::size_t along = kernel.outer_rank - 1u;
  const std::vector<std::uint32_t> dependence = ir::dependence(kernel);
  bool any = false;
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& expr = kernel.exprs[id];
    if (expr.kind == ExprKind::Reduce && (expr.op != Op::Sum || expr.dtype != DType::f32)) return false;
    any |= expr.level == Level::Inner && lies_in_vectors(kernel, id, along, dependence);
  }
  for (const ir::Store& store : kernel.stores)
    if (store.level == Level::Inner || store.phase == 0) return false;
  return any;
}

void VectorsOfWindows::write(const InnerWork& work) {
  split("f", 0, k_.outer_rank, "y");
  sums_.hold_columns(work, e_.width);
  const std::vector<ExprId> used = columns_.used_in_rows(work);
  HeldRows places;
  for (ExprId id : used) places.elsewhere[id] = "o" + std::to_string(id);
  columns_.write_outer_values(used, places);
  sums_.declare_parts(work, e_.width);
  int points = 1;
  for (const std::uint16_t size : k_.inner_sizes) points *= size;
  for (std::size_t i = 0; i < k_.inner_sizes.size(); ++i) {
    const std::string number = "y" + std::to_string(i);
    if (points <= kMostWrittenOut || i + 1 == k_.inner_sizes.size())
      e_.open_unrolled(number, k_.inner_sizes[i]);
    else
      e_.open(e_.dialect.loop(Type::I32, number, "0", std::to_string(k_.inner_sizes[i]), "1"));
    e_.out.line(e_.dialect.constant(e_.index_type, e_.coordinates[k_.outer_rank + i], e_.index(number)));
  }
  vectors_.write_points(work, "y", places, used, {});
  for (std::size_t i = 0; i < k_.inner_sizes.size(); ++i) e_.close();
  sums_.add_parts(work, e_.width);
  write_results(work);
  sums_.leave_columns();
}

void VectorsOfWindows::write_results(const InnerWork& work) {
  InnerWork results;
  HeldRows places;
  for (ExprId id = 0; id < k_.exprs.size(); ++id) {
    if (!live_[id] || k_.exprs[id].level != Level::Outer) continue;
    if (k_.exprs[id].kind == ExprKind::Reduce)
      places.elsewhere[id] = Accumulators::columns_of(id);
    else
      results.values.push_back(id);
  }
  for (const ir::Store& store : k_.stores) results.stores.push_back(&store);
  vectors_.write_points(results, "y", places, work.reductions, {});
}

}  // namespace sinter::emit
