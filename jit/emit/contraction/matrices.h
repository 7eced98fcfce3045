// Kernels with a Tiling of cooperative matrices as GLSL: kernels/tensor_cores/contraction.comp, with how
// factors are loaded and what becomes of a finished tile written for each kernel by the walker. The text
// takes what other kernels do (dialects/glsl/glsl.h).
#pragma once

#include "jit/emit/emit.h"

namespace sinter::emit {

Source emit_matrices(const ir::Kernel& kernel, const Target& target);

/// Lines that name the extensions of such a text.
std::string matrix_extensions();

/// Bounds of how often a lane goes round loops, where none is unrolled.
std::int64_t matrix_rounds(const ir::Kernel& kernel, const Geometry& shape,
                           std::span<const std::int64_t> ints);

}  // namespace sinter::emit
