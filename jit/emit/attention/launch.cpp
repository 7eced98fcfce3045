// Counts tiles of scores, and says how rows lie.
#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/attention/attention.h"
#include "jit/emit/attention/text.h"
#include "jit/emit/contraction/loops.h"
#include "jit/emit/contraction/subgroups.h"

namespace sinter::emit {
namespace {

std::int64_t value_of(ir::IntRef ref, std::span<const std::int64_t> ints) {
  if (ref.is_zero()) return 0;
  return ref.is_one() ? 1 : ints[ref.index];
}

}  // namespace

bool has_attention(const ir::Kernel& kernel, const Target& target) {
  return kernel.attention.any() && target.tensor_units > 0;
}

int attention_lanes(const ir::Kernel& kernel) {
  if (kernel.attention.by_subgroups) return kernel.attention.rows / kRowsOfSubgroup * kSubgroupLanes;
  return (kernel.attention.rows / kRowsOfWarpgroup + 1) * kWarpgroup;
}

std::size_t attention_shared_bytes(const ir::Kernel& kernel) { return SharedRows(kernel).bytes(); }

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

Geometry attention_geometry(const ir::Kernel& kernel, const Target& target,
                            std::span<const std::int64_t> ints) {
  const std::int64_t all = ints[kernel.extents[kernel.outer_rank - 1u].index];
  double tiles = static_cast<double>((all + kernel.attention.rows - 1) / kernel.attention.rows);
  for (std::size_t loop = 0; loop + 1 < kernel.outer_rank; ++loop)
    tiles *= static_cast<double>(ints[kernel.extents[loop].index]);
  if (tiles > INT32_MAX)
    throw DeviceError("[launch] " + std::to_string(tiles) + " tiles of scores, more than a launch counts");
  Geometry shape;
  shape.lanes = static_cast<std::uint32_t>(attention_lanes(kernel));
  shape.shared_bytes = static_cast<std::uint32_t>(SharedRows(kernel).bytes());
  // Groups of subgroups stay for several tiles.
  shape.workgroups = static_cast<std::uint32_t>(
      kernel.attention.by_subgroups ? tiles : std::min<double>(tiles, target.tensor_units));
  return shape;
}

std::vector<TensorMap> attention_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  std::vector<TensorMap> maps;
  if (kernel.attention.by_subgroups) return maps;
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
