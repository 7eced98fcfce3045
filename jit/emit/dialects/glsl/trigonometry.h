// Tangent, inverse trigonometric and hyperbolic functions in GLSL, of f32 and f64.
#pragma once

#include <vector>

#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

std::vector<FunctionTemplate> glsl_trigonometry();

}  // namespace sinter::emit
