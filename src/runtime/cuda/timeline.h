// Progress of the compute stream: numbers for the work on it, and events that other streams wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// Work on the compute stream has the number of the submit that ends it. All functions except `completed_by`
/// and `known_completed` are called with the device's lock held.
class Timeline {
 public:
  Timeline(const DriverApi& api, Stream compute) : api_(api), compute_(compute) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// The number of work enqueued now.
  std::uint64_t open() const { return closed_ + 1; }
  /// Has the event that `close` records.
  void reserve();
  /// Ends the open number if it has work; later work has the next number.
  void close();
  /// Records that the open number has work.
  void add_work() { has_work_ = true; }
  /// True iff that number is not closed yet.
  bool is_open(std::uint64_t point) const { return point > closed_; }

  /// Makes later work of `stream` wait for the compute work up to `point`, which must be closed. For work
  /// more than kEvents submits ago it waits for the oldest event instead.
  void wait(Stream stream, std::uint64_t point);

  /// Queries the driver; never waits.
  std::uint64_t completed();
  std::uint64_t known_completed() const { return completed_.load(std::memory_order_relaxed); }
  /// Records that work up to `point` is done. Thread-safe.
  void completed_by(std::uint64_t point);

 private:
  static constexpr std::uint64_t kEvents = 256;

  Event event_of(std::uint64_t point) const { return events_[point % kEvents]; }

  const DriverApi& api_;
  Stream compute_;
  std::array<Event, kEvents> events_{};  // of the last closed numbers
  std::uint64_t closed_ = 0;
  bool has_work_ = false;
  std::atomic<std::uint64_t> completed_{0};
};

}  // namespace sinter::runtime::cuda
