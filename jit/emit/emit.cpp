// Kernel IR to source text, and the shape of a launch.
#include "jit/emit/emit.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include <sinter/error.h>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/lone_rows.h"
#include "jit/emit/contraction/contraction.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/dialects/prelude.h"
#include "jit/emit/walker/accumulators.h"
#include "jit/emit/walker/expressions.h"
#include "jit/emit/walker/loops.h"
#include "jit/emit/walker/tiles.h"
#include "jit/emit/walker/vectors/vectors.h"
#include "jit/emit/walker/vectors/vectors_of_windows.h"

namespace sinter::emit {

Target::Target(const Dialect& dialect) : dialect(&dialect), subgroup(dialect.subgroup) {}

ir::Schedule schedule_on(const ir::Kernel& kernel, const Target& target) {
  if (kernel.inner_rank == 0) return ir::Schedule::Pointwise;
  if (kernel.schedule == ir::Schedule::LanesInner && target.has_workgroups) return ir::Schedule::LanesInner;
  return ir::Schedule::LanesOuter;
}

namespace {

void check_dtypes(const ir::Kernel& kernel, const Target& target) {
  auto check = [&](DType dtype) {
    if (dtype == DType::f64 && !target.has_f64)
      throw DTypeError("[emit] this device has no arithmetic for f64");
    if ((dtype == DType::i64 || dtype == DType::u64) && !target.has_i64)
      throw DTypeError("[emit] this device has no arithmetic for " + std::string(name_of(dtype)));
  };
  for (const ir::BufferInfo& buffer : kernel.buffers) {
    check(buffer.dtype);
    if (size_of(buffer.dtype) == 1 && !target.has_byte_storage)
      throw DTypeError("[emit] this device has no buffers of " + std::string(name_of(buffer.dtype)));
    if (size_of(buffer.dtype) == 2 && !target.has_half_storage)
      throw DTypeError("[emit] this device has no buffers of " + std::string(name_of(buffer.dtype)));
  }
  for (DType dtype : kernel.scalars) check(dtype);
  for (const ir::Expr& expr : kernel.exprs) check(expr.dtype);
  if (kernel.wide && !target.has_i64)
    throw DTypeError(
        "[emit] a tensor of more than 2147483647 elements needs 64-bit integers, which this device lacks");
}

template <class T>
T divide_up(T a, std::common_type_t<T> b) {
  return (a + b - 1) / b;
}

// A workgroup of fewer lanes would leave most of a core idle.
constexpr int kLeastLanes = 32;
// How many rounds of the first loop are worth a row of lanes.
constexpr std::int64_t kLeastShared = 4;
// Of lanes, which join what they have in halves.
constexpr std::int64_t kMostRows = 32;
// Of a column: the last workgroup to come joins them, few lanes for each column.
constexpr std::int64_t kMostColumnParts = 256;
// Of partial results, that one workgroup joins: it reads 64 bytes in a cycle.
constexpr std::int64_t kMostJoinedBytes = 64 << 10;
// That a row of lanes reads at a stretch, and its lanes.
constexpr std::int64_t kLeastStretch = 64, kFewestColumns = 32;
// Of a workgroup that reduces its columns in several rounds, each of which waits for the one before: 64 bytes
// of a row, by many rows of lanes.
constexpr int kFewColumns = 16, kLanesOfRounds = 512;
// Where lanes take several columns: with their sums, registers are for one larger workgroup alone, and all of
// it waits when it joins them.
constexpr int kLanesOfColumns = 512;
// Loads of each element by itself: more of them, for several columns at once, leave no registers.
constexpr int kMostAlone = 2;

/// True iff lanes of a workgroup share columns in one round after the other, so that no other workgroup can
/// help with them.
bool has_several_rounds(const ir::Kernel& kernel, const Target& target) {
  return kernel.phases > 2 && !kernel.split && has_rows_of_lanes(kernel, target);
}

/// That a lane has of a reduction: a count, a mean and squared deviations, or one.
std::size_t values_of(Op op) { return op == Op::SquaredDeviations ? 3 : 1; }

/// Partial results that a workgroup leaves for each of its columns.
std::size_t slots_of(const ir::Kernel& kernel) {
  std::size_t slots = 0;
  for (const ir::Expr& expr : kernel.exprs)
    if (expr.kind == ir::ExprKind::Reduce) slots += values_of(expr.op);
  return slots;
}

/// Of a workgroup with so many lanes, whose rows join what they reduced; `in_vectors`: by columns at first.
std::size_t bytes_of_joining(const ir::Kernel& kernel, int lanes, bool in_vectors) {
  std::set<std::pair<Op, DType>> functions;
  for (const ir::Expr& expr : kernel.exprs)
    if (expr.kind == ir::ExprKind::Reduce) functions.insert({expr.op, expr.dtype});
  std::size_t bytes = 0;  // for each lane
  for (const auto& [op, dtype] : functions) bytes += std::max<std::size_t>(size_of(dtype), 4) * values_of(op);
  const std::size_t columns = in_vectors ? bytes_of_columns(slots_of(kernel), lanes) : 0;
  return bytes * static_cast<std::size_t>(lanes) + columns + 64;  // a few words more: whose turn it is
}

/// `most` lanes, or as many fewer as the memory takes through which rows of lanes join what they reduced.
int lanes_with_memory(const ir::Kernel& kernel, const Target& target, int most) {
  const bool in_vectors = has_vectors_of_columns(kernel, target);
  int lanes = std::max(target.workgroup_size, most);
  while (target.tile_bytes > 0 && lanes > target.workgroup_size &&
         bytes_of_joining(kernel, lanes, in_vectors) > target.tile_bytes)
    lanes /= 2;
  return lanes;
}

/// True iff a workgroup goes over its row once for each phase. Large ones have fewer rows under way, which
/// caches hold from one phase to the next.
bool reads_rows_again(const ir::Kernel& kernel, const Target& target) {
  return schedule_on(kernel, target) == ir::Schedule::LanesInner && kernel.row_elements == 0 &&
         !kernel.split && kernel.phases > 2;
}

/// Columns of a workgroup of a split kernel, `most` or fewer: where many workgroups share columns, the last
/// one joins what all have left, and fewer columns leave less to each of those that are last.
std::int64_t columns_of_unit(const ir::Kernel& kernel, const Target& target, std::int64_t outer,
                             std::int64_t most) {
  std::int64_t element = 4;
  for (const ir::Expr& expr : kernel.exprs)
    if (ir::reads_memory(expr)) element = std::min(element, static_cast<std::int64_t>(size_of(expr.dtype)));
  const std::int64_t lanes = workgroup_lanes(kernel, target),
                     bytes = static_cast<std::int64_t>(slots_of(kernel)) * 4 * words_of_partial(kernel);
  const auto joined = [&](std::int64_t columns) {
    return std::min(kMostColumnParts, wanted_parts(target, lanes, divide_up(outer, columns))) * columns *
           bytes;
  };
  // Those of a vector stay together.
  const std::int64_t halves = has_vectors_of_columns(kernel, target) ? 2 * kVector : 2;
  std::int64_t columns = most;
  while (columns % halves == 0 && columns / 2 >= kFewestColumns && columns / 2 * element >= kLeastStretch &&
         joined(columns) > kMostJoinedBytes)
    columns /= 2;
  return columns;
}

/// How many lanes of a workgroup have outer points of their own, and how many rows of lanes share the inner
/// points of these.
void share_columns(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints,
                   std::int64_t outer, Geometry& shape) {
  std::int64_t shared = ints[kernel.extents[kernel.outer_rank].index];
  if (shares_all_inner_loops(kernel, target))
    for (std::size_t loop = kernel.outer_rank + 1u; loop < kernel.extents.size(); ++loop)
      shared *= ints[kernel.extents[loop].index];
  const auto use = [&](std::int64_t lanes) {
    const std::int64_t most = std::min(kMostRows, workgroup_lanes(kernel, target) / lanes);
    const std::int64_t rows = std::clamp<std::int64_t>(shared / kLeastShared, 1, most);
    shape.lanes = static_cast<std::uint32_t>(lanes);
    shape.rows = static_cast<std::uint32_t>(rows);
  };
  if (shared < 2 * kLeastShared) return;
  // Short rows of outer points mostly lie one behind the other: a workgroup reads several of them at a
  // stretch.
  const std::int64_t width = kernel.outer_rank > 0 ? ints[kernel.extents[kernel.outer_rank - 1u].index] : 1;
  if (2 * width <= target.workgroup_size) {
    const Geometry usual = shape;
    use(kernel.split ? columns_of_unit(kernel, target, outer, width) : width);
    if (2 * shape.lanes * shape.rows >= static_cast<std::uint32_t>(target.workgroup_size)) return;
    shape = usual;
  }
  if (kernel.split)
    return use(columns_of_unit(kernel, target, outer, std::min<std::int64_t>(outer, target.workgroup_size)));
  // Too few points to keep the device busy.
  if (outer >= target.wanted_workgroups * target.workgroup_size / 4) return;
  // Where no other workgroup helps, few columns each leave work for more of them.
  use(has_several_rounds(kernel, target) ? std::min(kFewColumns, target.subgroup) : target.subgroup);
}

/// Rows must be such as the text is for.
void check_rows(const ir::Kernel& kernel, std::int64_t inner, std::int64_t lanes) {
  const std::int64_t most = lanes * kernel.row_elements * kernel.row_cluster;
  if (inner > most || (kernel.row_full && inner != most))
    throw DeviceError("[launch] rows of " + std::to_string(inner) + " elements for a kernel of " +
                      (kernel.row_full ? "exactly " : "at most ") + std::to_string(kernel.row_elements) +
                      " x " + std::to_string(lanes) + " x " + std::to_string(kernel.row_cluster));
}

/// Inner loops must have the sizes that the text is for.
void check_inner_sizes(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  for (std::size_t i = 0; i < kernel.inner_sizes.size(); ++i) {
    const std::int64_t size = ints[kernel.extents[kernel.outer_rank + i].index];
    if (size != kernel.inner_sizes[i])
      throw DeviceError("[launch] an inner loop of " + std::to_string(size) + " elements for a kernel of " +
                        std::to_string(kernel.inner_sizes[i]));
  }
}

/// Several workgroups for what one would do, up to `most` of them.
void share(Geometry& shape, const Target& target, std::int64_t most) {
  const std::int64_t wanted = wanted_parts(target, shape.lanes * shape.rows, shape.workgroups);
  shape.parts = static_cast<std::uint32_t>(std::clamp<std::int64_t>(std::min(wanted, most), 1, 1024));
  shape.workgroups *= shape.parts;
}

}  // namespace

int points_at_once(const ir::Kernel& kernel, const Target& target) {
  // Above, or where normal numbers are drawn, the compiler has enough to put side by side, and several points
  // would not fit into registers.
  constexpr std::size_t kMostExpressions = 20, kMostDivisions = 8;
  const bool lies_in_vectors = kernel.outer_rank < 2 && kernel.inner_sizes.empty();
  const bool draws_numbers = std::any_of(kernel.exprs.begin(), kernel.exprs.end(), [](const ir::Expr& expr) {
    return expr.kind == ir::ExprKind::RandomNormal;
  });
  const bool is_small =
      kernel.exprs.size() <= kMostExpressions && ir::divisions(kernel) <= kMostDivisions && !draws_numbers;
  const bool stores_inner_points =
      std::any_of(kernel.stores.begin(), kernel.stores.end(),
                  [](const ir::Store& store) { return store.level == ir::Level::Inner; });
  if (!target.vectors || lies_in_vectors || !is_small || stores_inner_points) return 1;
  // As many bytes are to be under way of 16-bit elements.
  const bool only_halves =
      std::all_of(kernel.buffers.begin(), kernel.buffers.end(),
                  [](const ir::BufferInfo& buffer) { return size_of(buffer.dtype) <= 2; });
  int elements = only_halves ? 8 : 4;
  if (!kernel.inner_sizes.empty())
    elements *= 2;  // what overlaps is read once, and lies one behind the other
  for (const std::uint16_t size : kernel.inner_sizes) elements /= std::max<int>(size, 1);
  return std::max(std::min(elements, only_halves ? 8 : 4), 1);
}

bool has_short_rows(const ir::Kernel& kernel, const Target& target) {
  return kernel.row_elements > 0 && kernel.row_lanes <= target.subgroup && !target.dialect->row.empty();
}

bool has_rows_of_lanes(const ir::Kernel& kernel, const Target& target) {
  return schedule_on(kernel, target) == ir::Schedule::LanesOuter && target.has_workgroups &&
         kernel.inner_sizes.empty() && !target.dialect->row.empty();
}

bool has_vectors_of_columns(const ir::Kernel& kernel, const Target& target) {
  if (!kernel.split || !has_rows_of_lanes(kernel, target) || kernel.outer_rank == 0 ||
      !target.dialect->has_vectors(kernel, target))
    return false;
  const std::size_t along = kernel.outer_rank - 1u;
  const std::vector<std::uint32_t> of_maps = ir::dependence_of_maps(kernel),
                                   of_values = ir::dependence(kernel);
  int alone = 0, in_vectors = 0;  // loads
  std::vector<bool> inner;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (expr.kind == ir::ExprKind::Reduce &&
        ((expr.op != Op::Sum && expr.op != Op::SquaredDeviations) || expr.dtype != DType::f32))
      return false;
    inner.push_back(expr.level == ir::Level::Inner);
    if (!ir::reads_memory(expr) || !inner.back() || (of_maps[expr.map] >> along & 1) == 0) continue;
    ++(lies_in_vectors(kernel, id, along, of_values) ? in_vectors : alone);
  }
  return in_vectors > 0 && alone <= kMostAlone && is_small_enough_for_vectors(kernel, inner) &&
         (target.tile_bytes == 0 ||
          bytes_of_joining(kernel, target.workgroup_size, true) <= target.tile_bytes);
}

