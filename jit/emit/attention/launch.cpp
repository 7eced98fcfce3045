// Counts tiles of scores, and says how rows lie.
#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/text.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/contraction/subgroups.h"
#include "jit/ir/scores/score_tile.h"

namespace sinter::emit {

using By = ir::Attention::By;

bool has_attention(const ir::Kernel& kernel, const Target& target) {
  return kernel.attention.any() && kernel.attention.by != By::Stripes &&
         (ir::has_score_tile(kernel) ? target.has_workgroups : target.tensor_units > 0);
}

int attention_lanes(const ir::Kernel& kernel) {
  const int rows = kernel.attention.rows;
  switch (kernel.attention.by) {
    case By::Groups: return (rows / kRowsOfWarpgroup + 1) * kWarpgroup;
    case By::Subgroups: return rows / kRowsOfSubgroup * kSubgroupLanes;
    case By::Lanes:
    case By::Matrices:
    case By::Stripes: break;
  }
  return ir::ScoreTile(kernel).lanes();
}

std::size_t attention_shared_bytes(const ir::Kernel& kernel) {
  return ir::has_score_tile(kernel) ? ir::ScoreTile(kernel).bytes() : SharedRows(kernel).bytes();
}

std::vector<ir::ExprId> rows_of(const ir::Kernel& kernel) {
  std::vector<ir::ExprId> rows;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id)
    if (kernel.exprs[id].kind == ir::ExprKind::Row) rows.push_back(id);
  return rows;
}

std::vector<std::size_t> mapped_batch(const ir::Kernel& kernel, ir::ExprId row) {
  std::vector<std::size_t> mapped;
  const std::vector<ir::IntRef>& strides = kernel.maps[kernel.exprs[row].map].steps.front().strides;
  for (std::size_t loop = kernel.outer_rank - 1u; loop-- > 0;)
    if (!strides[loop].is_zero()) mapped.push_back(loop);
  return mapped;
}

namespace {

/// Tiles of rows.
double items_of(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  const std::int64_t all = ints[kernel.extents[kernel.outer_rank - 1u].index];
  double tiles = static_cast<double>((all + kernel.attention.rows - 1) / kernel.attention.rows);
  for (std::size_t loop = 0; loop + 1 < kernel.outer_rank; ++loop)
    tiles *= static_cast<double>(ints[kernel.extents[loop].index]);
  return tiles;
}

}  // namespace

std::int64_t attention_rounds(const ir::Kernel& kernel, const Geometry& shape,
                              std::span<const std::int64_t> ints) {
  if (shape.workgroups == 0) return 0;
  const ir::ScoreTile tile(kernel);
  const std::int64_t rows = tile.rows_of_lane(), columns = kernel.attention.columns;
  std::int64_t brings = 0, of_tile = 3 * tile.columns_of_lane() * (1 + rows), ends = 3 * rows;
  for (const ir::Expr& e : kernel.exprs) {
    if (e.kind == ir::ExprKind::Row) brings += (1 + columns * e.length / tile.lanes()) * 10;
    if (e.kind == ir::ExprKind::Dot)
      of_tile += rows * tile.columns_of_lane() + kernel.exprs[e.args[0]].length;
    if (e.kind != ir::ExprKind::Combine) continue;
    const std::int64_t fours = ir::ScoreTile::fours_of_lane(kernel.exprs[e.args[1]]);
    of_tile += columns + tile.columns_of_lane() + rows * fours;
    ends += 2 * rows * fours;
  }
  const std::int64_t all = ints[kernel.extents[kernel.outer_rank].index];
  const auto items = static_cast<std::int64_t>(items_of(kernel, ints));
  return (items + shape.workgroups - 1) / shape.workgroups *
         ((all + columns - 1) / columns * (1 + brings + of_tile) + brings + ends);
}

Geometry attention_geometry(const ir::Kernel& kernel, const Target& target,
                            std::span<const std::int64_t> ints) {
  const double tiles = items_of(kernel, ints);
  if (tiles > INT32_MAX)
    throw DeviceError("[launch] " + std::to_string(tiles) + " tiles of scores, more than a launch counts");
  Geometry shape;
  shape.lanes = static_cast<std::uint32_t>(attention_lanes(kernel));
  shape.shared_bytes = static_cast<std::uint32_t>(attention_shared_bytes(kernel));
  double workgroups = tiles;
  // Groups of subgroups stay for several tiles.
  if (kernel.attention.by == By::Groups) workgroups = std::min<double>(tiles, target.tensor_units);
  if (ir::has_score_tile(kernel)) workgroups = std::min(tiles, static_cast<double>(target.max_workgroups));
  shape.workgroups = static_cast<std::uint32_t>(workgroups);
  return shape;
}

std::vector<TensorMap> attention_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  std::vector<TensorMap> maps;
  if (kernel.attention.by != By::Groups) return maps;
  const SharedRows shared(kernel);
  for (const ir::ExprId id : rows_of(kernel)) {
    const ir::Expr& row = kernel.exprs[id];
    const ir::MapStep& step = kernel.maps[row.map].steps.front();
    const auto bytes = static_cast<std::int64_t>(size_of(row.dtype));
    TensorMap& map = maps.emplace_back();
    map.buffer = row.buffer;
    map.dtype = row.dtype;
    map.offset_bytes = value_of(step.offset, ints) * bytes;
    const auto dim = [&](std::int64_t size, std::int64_t stride, int box) {
      map.sizes.push_back(static_cast<std::uint64_t>(size));
      if (map.sizes.size() > 1) map.strides.push_back(static_cast<std::uint64_t>(stride * bytes));
      map.box.push_back(static_cast<std::uint32_t>(box));
    };
    const std::size_t own = shared.is_column(id) ? kernel.outer_rank : kernel.outer_rank - 1u;
    const std::int64_t size = value_of(kernel.extents[own], ints), stride = value_of(step.strides[own], ints);
    const int line = elements_of_line(row.dtype);
    if (shared.is_across(id)) {
      dim(size, 1, line);
      dim(row.length, value_of(row.stride, ints), row.length);
    } else if (shared.is_ordered(id)) {
      dim(row.length, 1, line);
      dim(size / 4, 4 * stride, 2);
      dim(4, stride, 4);
    } else {
      dim(row.length, 1, line);
      dim(size, stride, shared.is_column(id) ? kernel.attention.columns : kernel.attention.rows);
    }
    for (const std::size_t loop : mapped_batch(kernel, id))
      dim(value_of(kernel.extents[loop], ints), value_of(step.strides[loop], ints), 1);
  }
  return maps;
}

}  // namespace sinter::emit
