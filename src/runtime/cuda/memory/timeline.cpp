// Records one event per submit and uses it again once it is known to be done.
#include "src/runtime/cuda/memory/timeline.h"

#include <algorithm>

namespace sinter::runtime::cuda {

Timeline::~Timeline() {
  for (Event event : events_) api_.event_destroy(event);
  for (Event event : spare_) api_.event_destroy(event);
}

void Timeline::reserve() {
  const std::lock_guard lock(mutex_);
  recycle();
  if (events_.size() >= many_) {
    // A program that never waits or reads: asks now and then, more rarely the further the device is behind.
    ask();
    recycle();
    many_ = std::max(kManyEvents, 2 * events_.size());
  }
  if (!spare_.empty()) return;
  spare_.reserve(events_.size() + 1);  // so that `recycle` need not allocate
  Event event = nullptr;
  check(api_.event_create(&event, kEventDisableTiming), "cuEventCreate");
  spare_.push_back(event);
}

/// Frees the events of numbers that are known to be done; with the mutex held.
void Timeline::recycle() {
  for (const std::uint64_t known = known_completed(); first_ <= known && !events_.empty(); ++first_) {
    spare_.push_back(events_.front());
    events_.pop_front();
  }
}

void Timeline::close() {
  if (!has_work_) return;
  const std::lock_guard lock(mutex_);
  events_.push_back(spare_.back());
  try {
    check(api_.event_record(events_.back(), compute_), "cuEventRecord");
  } catch (...) {
    events_.pop_back();
    throw;
  }
  spare_.pop_back();
  ++closed_;
  has_work_ = false;
}

void Timeline::wait(Stream stream, std::uint64_t point) {
  if (point <= known_completed()) return;
  const std::lock_guard lock(mutex_);
  if (point < first_) return;
  check(api_.stream_wait_event(stream, event_of(std::min(point, closed_.load())), 0), "cuStreamWaitEvent");
}

std::uint64_t Timeline::completed() {
  const std::lock_guard lock(mutex_);
  return ask();
}

/// Queries the driver, with the mutex held.
std::uint64_t Timeline::ask() {
  // Work completes in order: binary search for the last completed number.
  std::uint64_t done = std::max(known_completed(), first_ - 1), open = closed_ + 1;
  while (open - done > 1) {
    // The latest first, as the device mostly keeps up.
    const std::uint64_t middle = open == closed_ + 1 ? closed_.load() : done + (open - done) / 2;
    const Result result = api_.event_query(event_of(middle));
    if (result != kNotReady) check(result, "cuEventQuery");
    (result == kSuccess ? done : open) = middle;
  }
  completed_by(done);
  return known_completed();
}

void Timeline::completed_by(std::uint64_t point) {
  std::uint64_t known = known_completed();
  while (known < point && !completed_.compare_exchange_weak(known, point)) {
  }
}

bool Timeline::done(std::uint64_t point) {
  if (point <= known_completed()) return true;
  const std::lock_guard lock(mutex_);
  if (point < first_) return true;
  if (point > closed_) return false;
  const Result result = api_.event_query(event_of(point));
  if (result == kSuccess) completed_by(point);
  return result != kNotReady;
}

void Timeline::wait_for(std::uint64_t point) {
  if (point <= known_completed()) return;
  Event event = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (point < first_) return;
    event = event_of(std::min(point, closed_.load()));
  }
  // Without the mutex: launches go on meanwhile. Should the event be recorded anew before the driver looks at
  // it, its old number is done already and this waits for a later one.
  check(api_.event_synchronize(event), "cuEventSynchronize");
  completed_by(point);
}

}  // namespace sinter::runtime::cuda
