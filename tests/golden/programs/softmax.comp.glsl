// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
shared float sn_group_max_f32_lanes[256];
float sn_group_max_f32(float mine) {
  const u32 lane = gl_LocalInvocationID.x;
  sn_group_max_f32_lanes[lane] = mine;
  barrier();
  for (u32 half_ = gl_WorkGroupSize.x >> 1; half_ > 0u; half_ >>= 1) {
    if (lane < half_) {
      const float v = sn_group_max_f32_lanes[lane], w = sn_group_max_f32_lanes[lane + half_];
      precise float u = sn_max_f32(v, w);
      sn_group_max_f32_lanes[lane] = u;
    }
    barrier();
  }
  const float whole = sn_group_max_f32_lanes[0];
  barrier();
  return whole;
}
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
shared float sn_group_sum_f32_lanes[256];
float sn_group_sum_f32(float mine) {
  const u32 lane = gl_LocalInvocationID.x;
  sn_group_sum_f32_lanes[lane] = mine;
  barrier();
  for (u32 half_ = gl_WorkGroupSize.x >> 1; half_ > 0u; half_ >>= 1) {
    if (lane < half_) {
      const float v = sn_group_sum_f32_lanes[lane], w = sn_group_sum_f32_lanes[lane + half_];
      precise float u = (v + w);
      sn_group_sum_f32_lanes[lane] = u;
    }
    barrier();
  }
  const float whole = sn_group_sum_f32_lanes[0];
  barrier();
  return whole;
}
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r1 = uintBitsToFloat(0xff800000u);
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      r1 = sn_max_f32(r1, v0);
    }
    r1 = sn_group_max_f32(r1);
    precise float v1 = r1;
    float r4 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q4 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 - v1);
        precise float v3 = sn_exp_f32(v2);
        q4 = (q4 + v3);
      }
      r4 = r4 + q4;
    }
    r4 = sn_group_sum_f32(r4);
    precise float v4 = r4;
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v2 = (v0 - v1);
      precise float v3 = sn_exp_f32(v2);
      precise float v5 = sn_div_f32(v3, v4);
      b1.at[x0 * n2 + x1] = v5;
    }
  }
}