bool shares_all_inner_loops(const ir::Kernel& kernel, const Target& target) {
  return has_rows_of_lanes(kernel, target) && kernel.inner_rank > 1 && !kernel.reciprocals.empty();
}

int workgroup_lanes(const ir::Kernel& kernel, const Target& target) {
  if (has_tiles(kernel, target)) return contraction_lanes(kernel);
  if (has_attention(kernel, target)) return attention_lanes(kernel);
  if (has_lone_rows(kernel, target)) return lone_rows_lanes();
  if (kernel.split && has_rows_of_lanes(kernel, target))
    return lanes_with_memory(kernel, target,
                             has_vectors_of_columns(kernel, target)
                                 ? std::min(kLanesOfColumns, target.large_workgroup_size)
                                 : target.large_workgroup_size);
  if (has_several_rounds(kernel, target))
    return lanes_with_memory(kernel, target, std::min(kLanesOfRounds, target.large_workgroup_size));
  if (reads_rows_again(kernel, target)) return std::max(target.workgroup_size, target.large_workgroup_size);
  return kernel.row_elements > 0 && !has_short_rows(kernel, target) ? kernel.row_lanes
                                                                    : target.workgroup_size;
}

Source emit(const ir::Kernel& kernel, const Target& device) {
  check_dtypes(kernel, device);
  if (has_tiles(kernel, device)) return emit_contraction(kernel, device);
  if (has_attention(kernel, device)) return emit_attention(kernel, device);
  if (has_lone_rows(kernel, device)) return emit_lone_rows(kernel, device);
  // What stands for each subgroup or lane of a workgroup has room for this kernel's workgroups.
  Target target = device;
  target.workgroup_size = workgroup_lanes(kernel, device);
  const ir::Schedule schedule = schedule_on(kernel, target);
  Expressions e(kernel, target);
  e.dialect.add_functions(target, e.functions);
  e.out.indent();
  write_loops(e, schedule);
  const std::string& body = e.out.text();
  Source source;
  source.entry = e.dialect.entry;
  source.text = e.dialect.preamble(kernel, target) + functions_for(body, e.dialect, e.functions) +
                e.dialect.open(kernel, target, e.use);
  source.text += body + "}\n";
  return source;
}

