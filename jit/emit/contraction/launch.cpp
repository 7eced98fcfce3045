// Counts tiles, and says how factors lie.
#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/contraction/contraction.h"
#include "jit/emit/contraction/loops.h"
#include "jit/ir/products/parts.h"
#include "jit/ir/products/windows.h"

namespace sinter::emit {
namespace {

// Of what lies across the sum, at a time.
constexpr int kRowsOfChunk = 64;

Divisor divisor(std::int64_t by) {
  if (by == 1) return {};
  const ir::Factor reciprocal = ir::reciprocal_of(by);
  return {static_cast<std::int32_t>(by), static_cast<std::int32_t>(reciprocal.multiplier),
          static_cast<std::int32_t>(reciprocal.shift)};
}

/// `positions`: that are copied at a time.
TensorMap map_of_windows(const ir::Expr& load, const ir::Windows& windows, std::uint32_t positions) {
  const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
  TensorMap map;
  map.buffer = load.buffer;
  map.dtype = load.dtype;
  map.offset_bytes = windows.offset * bytes;
  map.box = {static_cast<std::uint32_t>(kSlotBytes / bytes), positions};
  TensorMap::Box& box = map.windows.emplace();
  WindowNumbers& numbers = box.numbers;
  numbers.channels = divisor(windows.channels);
  const auto dim = [&](std::int64_t size, std::int64_t stride) {
    map.sizes.push_back(static_cast<std::uint64_t>(size));
    // Nothing steps along a dim of one element.
    map.strides.push_back(static_cast<std::uint64_t>((stride == 0 ? windows.own_channels : stride) * bytes));
  };
  map.sizes.push_back(static_cast<std::uint64_t>(windows.own_channels));
  box.steps[0] = 1;
  for (std::size_t k = 0; k < windows.dims; ++k) {
    const ir::WindowSteps& steps = windows.along[k];
    dim(steps.size, steps.stride);
    if (k + 1 < windows.dims) numbers.elements[k] = divisor(steps.elements);
    numbers.positions[k] = divisor(steps.positions);
    numbers.first[k] = box.lower[k] = static_cast<std::int32_t>(steps.first);
    numbers.step[k] = static_cast<std::int32_t>(steps.step);
    numbers.spread[k] = static_cast<std::int32_t>(steps.spread);
    box.upper[k] =
        static_cast<std::int32_t>(steps.first + (steps.positions - 1) * steps.step - (steps.size - 1));
    box.steps[1 + k] = static_cast<std::uint32_t>(steps.step);
  }
  dim(windows.images, windows.image_stride);
  box.steps[1 + windows.dims] = 1;
  return map;
}

}  // namespace

std::int64_t points_of(const ir::Kernel& kernel, const std::vector<std::size_t>& loops,
                       std::span<const std::int64_t> ints) {
  std::int64_t points = 1;
  for (const std::size_t loop : loops) points *= ints[kernel.extents[loop].index];
  return points;
}

std::int64_t tiles_of(const ir::Kernel& kernel, std::span<const std::int64_t> ints, std::size_t members) {
  const ir::Tiling& t = kernel.tiling;
  const TiledLoops loops(kernel);
  const auto divide_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  constexpr double kMostTiles = 1 << 30;
  const std::int64_t rows = points_of(kernel, loops.rows, ints),
                     columns = points_of(kernel, loops.columns, ints);
  const double all = static_cast<double>(divide_up(rows, t.rows)) *
                     static_cast<double>(divide_up(columns, t.own_columns())) *
                     static_cast<double>(points_of(kernel, loops.batch, ints)) * static_cast<double>(members);
  if (all > kMostTiles)
    throw DeviceError("[launch] a product of " + std::to_string(rows) + " x " + std::to_string(columns) +
                      " results in " + std::to_string(t.rows) + " x " + std::to_string(t.own_columns()) +
                      " tiles, of which there are more than a launch counts");
  return static_cast<std::int64_t>(all);
}

Geometry contraction_geometry(const ir::Kernel& kernel, const Target& target,
                              std::span<const std::int64_t> ints, std::size_t members) {
  const ir::Tiling& t = kernel.tiling;
  const std::int64_t tiles = tiles_of(kernel, ints, members);
  Geometry shape;
  shape.lanes = static_cast<std::uint32_t>(contraction_lanes(kernel));
  shape.shared_bytes = static_cast<std::uint32_t>(contraction_shared_bytes(kernel));
  // Parts that a launch has no workgroups for would have no memory either.
  const std::int64_t at_once =
      std::min(std::int64_t{target.tensor_units} * t.workgroups, target.max_workgroups);
  if (t.sharers > 0) {
    shape.workgroups = static_cast<std::uint32_t>(std::min(tiles, at_once));
    return shape;
  }
  if (t.cluster > 1) {
    shape.workgroups = static_cast<std::uint32_t>(
        std::min(tiles, std::max<std::int64_t>(at_once / t.cluster, 1)) * t.cluster);
    return shape;
  }
  const std::int64_t depth = points_of(kernel, TiledLoops(kernel).depth, ints), each = slot_elements(t);
  const std::int64_t rounds = (depth + each - 1) / each * static_cast<std::int64_t>(t.terms.size() + 1);
  const std::int64_t parts = ir::tiles_in_parts(tiles, rounds, at_once, t.exact);
  if (t.matrices.any()) {
    shape.parts = static_cast<std::uint32_t>(parts);
    shape.workgroups = static_cast<std::uint32_t>(std::min(tiles * parts, target.max_workgroups));
    return shape;
  }
  shape.workgroups = static_cast<std::uint32_t>(std::min(tiles * parts, at_once));
  if (parts > 1) shape.cut = static_cast<std::uint32_t>(tiles);
  return shape;
}

std::size_t contraction_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape) {
  const std::size_t part = std::size_t{kernel.tiling.rows} * kernel.tiling.columns * sizeof(float);
  // Of these each workgroup has one part.
  if (kernel.tiling.matrices.any()) return shape.parts > 1 ? part * shape.workgroups : 0;
  // Each workgroup leaves two parts at most, that of its first tile and that of its last.
  return shape.cut > 0 ? 2 * part * shape.workgroups : 0;
}

