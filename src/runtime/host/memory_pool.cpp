// Size classes and free lists of the host's memory.
#include "src/runtime/host/memory_pool.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include <sinter/error.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace sinter::runtime {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// The pool frees cached blocks when it holds more than 1.5 times the peak in use plus this.
constexpr std::int64_t kSlack = std::int64_t{256} << 20;

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

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

/// Held where a thread or a pool ends, before any pool's mutex: the caches belong to both.
class Endings final : private base::SurvivesFork {
 public:
  std::mutex mutex;
  static Endings& global() {
    static Endings& instance = *new Endings;  // threads may end after static objects
    return instance;
  }

 private:
  Endings() { base::watch_forks(*this); }
  void before_fork() noexcept override { mutex.lock(); }
  void after_fork(bool) noexcept override { mutex.unlock(); }
};

// Values of static objects may be released after the thread's own objects have ended, so what they look at
// has no destructor.
thread_local bool thread_has_ended = false;
thread_local MemoryCache* last_used = nullptr;

}  // namespace

struct MemoryPool::ThreadsCaches {
  std::vector<std::shared_ptr<MemoryCache>> all;

  static ThreadsCaches& own() {
    thread_local ThreadsCaches instance;
    return instance;
  }
  ~ThreadsCaches() {
    thread_has_ended = true;
    last_used = nullptr;
    std::lock_guard ending(Endings::global().mutex);
    for (const std::shared_ptr<MemoryCache>& cache : all) {
      MemoryPool* const pool = cache->pool;  // changes only under the mutex of endings
      if (pool == nullptr) continue;
      std::lock_guard lock(pool->mutex_);
      pool->empty(*cache, true);
      std::erase(pool->caches_, cache);
    }
  }
};

std::size_t MemoryPool::rounded(std::size_t bytes) {
  if (bytes <= kAlignment) return kAlignment;
  const std::size_t step = std::max(std::bit_floor(bytes - 1) / 4, kAlignment);
  return (bytes + step - 1) / step * step;
}

MemoryPool::MemoryPool(std::size_t limit) : limit_(limit), id_(next_id()) {
  Endings::global();  // whose lock comes before this pool's when the process forks
  base::watch_forks(*this);
}

MemoryPool::~MemoryPool() {
  base::forget_forks(*this);
  std::lock_guard ending(Endings::global().mutex);
  std::lock_guard lock(mutex_);
  detach_caches();
  trim_to(0);
}

void MemoryPool::retire(MemoryPool* pool) noexcept {
  bool unused = false;
  {
    std::lock_guard ending(Endings::global().mutex);
    std::lock_guard lock(pool->mutex_);
    pool->detach_caches();
    pool->trim_to(0);
    pool->retired_ = true;
    unused = pool->reserved_ == 0;
  }
  if (unused) delete pool;
}

void MemoryPool::detach_caches() noexcept {
  for (const std::shared_ptr<MemoryCache>& cache : caches_) empty(*cache, true);
  caches_.clear();
}

// ---- the threads' caches

MemoryCache* MemoryPool::cache_of_thread() noexcept {
  if (last_used != nullptr && last_used->pool_id == id_) return last_used;
  return find_or_make_cache();
}

