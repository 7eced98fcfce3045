// Where a thread's random numbers stand.
#pragma once

#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/device.h>

namespace sinter {

/// Each operation that draws takes the seed and the next number of the thread's stream: the same state gives
/// the same numbers, on every device.
struct RandomState {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
  friend bool operator==(const RandomState&, const RandomState&) = default;
};

/// Of the calling thread on this device. A thread that has not drawn yet takes its stream with this.
SINTER_API RandomState random_state(const Device& device);

/// The calling thread goes on where the state was taken. Otherwise as Device::seed(state.seed).
SINTER_API void set_random_state(const Device& device, const RandomState& state);

}  // namespace sinter
