// Two-level segregated fit.
#include "src/runtime/cuda/memory/memory.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>

#include <sinter/error.h>

#include "src/base/env.h"

namespace sinter::runtime::cuda {

namespace {

constexpr std::size_t kSmall = std::size_t{1} << 20;  // blocks up to this size are in small segments
constexpr std::size_t kMostGrowth = std::size_t{1} << 30;
constexpr std::size_t kSegmentUnit = std::size_t{2} << 20;  // the driver's granularity
constexpr std::size_t kMostBytes = std::size_t{1} << 46;
// While less free upload memory than this is still in use by the device, an upload allocates new memory
// rather than wait.
constexpr std::size_t kBusyUploads = std::size_t{64} << 20;

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

std::string text_of(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text,
                value == static_cast<double>(static_cast<std::size_t>(value)) ? "%.0f %s" : "%.1f %s", value,
                kUnits[unit]);
  return text;
}

}  // namespace

std::size_t MemoryPool::rounded(std::size_t bytes) {
  const std::size_t units = (std::max<std::size_t>(bytes, 1) + kAlignment - 1) / kAlignment;
  if (units < 2 * kSteps) return units * kAlignment;
  return round_up(units, std::bit_floor(units) >> kStepBits) * kAlignment;
}

MemoryPool::SizeClass MemoryPool::size_class_of(std::size_t bytes) {
  const std::size_t units = bytes / kAlignment;
  if (units < kSteps) return {0, static_cast<int>(units)};
  const int log = std::bit_width(units) - 1;
  return {log - kStepBits + 1, static_cast<int>(units >> (log - kStepBits)) & (kSteps - 1)};
}

MemoryPool::~MemoryPool() {
  for (Range* segment : segments_) source_.free_memory(segment->address);
}

MemoryPool::Range* MemoryPool::make_range() {
  if (spare_.empty()) {
    ranges_.emplace_back();
    if (spare_.capacity() < ranges_.size())
      spare_.reserve(2 * ranges_.size());  // so that push_back cannot fail later
    return &ranges_.back();
  }
  Range* range = spare_.back();
  spare_.pop_back();
  *range = Range{};
  return range;
}

void MemoryPool::insert(Range* range) {
  Arena& arena = *range->arena;
  const auto [level, step] = size_class_of(range->bytes);
  Range*& first = arena.lists[static_cast<std::size_t>(level)][static_cast<std::size_t>(step)];
  range->used = false;
  range->previous_free = nullptr;
  range->next_free = first;
  if (first) first->previous_free = range;
  first = range;
  arena.steps[static_cast<std::size_t>(level)] |= std::uint32_t{1} << step;
  arena.levels |= std::uint64_t{1} << level;
  arena.free += range->bytes;
}

void MemoryPool::remove(Range* range) {
  Arena& arena = *range->arena;
  arena.free -= range->bytes;
  if (range->next_free) range->next_free->previous_free = range->previous_free;
  if (range->previous_free) {
    range->previous_free->next_free = range->next_free;
    return;
  }
  const auto [level, step] = size_class_of(range->bytes);
  arena.lists[static_cast<std::size_t>(level)][static_cast<std::size_t>(step)] = range->next_free;
  if (range->next_free) return;
  std::uint32_t& steps = arena.steps[static_cast<std::size_t>(level)];
  steps &= ~(std::uint32_t{1} << step);
  if (!steps) arena.levels &= ~(std::uint64_t{1} << level);
}

MemoryPool::Arena& MemoryPool::arena_for(std::size_t bytes, Purpose purpose) {
  return purpose == Purpose::Upload ? uploads_ : bytes <= kSmall ? small_ : large_;
}

/// A free range of at least `bytes`, which is a rounded size, so that every range in its list is large
/// enough.
MemoryPool::Range* MemoryPool::find(Arena& arena, std::size_t bytes) {
  auto [level, step] = size_class_of(bytes);
  std::uint32_t steps = arena.steps[static_cast<std::size_t>(level)] & (~std::uint32_t{0} << step);
  if (!steps) {
    const std::uint64_t levels = arena.levels & (~std::uint64_t{1} << level);
    if (!levels) return nullptr;
    level = std::countr_zero(levels);
    steps = arena.steps[static_cast<std::size_t>(level)];
  }
  return arena.lists[static_cast<std::size_t>(level)][static_cast<std::size_t>(std::countr_zero(steps))];
}

