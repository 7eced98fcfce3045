// Size classes and free lists of the host's memory.
#include "src/runtime/host/memory_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>

#include <sinter/error.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sinter::runtime {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// The pool frees cached blocks when it holds more than 1.5 times the peak in use plus this.
constexpr std::size_t kSlack = std::size_t{256} << 20;

std::byte* system_allocate(std::size_t bytes) {
  const bool large = bytes >= 2 * kHugePage;
  const std::size_t alignment = large ? kHugePage : kAlignment;
  const std::size_t size = (bytes + alignment - 1) / alignment * alignment;
  void* block = std::aligned_alloc(alignment, size);
#if defined(__linux__)
  // 2 MiB pages make the first touch and the address translation of large blocks cheaper; without them all
  // still works.
  if (block != nullptr && large) madvise(block, size, MADV_HUGEPAGE);
#endif
  return static_cast<std::byte*>(block);
}

}  // namespace

std::size_t MemoryPool::rounded(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const std::size_t step = std::max(std::bit_floor(bytes - 1) / 4, kAlignment);
  return (bytes + step - 1) / step * step;
}

MemoryPool::~MemoryPool() { trim(); }

std::byte* MemoryPool::allocate(std::size_t bytes) {
  constexpr std::size_t kLimit = std::size_t{1} << 47;
  const std::size_t size = bytes < kLimit ? rounded(bytes) : bytes;
  std::byte* block = nullptr;
  std::lock_guard lock(mutex_);
  if (auto found = free_.find(size); found != free_.end() && !found->second.empty()) {
    block = found->second.back();
    found->second.pop_back();
    cached_ -= size;
  } else if (size < kLimit) {
    const std::size_t bound = statistics_.peak_in_use + statistics_.peak_in_use / 2 + kSlack;
    const std::size_t needed = statistics_.in_use + size;
    if (needed + cached_ > bound) trim_to(bound > needed ? bound - needed : 0);
    const auto fresh = [&] {
      return limit_ && statistics_.reserved + size > limit_ ? nullptr : system_allocate(size);
    };
    block = fresh();
    if (block == nullptr) {
      trim_to(0);
      block = fresh();
    }
    if (block != nullptr) statistics_.reserved += size;
  }
  if (block == nullptr)
    throw DeviceError("[host] no memory left for " + std::to_string(bytes) + " bytes; " +
                      std::to_string(statistics_.in_use) + " bytes are in use" +
                      (limit_ ? ", SINTER_MEMORY_LIMIT_MIB allows " + std::to_string(limit_) : ""));
  statistics_.in_use += size;
  statistics_.peak_in_use = std::max(statistics_.peak_in_use, statistics_.in_use);
  return block;
}

void MemoryPool::release(std::byte* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  std::lock_guard lock(mutex_);
  statistics_.in_use -= size;
  try {
    free_[size].push_back(block);
    cached_ += size;
  } catch (const std::bad_alloc&) {
    std::free(block);
    statistics_.reserved -= size;
  }
}

std::size_t MemoryPool::trim() noexcept {
  std::lock_guard lock(mutex_);
  const std::size_t before = cached_;
  trim_to(0);
  return before;
}

void MemoryPool::trim_to(std::size_t bytes) noexcept {
  for (auto it = free_.rbegin(); it != free_.rend() && cached_ > bytes; ++it) {
    while (!it->second.empty() && cached_ > bytes) {
      std::free(it->second.back());
      it->second.pop_back();
      cached_ -= it->first;
      statistics_.reserved -= it->first;
    }
  }
}

PoolStatistics MemoryPool::statistics() const {
  std::lock_guard lock(mutex_);
  return statistics_;
}

}  // namespace sinter::runtime
