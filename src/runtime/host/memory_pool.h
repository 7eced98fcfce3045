// The host's memory: a pool of 64-byte aligned blocks that caches freed blocks.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace sinter::runtime {

/// Counts of a MemoryPool, in bytes.
struct PoolStatistics {
  std::size_t in_use = 0;
  std::size_t reserved = 0;
  std::size_t peak_in_use = 0;
};

/// First touching fresh pages costs more than the work on them (13 ms for 64 MiB), so freed blocks stay
/// cached for later allocations. Thread-safe.
class MemoryPool {
 public:
  /// `limit`: the most bytes to allocate from the system; 0: no limit.
  explicit MemoryPool(std::size_t limit = 0) : limit_(limit) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Allocates at least `bytes` bytes. Throws DeviceError when the system has none left.
  std::byte* allocate(std::size_t bytes);

  /// Returns a block to the pool; `bytes` as passed to `allocate`.
  void release(std::byte* block, std::size_t bytes) noexcept;

  /// Frees all cached blocks; returns their number of bytes.
  std::size_t trim() noexcept;

  PoolStatistics statistics() const;

  /// The size class of a request: four for each power of two, at least 64 bytes.
  static std::size_t rounded(std::size_t bytes);

 private:
  void trim_to(std::size_t bytes) noexcept;  // frees until at most `bytes` are cached; mutex_ is held

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by rounded size
  std::size_t cached_ = 0;                               // bytes in free_
  PoolStatistics statistics_;
};

}  // namespace sinter::runtime
