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
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r1 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q1 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        q1 = (q1 + v0);
      }
      r1 = r1 + q1;
    }
    r1 = sn_group_sum_f32(r1);
    precise float v1 = r1;
    precise float v3 = (v1 * s0);
    float r6 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q6 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v4 = (v0 - v3);
        precise float v5 = (v4 * v4);
        q6 = (q6 + v5);
      }
      r6 = r6 + q6;
    }
    r6 = sn_group_sum_f32(r6);
    precise float v6 = r6;
    precise float v8 = (v6 * s1);
    precise float v10 = (v8 + s2);
    precise float v11 = sn_rsqrt_f32(v10);
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v4 = (v0 - v3);
      precise float v12 = (v4 * v11);
      precise float v13 = b1.at[x1];
      precise float v14 = (v12 * v13);
      precise float v15 = b2.at[x1];
      precise float v16 = (v14 + v15);
      b3.at[x0 * n2 + x1] = v16;
    }
  }
}
