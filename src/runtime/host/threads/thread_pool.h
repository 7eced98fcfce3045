// The host's thread pool: the caller works too, threads claim pieces one by one, and wait by a short spin
// before they sleep.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace sinter::runtime {

/// Runs numbered pieces of work on all threads. The caller divides the work into pieces by the work alone,
/// never by `size()`, so that results do not depend on the number of threads.
class ThreadPool {
 public:
  /// `threads` counts the caller; 0: one per core this process may use. Threads that the system does not
  /// start are missing from `size()`, and are said in one warning.
  explicit ThreadPool(std::size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  /// Number of threads, including the caller.
  std::size_t size() const { return workers_.size() + 1; }

  /// Calls work(piece, thread) for each piece in [0, pieces), thread in [0, size()), and returns when all are
  /// done. One call at a time, not from within a piece. Rethrows the first exception of a piece.
  template <class Work>
  void run(std::size_t pieces, Work&& work) {
    if (pieces == 0) return;
    if (pieces == 1 || workers_.empty()) {
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

  void run_shared(std::size_t pieces, Call call, void* context);
  void work_through(std::uint32_t generation, std::size_t thread);
  void worker(std::size_t thread);

  // High half: the job's generation; low half: its unclaimed pieces. A thread claims a piece by decrementing
  // the low half with compare-and-swap, which fails when the generation has changed, so a late worker cannot
  // touch a later job.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  alignas(64) std::atomic<std::uint32_t> generation_{0};  // sleeping workers wait for a change
  std::atomic<std::uint32_t> sleeping_{0};
  alignas(64) std::atomic<std::size_t> unfinished_{0};

  // The current job; written before the ticket is published.
  Call call_ = nullptr;
  void* context_ = nullptr;
  std::size_t pieces_ = 0;

  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::atomic<bool> stop_{false};
  std::vector<std::thread> workers_;
};

}  // namespace sinter::runtime
