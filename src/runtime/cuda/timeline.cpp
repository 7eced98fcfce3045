// Records one event per submit, in a ring of events.
#include "src/runtime/cuda/timeline.h"

#include <algorithm>

namespace sinter::runtime::cuda {

Timeline::~Timeline() {
  for (Event event : events_)
    if (event) api_.event_destroy(event);
}

void Timeline::reserve() {
  Event& event = events_[open() % kEvents];
  if (!event) check(api_.event_create(&event, kEventDisableTiming), "cuEventCreate");
}

void Timeline::close() {
  if (!has_work_) return;
  reserve();
  check(api_.event_record(event_of(open()), compute_), "cuEventRecord");
  ++closed_;
  has_work_ = false;
}

void Timeline::wait(Stream stream, std::uint64_t point) {
  if (point <= known_completed()) return;
  const std::uint64_t oldest = closed_ >= kEvents ? closed_ - kEvents + 1 : 1;
  check(api_.stream_wait_event(stream, event_of(std::clamp(point, oldest, closed_)), 0), "cuStreamWaitEvent");
}

std::uint64_t Timeline::completed() {
  // Work completes in order: binary search for the last completed number.
  std::uint64_t done = std::max(known_completed(), closed_ >= kEvents ? closed_ - kEvents : 0),
                open = closed_ + 1;
  while (open - done > 1) {
    // The latest first, as the device mostly keeps up.
    const std::uint64_t middle = open == closed_ + 1 ? closed_ : done + (open - done) / 2;
    const Result result = api_.event_query(event_of(middle));
    if (result != kNotReady) check(result, "cuEventQuery");
    (result == kSuccess ? done : open) = middle;
  }
  // Numbers before the oldest event cannot be queried.
  if (done > known_completed() && (closed_ < kEvents || done > closed_ - kEvents)) completed_by(done);
  return known_completed();
}

void Timeline::completed_by(std::uint64_t point) {
  std::uint64_t known = known_completed();
  while (known < point && !completed_.compare_exchange_weak(known, point)) {
  }
}

}  // namespace sinter::runtime::cuda
