// The host's memory: a pool of 64-byte aligned blocks that keeps what is given back.
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

/// Fresh pages cost more than the work on them (13 ms for 64 MiB), so freed blocks are kept and handed out
/// again. All calls may come from any thread.
class MemoryPool {
 public:
  /// `limit`: the most bytes to hold from the system; 0: as many as there are.
  explicit MemoryPool(std::size_t limit = 0) : limit_(limit) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// A block of at least `bytes` bytes. Throws DeviceError when the system has none left.
  std::byte* allocate(std::size_t bytes);

  /// Gives back a block; `bytes` as it was asked for.
  void release(std::byte* block, std::size_t bytes) noexcept;

  /// Returns all blocks that nobody uses to the system; the number of bytes.
  std::size_t trim() noexcept;

  PoolStatistics statistics() const;

  /// The size that a request is rounded up to: four sizes for each power of two, at least 64 bytes.
  static std::size_t rounded(std::size_t bytes);

 private:
  void trim_to(std::size_t kept_bytes) noexcept;  // mutex_ is held

  const std::size_t limit_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by rounded size
  std::size_t kept_ = 0;                                 // bytes in free_
  PoolStatistics statistics_;
};

}  // namespace sinter::runtime
