// About how much memory a plan holds: for the cache of plans, which is bounded by bytes.
#pragma once

#include <cstddef>

#include "jit/plan/plan.h"

namespace sinter::plan {

/// What the plan points to, without the struct itself.
std::size_t held_bytes(const Plan& plan);

}  // namespace sinter::plan
