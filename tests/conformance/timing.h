// How fast a backend runs a few kernels that say much: printed, not judged.
#pragma once

#include "src/runtime/backend.h"

namespace sinter::testing {

void print_timings(runtime::Backend& backend);

}  // namespace sinter::testing
