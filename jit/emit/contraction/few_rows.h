// Kernels with a Tiling of few rows as CUDA C++: kernels/tensor_cores/contraction_few_rows.cu, with how
// factors are loaded and what becomes of a sum written for each kernel by the walker. The text takes what
// that of other contractions does (contraction.h).
#pragma once

#include "jit/emit/emit.h"

namespace sinter::emit {

Source emit_few_rows(const ir::Kernel& kernel, const Target& target);

}  // namespace sinter::emit
