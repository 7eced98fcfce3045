// The host's thread pool: whoever has work to share does part of it, threads claim pieces one by one, and
// wait by a short spin before they sleep.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <thread>
#include <type_traits>
#include <vector>

#include "src/base/fork.h"

namespace sinter::runtime {

/// Runs numbered pieces of work on all threads. The caller divides the work into pieces by the work alone,
/// and by `size()` only where no result depends on the pieces: results do not depend on the number of
/// threads. Any number of threads may call `run` at once. The threads start with the first work that is
/// shared; a forked child starts its own.
class ThreadPool final : private base::SurvivesFork {
 public:
  /// `threads` counts the caller; 0: one per core this process may use. Threads that the system does not
  /// start are missing from `size()`, and are said in one warning.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// The most threads that work on one call of `run`, the caller included. Never grows.
  std::size_t size() const { return size_.load(std::memory_order_relaxed); }

  /// Calls work(piece, thread) for each piece in [0, pieces) and returns when all are done. `thread` differs
  /// among the threads that work on this call, and is below both size() and `pieces`; the caller is 0. A
  /// piece may itself call `run`. Rethrows the first exception of a piece.
  template <class Work>
  void run(std::size_t pieces, Work&& work) {
    if (pieces == 0) return;
    if (pieces == 1 || size() == 1) {
      for (std::size_t piece = 0; piece < pieces; ++piece) work(piece, std::size_t{0});
      return;
    }
    using Callable = std::remove_reference_t<Work>;
    run_shared(
        pieces,
        [](void* context, std::size_t piece, std::size_t thread) {
          (*static_cast<Callable*>(context))(piece, thread);
        },
        const_cast<void*>(static_cast<const void*>(&work)));
  }

 private:
  using Call = void (*)(void* context, std::size_t piece, std::size_t thread);

  /// One call of `run`. Its caller owns it until all pieces are done, and writes the fields before the
  /// ticket.
  struct alignas(64) Job {
    // High half: the generation; low half: unclaimed pieces. A thread claims a piece by decrementing the low
    // half with compare-and-swap, which fails when the generation has changed, so a late thread cannot touch
    // a later job.
    std::atomic<std::uint64_t> ticket{0};
    Call call = nullptr;
    void* context = nullptr;
    std::size_t pieces = 0;
    std::atomic<std::uint32_t> threads{0};  // numbers handed out; the caller has 0
    std::atomic<bool> taken{false};
    alignas(64) std::atomic<std::size_t> unfinished{0};
    std::atomic<bool> failed{false};
    std::exception_ptr error;  // written by the one that set `failed`

    void perform(std::size_t piece, std::size_t thread) noexcept;
  };

  void run_shared(std::size_t pieces, Call call, void* context);
  void start();
  Job* take_job();
  void wake(std::size_t threads);
  /// Does pieces of the job until none is left; false where there was none.
  static bool work_through(Job& job, bool is_caller);
  void worker();

  void before_fork() noexcept override {}
  void after_fork(bool in_child) noexcept override;

  // More callers than this at once do their pieces alone.
  static constexpr std::size_t kJobs = 8;
  std::array<Job, kJobs> jobs_;
  alignas(64) std::atomic<std::uint32_t> generation_{0};  // sleeping threads wait for a change
  std::atomic<std::uint32_t> sleeping_{0};
  alignas(64) std::atomic<std::size_t> size_;
  std::atomic<bool> started_{false}, stop_{false};
  // Behind a pointer: a forked child drops it as it stands, as the threads in it do not exist there.
  std::vector<std::thread>* workers_ = nullptr;
};

}  // namespace sinter::runtime