std::vector<std::string> names_of_tensor_maps(const ir::Tiling& tiling) {
  std::vector<std::string> names;
  if (!tiling.has_groups()) return names;
  if (!tiling.a.computed) names.emplace_back("t_a");
  if (!tiling.b.computed) names.emplace_back("t_b");
  for (std::size_t k = 1; k <= tiling.others.size(); ++k) names.push_back("t_b" + std::to_string(k));
  for (std::size_t k = 1; k <= tiling.terms.size(); ++k) {
    names.push_back("t_a" + std::to_string(k));
    names.push_back("t_b" + std::to_string(k));
  }
  return names;
}

std::vector<TensorMap> tensor_maps(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  const TiledLoops loops(kernel);
  const auto count = [&](const std::vector<std::size_t>& of) { return points_of(kernel, of, ints); };
  const auto map_of = [&](const ir::TiledFactor& factor, const std::vector<std::size_t>& own, int size,
                          ir::ExprId value) {
    const ir::Expr& load = kernel.exprs[value];
    if (factor.windows) {
      const std::optional<ir::Windows> windows =
          ir::windows_of(kernel, ints, load,
                         {loops.batch, factor.across ? loops.depth : own, factor.across ? own : loops.depth});
      return map_of_windows(load, windows.value(),
                            static_cast<std::uint32_t>(factor.across ? kRowsOfChunk : size));
    }
    const ir::MapStep& step = kernel.maps[load.map].steps.front();
    const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
    TensorMap map;
    map.buffer = load.buffer;
    map.dtype = load.dtype;
    map.offset_bytes = value_of(step.offset, ints) * bytes;
    // Loops that lie as one.
    const auto dim = [&](const std::vector<std::size_t>& of, std::uint32_t box) {
      map.sizes.push_back(static_cast<std::uint64_t>(count(of)));
      map.strides.push_back(static_cast<std::uint64_t>(value_of(step.strides[of.back()], ints) * bytes));
      map.box.push_back(box);
    };
    const auto along = static_cast<std::uint32_t>(kSlotBytes / bytes);
    if (factor.across) {
      dim(own, along);
      dim(loops.depth, along);
    } else {
      dim(loops.depth, along);
      dim(own, static_cast<std::uint32_t>(size));
    }
    map.strides.erase(map.strides.begin());
    for (const std::size_t loop : mapped_batch(kernel, loops, factor)) dim({loop}, 1);
    return map;
  };
  std::vector<TensorMap> maps;
  if (!t.has_groups()) return maps;
  if (!t.a.computed) maps.push_back(map_of(t.a, loops.rows, t.rows, t.a.value));
  const int columns = t.others.empty() ? t.columns : ir::Tiling::kPart / t.shares();
  if (!t.b.computed) maps.push_back(map_of(t.b, loops.columns, columns, t.b.value));
  for (const ir::Tiling::OtherSum& other : t.others)
    maps.push_back(map_of(t.b, loops.columns, columns, other.b));
  for (const ir::Tiling::Term& term : t.terms) {
    maps.push_back(map_of(t.a, loops.rows, t.rows, term.a));
    maps.push_back(map_of(t.b, loops.columns, columns, term.b));
  }
  return maps;
}

}  // namespace sinter::emit
