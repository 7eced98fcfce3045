// Kernels that programs bring along, in the tables of the devices.
#pragma once

#include "jit/library/custom.h"

namespace sinter::runtime {

/// Each device that the kernel has a source for can compute it from now on.
void add_rows(const library::Custom& kind);

}  // namespace sinter::runtime