std::int64_t wanted_parts(const Target& target, std::int64_t lanes, std::int64_t units) {
  // Of large ones fewer keep the device busy.
  return target.wanted_workgroups * target.workgroup_size /
         std::max<std::int64_t>(target.workgroup_size, lanes) / std::max<std::int64_t>(units, 1);
}

bool takes_parts(const ir::Kernel& kernel, const Target& target) {
  return kernel.split || has_lone_rows(kernel, target) ||
         (has_tiles(kernel, target) && kernel.tiling.matrices.any());
}

std::int64_t counters_of(const ir::Kernel& kernel, const Geometry& shape) {
  // Tiles count their parts in groups as well, of which there are fewer than parts.
  if (kernel.tiling.matrices.any()) return shape.parts > 1 ? shape.workgroups : 0;
  return shape.workgroups / shape.parts;
}

std::size_t split_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape,
                                std::span<const std::int64_t> ints) {
  if (kernel.tiling.matrices.any()) return contraction_scratch_bytes(kernel, shape);
  if (kernel.lone_rows.any()) return lone_rows_scratch_bytes(kernel, shape);
  std::size_t points = 1;
  for (std::size_t c = 0; c < kernel.outer_rank; ++c)
    points *= static_cast<std::size_t>(ints[kernel.extents[c].index]);
  return sizeof(std::uint32_t) * static_cast<std::size_t>(words_of_partial(kernel)) * slots_of(kernel) *
         shape.parts * points;
}

