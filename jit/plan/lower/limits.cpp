// Limits from a device's traits.
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

LowerLimits limits_of(const ir::DeviceTraits& traits) {
  LowerLimits limits;
  limits.max_buffers = traits.max_buffers;
  limits.max_divisions = traits.max_divisions;
  limits.grid_reductions = traits.grid_reductions;
  limits.groups = traits.groups;
  limits.lanes = traits.lanes;
  limits.shared_elements = traits.shared_elements;
  limits.row_lanes = traits.row_lanes;
  limits.short_row_lanes = traits.short_row_lanes;
  limits.row_cluster = traits.row_cluster;
  limits.tensor_cores = traits.tensor_cores;
  limits.lone_rows = traits.lone_rows;
  limits.score_tile_bytes = traits.score_tile_bytes;
  limits.reciprocals = traits.reciprocals;
  limits.fixed_windows = traits.fixed_windows;
  limits.flat_vectors = traits.flat_vectors;
  return limits;
}

bool sharing_pays(std::int64_t results, std::int64_t elements, bool contiguous, const LowerLimits& limits) {
  // Below, leaving partial results and waiting for the last costs more than it saves. A lane alone is slower
  // than a group.
  const std::int64_t enough = contiguous ? limits.shared_elements : limits.shared_elements / 8;
  return results > 0 && elements >= enough && results <= (contiguous ? limits.groups : limits.lanes) / 2;
}

int work_of(std::size_t exprs) {
  // A norm with its loads has some twenty expressions.
  constexpr std::size_t kFew = 32;
  int work = 1;
  while (work < kMostWork && exprs >= kFew * static_cast<std::size_t>(work)) work *= 2;
  return work;
}

bool sharing_is_worth_launches(std::int64_t results, std::int64_t elements, bool contiguous, int work,
                               const LowerLimits& limits) {
  // A group goes over a megabyte in the time of some ten launches.
  return elements * work >= (contiguous ? limits.shared_elements * 8 : limits.shared_elements / 2) &&
         sharing_pays(results, elements, contiguous, limits);
}

}  // namespace sinter::plan
