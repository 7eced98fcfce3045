// How large a kernel may be, and what a device makes of few results over much data.
#pragma once

#include <cstddef>
#include <cstdint>

#include "jit/ir/traits.h"

namespace sinter::plan {

/// Pieces of concatenations that one kernel has, each of which all elements go through: longer lists are
/// joined in groups, one kernel each.
inline constexpr std::size_t kMostPieces = 16;

struct LowerLimits {
  int max_buffers = 24;
  std::size_t max_exprs = 2048;
  // Each element goes through all of them.
  std::size_t max_tests = 64;
  std::size_t max_divisions = SIZE_MAX;  // as in DeviceTraits; a single operation may have more
  std::size_t max_ints = 2000;           // a GPU's kernel takes some kilobytes of arguments
  bool grid_reductions = false;          // these as in DeviceTraits
  std::int64_t groups = 1, lanes = 1, shared_elements = 4096;
  int row_lanes = 0;
  int short_row_lanes = 0;
  int row_cluster = 1;
  ir::TensorCores tensor_cores;
  bool lone_rows = false;
  std::size_t score_tile_bytes = 0;
  bool alone = false;  // a single operation, for which any kernel will do
  bool reciprocals = false, fixed_windows = false, flat_vectors = false;
};

LowerLimits limits_of(const ir::DeviceTraits& traits);

/// True iff results so few, each over so many elements, keep a device busy only when several groups of lanes
/// share the elements of a result. `contiguous`: the lanes of a group walk a result's elements side by side;
/// else each lane walks those of its own result.
bool sharing_pays(std::int64_t results, std::int64_t elements, bool contiguous, const LowerLimits& limits);

/// How much a kernel does for an element, as a power of two up to kMostWork: 1 for a few operations.
int work_of(std::size_t exprs);
inline constexpr int kMostWork = 8;

/// True iff a kernel that goes over such elements several times, with so much work for each, would leave so
/// much of the device idle that launches of their own for each time are faster.
bool sharing_is_worth_launches(std::int64_t results, std::int64_t elements, bool contiguous, int work,
                               const LowerLimits& limits);

}  // namespace sinter::plan
