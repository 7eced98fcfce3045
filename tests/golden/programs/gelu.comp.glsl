// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_exp_f32(float a) {
  if (sn_is_nan_f32(a)) return a;
  precise float x = clamp(a, -104.0, 89.0);
  precise float k = roundEven(x * 1.4426950408889634);
  precise float r = (x - k * 0.693359375) + k * 2.1219444005469057e-4;
  precise float p = 1.3888888888888889e-3 + r * 1.984126984126984e-4;
  p = 8.333333333333333e-3 + r * p;
  p = 4.1666666666666664e-2 + r * p;
  p = 1.6666666666666666e-1 + r * p;
  p = 0.5 + r * p;
  p = 1.0 + (r + r * r * p);
  const int e = int(k), low = e >> 1;
  return (p * intBitsToFloat((low + 127) << 23)) * intBitsToFloat((e - low + 127) << 23);
}
SN_FN float sn_erf_f32(float a) {
  if (sn_is_nan_f32(a)) return a;
  const float x = abs(a);
  precise float z = x * x;
  if (x < 0.5) {
    precise float p = -7.575757575757576e-4 + z * 1.0683760683760684e-4;
    p = 4.6296296296296294e-3 + z * p;
    p = -2.3809523809523808e-2 + z * p;
    p = 0.1 + z * p;
    p = -3.333333333333333e-1 + z * p;
    p = 1.1283791670955126 * (a + a * (z * p));
    return p;
  }
  float y = 1.0;
  if (x < 4.0) {
    precise float t = 1.0 / (1.0 + 0.3275911 * x);
    precise float p = -1.453152027 + t * 1.061405429;
    p = 1.421413741 + t * p;
    p = -0.284496736 + t * p;
    p = 0.254829592 + t * p;
    p = 1.0 - t * p * sn_exp_f32(-z);
    y = p;
  }
  return a < 0.0 ? -y : y;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const float s0 = uintBitsToFloat(sn_arguments.word[1]);
  const float s1 = uintBitsToFloat(sn_arguments.word[2]);
  const float s2 = uintBitsToFloat(sn_arguments.word[3]);
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
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
