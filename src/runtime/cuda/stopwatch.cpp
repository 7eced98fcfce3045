// Two events and the time between them.
#include "src/runtime/cuda/stopwatch.h"

namespace sinter::runtime::cuda {

Stopwatch::~Stopwatch() {
  for (Event event : {start_, stop_})
    if (event) api_.event_destroy(event);
}

void Stopwatch::reserve() {
  for (Event* event : {&start_, &stop_})
    if (!*event) check(api_.event_create(event, kEventTiming), "cuEventCreate");
}

void Stopwatch::start() { check(api_.event_record(start_, stream_), "cuEventRecord"); }

void Stopwatch::stop() { check(api_.event_record(stop_, stream_), "cuEventRecord"); }

double Stopwatch::elapsed() {
  check(api_.event_synchronize(stop_), "cuEventSynchronize");
  float milliseconds = 0;
  check(api_.event_elapsed(&milliseconds, start_, stop_), "cuEventElapsedTime");
  return static_cast<double>(milliseconds) * 1e6;
}

}  // namespace sinter::runtime::cuda
