// How long the device takes for a part of a stream.
#pragma once

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// The context must be current in all functions.
class Stopwatch {
 public:
  Stopwatch(const DriverApi& api, Stream stream) : api_(api), stream_(stream) {}
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  /// False where the driver has no clock for it.
  bool works() const { return api_.event_elapsed != nullptr; }

  /// Has what `start` and `stop` need, so that they do not fail for want of memory.
  void reserve();
  void start();
  void stop();
  /// Waits for the stop. Nanoseconds since the start.
  double elapsed();

 private:
  const DriverApi& api_;
  const Stream stream_;
  Event start_ = nullptr, stop_ = nullptr;
};

}  // namespace sinter::runtime::cuda
