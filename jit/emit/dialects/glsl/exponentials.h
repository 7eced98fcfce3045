// Exponentials, logarithms, hyperbolic tangent, sigmoid and the error function in GLSL, of f32.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "jit/emit/dialects/prelude_table.h"

namespace sinter::emit {

std::vector<FunctionTemplate> glsl_exponentials();
/// By name: better ones for Target::fuses_fma.
std::map<std::string, std::string> glsl_fused_exponentials();

}  // namespace sinter::emit
