// The instruction by which groups of subgroups multiply on compute capability 9.0.
#pragma once

#include <string>

#include "jit/ir/kernel.h"

namespace sinter::emit {

/// The function tc_multiply of kernels/tensor_cores/contraction_sm90.cu for a kernel whose tiling has groups:
/// 64 rows by all columns of a tile. `a_across`, `b_across`: how the factors lie in shared memory.
std::string group_product(const ir::Kernel& kernel, bool a_across, bool b_across);

}  // namespace sinter::emit
