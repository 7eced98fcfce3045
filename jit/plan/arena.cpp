// First fit.
#include "jit/plan/arena.h"

#include <algorithm>

#include <sinter/error.h>

namespace sinter::plan {

std::optional<std::size_t> Segment::take_free(std::size_t bytes, std::uint32_t depth) {
  for (std::size_t i = 0; i < free_.size(); ++i) {
    if (free_[i].bytes < bytes || free_[i].depth >= depth) continue;
    const std::size_t offset = free_[i].offset;
    free_[i].offset += bytes;
    free_[i].bytes -= bytes;
    if (free_[i].bytes == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    return offset;
  }
  return std::nullopt;
}

bool Segment::has_free(std::size_t bytes) const {
  return std::any_of(free_.begin(), free_.end(), [&](const Free& free) { return free.bytes >= bytes; });
}

std::optional<std::size_t> Segment::grow(std::size_t bytes, std::size_t most) {
  // The last free stretch may reach the end: it grows instead of being left behind.
  const bool grows = !free_.empty() && free_.back().end() == end_ && free_.back().bytes < bytes;
  const std::size_t offset = grows ? free_.back().offset : end_;
  if (offset > most || bytes > most - offset) return std::nullopt;
  if (grows) free_.pop_back();
  end_ = offset + bytes;
  return offset;
}

void Segment::give_back(std::size_t offset, std::size_t bytes, std::uint32_t depth) {
  auto at = std::lower_bound(free_.begin(), free_.end(), offset,
                             [](const Free& free, std::size_t at) { return free.offset < at; });
  at = free_.insert(at, {offset, bytes, depth});
  if (auto next = at + 1; next != free_.end() && at->end() == next->offset) {
    at->join(*next);
    at = free_.erase(next) - 1;
  }
  if (at != free_.begin())
    if (auto before = at - 1; before->end() == at->offset) {
      before->join(*at);
      free_.erase(at);
    }
}

void Segment::Free::join(const Free& next) {
  bytes += next.bytes;
  depth = std::max(depth, next.depth);
}

Arena::Arena(const ArenaLimits& limits)
    : most_(limits.segment_bytes == 0 ? kMostBytes : limits.segment_bytes),
      overlaps_(limits.spare_bytes > 0),
      spare_(limits.spare_bytes) {}

Binding Arena::take(std::size_t bytes, std::uint32_t depth) {
  if (!overlaps_) depth = kAnyDepth;
  for (Segment& segment : segments_)
    if (const auto offset = segment.take_free(bytes, depth)) return binding(segment, *offset);
  const bool has_free = std::any_of(segments_.begin(), segments_.end(),
                                    [&](const Segment& segment) { return segment.has_free(bytes); });
  if (has_free && bytes > spare_) {
    for (Segment& segment : segments_)
      if (const auto offset = segment.take_free(bytes, kAnyDepth)) return binding(segment, *offset);
  } else if (has_free) {
    spare_ -= bytes;
  }
  for (Segment& segment : segments_)
    if (const auto offset = segment.grow(bytes, most_)) return binding(segment, *offset);
  segments_.emplace_back().grow(bytes, kMostBytes);
  return binding(segments_.back(), 0);
}

std::vector<std::size_t> Arena::ends() const {
  std::vector<std::size_t> bytes;
  std::size_t all = 0;
  for (const Segment& segment : segments_) {
    bytes.push_back(segment.end());
    if (segment.end() > kMostBytes - all)
      throw DeviceError("[plan] the temporaries of one trace take more than 2^63 bytes");
    all += segment.end();
  }
  return bytes;
}

}  // namespace sinter::plan
