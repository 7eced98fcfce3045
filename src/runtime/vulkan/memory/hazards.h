// Tracks the bytes that commands read or wrote since the last barrier.
#pragma once

#include <cstdint>
#include <span>

#include <absl/container/btree_map.h>

namespace sinter::runtime::vulkan {

/// A range of device memory, by Slice::address, that a command reads or writes.
struct Access {
  std::uint64_t begin = 0, end = 0;
  bool write = false;
};

/// Decides when a command needs a barrier: when it reads or writes bytes written since the last barrier, or
/// writes bytes read since.
class HazardTracker {
 public:
  bool conflicts(std::span<const Access> accesses) const;
  void add(std::span<const Access> accesses);
  void clear() { segments_.clear(); }

 private:
  struct Segment {
    std::uint64_t end;
    bool written;
  };
  using Segments = absl::btree_map<std::uint64_t, Segment>;
  Segments::const_iterator first_overlap(std::uint64_t begin) const;

  Segments segments_;  // by begin; disjoint
};

}  // namespace sinter::runtime::vulkan