/// As `find`, but only a range that no work uses any more.
MemoryPool::Range* MemoryPool::find_idle(Arena& arena, std::size_t bytes) {
  int looked_at = 0;
  auto [level, step] = size_class_of(bytes);
  for (; level < kLevels; ++level, step = 0) {
    std::uint32_t steps = arena.steps[static_cast<std::size_t>(level)] & (~std::uint32_t{0} << step);
    for (; steps; steps &= steps - 1) {
      const auto list = static_cast<std::size_t>(std::countr_zero(steps));
      for (Range* range = arena.lists[static_cast<std::size_t>(level)][list]; range;
           range = range->next_free) {
        if (is_idle(range)) return range;
        if (++looked_at == 64) return nullptr;
      }
    }
  }
  return nullptr;
}

/// Finds idle memory. Otherwise, once enough memory will become idle soon, returns memory to wait for: a
/// program that runs far ahead of its device must not grow.
MemoryPool::Range* MemoryPool::find_for_upload(Arena& arena, std::size_t bytes) {
  if (Range* range = find_idle(arena, bytes)) return range;
  join_idle(arena);
  if (Range* range = find_idle(arena, bytes)) return range;
  return arena.free >= std::max(2 * bytes, kBusyUploads) ? find(arena, bytes) : nullptr;
}

MemoryPool::Range* MemoryPool::find_in_others(const Arena& arena, std::size_t bytes) {
  for (Arena* other : {&large_, &uploads_, &small_})
    if (other != &arena)
      if (Range* range = find(*other, bytes)) return range;
  return nullptr;
}

bool MemoryPool::may_join(const Range* one, const Range* other) const {
  if (!one || !other || one->used || other->used) return false;
  // Uploads look for idle ranges, so an idle range must not join one that is in use.
  return !one->arena->uploads || one->points.compute == other->points.compute ||
         (is_idle(one) && is_idle(other));
}

/// Joins two adjacent ranges, neither of which is in a list.
MemoryPool::Range* MemoryPool::join(Range* low, Range* high) {
  low->bytes += high->bytes;
  low->points.compute = std::max(low->points.compute, high->points.compute);
  low->points.upload = std::max(low->points.upload, high->points.upload);
  low->after = high->after;
  if (low->after) low->after->before = low;
  spare_.push_back(high);
  return low;
}

void MemoryPool::join_idle(Arena& arena) {
  for (Range* segment : segments_) {
    if (segment->arena != &arena) continue;
    for (Range* range = segment; range && range->after;) {
      if (!may_join(range, range->after)) {
        range = range->after;
        continue;
      }
      remove(range);
      remove(range->after);
      insert(join(range, range->after));
    }
  }
}

MemoryPool::Range* MemoryPool::grow(Arena& arena, std::size_t bytes) {
  // The segment size grows with the memory held, so that segments are few and most blocks have neighbours to
  // join.
  const std::size_t usual =
      std::clamp(round_up(arena.reserved / 4, kSegmentUnit), arena.least_segment, kMostGrowth);
  const std::size_t exact = round_up(bytes, kSegmentUnit);
  for (std::size_t wanted = bytes <= usual / 2 ? usual : exact, last = 0; wanted != last;
       last = wanted, wanted = exact) {
    if (limit_ && counts_.reserved + wanted > limit_) continue;
    const DevicePointer address = source_.allocate_memory(wanted);
    if (!address) continue;
    Range* range = make_range();
    range->address = address;
    range->bytes = wanted;
    range->arena = &arena;
    segments_.push_back(range);
    arena.reserved += wanted;
    counts_.reserved += wanted;
    insert(range);
    if (base::logs("memory"))
      base::log_line("memory", "cuda takes " + text_of(wanted) + " from the driver, " +
                                   text_of(counts_.reserved) + " in all");
    return range;
  }
  return nullptr;
}

MemoryPool::Range* MemoryPool::grow_after_trim(Arena& arena, std::size_t bytes, std::size_t requested) {
  source_.wait();
  trim_now();
  if (Range* range = grow(arena, bytes)) return range;
  throw DeviceError(shortage(requested));
}

