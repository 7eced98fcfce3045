// What the emulated driver offers to other emulated libraries. Found with dlsym(driver,
// "sinter_emulation_services").
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "control.h"

namespace sinter_emulation {

struct Services {
  Control& (*control)();
  /// Puts work on a stream, or into the graph that it captures. Returns the driver's error.
  int (*enqueue)(void* stream, const std::function<int()>& work);
  /// True iff the range is inside one allocation of the calling thread's device.
  bool (*inside)(std::uint64_t address, std::size_t bytes);
};

/// sinter_emulation_services.
using ServicesFunction = const Services* (*)();

}  // namespace sinter_emulation
