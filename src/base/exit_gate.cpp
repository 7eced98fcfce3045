// Closes gates at exit.
#include "src/base/exit_gate.h"

#include <array>
#include <chrono>
#include <cstdlib>
#include <thread>

#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace sinter::base {
namespace {

// More than there are libraries behind gates.
std::array<std::atomic<ExitGate*>, 8> gates{};
std::atomic<bool> main_thread_ended{false};

/// The main thread's: ends when the process does. A main thread that leaves by pthread_exit() while others go
/// on closes the gates for them.
struct MainThread {
  ~MainThread() {
    main_thread_ended = true;
    for (std::atomic<ExitGate*>& gate : gates)
      if (ExitGate* known = gate.load()) known->close();
  }
};

}  // namespace

void ExitGate::close_with_main_thread() noexcept {
  for (std::atomic<ExitGate*>& gate : gates) {
    ExitGate* none = nullptr;
    if (gate.compare_exchange_strong(none, this)) break;
  }
  // A library that a thread wants to open for the first time while the process ends stays closed.
  if (main_thread_ended) close();
}

void ExitGate::note_thread() {
#if defined(__linux__)
  if (::syscall(SYS_gettid) != ::getpid()) return;
  thread_local MainThread main_thread;
  static_cast<void>(main_thread);
#endif
}

void ExitGate::renew() noexcept {
  // Without memory for one more entry of the list an older one closes the gate.
  static_cast<void>(std::atexit(at_exit_));
}

void ExitGate::close() noexcept {
  if (closed_.exchange(true)) return;
  // Calls take milliseconds. A thread that stands still inside, or that has called exit() there, is not
  // waited for.
  constexpr auto kPatience = std::chrono::seconds(10);
  const auto begin = std::chrono::steady_clock::now();
  while (inside_.load() > 0 && std::chrono::steady_clock::now() - begin < kPatience)
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  if (when_closed_) when_closed_();
}

}  // namespace sinter::base
