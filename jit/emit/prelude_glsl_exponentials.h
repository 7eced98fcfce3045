// Exponentials, logarithms, hyperbolic tangent, sigmoid and the error function in GLSL, of f32.
#pragma once

#include <vector>

#include "jit/emit/prelude_table.h"

namespace sinter::emit {

std::vector<FunctionTemplate> glsl_exponentials();

}  // namespace sinter::emit