MemoryPool::Block MemoryPool::allocate(std::size_t requested, Purpose purpose, std::uint64_t completed) {
  std::lock_guard lock(mutex_);
  if (requested > kMostBytes / 2) throw DeviceError(shortage(requested));
  completed_ = std::max(completed_, completed);
  const std::size_t bytes = rounded(requested);
  Arena& arena = arena_for(bytes, purpose);
  Range* range = arena.uploads ? find_for_upload(arena, bytes) : find(arena, bytes);
  if (!range) range = grow(arena, bytes);
  if (!range && arena.uploads) range = find(arena, bytes);
  if (!range) range = find_in_others(arena, bytes);
  if (!range) range = grow_after_trim(arena, bytes, requested);
  remove(range);
  if (range->bytes > bytes) {
    Range* rest = make_range();
    rest->address = range->address + bytes;
    rest->bytes = range->bytes - bytes;
    rest->arena = range->arena;
    rest->points = range->points;
    rest->before = range;
    rest->after = range->after;
    if (rest->after) rest->after->before = rest;
    range->after = rest;
    range->bytes = bytes;
    insert(rest);
  }
  range->used = true;
  counts_.in_use += bytes;
  counts_.peak_in_use = std::max(counts_.peak_in_use, counts_.in_use);
  return {range->address, bytes, range->points, range};
}

void MemoryPool::release(const Block& block) noexcept {
  std::lock_guard lock(mutex_);
  Range* range = block.range;
  counts_.in_use -= range->bytes;
  range->points = block.points;
  range->used = false;
  if (may_join(range, range->after)) {
    remove(range->after);
    join(range, range->after);
  }
  if (may_join(range->before, range)) {
    Range* before = range->before;
    remove(before);
    range = join(before, range);
  }
  insert(range);
}

std::size_t MemoryPool::trim_now() {
  // The caller has waited, so all free ranges are idle.
  for (Arena* arena : {&small_, &large_, &uploads_}) {
    for (auto& level : arena->lists)
      for (Range* first : level)
        for (Range* range = first; range; range = range->next_free) range->points = {};
    join_idle(*arena);
  }
  std::size_t given_back = 0;
  std::erase_if(segments_, [&](Range* segment) {
    if (segment->used || segment->after) return false;
    remove(segment);
    source_.free_memory(segment->address);
    segment->arena->reserved -= segment->bytes;
    given_back += segment->bytes;
    spare_.push_back(segment);
    return true;
  });
  counts_.reserved -= given_back;
  if (given_back && base::logs("memory"))
    base::log_line("memory", "cuda gives back " + text_of(given_back) + " to the driver, " +
                                 text_of(counts_.reserved) + " stay");
  return given_back;
}

std::size_t MemoryPool::trim() {
  std::lock_guard lock(mutex_);
  source_.wait();
  return trim_now();
}

std::string MemoryPool::shortage(std::size_t requested) {
  std::map<std::size_t, std::size_t> used;  // number of blocks of each size
  std::size_t largest_free = 0;
  for (Range* segment : segments_)
    for (Range* range = segment; range; range = range->after) {
      if (range->used)
        ++used[range->bytes];
      else
        largest_free = std::max(largest_free, range->bytes);
    }
  std::vector<std::pair<std::size_t, std::size_t>> holders(used.begin(), used.end());
  std::sort(holders.begin(), holders.end(),
            [](const auto& a, const auto& b) { return a.first * a.second > b.first * b.second; });
  std::string text = "[cuda] there is no memory for " + std::to_string(requested) + " bytes (" +
                     text_of(requested) + ") more: " + text_of(counts_.in_use) + " are in use, " +
                     text_of(counts_.reserved) + " are held from the driver";
  if (limit_) text += " (SINTER_MEMORY_LIMIT_MIB allows " + text_of(limit_) + ")";
  text += ", which has " + text_of(source_.available()) + " left; the largest free block has " +
          text_of(largest_free);
  if (holders.empty()) return text + "; nothing is in use";
  text += "; in use are ";
  constexpr std::size_t kMostNamed = 5;
  for (std::size_t i = 0; i < std::min(holders.size(), kMostNamed); ++i) {
    const auto [bytes, count] = holders[i];
    text += (i ? ", " : "") + std::to_string(count) + (count == 1 ? " block of " : " blocks of ") +
            text_of(bytes);
  }
  if (holders.size() > kMostNamed) text += " and smaller ones";
  return text;
}

MemoryPool::Counts MemoryPool::counts() const {
  std::lock_guard lock(mutex_);
  return counts_;
}

}  // namespace sinter::runtime::cuda
