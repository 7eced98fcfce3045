// The interface between the parts of the emulated driver.
#pragma once

#include <cstddef>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "control.h"

namespace sinter_emulation {

constexpr int kSuccess = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidImage = 200, kInvalidContext = 201,
              kInvalidHandle = 400, kNotReady = 600, kLaunchFailed = 719, kCaptureUnsupported = 900,
              kGraphUpdateFailed = 910;

/// A kernel of a loaded module: the result of cuModuleGetFunction.
struct Function {
  void (*run)(void**);
  std::vector<std::size_t> parameter_bytes;
  unsigned most_shared = 48 << 10;  // that a launch may ask for
  unsigned cluster = 1;             // blocks that run side by side
};

/// A kernel's parameter, as aligned as any is: tensor maps are.
struct alignas(64) ParameterBlock {
  std::byte bytes[64];
};
using Parameter = std::vector<ParameterBlock>;
inline Parameter copy_of(const void* parameter, std::size_t bytes) {
  Parameter copy((bytes + sizeof(ParameterBlock) - 1) / sizeof(ParameterBlock));
  std::memcpy(copy.data(), parameter, bytes);
  return copy;
}

Control& control();

/// Runs the threads of a grid, one after the other.
int run_grid(const Function& function, const unsigned (&grid)[3], const unsigned (&block)[3],
             void** arguments);

/// The device of the calling thread's context; -1: no context.
int current_device();

/// The graph functions, and those of streams and events, by name.
const std::map<std::string, void*>& graph_functions();
const std::map<std::string, void*>& stream_functions();

/// An allocation, a start: true iff the test wants it to fail.
bool allocation_fails();
bool start_fails();

/// Held in every call.
std::recursive_mutex& driver_mutex();

template <auto function>
struct Entry;
template <class... A, int (*function)(A...)>
struct Entry<function> {
  static int call(A... arguments) {
    const std::lock_guard lock(driver_mutex());
    return function(arguments...);
  }
};
/// The entry point of a function of the driver's interface.
template <auto function>
void* entry() {
  return reinterpret_cast<void*>(&Entry<function>::call);
}

}  // namespace sinter_emulation