MemoryCache* MemoryPool::find_or_make_cache() noexcept {
  if (thread_has_ended) return nullptr;
  auto& all = ThreadsCaches::own().all;
  for (const std::shared_ptr<MemoryCache>& cache : all)
    if (cache->pool_id == id_) return last_used = cache.get();
  try {
    {
      std::lock_guard ending(Endings::global().mutex);
      std::erase_if(all, [](const auto& cache) { return cache->pool == nullptr; });
    }
    last_used = nullptr;
    auto cache = std::make_shared<MemoryCache>(this, id_);
    all.reserve(all.size() + 1);
    std::lock_guard lock(mutex_);
    if (retired_) return nullptr;
    caches_.push_back(cache);
    all.push_back(std::move(cache));
    return last_used = all.back().get();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// Learns how full the cache is and was. Before the pool's own counts change: `least` is of the time since it
/// was looked at last, and together they tell how much was in use at the most.
void MemoryPool::look_at(MemoryCache& cache) const noexcept {
  std::int64_t bytes = 0, least = 0;
  {
    std::lock_guard lock(cache.lock);
    bytes = static_cast<std::int64_t>(cache.bytes);
    least = static_cast<std::int64_t>(std::exchange(cache.least, cache.bytes));
  }
  peak_ = std::max(peak_, in_use() + cache.known - least);
  cached_ += bytes - cache.known;
  cache.known = bytes;
}

void MemoryPool::empty(MemoryCache& cache, bool for_good) noexcept {
  look_at(cache);
  {
    std::lock_guard lock(cache.lock);
    cache.reduce(0, [&](std::byte* block, std::size_t size) { keep(block, size); });
    if (for_good) cache.pool = nullptr;
  }
  look_at(cache);
}

void MemoryPool::spill(MemoryCache& cache) noexcept {
  std::lock_guard lock(mutex_);
  look_at(cache);
  {
    std::lock_guard own(cache.lock);
    cache.reduce(MemoryCache::kMost / 2, [&](std::byte* block, std::size_t size) { keep(block, size); });
  }
  look_at(cache);
}

/// Moves more blocks of the size into the cache, as a thread that releases none of its own soon wants them.
void MemoryPool::refill(MemoryCache& cache, std::size_t size) noexcept {
  constexpr std::size_t kBytes = std::size_t{16} << 10;
  {
    std::lock_guard own(cache.lock);
    if (cache.pool == nullptr) return;
    for (std::size_t moved = 0; moved + size <= kBytes; moved += size) {
      std::byte* const block = take(size);
      if (block == nullptr) break;
      cache.put(block, size);
    }
  }
  look_at(cache);
}

// ---- allocation

std::byte* MemoryPool::allocate(std::size_t bytes) {
  constexpr std::size_t kLimit = std::size_t{1} << 47;
  const std::size_t size = bytes < kLimit ? rounded(bytes) : bytes;
  if (fails_.load(std::memory_order_relaxed) && allocations_left_.fetch_sub(1) <= 0)
    throw DeviceError("[host] no memory left for " + std::to_string(bytes) + " bytes: a test says so");
  if (size <= MemoryCache::kLargest) {
    if (MemoryCache* const cache = cache_of_thread()) {
      std::lock_guard lock(cache->lock);
      if (std::byte* const block = cache->take(size)) return block;
    }
  }
  std::byte* const block = size < kLimit ? allocate_shared(size) : nullptr;
  if (block != nullptr) return block;
  throw DeviceError("[host] no memory left for " + std::to_string(bytes) + " bytes; " +
                    std::to_string(statistics().in_use) + " bytes are in use" +
                    (limit_ ? ", SINTER_MEMORY_LIMIT_MIB allows " + std::to_string(limit_) : ""));
}

std::byte* MemoryPool::allocate_shared(std::size_t size) {
  MemoryCache* const cache = cache_of_thread();
  std::unique_lock lock(mutex_);
  if (cache != nullptr) look_at(*cache);
  if (std::byte* const block = take(size)) {
    peak_ = std::max(peak_, in_use());
    if (cache != nullptr && size <= MemoryCache::kLargest) refill(*cache, size);
    return block;
  }
  const std::int64_t more = static_cast<std::int64_t>(size);
  const std::int64_t bound = peak_ + peak_ / 2 + kSlack, needed = in_use() + more;
  if (needed + free_bytes_ > bound) trim_to(std::max<std::int64_t>(bound - needed, 0));
  for (const bool last_try : {false, true}) {
    if (last_try) {
      for (const std::shared_ptr<MemoryCache>& other : caches_) empty(*other, false);
      // What another thread had cached may be just what is wanted.
      if (std::byte* const block = take(size)) {
        peak_ = std::max(peak_, in_use());
        return block;
      }
      trim_to(0);
    }
    if (limit_ != 0 && static_cast<std::size_t>(reserved_ + more) > limit_) continue;
    reserved_ += more;
    const std::int64_t now = in_use();
    lock.unlock();  // the system takes its time
    std::byte* const block = system_allocate(size);
    lock.lock();
    if (block != nullptr) {
      peak_ = std::max(peak_, now);
      return block;
    }
    reserved_ -= more;
  }
  return nullptr;
}

void MemoryPool::release(std::byte* block, std::size_t bytes) noexcept {
  const std::size_t size = rounded(bytes);
  MemoryCache* const cache = size <= MemoryCache::kLargest ? cache_of_thread() : nullptr;
  if (cache == nullptr) return release_shared(block, size);
  std::size_t now = 0;
  {
    std::unique_lock lock(cache->lock);
    if (cache->pool == nullptr) {
      lock.unlock();
      return release_shared(block, size);
    }
    cache->put(block, size);
    now = cache->bytes;
  }
  if (now > MemoryCache::kMost) spill(*cache);
}

void MemoryPool::release_shared(std::byte* block, std::size_t size) noexcept {
  bool unused = false;
  {
    MemoryCache* const cache = cache_of_thread();
    std::lock_guard lock(mutex_);
    if (cache != nullptr) look_at(*cache);
    if (retired_) {
      std::free(block);
      reserved_ -= static_cast<std::int64_t>(size);
      unused = reserved_ == 0;
    } else {
      keep(block, size);
    }
  }
  if (unused) delete this;
}

void MemoryPool::keep(std::byte* block, std::size_t size) noexcept {
  try {
    free_[size].push_back(block);
    free_bytes_ += static_cast<std::int64_t>(size);
  } catch (const std::bad_alloc&) {
    std::free(block);
    reserved_ -= static_cast<std::int64_t>(size);
  }
}

std::byte* MemoryPool::take(std::size_t size) noexcept {
  const auto found = free_.find(size);
  if (found == free_.end() || found->second.empty()) return nullptr;
  std::byte* const block = found->second.back();
  found->second.pop_back();
  free_bytes_ -= static_cast<std::int64_t>(size);
  return block;
}

std::size_t MemoryPool::trim() noexcept {
  std::lock_guard lock(mutex_);
  for (const std::shared_ptr<MemoryCache>& cache : caches_) empty(*cache, false);
  const std::int64_t before = free_bytes_;
  trim_to(0);
  return static_cast<std::size_t>(before);
}

void MemoryPool::trim_to(std::int64_t bytes) noexcept {
  for (auto it = free_.rbegin(); it != free_.rend() && free_bytes_ > bytes; ++it) {
    while (!it->second.empty() && free_bytes_ > bytes) {
      std::free(it->second.back());
      it->second.pop_back();
      free_bytes_ -= static_cast<std::int64_t>(it->first);
      reserved_ -= static_cast<std::int64_t>(it->first);
    }
  }
}

PoolStatistics MemoryPool::statistics() const {
  std::lock_guard lock(mutex_);
  for (const std::shared_ptr<MemoryCache>& cache : caches_) look_at(*cache);
  peak_ = std::max(peak_, in_use());
  return {.in_use = static_cast<std::size_t>(std::max<std::int64_t>(in_use(), 0)),
          .reserved = static_cast<std::size_t>(reserved_),
          .peak_in_use = static_cast<std::size_t>(peak_)};
}

void MemoryPool::before_fork() noexcept {
  mutex_.lock();
  for (const std::shared_ptr<MemoryCache>& cache : caches_) cache->lock.lock();
}

void MemoryPool::after_fork(bool) noexcept {
  for (const std::shared_ptr<MemoryCache>& cache : caches_) cache->lock.unlock();
  mutex_.unlock();
}

}  // namespace sinter::runtime
