// Progress of the compute stream: numbers for the work on it, and events that others wait for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// Work on the compute stream has the number of the submit that ends it. Each number that is not known to be
/// done keeps its event, so that whoever asks late gets the same answer. Any thread may call the functions
/// that say so; all others are called with the device's lock held.
class Timeline {
 public:
  Timeline(const DriverApi& api, Stream compute) : api_(api), compute_(compute) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// The number of work enqueued now. Thread-safe.
  std::uint64_t open() const { return closed_ + 1; }
  /// Has the event that `close` records.
  void reserve();
  /// Ends the open number if it has work; later work has the next number.
  void close();
  /// Records that the open number has work.
  void add_work() { has_work_ = true; }
  /// True iff that number is not closed yet.
  bool is_open(std::uint64_t point) const { return point > closed_; }

  /// Makes later work of `stream` wait for the compute work up to `point`, which must be closed.
  void wait(Stream stream, std::uint64_t point);

  /// The last number that is done; queries the driver, never waits.
  std::uint64_t completed();
  /// As far as is known without asking the driver. Thread-safe.
  std::uint64_t known_completed() const { return completed_.load(std::memory_order_acquire); }
  /// Records that work up to `point` is done. Thread-safe.
  void completed_by(std::uint64_t point);

  /// True iff the work up to `point` is done, or the driver failed; never waits. Thread-safe.
  bool done(std::uint64_t point);
  /// Waits for the work up to `point`, which must be closed. Throws DeviceError where the driver failed.
  /// Thread-safe.
  void wait_for(std::uint64_t point);

 private:
  static constexpr std::size_t kManyEvents = 64;

  std::uint64_t ask();
  void recycle();
  Event event_of(std::uint64_t point) const { return events_[static_cast<std::size_t>(point - first_)]; }

  const DriverApi& api_;
  Stream compute_;
  std::atomic<std::uint64_t> closed_{0};  // written with the mutex held, as well
  bool has_work_ = false;
  std::atomic<std::uint64_t> completed_{0};
  std::mutex mutex_;          // of what follows
  std::deque<Event> events_;  // of the numbers from first_ to closed_
  std::uint64_t first_ = 1;   // all before it are done
  std::vector<Event> spare_;
  std::size_t many_ = kManyEvents;  // so many events are worth a query
};

}  // namespace sinter::runtime::cuda
