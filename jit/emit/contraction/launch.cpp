// Counts tiles, and says how factors lie.
#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/loops.h"

namespace sinter::emit {
namespace {

std::int64_t value_of(ir::IntRef ref, std::span<const std::int64_t> ints) {
  if (ref.is_zero()) return 0;
  return ref.is_one() ? 1 : ints[ref.index];
}

}  // namespace

Geometry contraction_geometry(const ir::Kernel& kernel, const Target& target,
                              std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  const TiledLoops loops(kernel);
  const auto count = [&](const std::vector<std::size_t>& of) {
    std::int64_t points = 1;
    for (const std::size_t loop : of) points *= ints[kernel.extents[loop].index];
    return points;
  };
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  constexpr double kMostTiles = 1 << 30;
  const std::int64_t rows = count(loops.rows), columns = count(loops.columns);
  const double all = static_cast<double>(divide_up(rows, t.rows)) *
                     static_cast<double>(divide_up(columns, t.columns)) *
                     static_cast<double>(count(loops.batch));
  if (all > kMostTiles)
    throw DeviceError("[launch] a product of " + std::to_string(rows) + " x " + std::to_string(columns) +
                      " results in " + std::to_string(t.rows) + " x " + std::to_string(t.columns) +
                      " tiles, of which there are more than a launch counts");
  const auto tiles = static_cast<std::int64_t>(all);
  Geometry shape;
  shape.lanes = static_cast<std::uint32_t>(contraction_lanes(kernel));
  shape.shared_bytes = static_cast<std::uint32_t>(contraction_shared_bytes(kernel));
  const std::int64_t at_once = std::int64_t{target.tensor_units} * t.workgroups;
  const std::int64_t parts =
      ir::tiles_in_parts(tiles, divide_up(count(loops.depth), slot_elements(t)), at_once);
  shape.workgroups = static_cast<std::uint32_t>(std::min(tiles * parts, at_once));
  if (parts > 1) shape.cut = static_cast<std::uint32_t>(tiles);
  return shape;
}

std::size_t contraction_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape) {
  // Each workgroup leaves two parts at most, that of its first tile and that of its last.
  const std::size_t part = std::size_t{kernel.tiling.rows} * kernel.tiling.columns * sizeof(float);
  return shape.cut > 0 ? 2 * part * shape.workgroups : 0;
}

std::vector<TensorMap> tensor_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  const TiledLoops loops(kernel);
  const auto map_of = [&](const ir::TiledFactor& factor, std::size_t own, int size) {
    const ir::Expr& load = kernel.exprs[factor.value];
    const ir::MapStep& step = kernel.maps[load.map].steps.front();
    const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
    TensorMap map;
    map.buffer = load.buffer;
    map.dtype = load.dtype;
    map.offset_bytes = value_of(step.offset, ints) * bytes;
    const auto dim = [&](std::size_t loop, std::uint32_t box) {
      map.sizes.push_back(static_cast<std::uint64_t>(value_of(kernel.extents[loop], ints)));
      map.strides.push_back(static_cast<std::uint64_t>(value_of(step.strides[loop], ints) * bytes));
      map.box.push_back(box);
    };
    const auto along = static_cast<std::uint32_t>(kSlotBytes / bytes);
    if (factor.across) {
      dim(own, along);
      dim(loops.depth.front(), along);
    } else {
      dim(loops.depth.front(), along);
      dim(own, static_cast<std::uint32_t>(size));
    }
    map.strides.erase(map.strides.begin());
    for (const std::size_t loop : mapped_batch(kernel, loops, factor)) dim(loop, 1);
    return map;
  };
  std::vector<TensorMap> maps;
  if (!t.a.computed) maps.push_back(map_of(t.a, loops.rows.front(), t.rows));
  if (!t.b.computed) maps.push_back(map_of(t.b, loops.columns.front(), t.columns));
  return maps;
}

}  // namespace sinter::emit
