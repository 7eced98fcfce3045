// Small blocks of a memory pool that one thread has released and will want again.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <thread>

namespace sinter::runtime {

class MemoryPool;

/// A lock for a few instructions, which almost always only its own thread takes.
class SpinLock {
 public:
  void lock() noexcept {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() noexcept { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

/// Lists of free blocks by size, of one thread and one pool. Others take the lock only to empty it. On a
/// cache line of its own. All functions but the constructor want the lock held.
class alignas(64) MemoryCache {
 public:
  static constexpr std::size_t kLargest = std::size_t{64} << 10;  // of the blocks that it takes
  static constexpr std::size_t kMost = std::size_t{1} << 20;      // bytes; more than that is given back

  MemoryCache(MemoryPool* pool, std::uint64_t pool_id) : pool_id(pool_id), pool(pool) {}

  /// A block of a size class of the pool, or null.
  std::byte* take(std::size_t size) {
    Block*& first = lists_[list_of(size)];
    Block* const block = first;
    if (block == nullptr) return nullptr;
    first = block->next;
    bytes -= size;
    least = std::min(least, bytes);
    return reinterpret_cast<std::byte*>(block);
  }
  void put(std::byte* memory, std::size_t size) {
    Block*& first = lists_[list_of(size)];
    first = new (memory) Block{first};
    bytes += size;
  }
  /// Takes blocks out, the largest first, until at most `most` bytes are left: give(block, size).
  template <class Give>
  void reduce(std::size_t most, Give&& give) {
    for (std::size_t list = kLists; list-- > 0;)
      while (bytes > most && lists_[list] != nullptr) {
        const std::size_t size = size_of_list(list);
        give(take(size), size);
      }
  }

  SpinLock lock;
  const std::uint64_t pool_id;
  MemoryPool* pool;        // null once the pool has ended
  std::size_t bytes = 0;   // in the lists
  std::size_t least = 0;   // that `bytes` has been since the pool last looked
  std::int64_t known = 0;  // `bytes` when the pool last looked; the pool's

 private:
  struct Block {
    Block* next;
  };
  // Size classes (MemoryPool::rounded): four up to 256, then four for each power of two.
  static constexpr std::size_t kLists = 36;
  static std::size_t list_of(std::size_t size) {
    if (size <= 256) return size / 64 - 1;
    const std::size_t power = static_cast<std::size_t>(std::bit_width(size - 1)) - 9;  // 0: up to 512
    return 4 * power + (size - 1 - (std::size_t{256} << power)) / (std::size_t{64} << power) + 4;
  }
  static std::size_t size_of_list(std::size_t list) {
    if (list < 4) return 64 * (list + 1);
    const std::size_t power = (list - 4) / 4;
    return (std::size_t{256} << power) + (std::size_t{64} << power) * ((list - 4) % 4 + 1);
  }

  std::array<Block*, kLists> lists_{};
};

}  // namespace sinter::runtime
