// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
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
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r2 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q2 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = (v0 * v0);
        q2 = (q2 + v1);
      }
      r2 = r2 + q2;
    }
    r2 = sn_group_sum_f32(r2);
    precise float v2 = r2;
    precise float v4 = (v2 * s0);
    precise float v6 = (v4 + s1);
    precise float v7 = sn_rsqrt_f32(v6);
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v8 = (v0 * v7);
      precise float v9 = b1.at[x1];
      precise float v10 = (v8 * v9);
      b2.at[x0 * n2 + x1] = v10;
    }
  }
}
