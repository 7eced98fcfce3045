// The memory pool of one GPU: cuts segments of the driver's memory into blocks and joins free neighbours.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// How far the device's streams must have progressed before earlier work has left some memory: compute work
/// by the numbers of Timeline, uploads by those of Uploads. 0: nothing to wait for.
struct Points {
  std::uint64_t compute = 0, upload = 0;
};

/// The source of a pool's memory.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// Returns 0 when no memory is left. Throws DeviceError for any other failure.
  virtual DevicePointer allocate_memory(std::size_t bytes) = 0;
  virtual void free_memory(DevicePointer address) noexcept = 0;
  /// Bytes that can still be allocated.
  virtual std::size_t available() = 0;
  /// Waits for all submitted work: memory must not be in use when it is freed.
  virtual void wait() = 0;
};

/// Allocates without waiting, even memory that work in flight still uses: a block says what the stream that
/// uses it next has to wait for. The compute stream need not wait for `Points::compute`, as its work is in
/// order.
///
/// Two-level segregated fit (Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems",
/// ECRTS 2004): allocating and releasing take constant time, and free neighbours are joined at once. Sizes
/// are rounded up to 32 steps per power of two, so that a request finds every block allocated for a similar
/// size. Thread-safe.
class MemoryPool {
 private:
  struct Range;

 public:
  /// Upload blocks have segments of their own: a separate stream fills them, which should not have to wait
  /// for recently submitted compute work.
  enum class Purpose { Compute, Upload };

  struct Block {
    DevicePointer address = 0;
    std::size_t bytes = 0;  // at least the requested size
    Points points;
    Range* range = nullptr;
  };

  struct Counts {
    std::size_t in_use = 0, reserved = 0, peak_in_use = 0;
  };

  static constexpr std::size_t kAlignment = 512;

  /// `limit`: the most bytes to hold from `source`; 0: no limit.
  MemoryPool(MemorySource& source, std::size_t limit) : source_(source), limit_(limit) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `completed`: compute work up to this number is known to be done. Waits only when the source has no
  /// memory left: for all work, then frees unused segments and tries again. Throws DeviceError that lists the
  /// largest blocks in use when that is not enough.
  Block allocate(std::size_t bytes, Purpose purpose = Purpose::Compute, std::uint64_t completed = 0);

  /// `block.points`: the block's last uses.
  void release(const Block& block) noexcept;

  /// Waits for all work and returns unused segments to the source. Returns the number of bytes.
  std::size_t trim();

  Counts counts() const;

  /// The rounded size of a request: at most 1/32 more above 16 KiB, multiples of 512 below.
  static std::size_t rounded(std::size_t bytes);

 private:
  static constexpr int kStepBits = 5;
  static constexpr int kSteps = 1 << kStepBits;
  static constexpr int kLevels = 34;  // up to 2^46 bytes

  struct Arena;
  struct Range {  // a part of a segment, in use or free
    DevicePointer address = 0;
    std::size_t bytes = 0;
    Range *before = nullptr, *after = nullptr;             // neighbours in the segment
    Range *previous_free = nullptr, *next_free = nullptr;  // in the list of its size class
    Arena* arena = nullptr;
    Points points;  // while free
    bool used = false;
  };
  /// Each kind of block has segments of its own, so that a small block with a long lifetime does not pin a
  /// large segment.
  struct Arena {
    std::array<std::array<Range*, kSteps>, kLevels>
        lists{};                                 // size classes: a power of two, and a step within it
    std::array<std::uint32_t, kLevels> steps{};  // bit set: nonempty lists of a level
    std::uint64_t levels = 0;                    // bit set: nonempty levels
    std::size_t reserved = 0, free = 0;
    bool uploads = false;
    std::size_t least_segment = 0;
  };
  struct SizeClass {
    int level, step;
  };

  static SizeClass size_class_of(std::size_t bytes);
  Arena& arena_for(std::size_t bytes, Purpose purpose);
  Range* find(Arena& arena, std::size_t bytes);
  Range* find_idle(Arena& arena, std::size_t bytes);
  Range* find_for_upload(Arena& arena, std::size_t bytes);
  Range* find_in_others(const Arena& arena, std::size_t bytes);
  Range* grow(Arena& arena, std::size_t bytes);
  Range* grow_after_trim(Arena& arena, std::size_t bytes, std::size_t requested);
  void join_idle(Arena& arena);
  void insert(Range* range);
  void remove(Range* range);
  Range* join(Range* low, Range* high);
  bool may_join(const Range* one, const Range* other) const;
  bool is_idle(const Range* range) const { return range->points.compute <= completed_; }
  Range* make_range();
  std::size_t trim_now();
  std::string shortage(std::size_t requested);

  MemorySource& source_;
  const std::size_t limit_;
  mutable std::mutex mutex_;
  Arena small_{.least_segment = std::size_t{2} << 20};
  Arena large_{.least_segment = std::size_t{32} << 20};
  Arena uploads_{.uploads = true, .least_segment = std::size_t{4} << 20};
  std::vector<Range*> segments_;  // the first range of each
  std::deque<Range> ranges_;      // storage of all ranges
  std::vector<Range*> spare_;
  std::uint64_t completed_ = 0;
  Counts counts_;
};

}  // namespace sinter::runtime::cuda
