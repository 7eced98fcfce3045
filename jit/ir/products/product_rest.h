// What is left of a kernel whose sums a library computes.
#pragma once

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Of the sums in memory: 16 bits where the kernel rounds each sum to these before anything else.
DType sum_dtype(const Kernel& kernel);

}  // namespace sinter::ir
