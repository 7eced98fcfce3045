// The host's memory: a pool of 64-byte aligned blocks that caches freed blocks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/fork.h"
#include "src/runtime/host/memory_cache.h"

namespace sinter::runtime {

/// Counts of a MemoryPool, in bytes. `peak_in_use` is exact where one thread allocates, else within
/// MemoryCache::kMost for each of the others.
struct PoolStatistics {
  std::size_t in_use = 0;
  std::size_t reserved = 0;
  std::size_t peak_in_use = 0;
};

/// First touching fresh pages costs more than the work on them (13 ms for 64 MiB), so freed blocks stay
/// cached for later allocations: small ones by the thread that released them, which then has them again
/// without touching memory of others; the rest by the pool. Thread-safe.
class MemoryPool final : private base::SurvivesFork {
 public:
  /// `limit`: the most bytes to allocate from the system; 0: no limit.
  explicit MemoryPool(std::size_t limit = 0);
  /// All blocks have been released.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Deletes a pool as soon as all its blocks are released: a buffer may outlive its device.
  static void retire(MemoryPool* pool) noexcept;

  /// Allocates at least `bytes` bytes. Throws DeviceError when the system has none left.
  std::byte* allocate(std::size_t bytes);

  /// Returns a block to the pool; `bytes` as passed to `allocate`.
  void release(std::byte* block, std::size_t bytes) noexcept;

  /// Frees all cached blocks; returns their number of bytes.
  std::size_t trim() noexcept;

  PoolStatistics statistics() const;

  /// For tests: allocation number `after` from now on (0: the next one) and all later ones fail; a negative
  /// number: none does.
  void fail(std::int64_t after) {
    allocations_left_.store(after);
    fails_.store(after >= 0);
  }

  /// The size class of a request: four for each power of two, at least 64 bytes.
  static std::size_t rounded(std::size_t bytes);

 private:
  struct ThreadsCaches;  // of one thread, of all pools
  MemoryCache* cache_of_thread() noexcept;
  MemoryCache* find_or_make_cache() noexcept;

  std::byte* allocate_shared(std::size_t size);
  void release_shared(std::byte* block, std::size_t size) noexcept;
  void spill(MemoryCache& cache) noexcept;

  // With mutex_ held:
  /// As known: blocks that have moved from one thread's cache to another's may count twice for a while, so
  /// this may even be negative.
  std::int64_t in_use() const { return reserved_ - free_bytes_ - cached_; }
  void look_at(MemoryCache& cache) const noexcept;
  void empty(MemoryCache& cache, bool for_good) noexcept;
  void keep(std::byte* block, std::size_t size) noexcept;
  std::byte* take(std::size_t size) noexcept;
  void refill(MemoryCache& cache, std::size_t size) noexcept;
  void trim_to(std::int64_t bytes) noexcept;  // frees until at most `bytes` are in free_
  void detach_caches() noexcept;              // none of the threads uses its cache afterwards

  void before_fork() noexcept override;
  void after_fork(bool in_child) noexcept override;

  // Read by every call, hardly ever written.
  const std::size_t limit_;
  const std::uint64_t id_;  // no other pool of the process has or will have it
  std::atomic<bool> fails_{false};

  alignas(64) mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<std::byte*>> free_;  // by size class
  std::int64_t free_bytes_ = 0;
  std::int64_t reserved_ = 0;
  std::vector<std::shared_ptr<MemoryCache>> caches_;
  mutable std::int64_t cached_ = 0;  // bytes in the threads' caches, as known
  mutable std::int64_t peak_ = 0;
  bool retired_ = false;
  std::atomic<std::int64_t> allocations_left_{0};
};

}  // namespace sinter::runtime
