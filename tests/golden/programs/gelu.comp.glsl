// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
#define SN_LANES gl_WorkGroupSize.x
#define SN_LANE gl_LocalInvocationID.x
#define SN_ROWS 1u
#define SN_ROW 0u
SN_FN float sn_erf_f32(float a) {
  const float x = abs(a);
  precise float z = a * a;
  precise float p = fma(z, -5.99940656684339e-4, 4.994830582290888e-3);
  p = fma(z, p, -2.676771953701973e-2);
  p = fma(z, p, 1.1281845718622208e-1);
  p = fma(z, p, -3.761249780654907e-1);
  p = fma(z, p, 1.2837915122509003e-1);
  p = fma(a, p, a);
  precise float t = fma(x, -1.7890962772071362e-3, 2.2345077246427536e-2);
  t = fma(t, x, -1.3103951513767242e-1);
  t = fma(t, x, -9.39447820186615e-1);
  t = fma(t, x, -1.6156489849090576);
  t = fma(t, x, -2.8363061137497425e-3);
  precise float q = 1.0 - exp2(t);
  q = uintBitsToFloat(floatBitsToUint(q) | (floatBitsToUint(a) & 0x80000000u));
  return x >= 0.92 ? q : p;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const float s0 = uintBitsToFloat(sn_arguments.word[1]);
  const float s1 = uintBitsToFloat(sn_arguments.word[2]);
  const float s2 = uintBitsToFloat(sn_arguments.word[3]);
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 2);
    vec4 l0;
    l0 = b0_4.at[vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      precise float v0 = l0[k];
      precise float v2 = (v0 * s0);
      precise float v3 = sn_erf_f32(v2);
      precise float v5 = (v3 + s1);
      precise float v6 = (v0 * v5);
      precise float v8 = (v6 * s2);
      w0[k] = v8;
    }
    b1_4.at[vector] = w0;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v3 = sn_erf_f32(v2);
    precise float v5 = (v3 + s1);
    precise float v6 = (v0 * v5);
    precise float v8 = (v6 * s2);
    b1.at[x0] = v8;
  }
}
