// A backend that evaluates kernel IR by the oracle, to tell a planner's error from a device's. It verifies
// every kernel, checks every access, and poisons fresh memory.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::testing {

std::unique_ptr<runtime::Backend> make_oracle_backend();

}  // namespace sinter::testing
