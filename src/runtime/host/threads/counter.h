// A counter that many threads add to.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace sinter::runtime {

/// Threads add to different cache lines as a rule.
class Counter {
 public:
  void add() { shards_[shard_of_thread()].value.fetch_add(1, std::memory_order_relaxed); }
  /// Exact while nobody adds.
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const Shard& shard : shards_) sum += shard.value.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  static constexpr std::size_t kShards = 16;
  struct alignas(64) Shard {
    std::atomic<std::uint64_t> value{0};
  };
  static std::size_t shard_of_thread() {
    static std::atomic<std::size_t> threads{0};
    thread_local const std::size_t own = threads.fetch_add(1, std::memory_order_relaxed) % kShards;
    return own;
  }

  std::array<Shard, kShards> shards_;
};

}  // namespace sinter::runtime
