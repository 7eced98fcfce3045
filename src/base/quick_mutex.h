// A mutex for what is locked with every operation and hardly ever by two threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace sinter::base {

/// Locks and unlocks inline, with one atomic instruction each; std::mutex calls into the C library for both.
/// Whoever finds it locked sleeps.
class QuickMutex {
 public:
  QuickMutex() = default;
  QuickMutex(const QuickMutex&) = delete;
  QuickMutex& operator=(const QuickMutex&) = delete;

  bool try_lock() {
    int expected = kFree;
    return state_.compare_exchange_strong(expected, kLocked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }
  void lock() {
    if (!try_lock()) lock_contended();
  }
  void unlock() {
    if (state_.exchange(kFree, std::memory_order_release) == kAwaited) state_.notify_one();
  }

 private:
  // kAwaited: locked, and a thread may sleep until it is free.
  static constexpr int kFree = 0, kLocked = 1, kAwaited = 2;

  [[gnu::noinline]] void lock_contended() {
    // Whoever has slept leaves kAwaited behind: others may sleep still.
    while (state_.exchange(kAwaited, std::memory_order_acquire) != kFree)
      state_.wait(kAwaited, std::memory_order_relaxed);
  }

  std::atomic<int> state_{kFree};
};

}  // namespace sinter::base
