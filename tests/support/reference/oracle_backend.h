// A backend that runs kernel IR through the oracle: it tells a planner's mistake from a device's. Every
// kernel is verified, every access is checked, and fresh memory is poisoned.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::testing {

std::unique_ptr<runtime::Backend> make_oracle_backend();

}  // namespace sinter::testing
