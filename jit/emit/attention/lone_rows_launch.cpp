// How kernels of lone rows are launched.
#include <algorithm>
#include <string>

#include <sinter/error.h>

#include "jit/emit/attention/lone_rows.h"
#include "jit/emit/attention/row_state.h"
#include "jit/emit/dialects/dialect.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

using ir::Expr;
using ir::ExprId;
using ir::ExprKind;

namespace {

constexpr std::int64_t kMostParts = 64;

}  // namespace

bool has_lone_rows(const ir::Kernel& kernel, const Target& target) {
  return kernel.lone_rows.any() && target.dialect->goes_along_lone_rows;
}

int lone_rows_lanes() { return kLoneRowsLanes; }

Geometry lone_rows_geometry(const ir::Kernel& kernel, const Target& target,
                            std::span<const std::int64_t> ints) {
  double rows = 1;
  for (std::size_t loop = 0; loop < kernel.outer_rank; ++loop)
    rows *= static_cast<double>(ints[kernel.extents[loop].index]);
  const std::int64_t columns = ints[kernel.extents[kernel.outer_rank].index],
                     tiles = (columns + tile_of(kernel) - 1) / tile_of(kernel);
  if (rows * static_cast<double>(kMostParts) > INT32_MAX)
    throw DeviceError("[launch] " + std::to_string(rows) + " rows of scores, more than a launch counts");
  Geometry shape;
  shape.lanes = kLoneRowsLanes;
  // A workgroup or two for each compute unit.
  const auto wanted = static_cast<std::int64_t>(static_cast<double>(target.wanted_workgroups) / 4 / rows);
  shape.parts = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(std::min(wanted, tiles / kTilesOfPart), 1, kMostParts));
  shape.workgroups = static_cast<std::uint32_t>(rows) * shape.parts;
  return shape;
}

std::size_t lone_rows_scratch_bytes(const ir::Kernel& kernel, const Geometry& shape) {
  if (shape.parts == 1) return 0;
  return sizeof(float) * static_cast<std::size_t>(RowState(kernel).floats) * shape.workgroups;
}

}  // namespace sinter::emit
