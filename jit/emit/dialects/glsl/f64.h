// The double-precision mathematics that GLSL lacks.
#pragma once

#include <vector>

#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

std::vector<FunctionTemplate> glsl_f64_functions();

}  // namespace sinter::emit
