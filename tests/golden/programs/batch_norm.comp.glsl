// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN float sn_cast_i64_f32(i64 a) { return float(a); }
void sn_join_moments_f32(inout float n, inout float mean, inout float m2, float on, float omean, float om2) {
  precise float total = n + on, d = omean - mean, share = total > float(0) ? on / total : float(0);
  precise float next_mean = mean + d * share, next_m2 = (m2 + om2) + d * d * (n * share);
  mean = next_mean;
  m2 = next_m2;
  n = total;
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
shared float sn_group_squared_deviations_f32_n[256], sn_group_squared_deviations_f32_mean[256], sn_group_squared_deviations_f32_m2[256];
void sn_group_squared_deviations_f32(inout float my_n, inout float my_mean, inout float my_m2) {
  const u32 lane = gl_LocalInvocationID.x;
  sn_group_squared_deviations_f32_n[lane] = my_n; sn_group_squared_deviations_f32_mean[lane] = my_mean; sn_group_squared_deviations_f32_m2[lane] = my_m2;
  barrier();
  for (u32 half_ = gl_WorkGroupSize.x >> 1; half_ > 0u; half_ >>= 1) {
    if (lane < half_) {
      sn_join_moments_f32(my_n, my_mean, my_m2, sn_group_squared_deviations_f32_n[lane + half_], sn_group_squared_deviations_f32_mean[lane + half_], sn_group_squared_deviations_f32_m2[lane + half_]);
      sn_group_squared_deviations_f32_n[lane] = my_n; sn_group_squared_deviations_f32_mean[lane] = my_mean; sn_group_squared_deviations_f32_m2[lane] = my_m2;
    }
    barrier();
  }
  my_n = sn_group_squared_deviations_f32_n[0]; my_mean = sn_group_squared_deviations_f32_mean[0]; my_m2 = sn_group_squared_deviations_f32_m2[0];
  barrier();
}
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 4) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 5) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const int n5 = int(sn_arguments.word[5]);
  const float s0 = uintBitsToFloat(sn_arguments.word[6]);
  const float s1 = uintBitsToFloat(sn_arguments.word[7]);
  const float s2 = uintBitsToFloat(sn_arguments.word[8]);
  const u32 parts = sn_arguments.word[9];
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(gl_WorkGroupSize.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  float r1 = float(0);
  float r10_n = float(0), r10_mean = float(0);
  float r10 = float(0);
  const int x0 = int(f);
  const i64 v2 = i64(n5);
  precise float v3 = sn_cast_i64_f32(v2);
  for (u32 h = begin + u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
    float q1 = float(0);
    for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      precise float v0 = b0.at[x0 * n3 + x1 * n4 + x2];
      q1 = (q1 + v0);
      sn_join_moments_f32(r10_n, r10_mean, r10, float(1), v0, float(0));
    }
    r1 = r1 + q1;
  }
  r1 = sn_group_sum_f32(r1);
  sn_group_squared_deviations_f32(r10_n, r10_mean, r10);
  if (gl_LocalInvocationID.x == 0u) {
    sn_partials.word[2u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r1);
    sn_partials.word[2u * u32(u32(1) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r10_n);
    sn_partials.word[2u * u32(u32(2) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r10_mean);
    sn_partials.word[2u * u32(u32(3) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r10);
  }
  memoryBarrierBuffer();
  barrier();
  if (gl_LocalInvocationID.x == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (gl_LocalInvocationID.x == 0u) sn_counters.word[unit] = 0u;
  r1 = float(0);
  r10_n = float(0); r10_mean = float(0);
  r10 = float(0);
  for (u32 p = u32(gl_LocalInvocationID.x); p < u32(parts); p += u32(gl_WorkGroupSize.x)) {
    precise float p_r1 = uintBitsToFloat(sn_partials.word[2u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
    precise float p_r10_n = uintBitsToFloat(sn_partials.word[2u * u32(u32(1) * u32(parts) * points + p * points + f) + 0u]);
    precise float p_r10_mean = uintBitsToFloat(sn_partials.word[2u * u32(u32(2) * u32(parts) * points + p * points + f) + 0u]);
    precise float p_r10 = uintBitsToFloat(sn_partials.word[2u * u32(u32(3) * u32(parts) * points + p * points + f) + 0u]);
    r1 = (r1 + p_r1);
    sn_join_moments_f32(r10_n, r10_mean, r10, p_r10_n, p_r10_mean, p_r10);
  }
  r1 = sn_group_sum_f32(r1);
  precise float v1 = r1;
  precise float v4 = sn_div_f32(v1, v3);
  precise float v6 = (v1 * s0);
  precise float v7 = (v4 - v6);
  precise float v8 = (v7 * v7);
  precise float v9 = (v3 * v8);
  sn_group_squared_deviations_f32(r10_n, r10_mean, r10);
  precise float v10 = r10;
  precise float v11 = (v10 + v9);
  precise float v13 = (v11 * s1);
  precise float v15 = (v13 + s2);
  precise float v16 = sn_rsqrt_f32(v15);
  if (gl_LocalInvocationID.x == 0u) {
    b1.at[x0] = v1;
    b2.at[x0] = v16;
  }
}
// ---- kernel 1
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict writeonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const u32 points = u32(n0) * u32(n1) * u32(n2);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const int x2 = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    precise float v0 = b0.at[x1];
    precise float v2 = (v0 * s0);
    precise float v3 = b1.at[x0 * n3 + x1 * n4 + x2];
    precise float v4 = (v3 - v2);
    precise float v5 = b2.at[x1];
    precise float v6 = (v4 * v5);
    precise float v7 = b3.at[x1];
    precise float v8 = (v6 * v7);
    precise float v9 = b4.at[x1];
    precise float v10 = (v8 + v9);
    b5.at[x0 * n3 + x1 * n4 + x2] = v10;
  }
}
