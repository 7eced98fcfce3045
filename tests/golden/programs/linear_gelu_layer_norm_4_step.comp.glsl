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
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict writeonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r11 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q11 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        q11 = (q11 + v10);
      }
      r11 = r11 + q11;
    }
    r11 = sn_group_sum_f32(r11);
    precise float v11 = r11;
    precise float v13 = (v11 * s3);
    if (gl_LocalInvocationID.x == 0u) {
      b2.at[x0] = v11;
    }
    float r16 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q16 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        precise float v14 = (v10 - v13);
        precise float v15 = (v14 * v14);
        q16 = (q16 + v15);
      }
      r16 = r16 + q16;
    }
    r16 = sn_group_sum_f32(r16);
    precise float v16 = r16;
    precise float v18 = (v16 * s4);
    precise float v20 = (v18 + s5);
    precise float v21 = sn_rsqrt_f32(v20);
    if (gl_LocalInvocationID.x == 0u) {
      b3.at[x0] = v16;
    }
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v1 = b1.at[x1];
      precise float v2 = (v0 + v1);
      precise float v4 = (v2 * s0);
      precise float v6 = (v2 * s1);
      precise float v7 = sn_erf_f32(v6);
      precise float v9 = (v7 + s2);
      precise float v10 = (v4 * v9);
      precise float v14 = (v10 - v13);
      precise float v22 = (v14 * v21);
      precise float v23 = b4.at[x1];
      precise float v24 = (v22 * v23);
      precise float v25 = b5.at[x1];
      precise float v26 = (v24 + v25);
      b6.at[x0 * n2 + x1] = v26;
    }
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
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict readonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict writeonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 8) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const float s7 = uintBitsToFloat(sn_arguments.word[10]);
  const float s8 = uintBitsToFloat(sn_arguments.word[11]);
  const float s9 = uintBitsToFloat(sn_arguments.word[12]);
  const float s10 = uintBitsToFloat(sn_arguments.word[13]);
  const float s11 = uintBitsToFloat(sn_arguments.word[14]);
  const float s12 = uintBitsToFloat(sn_arguments.word[15]);
  const float s13 = uintBitsToFloat(sn_arguments.word[16]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    precise float v19 = (s4 * s5);
    float r11 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q11 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        q11 = (q11 + v10);
      }
      r11 = r11 + q11;
    }
    r11 = sn_group_sum_f32(r11);
    precise float v11 = r11;
    precise float v13 = (v11 * s3);
    if (gl_LocalInvocationID.x == 0u) {
      b2.at[x0] = v11;
    }
    float r16 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q16 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        precise float v14 = (v10 - v13);
        precise float v15 = (v14 * v14);
        q16 = (q16 + v15);
      }
      r16 = r16 + q16;
    }
    r16 = sn_group_sum_f32(r16);
    precise float v16 = r16;
    precise float v21 = (v16 * s6);
    precise float v23 = (v21 + s7);
    precise float v24 = sn_rsqrt_f32(v23);
    precise float v40 = (v24 * v24);
    precise float v41 = (v40 * v24);
    if (gl_LocalInvocationID.x == 0u) {
      b3.at[x0] = v16;
    }
    float r37 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q37 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        precise float v14 = (v10 - v13);
        precise float v25 = (v14 * v24);
        precise float v26 = b4.at[x1];
        precise float v27 = (v25 * v26);
        precise float v28 = b5.at[x1];
        precise float v29 = (v27 + v28);
        precise float v30 = b6.at[x0 * n2 + x1];
        precise float v31 = (v29 - v30);
        precise float v32 = (v19 * v31);
        precise float v33 = (v32 + v32);
        precise float v34 = (v33 * v26);
        precise float v36 = (v34 * v14);
        q37 = (q37 + v36);
      }
      r37 = r37 + q37;
    }
    r37 = sn_group_sum_f32(r37);
    precise float v37 = r37;
    precise float v39 = (v37 * s8);
    precise float v42 = (v39 * v41);
    precise float v44 = (v42 * s9);
    float r49 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q49 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 * s0);
        precise float v6 = (v2 * s1);
        precise float v7 = sn_erf_f32(v6);
        precise float v9 = (v7 + s2);
        precise float v10 = (v4 * v9);
        precise float v14 = (v10 - v13);
        precise float v25 = (v14 * v24);
        precise float v26 = b4.at[x1];
        precise float v27 = (v25 * v26);
        precise float v28 = b5.at[x1];
        precise float v29 = (v27 + v28);
        precise float v30 = b6.at[x0 * n2 + x1];
        precise float v31 = (v29 - v30);
        precise float v32 = (v19 * v31);
        precise float v33 = (v32 + v32);
        precise float v34 = (v33 * v26);
        precise float v35 = (v34 * v24);
        precise float v45 = (v44 * v14);
        precise float v46 = (v35 + v45);
        precise float v47 = (v46 + v45);
        precise float v48 = (-v47);
        q49 = (q49 + v48);
      }
      r49 = r49 + q49;
    }
    r49 = sn_group_sum_f32(r49);
    precise float v49 = r49;
    precise float v51 = (v49 * s10);
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v1 = b1.at[x1];
      precise float v2 = (v0 + v1);
      precise float v4 = (v2 * s0);
      precise float v6 = (v2 * s1);
      precise float v7 = sn_erf_f32(v6);
      precise float v9 = (v7 + s2);
      precise float v10 = (v4 * v9);
      precise float v14 = (v10 - v13);
      precise float v25 = (v14 * v24);
      precise float v26 = b4.at[x1];
      precise float v27 = (v25 * v26);
      precise float v28 = b5.at[x1];
      precise float v29 = (v27 + v28);
      precise float v30 = b6.at[x0 * n2 + x1];
      precise float v31 = (v29 - v30);
      precise float v32 = (v19 * v31);
      precise float v33 = (v32 + v32);
      precise float v34 = (v33 * v26);
      precise float v35 = (v34 * v24);
      precise float v45 = (v44 * v14);
      precise float v46 = (v35 + v45);
      precise float v47 = (v46 + v45);
      precise float v52 = (v47 + v51);
      precise float v53 = (v52 * v9);
      precise float v55 = (v53 * s11);
      precise float v56 = (v52 * v4);
      precise float v57 = (v6 * v6);
      precise float v58 = (-v57);
      precise float v59 = sn_exp_f32(v58);
      precise float v61 = (v59 * s12);
      precise float v62 = (v56 * v61);
      precise float v64 = (v62 * s13);
      precise float v65 = (v55 + v64);
      b7.at[x0 * n2 + x1] = v65;
    }
  }
}
// ---- kernel 2
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
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict readonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict writeonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 8) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 9) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 10) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const float s0 = uintBitsToFloat(sn_arguments.word[4]);
  const float s1 = uintBitsToFloat(sn_arguments.word[5]);
  const float s2 = uintBitsToFloat(sn_arguments.word[6]);
  const float s3 = uintBitsToFloat(sn_arguments.word[7]);
  const float s4 = uintBitsToFloat(sn_arguments.word[8]);
  const float s5 = uintBitsToFloat(sn_arguments.word[9]);
  const float s6 = uintBitsToFloat(sn_arguments.word[10]);
  const u32 parts = sn_arguments.word[11];
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(gl_WorkGroupSize.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  float r29 = float(0);
  for (u32 h = begin + u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
    float q29 = float(0);
    for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      precise float v0 = b0.at[x1 * n3 + x2];
      precise float v1 = b1.at[x2];
      precise float v2 = (v0 + v1);
      precise float v4 = (v2 * s0);
      precise float v6 = (v2 * s1);
      precise float v7 = sn_erf_f32(v6);
      precise float v9 = (v7 + s2);
      precise float v10 = (v4 * v9);
      precise float v11 = b2.at[x1];
      precise float v13 = (v11 * s3);
      precise float v14 = (v10 - v13);
      precise float v15 = b3.at[x1];
      precise float v17 = (v15 * s4);
      precise float v19 = (v17 + s5);
      precise float v20 = sn_rsqrt_f32(v19);
      precise float v21 = (v14 * v20);
      precise float v22 = b4.at[x2];
      precise float v23 = (v21 * v22);
      precise float v24 = b5.at[x2];
      precise float v25 = (v23 + v24);
      precise float v26 = b6.at[x1 * n3 + x2];
      precise float v27 = (v25 - v26);
      precise float v28 = (v27 * v27);
      q29 = (q29 + v28);
    }
    r29 = r29 + q29;
  }
  r29 = sn_group_sum_f32(r29);
  if (gl_LocalInvocationID.x == 0u) {
    sn_partials.word[2u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r29);
  }
  memoryBarrierBuffer();
  barrier();
  if (gl_LocalInvocationID.x == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (gl_LocalInvocationID.x == 0u) sn_counters.word[unit] = 0u;
  r29 = float(0);
  for (u32 p = u32(gl_LocalInvocationID.x); p < u32(parts); p += u32(gl_WorkGroupSize.x)) {
    precise float p_r29 = uintBitsToFloat(sn_partials.word[2u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
    r29 = (r29 + p_r29);
  }
  r29 = sn_group_sum_f32(r29);
  precise float v29 = r29;
  precise float v31 = (v29 * s6);
  if (gl_LocalInvocationID.x == 0u) {
    b7.at[0] = v31;
  }
}
// ---- kernel 3
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict writeonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const float s7 = uintBitsToFloat(sn_arguments.word[10]);
  const float s8 = uintBitsToFloat(sn_arguments.word[11]);
  const float s9 = uintBitsToFloat(sn_arguments.word[12]);
  const float s10 = uintBitsToFloat(sn_arguments.word[13]);
  const float s11 = uintBitsToFloat(sn_arguments.word[14]);
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    precise float v3 = b2.at[x0];
    precise float v5 = (v3 * s0);
    precise float v7 = (v5 + s1);
    precise float v8 = sn_rsqrt_f32(v7);
    precise float v21 = b5.at[x0];
    precise float v23 = (v21 * s5);
    precise float v29 = (v8 * v8);
    precise float v30 = (v29 * v8);
    float r26 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q26 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 * v1);
        precise float v10 = b3.at[x0 * n2 + x1];
        precise float v11 = b4.at[x1];
        precise float v12 = (v10 + v11);
        precise float v14 = (v12 * s2);
        precise float v16 = (v12 * s3);
        precise float v17 = sn_erf_f32(v16);
        precise float v19 = (v17 + s4);
        precise float v20 = (v14 * v19);
        precise float v24 = (v20 - v23);
        precise float v25 = (v2 * v24);
        q26 = (q26 + v25);
      }
      r26 = r26 + q26;
    }
    r26 = sn_group_sum_f32(r26);
    precise float v26 = r26;
    precise float v28 = (v26 * s6);
    precise float v31 = (v28 * v30);
    precise float v33 = (v31 * s7);
    float r38 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q38 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 * v1);
        precise float v9 = (v2 * v8);
        precise float v10 = b3.at[x0 * n2 + x1];
        precise float v11 = b4.at[x1];
        precise float v12 = (v10 + v11);
        precise float v14 = (v12 * s2);
        precise float v16 = (v12 * s3);
        precise float v17 = sn_erf_f32(v16);
        precise float v19 = (v17 + s4);
        precise float v20 = (v14 * v19);
        precise float v24 = (v20 - v23);
        precise float v34 = (v33 * v24);
        precise float v35 = (v9 + v34);
        precise float v36 = (v35 + v34);
        precise float v37 = (-v36);
        q38 = (q38 + v37);
      }
      r38 = r38 + q38;
    }
    r38 = sn_group_sum_f32(r38);
    precise float v38 = r38;
    precise float v40 = (v38 * s8);
    for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v1 = b1.at[x1];
      precise float v2 = (v0 * v1);
      precise float v9 = (v2 * v8);
      precise float v10 = b3.at[x0 * n2 + x1];
      precise float v11 = b4.at[x1];
      precise float v12 = (v10 + v11);
      precise float v14 = (v12 * s2);
      precise float v16 = (v12 * s3);
      precise float v17 = sn_erf_f32(v16);
      precise float v19 = (v17 + s4);
      precise float v20 = (v14 * v19);
      precise float v24 = (v20 - v23);
      precise float v34 = (v33 * v24);
      precise float v35 = (v9 + v34);
      precise float v36 = (v35 + v34);
      precise float v41 = (v36 + v40);
      precise float v42 = (v41 * v19);
      precise float v44 = (v42 * s9);
      precise float v45 = (v41 * v14);
      precise float v46 = (v16 * v16);
      precise float v47 = (-v46);
      precise float v48 = sn_exp_f32(v47);
      precise float v50 = (v48 * s10);
      precise float v51 = (v45 * v50);
      precise float v53 = (v51 * s11);
      precise float v54 = (v44 + v53);
      b6.at[x0 * n2 + x1] = v54;
    }
  }
}
// ---- kernel 4
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
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
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b3_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b4_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b5_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b6_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b7_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b8_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b9_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b10_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 46u + 45u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 46u;
  const u32 sn_group = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_groups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  b4_t b4 = b4_t(uvec2(sn_arguments.word[sn_mine + 8u], sn_arguments.word[sn_mine + 9u]));
  b5_t b5 = b5_t(uvec2(sn_arguments.word[sn_mine + 10u], sn_arguments.word[sn_mine + 11u]));
  b6_t b6 = b6_t(uvec2(sn_arguments.word[sn_mine + 12u], sn_arguments.word[sn_mine + 13u]));
  b7_t b7 = b7_t(uvec2(sn_arguments.word[sn_mine + 14u], sn_arguments.word[sn_mine + 15u]));
  b8_t b8 = b8_t(uvec2(sn_arguments.word[sn_mine + 16u], sn_arguments.word[sn_mine + 17u]));
  b9_t b9 = b9_t(uvec2(sn_arguments.word[sn_mine + 18u], sn_arguments.word[sn_mine + 19u]));
  b10_t b10 = b10_t(uvec2(sn_arguments.word[sn_mine + 20u], sn_arguments.word[sn_mine + 21u]));
  const int n0 = int(sn_arguments.word[sn_mine + 22u]);
  const int n1 = int(sn_arguments.word[sn_mine + 23u]);
  const int n2 = int(sn_arguments.word[sn_mine + 24u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 25u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 26u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 27u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 28u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 29u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 30u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 31u]);
  const float s7 = uintBitsToFloat(sn_arguments.word[sn_mine + 32u]);
  const float s8 = uintBitsToFloat(sn_arguments.word[sn_mine + 33u]);
  const float s9 = uintBitsToFloat(sn_arguments.word[sn_mine + 34u]);
  const float s10 = uintBitsToFloat(sn_arguments.word[sn_mine + 35u]);
  const float s11 = uintBitsToFloat(sn_arguments.word[sn_mine + 36u]);
  const float s12 = uintBitsToFloat(sn_arguments.word[sn_mine + 37u]);
  const float s13 = uintBitsToFloat(sn_arguments.word[sn_mine + 38u]);
  const float s14 = uintBitsToFloat(sn_arguments.word[sn_mine + 39u]);
  const float s15 = uintBitsToFloat(sn_arguments.word[sn_mine + 40u]);
  const float s16 = uintBitsToFloat(sn_arguments.word[sn_mine + 41u]);
  const float s17 = uintBitsToFloat(sn_arguments.word[sn_mine + 42u]);
  const float s18 = uintBitsToFloat(sn_arguments.word[sn_mine + 43u]);
  const float s19 = uintBitsToFloat(sn_arguments.word[sn_mine + 44u]);
  const u32 points = u32(n0);
  for (u32 f = u32(sn_group * gl_WorkGroupSize.x + gl_LocalInvocationID.x); f < points; f += u32(sn_groups * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v4 = b2.at[x0];
    precise float v31 = b6.at[x0];
    precise float v33 = (v31 * s8);
    precise float v46 = b7.at[x0];
    precise float v48 = b8.at[x0];
    precise float v50 = (v48 * s13);
    precise float v55 = b9.at[x0];
    precise float v57 = (v55 * s15);
    precise float v70 = b10.at[x0];
    float r27 = float(0);
    float r51 = float(0);
    for (u32 h = u32(0); h < u32(n1); h += u32(32)) {
      const u32 left = u32(n1) - h;
      const u32 end = h + (left < u32(32) ? left : u32(32));
      float q27 = float(0);
      float q51 = float(0);
      for (u32 j = h; j < end; j += 1) {
        const int x1 = int(j);
        precise float v3 = b1.at[x0 + x1 * n2];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s1);
        precise float v9 = (v5 * s2);
        precise float v10 = sn_erf_f32(v9);
        precise float v12 = (v10 + s3);
        precise float v13 = (v7 * v12);
        precise float v14 = b3.at[x1];
        precise float v16 = (v14 * s4);
        precise float v17 = (v13 - v16);
        precise float v18 = b4.at[x1];
        precise float v20 = (v18 * s5);
        precise float v22 = (v20 + s6);
        precise float v23 = sn_rsqrt_f32(v22);
        precise float v24 = (v17 * v23);
        precise float v25 = b5.at[x0 + x1 * n2];
        precise float v26 = (v25 * v24);
        q27 = (q27 + v26);
        q51 = (q51 + v25);
      }
      r27 = r27 + q27;
      r51 = r51 + q51;
    }
    precise float v27 = r27;
    precise float v29 = (v27 * s7);
    precise float v30 = (v2 + v29);
    precise float v34 = (v27 * v27);
    precise float v36 = (v34 * s9);
    precise float v37 = (v33 + v36);
    precise float v39 = (v30 * s10);
    precise float v40 = sn_sqrt_f32(v37);
    precise float v42 = (v40 * s11);
    precise float v44 = (v42 + s12);
    precise float v45 = sn_div_f32(v39, v44);
    precise float v47 = (v46 - v45);
    precise float v51 = r51;
    precise float v53 = (v51 * s14);
    precise float v54 = (v50 + v53);
    precise float v58 = (v51 * v51);
    precise float v60 = (v58 * s16);
    precise float v61 = (v57 + v60);
    precise float v63 = (v54 * s17);
    precise float v64 = sn_sqrt_f32(v61);
    precise float v66 = (v64 * s18);
    precise float v68 = (v66 + s19);
    precise float v69 = sn_div_f32(v63, v68);
    precise float v71 = (v70 - v69);
    b0.at[x0] = v30;
    b6.at[x0] = v37;
    b7.at[x0] = v47;
    b8.at[x0] = v54;
    b9.at[x0] = v61;
    b10.at[x0] = v71;
  }
}
// ---- kernel 5
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b3_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 20u + 19u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 20u;
  const u32 sn_group = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_groups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  const int n0 = int(sn_arguments.word[sn_mine + 8u]);
  const int n1 = int(sn_arguments.word[sn_mine + 9u]);
  const int n2 = int(sn_arguments.word[sn_mine + 10u]);
  const int n3 = int(sn_arguments.word[sn_mine + 11u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 12u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 13u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 14u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 15u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 16u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 17u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 18u]);
  const u32 points = u32(n0) * u32(n1);
  for (u32 f = u32(sn_group * gl_WorkGroupSize.x + gl_LocalInvocationID.x); f < points; f += u32(sn_groups * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    precise float v0 = b0.at[x0 * n2 + x1];
    precise float v2 = (v0 * s0);
    precise float v3 = b1.at[x0 + x1 * n3];
    precise float v5 = (v3 * s1);
    precise float v6 = (v2 + v5);
    precise float v7 = b2.at[x0 * n2 + x1];
    precise float v9 = (v7 * s2);
    precise float v10 = (v3 * v3);
    precise float v12 = (v10 * s3);
    precise float v13 = (v9 + v12);
    precise float v15 = (v6 * s4);
    precise float v16 = sn_sqrt_f32(v13);
    precise float v18 = (v16 * s5);
    precise float v20 = (v18 + s6);
    precise float v21 = sn_div_f32(v15, v20);
    precise float v22 = b3.at[x0 * n2 + x1];
    precise float v23 = (v22 - v21);
    b0.at[x0 * n2 + x1] = v6;
    b2.at[x0 * n2 + x1] = v13;
    b3.at[x0 * n2 + x1] = v23;
  }
}
// ---- kernel 6
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b3_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 20u + 18u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 20u;
  const u32 sn_group = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_groups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  const int n0 = int(sn_arguments.word[sn_mine + 8u]);
  const int n1 = int(sn_arguments.word[sn_mine + 9u]);
  const int n2 = int(sn_arguments.word[sn_mine + 10u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 11u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 12u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 13u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 14u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 15u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 16u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 17u]);
  const u32 points = u32(n0);
  for (u32 f = u32(sn_group * gl_WorkGroupSize.x + gl_LocalInvocationID.x); f < points; f += u32(sn_groups * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v8 = b2.at[x0];
    precise float v10 = (v8 * s2);
    precise float v23 = b3.at[x0];
    float r4 = float(0);
    for (u32 h = u32(0); h < u32(n1); h += u32(32)) {
      const u32 left = u32(n1) - h;
      const u32 end = h + (left < u32(32) ? left : u32(32));
      float q4 = float(0);
      for (u32 j = h; j < end; j += 1) {
        const int x1 = int(j);
        precise float v3 = b1.at[x0 + x1 * n2];
        q4 = (q4 + v3);
      }
      r4 = r4 + q4;
    }
    precise float v4 = r4;
    precise float v6 = (v4 * s1);
    precise float v7 = (v2 + v6);
    precise float v11 = (v4 * v4);
    precise float v13 = (v11 * s3);
    precise float v14 = (v10 + v13);
    precise float v16 = (v7 * s4);
    precise float v17 = sn_sqrt_f32(v14);
    precise float v19 = (v17 * s5);
    precise float v21 = (v19 + s6);
    precise float v22 = sn_div_f32(v16, v21);
    precise float v24 = (v23 - v22);
    b0.at[x0] = v7;
    b2.at[x0] = v14;
    b3.at[x0] = v24;
  }
}
// ---- kernel 7
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict writeonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v8 = b2.at[x0];
    precise float v10 = (v8 * s2);
    precise float v23 = b3.at[x0];
    float r4 = float(0);
    for (u32 h = u32(0); h < u32(n1); h += u32(32)) {
      const u32 left = u32(n1) - h;
      const u32 end = h + (left < u32(32) ? left : u32(32));
      float q4 = float(0);
      for (u32 j = h; j < end; j += 1) {
        const int x1 = int(j);
        precise float v3 = b1.at[x0 + x1 * n2];
        q4 = (q4 + v3);
      }
      r4 = r4 + q4;
    }
    precise float v4 = r4;
    precise float v6 = (v4 * s1);
    precise float v7 = (v2 + v6);
    precise float v11 = (v4 * v4);
    precise float v13 = (v11 * s3);
    precise float v14 = (v10 + v13);
    precise float v16 = (v7 * s4);
    precise float v17 = sn_sqrt_f32(v14);
    precise float v19 = (v17 * s5);
    precise float v21 = (v19 + s6);
    precise float v22 = sn_div_f32(v16, v21);
    precise float v24 = (v23 - v22);
    b0.at[x0] = v7;
    b2.at[x0] = v14;
    b4.at[x0] = v24;
  }
}
// ---- kernel 8
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
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) { return abs(b) > float(4.2535295865117308e37) ? (a * float(0.25)) / (b * float(0.25)) : a / b; }
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 8) restrict buffer b8_t { float at[]; } b8;
layout(std430, binding = 9) restrict buffer b9_t { float at[]; } b9;
layout(std430, binding = 10) restrict readonly buffer b10_t { float at[]; } b10;
layout(std430, binding = 11) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const float s7 = uintBitsToFloat(sn_arguments.word[10]);
  const float s8 = uintBitsToFloat(sn_arguments.word[11]);
  const float s9 = uintBitsToFloat(sn_arguments.word[12]);
  const float s10 = uintBitsToFloat(sn_arguments.word[13]);
  const float s11 = uintBitsToFloat(sn_arguments.word[14]);
  const float s12 = uintBitsToFloat(sn_arguments.word[15]);
  const float s13 = uintBitsToFloat(sn_arguments.word[16]);
  const float s14 = uintBitsToFloat(sn_arguments.word[17]);
  const float s15 = uintBitsToFloat(sn_arguments.word[18]);
  const float s16 = uintBitsToFloat(sn_arguments.word[19]);
  const float s17 = uintBitsToFloat(sn_arguments.word[20]);
  const float s18 = uintBitsToFloat(sn_arguments.word[21]);
  const float s19 = uintBitsToFloat(sn_arguments.word[22]);
  const float s20 = uintBitsToFloat(sn_arguments.word[23]);
  const float s21 = uintBitsToFloat(sn_arguments.word[24]);
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v5 = (s1 * s2);
    precise float v7 = b2.at[x0];
    precise float v28 = b5.at[x0];
    precise float v30 = b6.at[x0];
    precise float v41 = b8.at[x0];
    precise float v43 = (v41 * s10);
    precise float v57 = b9.at[x0];
    precise float v59 = (v57 * s15);
    precise float v64 = b10.at[x0];
    precise float v66 = (v64 * s17);
    float r37 = float(0);
    float r60 = float(0);
    for (u32 h = u32(0); h < u32(n1); h += u32(32)) {
      const u32 left = u32(n1) - h;
      const u32 end = h + (left < u32(32) ? left : u32(32));
      float q37 = float(0);
      float q60 = float(0);
      for (u32 j = h; j < end; j += 1) {
        const int x1 = int(j);
        precise float v6 = b1.at[x0 + x1 * n2];
        precise float v8 = (v6 + v7);
        precise float v10 = (v8 * s3);
        precise float v12 = (v8 * s4);
        precise float v13 = sn_erf_f32(v12);
        precise float v15 = (v13 + s5);
        precise float v16 = (v10 * v15);
        precise float v17 = b3.at[x1];
        precise float v19 = (v17 * s6);
        precise float v20 = (v16 - v19);
        precise float v21 = b4.at[x1];
        precise float v23 = (v21 * s7);
        precise float v25 = (v23 + s8);
        precise float v26 = sn_rsqrt_f32(v25);
        precise float v27 = (v20 * v26);
        precise float v29 = (v27 * v28);
        precise float v31 = (v29 + v30);
        precise float v32 = b7.at[x0 + x1 * n2];
        precise float v33 = (v31 - v32);
        precise float v34 = (v5 * v33);
        precise float v35 = (v34 + v34);
        precise float v36 = (v35 * v27);
        q37 = (q37 + v36);
        q60 = (q60 + v35);
      }
      r37 = r37 + q37;
      r60 = r60 + q60;
    }
    precise float v37 = r37;
    precise float v39 = (v37 * s9);
    precise float v40 = (v2 + v39);
    precise float v44 = (v37 * v37);
    precise float v46 = (v44 * s11);
    precise float v47 = (v43 + v46);
    precise float v49 = (v40 * s12);
    precise float v50 = sn_sqrt_f32(v47);
    precise float v52 = (v50 * s13);
    precise float v54 = (v52 + s14);
    precise float v55 = sn_div_f32(v49, v54);
    precise float v56 = (v28 - v55);
    precise float v60 = r60;
    precise float v62 = (v60 * s16);
    precise float v63 = (v59 + v62);
    precise float v67 = (v60 * v60);
    precise float v69 = (v67 * s18);
    precise float v70 = (v66 + v69);
    precise float v72 = (v63 * s19);
    precise float v73 = sn_sqrt_f32(v70);
    precise float v75 = (v73 * s20);
    precise float v77 = (v75 + s21);
    precise float v78 = sn_div_f32(v72, v77);
    precise float v79 = (v30 - v78);
    b0.at[x0] = v40;
    b2.at[x0] = v47;
    b5.at[x0] = v56;
    b6.at[x0] = v63;
    b8.at[x0] = v70;
    b9.at[x0] = v79;
  }
}
