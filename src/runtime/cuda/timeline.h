// How far the compute stream is: numbers for the work on it, and events that other streams wait for.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// Work on the compute stream bears the number of the submit that ends it. Functions other than
/// `completed_by` and `known_completed` are called with the device's lock held.
class Timeline {
 public:
  Timeline(const DriverApi& api, Stream compute) : api_(api), compute_(compute) {}
  ~Timeline();
  Timeline(const Timeline&) = delete;
  Timeline& operator=(const Timeline&) = delete;

  /// The number of what is handed to the stream now.
  std::uint64_t open() const { return closed_ + 1; }
  /// Ends the open number, if there was work; what comes next bears another one.
  void close();
  /// Says that the open number has work.
  void add_work() { has_work_ = true; }
  /// True iff work of that number has not been closed.
  bool is_open(std::uint64_t point) const { return point > closed_; }

  /// What `stream` is given from now on starts when the work up to `point`, which is closed, is done. Of work
  /// long ago (more than kEvents submits), it waits for somewhat more.
  void wait(Stream stream, std::uint64_t point);

  /// Asks the driver. Never waits.
  std::uint64_t completed();
  std::uint64_t known_completed() const { return completed_.load(std::memory_order_relaxed); }
  /// Somebody has seen that work up to `point` is done. From any thread.
  void completed_by(std::uint64_t point);

 private:
  static constexpr std::uint64_t kEvents = 256;

  Event event_of(std::uint64_t point) const { return events_[point % kEvents]; }

  const DriverApi& api_;
  Stream compute_;
  std::array<Event, kEvents> events_{};  // of the last numbers that were closed
  std::uint64_t closed_ = 0;
  bool has_work_ = false;
  std::atomic<std::uint64_t> completed_{0};
};

}  // namespace sinter::runtime::cuda
