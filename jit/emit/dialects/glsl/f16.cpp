// GLSL has no word for rounding modes: what SPIR-V calls execution modes is said by numbers.
#include "jit/emit/dialects/glsl/f16.h"

namespace sinter::emit {
namespace {

/// An execution mode for 16-bit floats, and the capability that it needs, of SPV_KHR_float_controls.
std::string mode(int capability, int number) {
  return "spirv_execution_mode(extensions = [\"SPV_KHR_float_controls\"], capabilities = [" +
         std::to_string(capability) + "], " + std::to_string(number) + ", 16);\n";
}

}  // namespace

std::string glsl_f16_modes() {
  constexpr int kDenormPreserve = 4459, kSignedZeroInfNanPreserve = 4461, kRoundingModeRte = 4462;
  constexpr int kOfDenormPreserve = 4464, kOfSignedZeroInfNanPreserve = 4466, kOfRoundingModeRte = 4467;
  return "#extension GL_EXT_spirv_intrinsics : require\n"
         "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" +
         mode(kOfDenormPreserve, kDenormPreserve) +
         mode(kOfSignedZeroInfNanPreserve, kSignedZeroInfNanPreserve) +
         mode(kOfRoundingModeRte, kRoundingModeRte) +
         "#define SN_F16_BITS (gl_WorkGroupID.x < gl_NumWorkGroups.x ? 0xffffu : 0u)\n";
}

// NVIDIA's compiler takes a number that is cast to f16 and back for the number itself. It does not know that
// the bits between are all kept, which follows from what a workgroup's position is.
std::map<std::string, std::string> glsl_f16_casts() {
  return {{"sn_cast_f32_f16",
           "u32 sn_cast_f32_f16(float a) {\n"
           "  return packFloat2x16(f16vec2(float16_t(a), float16_t(0.0))) & SN_F16_BITS;\n"
           "}\n"},
          {"sn_cast_f16_f32", "float sn_cast_f16_f32(u32 a) { return float(unpackFloat2x16(a).x); }\n"}};
}

}  // namespace sinter::emit
