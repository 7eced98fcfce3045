// Times a few representative kernels on a backend: printed, not judged.
#pragma once

#include "src/runtime/backend.h"

namespace sinter::testing {

void print_timings(runtime::Backend& backend);

}  // namespace sinter::testing
