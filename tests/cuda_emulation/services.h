// What the emulated driver offers to other emulated libraries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include <dlfcn.h>

#include "control.h"

namespace sinter_emulation {

struct Services {
  Control& (*control)();
  /// Puts work on a stream, or into the graph that it captures. Returns the driver's error.
  int (*enqueue)(void* stream, const std::function<int()>& work);
  /// True iff the range is inside one allocation of the calling thread's device.
  bool (*inside)(std::uint64_t address, std::size_t bytes);
};

/// Those of the driver, which is loaded before any library.
inline const Services& services() {
  static const Services& found = *[] {
    void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return reinterpret_cast<const Services* (*)()>(dlsym(driver, "sinter_emulation_services"))();
  }();
  return found;
}

}  // namespace sinter_emulation
