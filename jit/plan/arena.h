// The memory of a plan's temporaries: segments, of which stretches are taken and given back in the order of
// the steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "jit/plan/place.h"

namespace sinter::plan {

/// A segment of the arena and its free stretches, first fit.
class Segment {
 public:
  /// What nobody has used at `depth` or deeper.
  std::optional<std::size_t> take_free(std::size_t bytes, std::uint32_t depth);
  bool has_free(std::size_t bytes) const;
  /// Takes what lies at the end, up to `most` bytes in all. Nothing where that is too little.
  std::optional<std::size_t> grow(std::size_t bytes, std::size_t most);
  void give_back(std::size_t offset, std::size_t bytes, std::uint32_t depth);
  std::size_t end() const { return end_; }

 private:
  struct Free {
    std::size_t offset, bytes;
    std::uint32_t depth;  // of the deepest step that used any of it
    std::size_t end() const { return offset + bytes; }
    void join(const Free& next);
  };
  std::vector<Free> free_;  // by offsets
  std::size_t end_ = 0;
};

class Arena {
 public:
  explicit Arena(const ArenaLimits& limits);

  /// For a step of this depth. One that takes what less deep steps used makes no chain longer; what others
  /// used is taken only when nothing is left to spare.
  Binding take(std::size_t bytes, std::uint32_t depth);
  /// `depth`: of the deepest step that used it.
  void give_back(const Binding& at, std::size_t bytes, std::uint32_t depth) {
    segments_[at.index].give_back(at.byte_offset, bytes, depth);
  }
  /// The bytes of each segment. Throws DeviceError where they are 2^63 or more together.
  std::vector<std::size_t> ends() const;

 private:
  Binding binding(const Segment& segment, std::size_t offset) const {
    return {Binding::Space::Temporary, static_cast<std::uint32_t>(&segment - segments_.data()), offset};
  }

  static constexpr std::size_t kMostBytes = std::numeric_limits<std::int64_t>::max();
  static constexpr std::uint32_t kAnyDepth = std::numeric_limits<std::uint32_t>::max();

  const std::size_t most_;
  const bool overlaps_;
  std::size_t spare_;  // for growing though there is a free stretch
  std::vector<Segment> segments_;
};

}  // namespace sinter::plan
