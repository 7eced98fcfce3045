// Device memory of one GPU: segments taken from the driver, cut into blocks and joined again.
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

/// How far the device's queues must be before memory is free of earlier work: compute work is numbered by
/// Timeline, uploads by StagingRing. 0: nothing to wait for.
struct Points {
  std::uint64_t compute = 0, upload = 0;
};

/// Where a pool takes its memory from.
class MemorySource {
 public:
  virtual ~MemorySource() = default;
  /// 0 when there is none left. Throws DeviceError for any other failure.
  virtual DevicePointer allocate_memory(std::size_t bytes) = 0;
  virtual void free_memory(DevicePointer address) noexcept = 0;
  /// Bytes that others could still take.
  virtual std::size_t available() = 0;
  /// Waits for all work that was handed over: memory that is freed must not be in use.
  virtual void wait() = 0;
};

/// Hands out memory at once, also memory that work in flight still uses: a block says what has to be waited
/// for, by the queue that uses it next. Work on the compute stream need not wait for `Points::compute`.
///
/// Two-level segregated fit (Masmano et al., "TLSF: a new dynamic memory allocator for real-time systems",
/// ECRTS 2004): both ways take constant time, neighbours are joined at once. Sizes are rounded up to 32 steps
/// for each power of two, so a request finds every block that was made for its like. All functions may be
/// called from any thread.
class MemoryPool {
 private:
  struct Range;

 public:
  /// Blocks for uploads are kept apart: they are filled by a queue of its own, which should not have to wait
  /// for the work that the host has just handed over.
  enum class Purpose { Compute, Upload };

  struct Block {
    DevicePointer address = 0;
    std::size_t bytes = 0;  // at least what was asked for
    Points points;
    Range* range = nullptr;
  };

  struct Counts {
    std::size_t in_use = 0, reserved = 0, peak_in_use = 0;
  };

  static constexpr std::size_t kAlignment = 512;

  /// `limit`: the most bytes to hold from `source`; 0: as many as it gives.
  MemoryPool(MemorySource& source, std::size_t limit) : source_(source), limit_(limit) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// `completed`: compute work up to this number is known to be done. Only when the source has no memory left
  /// does it wait, for all work, and give back what nobody uses; throws DeviceError, with what is held by
  /// whom, when that was not enough.
  Block allocate(std::size_t bytes, Purpose purpose = Purpose::Compute, std::uint64_t completed = 0);

  /// `block.points`: its last uses.
  void release(const Block& block) noexcept;

  /// Waits for all work and gives the segments in which nothing is in use back to the source. Gives the
  /// number of bytes.
  std::size_t trim();

  Counts counts() const;

  /// What a request is rounded up to: at most 1/32 more beyond 16 KiB, whole multiples of 512 below.
  static std::size_t rounded(std::size_t bytes);

 private:
  static constexpr int kStepBits = 5;
  static constexpr int kSteps = 1 << kStepBits;
  static constexpr int kLevels = 34;  // up to 2^46 bytes

  struct Arena;
  struct Range {  // a stretch of a segment, in use or free
    DevicePointer address = 0;
    std::size_t bytes = 0;
    Range *before = nullptr, *after = nullptr;             // neighbours in the segment
    Range *previous_free = nullptr, *next_free = nullptr;  // in the list of its size
    Arena* arena = nullptr;
    Points points;  // while free
    bool used = false;
  };
  /// Blocks of one kind have segments of their own, so that a small one with a long life keeps no large
  /// segment.
  struct Arena {
    std::array<std::array<Range*, kSteps>, kLevels>
        lists{};                                 // by size: a power of two, and a step between two
    std::array<std::uint32_t, kLevels> steps{};  // which lists of a level have ranges
    std::uint64_t levels = 0;                    // which levels have any
    std::size_t reserved = 0, free = 0;
    bool uploads = false;
    std::size_t least_segment = 0;
  };
  struct Place {
    int level, step;
  };

  static Place place_of(std::size_t bytes);
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
  std::deque<Range> ranges_;      // memory of all ranges
  std::vector<Range*> spare_;
  std::uint64_t completed_ = 0;
  Counts counts_;
};

}  // namespace sinter::runtime::cuda
