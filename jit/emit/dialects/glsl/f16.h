// Casts to f16 and back by the device (Target::casts_f16).
#pragma once

#include <map>
#include <string>

namespace sinter::emit {

/// What stands in the head of a kernel with f16, before all declarations: extensions, and that conversions
/// round to the nearest number, of two the even one, and keep subnormal numbers, infinity and NaN.
std::string glsl_f16_modes();
/// By name: the casts of the prelude, in an instruction or two instead of a dozen.
std::map<std::string, std::string> glsl_f16_casts();

}  // namespace sinter::emit
