// A backend that evaluates kernel IR by the oracle, to tell a planner's error from a device's. It verifies
// every kernel, checks every access, and poisons fresh memory.
#pragma once

#include <cstddef>
#include <memory>

#include "src/runtime/backend.h"

namespace sinter::testing {

/// `most_buffer_bytes`: as in DeviceTraits; larger buffers are an error.
std::unique_ptr<runtime::Backend> make_oracle_backend(std::size_t most_buffer_bytes = 0);

}  // namespace sinter::testing
