// The null device: plans, never runs.
#pragma once

#include <memory>

#include "src/runtime/backend.h"

namespace sinter::runtime {

/// `like`: the traits to plan for; its name becomes "null".
std::unique_ptr<Backend> make_null_backend(ir::DeviceTraits like);

}  // namespace sinter::runtime
