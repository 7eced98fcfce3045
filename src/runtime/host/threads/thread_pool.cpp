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

ThreadPool::ThreadPool(std::size_t threads) : size_(threads == 0 ? base::usable_cores() : threads) {
  base::watch_forks(*this);
}

ThreadPool::~ThreadPool() {
  base::forget_forks(*this);
  if (workers_ == nullptr) return;
  stop_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& thread : *workers_) thread.join();
  delete workers_;
}

/// Starts the threads. A caller that comes meanwhile does not wait: it works with those that are there.
void ThreadPool::start() {
  if (started_.load(std::memory_order_relaxed) || started_.exchange(true)) return;
  const std::size_t count = size();
  workers_ = new std::vector<std::thread>;
  workers_->reserve(count - 1);
  for (std::size_t i = 1; i < count; ++i) {
    try {
      workers_->emplace_back([this] { worker(); });
    } catch (const std::system_error& error) {
      size_.store(i);
      base::warn_once("the host computes on " + std::to_string(i) + " of " + std::to_string(count) +
                      " threads: another could not be started (" + error.what() + ")");
      break;
    }
  }
}

void ThreadPool::after_fork(bool in_child) noexcept {
  if (!in_child) return;
  // What other threads had under way never ends here.
  for (Job& job : jobs_) {
    job.ticket.store(std::uint64_t{generation_of(job.ticket.load()) + 1} << 32);
    job.unfinished.store(0);
    job.failed.store(false);
    job.taken.store(false);
  }
  sleeping_.store(0);
  workers_ = nullptr;
  started_.store(false);
}

ThreadPool::Job* ThreadPool::take_job() {
  // Each thread comes back to the job it had, so that callers do not meet in one cache line.
  thread_local std::size_t own = 0;
  for (std::size_t i = 0; i < kJobs; ++i) {
    const std::size_t at = (own + i) % kJobs;
    Job& job = jobs_[at];
    if (job.taken.load(std::memory_order_relaxed) || job.taken.exchange(true, std::memory_order_acquire))
      continue;
    own = at;
    return &job;
  }
  return nullptr;
}

void ThreadPool::wake(std::size_t threads) {
  // Sequentially consistent with a thread that falls asleep (it increments sleeping_, then checks
  // generation_): at least one of the two sees the other's write.
  generation_.fetch_add(1);
  if (sleeping_.load() == 0) return;
  if (threads + 1 >= size()) {
    generation_.notify_all();
  } else {
    for (std::size_t i = 0; i < threads; ++i) generation_.notify_one();
  }
}

void ThreadPool::run_shared(std::size_t pieces, Call call, void* context) {
  constexpr std::size_t kMostPieces = 0xffffffff;
  for (; pieces > kMostPieces; --pieces) call(context, pieces - 1, 0);
  start();
  Job* const job = take_job();
  if (job == nullptr) {
    for (std::size_t piece = 0; piece < pieces; ++piece) call(context, piece, 0);
    return;
  }
  job->call = call;
  job->context = context;
  job->pieces = pieces;
  job->threads.store(1, std::memory_order_relaxed);
  // The first piece is the caller's, so that fewer other threads than pieces take part.
  job->unfinished.store(pieces - 1, std::memory_order_relaxed);
  const std::uint32_t generation = generation_of(job->ticket.load(std::memory_order_relaxed)) + 1;
  job->ticket.store(std::uint64_t{generation} << 32 | (pieces - 1), std::memory_order_release);
  wake(pieces - 1);
  job->perform(0, 0);
  work_through(*job, true);
  // The remaining pieces run on other threads; one of them may have lost its core, so yield.
  const auto done = [job] { return job->unfinished.load(std::memory_order_acquire) == 0; };
  while (!done())
    if (!spin(done)) std::this_thread::yield();
  std::exception_ptr error;
  if (job->failed.load(std::memory_order_relaxed)) {
    error = std::exchange(job->error, nullptr);
    job->failed.store(false, std::memory_order_relaxed);
  }
  job->taken.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void ThreadPool::Job::perform(std::size_t piece, std::size_t thread) noexcept {
  try {
    call(context, piece, thread);
  } catch (...) {
    if (!failed.exchange(true, std::memory_order_relaxed)) error = std::current_exception();
  }
}

bool ThreadPool::work_through(Job& job, bool is_caller) {
  std::uint64_t ticket = job.ticket.load(std::memory_order_acquire);
  const std::uint32_t generation = generation_of(ticket);
  std::size_t thread = 0;
  bool any = false;
  while (generation_of(ticket) == generation && left_of(ticket) != 0) {
    if (!job.ticket.compare_exchange_weak(ticket, ticket - 1, std::memory_order_acq_rel)) continue;
    // This job cannot end before the claimed piece, so its fields do not change.
    if (!any && !is_caller) thread = job.threads.fetch_add(1, std::memory_order_relaxed);
    any = true;
    job.perform(job.pieces - left_of(ticket), thread);
    job.unfinished.fetch_sub(1, std::memory_order_release);
    ticket = job.ticket.load(std::memory_order_acquire);
  }
  return any;
}

void ThreadPool::worker() {
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
    for (bool any = true; any;) {
      any = false;
      for (Job& job : jobs_) any = work_through(job, false) || any;
    }
  }
}

}  // namespace sinter::runtime