int words_of_partial(const ir::Kernel& kernel) {
  return std::any_of(
             kernel.exprs.begin(), kernel.exprs.end(),
             [](const ir::Expr& e) { return e.kind == ir::ExprKind::Reduce && size_of(e.dtype) == 8; })
             ? 2
             : 1;
}

Geometry geometry(const ir::Kernel& kernel, const Target& target, std::span<const std::int64_t> ints) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t c = 0; c < kernel.extents.size(); ++c)
    (c < kernel.outer_rank ? outer : inner) *= ints[kernel.extents[c].index];
  Geometry shape;
  if (outer <= 0) return shape;
  if (has_tiles(kernel, target)) return contraction_geometry(kernel, target, ints);
  if (has_attention(kernel, target)) return attention_geometry(kernel, target, ints);
  if (has_lone_rows(kernel, target)) return lone_rows_geometry(kernel, target, ints);
  const auto check_split = [&](std::int64_t workgroups) {
    // These have no loop over outer points.
    if (kernel.split && workgroups > shape.workgroups)
      throw DeviceError("[launch] " + std::to_string(outer) +
                        " results of a kernel whose work several workgroups share, which need " +
                        std::to_string(workgroups) + " workgroups; the most are " +
                        std::to_string(shape.workgroups));
  };
  // So many lanes in one launch that their number still fits 31 bits; the kernels loop over what is left.
  const std::int64_t most =
      std::min<std::int64_t>(target.max_workgroups, (std::int64_t{1} << 30) / target.workgroup_size);
  const bool vectors = target.dialect->has_vectors(kernel, target);
  switch (schedule_on(kernel, target)) {
    case ir::Schedule::Pointwise: {
      if (const int edge = tile_edge(kernel, target); edge > 0) {
        shape.lanes = static_cast<std::uint32_t>(target.workgroup_size);
        shape.workgroups = static_cast<std::uint32_t>(std::min(most, tile_count(kernel, edge, ints)));
        break;
      }
      const std::int64_t per_lane = vectors ? vector_width(kernel, target) : points_at_once(kernel, target);
      // Small work is spread thin: a lane for each point until the device has several workgroups for each of
      // its cores.
      const std::int64_t lanes = outer < 65536 ? outer : divide_up(outer, per_lane);
      shape.lanes = static_cast<std::uint32_t>(target.workgroup_size);
      shape.workgroups = static_cast<std::uint32_t>(std::min(most, divide_up(lanes, shape.lanes)));
      break;
    }
    case ir::Schedule::LanesOuter: {
      const int size = target.has_workgroups && !kernel.split
                           ? std::min(target.workgroup_size, outer < 32768 ? 128 : 256)
                           : target.workgroup_size;
      shape.lanes = static_cast<std::uint32_t>(size);
      // Rows and parts are cut along the first inner dim.
      if (!kernel.inner_sizes.empty()) {
        check_inner_sizes(kernel, ints);
        const std::int64_t per_lane = has_vectors_of_windows(kernel, target) ? vector_width(kernel, target)
                                                                             : points_at_once(kernel, target);
        shape.workgroups = static_cast<std::uint32_t>(
            std::min(most, divide_up(outer < 65536 ? outer : divide_up(outer, per_lane), shape.lanes)));
        break;
      }
      const std::int64_t first = ints[kernel.extents[kernel.outer_rank].index];
      if (has_rows_of_lanes(kernel, target) && target.subgroup > 0)
        share_columns(kernel, target, ints, outer, shape);
      shape.workgroups = static_cast<std::uint32_t>(std::min(most, divide_up(outer, shape.lanes)));
      check_split(divide_up(outer, shape.lanes));
      // A lane has eight points or more, whichever of the inner loops they are along.
      if (kernel.split)
        share(shape, target,
              std::min({kMostColumnParts, shares_all_inner_loops(kernel, target) ? inner : first / shape.rows,
                        inner / (8 * shape.rows)}));
      break;
    }
    case ir::Schedule::LanesInner: {
      if (ir::has_parts(kernel)) {
        check_rows(kernel, inner, kernel.row_lanes);
        const bool is_short = has_short_rows(kernel, target);
        shape.lanes = kernel.row_lanes;
        shape.rows = is_short ? static_cast<std::uint32_t>(target.workgroup_size / kernel.row_lanes) : 1;
        shape.workgroups = static_cast<std::uint32_t>(ints[kernel.parts.index]) * kernel.row_cluster;
        break;
      }
      if (has_short_rows(kernel, target)) {
        check_rows(kernel, inner, kernel.row_lanes);
        shape.lanes = kernel.row_lanes;
        shape.rows = static_cast<std::uint32_t>(target.workgroup_size / kernel.row_lanes);
        shape.workgroups = static_cast<std::uint32_t>(std::min(most, divide_up(outer, shape.rows)));
        break;
      }
      if (kernel.row_cluster > 1) {
        check_rows(kernel, inner, kernel.row_lanes);
        shape.lanes = kernel.row_lanes;
        shape.workgroups =
            static_cast<std::uint32_t>(std::min(most / kernel.row_cluster, outer)) * kernel.row_cluster;
        break;
      }
      const std::int64_t full = workgroup_lanes(kernel, target);
      const std::int64_t width = vector_width(kernel, target);
      std::int64_t lanes = std::max(kLeastLanes, target.subgroup);
      while (kernel.row_elements == 0 && lanes < full && lanes * 2 * width <= inner) lanes *= 2;
      while (lanes < full && kernel.row_elements > 0 && lanes * kernel.row_elements < inner) lanes *= 2;
      if (kernel.row_elements > 0) check_rows(kernel, inner, lanes);
      shape.lanes = static_cast<std::uint32_t>(lanes);
      // Several points per workgroup where one subgroup is enough for a point: workgroups of one subgroup
      // would leave a core half empty.
      if (target.dialect->rows_of_subgroups && lanes == target.subgroup)
        shape.rows = static_cast<std::uint32_t>(std::min<std::int64_t>(full / lanes, outer));
      if (kernel.split) shape.rows = 1;
      shape.workgroups = static_cast<std::uint32_t>(std::min(most, divide_up(outer, shape.rows)));
      check_split(outer);
      if (kernel.split) share(shape, target, inner / (lanes * width * 2));
      break;
    }
  }
  return shape;
}

}  // namespace sinter::emit
