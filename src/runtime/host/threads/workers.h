// The threads and the memory of one launch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <sinter/error.h>

#include "src/runtime/host/threads/thread_pool.h"

namespace sinter::runtime::host {

/// Working memory begins on a cache line, so that threads do not meet in one.
inline constexpr std::size_t kMemoryUnit = 64;
/// What a request takes of the launch's memory.
constexpr std::size_t whole_units(std::size_t bytes) {
  return (bytes + kMemoryUnit - 1) / kMemoryUnit * kMemoryUnit;
}

/// A launch belongs to the thread that calls it, and so does this; the pool is shared by all launches. A copy
/// takes the same memory again.
class Workers {
 public:
  /// `memory` begins at a multiple of kMemoryUnit and has the bytes that Executable::workspace_bytes gave.
  Workers(ThreadPool& pool, std::span<std::byte> memory) : pool_(&pool), memory_(memory) {}

  ThreadPool& pool() const { return *pool_; }

  /// The most threads that work on so many pieces at once.
  std::size_t threads(std::int64_t pieces) const { return threads_for(pool_->size(), pieces); }
  static std::size_t threads_for(std::size_t most, std::int64_t pieces) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::max<std::int64_t>(pieces, 1)), 1, most);
  }

  /// The next `bytes` bytes of the memory; whole_units(bytes) are gone then.
  std::byte* take(std::size_t bytes) {
    const std::size_t whole = whole_units(bytes);
    if (whole > memory_.size())
      throw DeviceError("[host] a launch wants " + std::to_string(bytes) +
                        " bytes of working memory, its run has " + std::to_string(memory_.size()));
    std::byte* const taken = memory_.data();
    memory_ = memory_.subspan(whole);
    return taken;
  }

  /// `bytes` bytes for each of `threads` threads.
  class PerThread {
   public:
    PerThread(std::byte* memory, std::size_t stride) : memory_(memory), stride_(stride) {}
    std::byte* of(std::size_t thread) const { return memory_ + thread * stride_; }

   private:
    std::byte* memory_;
    std::size_t stride_;
  };
  PerThread take_each(std::size_t threads, std::size_t bytes) {
    return {take(threads * whole_units(bytes)), whole_units(bytes)};
  }

 private:
  ThreadPool* pool_;
  std::span<std::byte> memory_;
};

}  // namespace sinter::runtime::host
