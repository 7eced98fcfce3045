// Claiming, spinning and sleeping in the thread pool.
#include "src/runtime/host/threads/thread_pool.h"

#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "src/runtime/host/threads/floating_point.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include "src/base/cores.h"
#include "src/base/env.h"

namespace sinter::runtime {
namespace {

// Launches of one plan follow within microseconds; longer gaps are not worth a busy core.
constexpr auto kSpin = std::chrono::microseconds(30);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Spins until `done()`; false when the time is up.
template <class Done>
bool spin(Done&& done) {
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    for (int i = 0; i < 64; ++i) {
      if (done()) return true;
      pause();
    }
    if (std::chrono::steady_clock::now() - begin > kSpin) return false;
  }
}

std::uint32_t generation_of(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket >> 32); }
std::uint32_t left_of(std::uint64_t ticket) { return static_cast<std::uint32_t>(ticket); }

}  // namespace

ThreadPool::ThreadPool(std::size_t threads) {
  const std::size_t count = threads == 0 ? base::usable_cores() : threads;
  workers_.reserve(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    try {
      workers_.emplace_back([this, i] { worker(i); });
    } catch (const std::system_error& error) {
      base::warn_once("the host computes on " + std::to_string(size()) + " of " + std::to_string(count) +
                      " threads: another could not be started (" + error.what() + ")");
      break;
    }
  }
}

ThreadPool::~ThreadPool() {
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : workers_) thread.join();
}

void ThreadPool::run_shared(std::size_t pieces, Call call, void* context) {
  constexpr std::size_t kMostPieces = 0xffffffff;
  for (; pieces > kMostPieces; --pieces) call(context, pieces - 1, 0);
  call_ = call;
  context_ = context;
  pieces_ = pieces;
  unfinished_.store(pieces, std::memory_order_relaxed);
  const std::uint32_t generation = generation_.load(std::memory_order_relaxed) + 1;
  ticket_.store(std::uint64_t{generation} << 32 | pieces, std::memory_order_release);
  // Sequentially consistent with a worker that falls asleep (it increments sleeping_, then checks
  // generation_): at least one of the two sees the other's write.
  generation_.store(generation);
  if (sleeping_.load() != 0) {
    if (pieces > workers_.size()) {
      generation_.notify_all();
    } else {
      for (std::size_t i = 1; i < pieces; ++i) generation_.notify_one();
    }
  }
  work_through(generation, 0);
  // The remaining pieces run on other threads; one of them may have lost its core, so yield.
  while (unfinished_.load(std::memory_order_acquire) != 0) {
    if (!spin([this] { return unfinished_.load(std::memory_order_acquire) == 0; })) std::this_thread::yield();
  }
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadPool::work_through(std::uint32_t generation, std::size_t thread) {
  std::uint64_t ticket = ticket_.load(std::memory_order_acquire);
  while (generation_of(ticket) == generation && left_of(ticket) != 0) {
    if (!ticket_.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) continue;
    // This job cannot end before the claimed piece, so its fields do not change.
    const std::size_t piece = pieces_ - left_of(ticket);
    try {
      call_(context_, piece, thread);
    } catch (...) {
      std::lock_guard lock(error_mutex_);
      if (!error_) error_ = std::current_exception();
    }
    unfinished_.fetch_sub(1, std::memory_order_release);
    ticket = ticket_.load(std::memory_order_acquire);
  }
}

void ThreadPool::worker(std::size_t thread) {
  const DefaultFloatingPoint not_inherited;  // a new thread begins with its parent's settings
  std::uint32_t seen = 0;
  for (;;) {
    auto news = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (!spin(news)) {
      sleeping_.fetch_add(1);
      generation_.wait(seen);
      sleeping_.fetch_sub(1);
    }
    seen = generation_.load(std::memory_order_acquire);
    if (stop_.load()) return;
    work_through(seen, thread);
  }
}

}  // namespace sinter::runtime
