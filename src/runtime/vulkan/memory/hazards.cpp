// Stores accessed bytes as disjoint segments in order.
#include "src/runtime/vulkan/memory/hazards.h"

#include <algorithm>

namespace sinter::runtime::vulkan {

HazardTracker::Segments::const_iterator HazardTracker::first_overlap(std::uint64_t begin) const {
  auto at = segments_.upper_bound(begin);
  if (at != segments_.begin() && std::prev(at)->second.end > begin) --at;
  return at;
}

bool HazardTracker::conflicts(std::span<const Access> accesses) const {
  for (const Access& access : accesses)
    for (auto at = first_overlap(access.begin);
         access.begin < access.end && at != segments_.end() && at->first < access.end; ++at)
      if (access.write || at->second.written) return true;
  return false;
}

void HazardTracker::add(std::span<const Access> accesses) {
  for (const Access& access : accesses) {
    if (access.begin >= access.end) continue;
    // Overlaps here are reads of the same bytes, or one command that reads and writes them, so joining loses
    // no hazard.
    std::uint64_t begin = access.begin;
    Segment joined{access.end, access.write};
    auto at = first_overlap(begin);
    while (at != segments_.end() && at->first < access.end) {
      begin = std::min(begin, at->first);
      joined.end = std::max(joined.end, at->second.end);
      joined.written |= at->second.written;
      at = segments_.erase(at);
    }
    segments_.emplace(begin, joined);
  }
}

}  // namespace sinter::runtime::vulkan
