// ---- kernel 0
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) restrict readonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 5) restrict readonly buffer b5_4_t { vec4 at[]; } b5_4;
layout(std430, binding = 6) writeonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { vec4 at[]; } b6_4;
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
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      float r11 = float(0);
      float q11[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l0;
          l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
          vec4 l1;
          l1 = b1_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            precise float v1 = l1[k];
            precise float v2 = (v0 + v1);
            precise float v4 = (v2 * s0);
            precise float v6 = (v2 * s1);
            precise float v7 = sn_erf_f32(v6);
            precise float v9 = (v7 + s2);
            precise float v10 = (v4 * v9);
            h0[i][k] = v10;
            q11[k] = fma(v4, v9, q11[k]);
          }
        }
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
      r11 = sn_workgroup_sum_f32(r11);
      precise float v11 = r11;
      precise float v13 = (v11 * s3);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r16 = float(0);
      float q16[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v10 = h0[i][k];
            precise float v14 = (v10 - v13);
            h0[i][k] = v14;
            precise float v15 = (v14 * v14);
            q16[k] = fma(v14, v14, q16[k]);
          }
        }
      }
      r16 = r16 + ((q16[0] + q16[1]) + (q16[2] + q16[3]));
      r16 = sn_workgroup_sum_f32(r16);
      precise float v16 = r16;
      precise float v18 = (v16 * s4);
      precise float v20 = (v18 + s5);
      precise float v21 = sn_rsqrt_f32(v20);
      if (SN_LANE == 0u) {
        b3.at[x0] = v21;
      }
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l23;
          l23 = b4_4.at[vector];
          vec4 l25;
          l25 = b5_4.at[vector];
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v14 = h0[i][k];
            precise float v22 = (v14 * v21);
            precise float v23 = l23[k];
            precise float v24 = (v22 * v23);
            precise float v25 = l25[k];
            precise float v26 = (v24 + v25);
            w0[k] = v26;
          }
          b6_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      float r11 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q11 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v4 = (v2 * s0);
          precise float v6 = (v2 * s1);
          precise float v7 = sn_erf_f32(v6);
          precise float v9 = (v7 + s2);
          precise float v10 = (v4 * v9);
          q11 = fma(v4, v9, q11);
        }
        r11 = r11 + q11;
      }
      r11 = sn_workgroup_sum_f32(r11);
      precise float v11 = r11;
      precise float v13 = (v11 * s3);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r16 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q16 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
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
          q16 = fma(v14, v14, q16);
        }
        r16 = r16 + q16;
      }
      r16 = sn_workgroup_sum_f32(r16);
      precise float v16 = r16;
      precise float v18 = (v16 * s4);
      precise float v20 = (v18 + s5);
      precise float v21 = sn_rsqrt_f32(v20);
      if (SN_LANE == 0u) {
        b3.at[x0] = v21;
      }
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
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
}
// ---- kernel 1
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) restrict readonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 5) restrict readonly buffer b5_4_t { vec4 at[]; } b5_4;
layout(std430, binding = 6) restrict readonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 6) restrict readonly buffer b6_4_t { vec4 at[]; } b6_4;
layout(std430, binding = 7) writeonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 7) writeonly buffer b7_4_t { vec4 at[]; } b7_4;
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
  const float s14 = uintBitsToFloat(sn_arguments.word[17]);
  const float s15 = uintBitsToFloat(sn_arguments.word[18]);
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      vec4 h1[2];
      vec4 h2[2];
      vec4 h3[2];
      vec4 h4[2];
      precise float v24 = (s6 * s7);
      precise float v26 = (v24 * s8);
      float r11 = float(0);
      float q11[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          h1[i] = b6_4.at[(u32(x0 * n2) >> 2) + vector];
        }
      }
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l0;
          l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
          vec4 l1;
          l1 = b1_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            precise float v1 = l1[k];
            precise float v2 = (v0 + v1);
            precise float v4 = (v2 * s0);
            h2[i][k] = v4;
            precise float v6 = (v2 * s1);
            h3[i][k] = v6;
            precise float v7 = sn_erf_f32(v6);
            precise float v9 = (v7 + s2);
            h4[i][k] = v9;
            precise float v10 = (v4 * v9);
            h0[i][k] = v10;
            precise float v32 = h1[i][k];
            q11[k] = fma(v4, v9, q11[k]);
          }
        }
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
      r11 = sn_workgroup_sum_f32(r11);
      precise float v11 = r11;
      precise float v13 = (v11 * s3);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r16 = float(0);
      float q16[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v10 = h0[i][k];
            precise float v14 = (v10 - v13);
            h0[i][k] = v14;
            precise float v15 = (v14 * v14);
            q16[k] = fma(v14, v14, q16[k]);
          }
        }
      }
      r16 = r16 + ((q16[0] + q16[1]) + (q16[2] + q16[3]));
      r16 = sn_workgroup_sum_f32(r16);
      precise float v16 = r16;
      precise float v18 = (v16 * s4);
      precise float v20 = (v18 + s5);
      precise float v21 = sn_rsqrt_f32(v20);
      precise float v41 = (v21 * v21);
      precise float v42 = (v41 * v21);
      if (SN_LANE == 0u) {
        b3.at[x0] = v21;
      }
      float r38 = float(0);
      float q38[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l28;
          l28 = b4_4.at[vector];
          vec4 l30;
          l30 = b5_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v14 = h0[i][k];
            precise float v32 = h1[i][k];
            precise float v27 = (v14 * v21);
            precise float v28 = l28[k];
            precise float v29 = (v27 * v28);
            precise float v30 = l30[k];
            precise float v31 = (v29 + v30);
            precise float v33 = (v31 - v32);
            precise float v34 = (v26 * v33);
            precise float v35 = (v34 * v28);
            h1[i][k] = v35;
            precise float v37 = (v35 * v14);
            q38[k] = fma(v35, v14, q38[k]);
          }
        }
      }
      r38 = r38 + ((q38[0] + q38[1]) + (q38[2] + q38[3]));
      r38 = sn_workgroup_sum_f32(r38);
      precise float v38 = r38;
      precise float v40 = (v38 * s9);
      precise float v43 = (v40 * v42);
      precise float v45 = (v43 * s10);
      precise float v47 = (v45 * s11);
      float r51 = float(0);
      float q51[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v14 = h0[i][k];
            precise float v35 = h1[i][k];
            precise float v36 = (v35 * v21);
            precise float v48 = (v47 * v14);
            precise float v49 = (v36 + v48);
            h0[i][k] = v49;
            precise float v50 = (-v49);
            q51[k] = (q51[k] + v50);
          }
        }
      }
      r51 = r51 + ((q51[0] + q51[1]) + (q51[2] + q51[3]));
      r51 = sn_workgroup_sum_f32(r51);
      precise float v51 = r51;
      precise float v53 = (v51 * s12);
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v4 = h2[i][k];
            precise float v6 = h3[i][k];
            precise float v9 = h4[i][k];
            precise float v49 = h0[i][k];
            precise float v54 = (v49 + v53);
            precise float v55 = (v54 * v9);
            precise float v57 = (v55 * s13);
            precise float v58 = (v54 * v4);
            precise float v59 = (v6 * v6);
            precise float v60 = (-v59);
            precise float v61 = sn_exp_f32(v60);
            precise float v63 = (v61 * s14);
            precise float v64 = (v58 * v63);
            precise float v66 = (v64 * s15);
            precise float v67 = (v57 + v66);
            w0[k] = v67;
          }
          b7_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      precise float v24 = (s6 * s7);
      precise float v26 = (v24 * s8);
      float r11 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q11 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v4 = (v2 * s0);
          precise float v6 = (v2 * s1);
          precise float v7 = sn_erf_f32(v6);
          precise float v9 = (v7 + s2);
          precise float v10 = (v4 * v9);
          q11 = fma(v4, v9, q11);
        }
        r11 = r11 + q11;
      }
      r11 = sn_workgroup_sum_f32(r11);
      precise float v11 = r11;
      precise float v13 = (v11 * s3);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r16 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q16 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
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
          q16 = fma(v14, v14, q16);
        }
        r16 = r16 + q16;
      }
      r16 = sn_workgroup_sum_f32(r16);
      precise float v16 = r16;
      precise float v18 = (v16 * s4);
      precise float v20 = (v18 + s5);
      precise float v21 = sn_rsqrt_f32(v20);
      precise float v41 = (v21 * v21);
      precise float v42 = (v41 * v21);
      if (SN_LANE == 0u) {
        b3.at[x0] = v21;
      }
      float r38 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q38 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
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
          precise float v27 = (v14 * v21);
          precise float v28 = b4.at[x1];
          precise float v29 = (v27 * v28);
          precise float v30 = b5.at[x1];
          precise float v31 = (v29 + v30);
          precise float v32 = b6.at[x0 * n2 + x1];
          precise float v33 = (v31 - v32);
          precise float v34 = (v26 * v33);
          precise float v35 = (v34 * v28);
          precise float v37 = (v35 * v14);
          q38 = fma(v35, v14, q38);
        }
        r38 = r38 + q38;
      }
      r38 = sn_workgroup_sum_f32(r38);
      precise float v38 = r38;
      precise float v40 = (v38 * s9);
      precise float v43 = (v40 * v42);
      precise float v45 = (v43 * s10);
      precise float v47 = (v45 * s11);
      float r51 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q51 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
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
          precise float v27 = (v14 * v21);
          precise float v28 = b4.at[x1];
          precise float v29 = (v27 * v28);
          precise float v30 = b5.at[x1];
          precise float v31 = (v29 + v30);
          precise float v32 = b6.at[x0 * n2 + x1];
          precise float v33 = (v31 - v32);
          precise float v34 = (v26 * v33);
          precise float v35 = (v34 * v28);
          precise float v36 = (v35 * v21);
          precise float v48 = (v47 * v14);
          precise float v49 = (v36 + v48);
          precise float v50 = (-v49);
          q51 = (q51 + v50);
        }
        r51 = r51 + q51;
      }
      r51 = sn_workgroup_sum_f32(r51);
      precise float v51 = r51;
      precise float v53 = (v51 * s12);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
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
        precise float v27 = (v14 * v21);
        precise float v28 = b4.at[x1];
        precise float v29 = (v27 * v28);
        precise float v30 = b5.at[x1];
        precise float v31 = (v29 + v30);
        precise float v32 = b6.at[x0 * n2 + x1];
        precise float v33 = (v31 - v32);
        precise float v34 = (v26 * v33);
        precise float v35 = (v34 * v28);
        precise float v36 = (v35 * v21);
        precise float v48 = (v47 * v14);
        precise float v49 = (v36 + v48);
        precise float v54 = (v49 + v53);
        precise float v55 = (v54 * v9);
        precise float v57 = (v55 * s13);
        precise float v58 = (v54 * v4);
        precise float v59 = (v6 * v6);
        precise float v60 = (-v59);
        precise float v61 = sn_exp_f32(v60);
        precise float v63 = (v61 * s14);
        precise float v64 = (v58 * v63);
        precise float v66 = (v64 * s15);
        precise float v67 = (v57 + v66);
        b7.at[x0 * n2 + x1] = v67;
      }
    }
  }
}
// ---- kernel 2
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) restrict readonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 5) restrict readonly buffer b5_4_t { vec4 at[]; } b5_4;
layout(std430, binding = 6) restrict readonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 6) restrict readonly buffer b6_4_t { vec4 at[]; } b6_4;
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
  const u32 parts = sn_arguments.word[9];
  const bool vectors = ((n2 | n3) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(SN_LANES) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  float r24 = float(0);
  for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
    float q24[4] = {float(0), float(0), float(0), float(0)};
    for (u32 j = h; j < end; j += u32(SN_LANES) * u32(4)) {
      u32 t1 = j;
      const int y = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      const u32 vector = (u32(y) >> 2);
      vec4 l0;
      l0 = b0_4.at[(u32(x1 * n3) >> 2) + vector];
      vec4 l1;
      l1 = b1_4.at[vector];
      vec4 l17;
      l17 = b4_4.at[vector];
      vec4 l19;
      l19 = b5_4.at[vector];
      vec4 l21;
      l21 = b6_4.at[(u32(x1 * n3) >> 2) + vector];
      [[unroll]]
      for (int k = 0; k < 4; ++k) {
        const int x2 = y + k;
        precise float v0 = l0[k];
        precise float v1 = l1[k];
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
        precise float v16 = (v14 * v15);
        precise float v17 = l17[k];
        precise float v18 = (v16 * v17);
        precise float v19 = l19[k];
        precise float v20 = (v18 + v19);
        precise float v21 = l21[k];
        precise float v22 = (v20 - v21);
        precise float v23 = (v22 * v22);
        q24[k] = fma(v22, v22, q24[k]);
      }
    }
    r24 = r24 + ((q24[0] + q24[1]) + (q24[2] + q24[3]));
  }
  for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
    float q24 = float(0);
    for (u32 j = h; j < end; j += u32(SN_LANES)) {
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
      precise float v16 = (v14 * v15);
      precise float v17 = b4.at[x2];
      precise float v18 = (v16 * v17);
      precise float v19 = b5.at[x2];
      precise float v20 = (v18 + v19);
      precise float v21 = b6.at[x1 * n3 + x2];
      precise float v22 = (v20 - v21);
      precise float v23 = (v22 * v22);
      q24 = fma(v22, v22, q24);
    }
    r24 = r24 + q24;
  }
  r24 = sn_workgroup_sum_f32(r24);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r24);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r24 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r24[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r24[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r24 = (r24 + p_r24[u]);
        }
      }
    }
  }
  r24 = sn_workgroup_sum_f32(r24);
  precise float v24 = r24;
  precise float v26 = (v24 * s4);
  if (SN_LANE == 0u) {
    b7.at[0] = v26;
  }
}
// ---- kernel 3
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) restrict readonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) restrict readonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) writeonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { vec4 at[]; } b6_4;
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
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      vec4 h1[2];
      vec4 h2[2];
      vec4 h3[2];
      vec4 h4[2];
      precise float v3 = b2.at[x0];
      precise float v16 = b5.at[x0];
      precise float v18 = (v16 * s3);
      precise float v24 = (v3 * v3);
      precise float v25 = (v24 * v3);
      float r21 = float(0);
      float q21[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l0;
          l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
          vec4 l1;
          l1 = b1_4.at[vector];
          vec4 l5;
          l5 = b3_4.at[(u32(x0 * n2) >> 2) + vector];
          vec4 l6;
          l6 = b4_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            precise float v1 = l1[k];
            precise float v2 = (v0 * v1);
            h0[i][k] = v2;
            precise float v5 = l5[k];
            precise float v6 = l6[k];
            precise float v7 = (v5 + v6);
            precise float v9 = (v7 * s0);
            h2[i][k] = v9;
            precise float v11 = (v7 * s1);
            h3[i][k] = v11;
            precise float v12 = sn_erf_f32(v11);
            precise float v14 = (v12 + s2);
            h4[i][k] = v14;
            precise float v15 = (v9 * v14);
            precise float v19 = (v15 - v18);
            h1[i][k] = v19;
            precise float v20 = (v2 * v19);
            q21[k] = fma(v2, v19, q21[k]);
          }
        }
      }
      r21 = r21 + ((q21[0] + q21[1]) + (q21[2] + q21[3]));
      r21 = sn_workgroup_sum_f32(r21);
      precise float v21 = r21;
      precise float v23 = (v21 * s4);
      precise float v26 = (v23 * v25);
      precise float v28 = (v26 * s5);
      precise float v30 = (v28 * s6);
      float r34 = float(0);
      float q34[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v2 = h0[i][k];
            precise float v19 = h1[i][k];
            precise float v4 = (v2 * v3);
            precise float v31 = (v30 * v19);
            precise float v32 = (v4 + v31);
            h0[i][k] = v32;
            precise float v33 = (-v32);
            q34[k] = (q34[k] + v33);
          }
        }
      }
      r34 = r34 + ((q34[0] + q34[1]) + (q34[2] + q34[3]));
      r34 = sn_workgroup_sum_f32(r34);
      precise float v34 = r34;
      precise float v36 = (v34 * s7);
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v9 = h2[i][k];
            precise float v11 = h3[i][k];
            precise float v14 = h4[i][k];
            precise float v32 = h0[i][k];
            precise float v37 = (v32 + v36);
            precise float v38 = (v37 * v14);
            precise float v40 = (v38 * s8);
            precise float v41 = (v37 * v9);
            precise float v42 = (v11 * v11);
            precise float v43 = (-v42);
            precise float v44 = sn_exp_f32(v43);
            precise float v46 = (v44 * s9);
            precise float v47 = (v41 * v46);
            precise float v49 = (v47 * s10);
            precise float v50 = (v40 + v49);
            w0[k] = v50;
          }
          b6_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      precise float v3 = b2.at[x0];
      precise float v16 = b5.at[x0];
      precise float v18 = (v16 * s3);
      precise float v24 = (v3 * v3);
      precise float v25 = (v24 * v3);
      float r21 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q21 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 * v1);
          precise float v5 = b3.at[x0 * n2 + x1];
          precise float v6 = b4.at[x1];
          precise float v7 = (v5 + v6);
          precise float v9 = (v7 * s0);
          precise float v11 = (v7 * s1);
          precise float v12 = sn_erf_f32(v11);
          precise float v14 = (v12 + s2);
          precise float v15 = (v9 * v14);
          precise float v19 = (v15 - v18);
          precise float v20 = (v2 * v19);
          q21 = fma(v2, v19, q21);
        }
        r21 = r21 + q21;
      }
      r21 = sn_workgroup_sum_f32(r21);
      precise float v21 = r21;
      precise float v23 = (v21 * s4);
      precise float v26 = (v23 * v25);
      precise float v28 = (v26 * s5);
      precise float v30 = (v28 * s6);
      float r34 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q34 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 * v1);
          precise float v4 = (v2 * v3);
          precise float v5 = b3.at[x0 * n2 + x1];
          precise float v6 = b4.at[x1];
          precise float v7 = (v5 + v6);
          precise float v9 = (v7 * s0);
          precise float v11 = (v7 * s1);
          precise float v12 = sn_erf_f32(v11);
          precise float v14 = (v12 + s2);
          precise float v15 = (v9 * v14);
          precise float v19 = (v15 - v18);
          precise float v31 = (v30 * v19);
          precise float v32 = (v4 + v31);
          precise float v33 = (-v32);
          q34 = (q34 + v33);
        }
        r34 = r34 + q34;
      }
      r34 = sn_workgroup_sum_f32(r34);
      precise float v34 = r34;
      precise float v36 = (v34 * s7);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 * v1);
        precise float v4 = (v2 * v3);
        precise float v5 = b3.at[x0 * n2 + x1];
        precise float v6 = b4.at[x1];
        precise float v7 = (v5 + v6);
        precise float v9 = (v7 * s0);
        precise float v11 = (v7 * s1);
        precise float v12 = sn_erf_f32(v11);
        precise float v14 = (v12 + s2);
        precise float v15 = (v9 * v14);
        precise float v19 = (v15 - v18);
        precise float v31 = (v30 * v19);
        precise float v32 = (v4 + v31);
        precise float v37 = (v32 + v36);
        precise float v38 = (v37 * v14);
        precise float v40 = (v38 * s8);
        precise float v41 = (v37 * v9);
        precise float v42 = (v11 * v11);
        precise float v43 = (-v42);
        precise float v44 = sn_exp_f32(v43);
        precise float v46 = (v44 * s9);
        precise float v47 = (v41 * v46);
        precise float v49 = (v47 * s10);
        precise float v50 = (v40 + v49);
        b6.at[x0 * n2 + x1] = v50;
      }
    }
  }
}
// ---- kernel 4
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
#define SN_LANES gl_WorkGroupSize.x
#define SN_LANE gl_LocalInvocationID.x
#define SN_ROWS 1u
#define SN_ROW 0u
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b3_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 18u + 16u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 18u;
  const u32 sn_workgroup = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_workgroups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  const int n0 = int(sn_arguments.word[sn_mine + 8u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 9u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 10u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 11u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 12u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 13u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 14u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 15u]);
  const u32 points = u32(n0);
  for (u32 f = u32(sn_workgroup * gl_WorkGroupSize.x + gl_LocalInvocationID.x); f < points; f += u32(sn_workgroups * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v3 = b1.at[x0];
    precise float v5 = (v3 * s1);
    precise float v6 = (v2 + v5);
    precise float v7 = b2.at[x0];
    precise float v9 = (v7 * s2);
    precise float v10 = (v3 * v3);
    precise float v12 = (v10 * s3);
    precise float v13 = (v9 + v12);
    precise float v15 = (v6 * s4);
    precise float v16 = sn_sqrt_f32(v13);
    precise float v18 = (v16 * s5);
    precise float v20 = (v18 + s6);
    precise float v21 = sn_div_f32(v15, v20);
    precise float v22 = b3.at[x0];
    precise float v23 = (v22 - v21);
    b0.at[x0] = v6;
    b2.at[x0] = v13;
    b3.at[x0] = v23;
  }
}
// ---- kernel 5
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
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
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 8) restrict buffer b8_t { float at[]; } b8;
layout(std430, binding = 9) restrict buffer b9_t { float at[]; } b9;
layout(std430, binding = 10) restrict buffer b10_t { float at[]; } b10;
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
  const u32 points = u32(n0);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v5 = (s1 * s2);
    precise float v7 = (v5 * s3);
    precise float v9 = b2.at[x0];
    precise float v25 = b5.at[x0];
    precise float v27 = b6.at[x0];
    precise float v37 = b8.at[x0];
    precise float v39 = (v37 * s9);
    precise float v53 = b9.at[x0];
    precise float v55 = (v53 * s14);
    precise float v60 = b10.at[x0];
    precise float v62 = (v60 * s16);
    float r33 = float(0);
    float r56 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q33 = float(0);
        float q56 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v8 = b1.at[x0 + x1 * n2];
              precise float v10 = (v8 + v9);
              precise float v12 = (v10 * s4);
              precise float v14 = (v10 * s5);
              precise float v15 = sn_erf_f32(v14);
              precise float v17 = (v15 + s6);
              precise float v18 = (v12 * v17);
              precise float v19 = b3.at[x1];
              precise float v21 = (v19 * s7);
              precise float v22 = (v18 - v21);
              precise float v23 = b4.at[x1];
              precise float v24 = (v22 * v23);
              precise float v26 = (v24 * v25);
              precise float v28 = (v26 + v27);
              precise float v29 = b7.at[x0 + x1 * n2];
              precise float v30 = (v28 - v29);
              precise float v31 = (v7 * v30);
              precise float v32 = (v31 * v24);
              q33 = fma(v31, v24, q33);
              q56 = fma(v7, v30, q56);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v8 = b1.at[x0 + x1 * n2];
            precise float v10 = (v8 + v9);
            precise float v12 = (v10 * s4);
            precise float v14 = (v10 * s5);
            precise float v15 = sn_erf_f32(v14);
            precise float v17 = (v15 + s6);
            precise float v18 = (v12 * v17);
            precise float v19 = b3.at[x1];
            precise float v21 = (v19 * s7);
            precise float v22 = (v18 - v21);
            precise float v23 = b4.at[x1];
            precise float v24 = (v22 * v23);
            precise float v26 = (v24 * v25);
            precise float v28 = (v26 + v27);
            precise float v29 = b7.at[x0 + x1 * n2];
            precise float v30 = (v28 - v29);
            precise float v31 = (v7 * v30);
            precise float v32 = (v31 * v24);
            q33 = fma(v31, v24, q33);
            q56 = fma(v7, v30, q56);
          }
        }
        r33 = r33 + q33;
        r56 = r56 + q56;
      }
    }
    sn_rows_sum_f32(r33);
    precise float v33 = r33;
    precise float v35 = (v33 * s8);
    precise float v36 = (v2 + v35);
    precise float v40 = (v33 * v33);
    precise float v42 = (v40 * s10);
    precise float v43 = (v39 + v42);
    precise float v45 = (v36 * s11);
    precise float v46 = sn_sqrt_f32(v43);
    precise float v48 = (v46 * s12);
    precise float v50 = (v48 + s13);
    precise float v51 = sn_div_f32(v45, v50);
    precise float v52 = (v25 - v51);
    sn_rows_sum_f32(r56);
    precise float v56 = r56;
    precise float v58 = (v56 * s15);
    precise float v59 = (v55 + v58);
    precise float v63 = (v56 * v56);
    precise float v65 = (v63 * s17);
    precise float v66 = (v62 + v65);
    precise float v68 = (v59 * s18);
    precise float v69 = sn_sqrt_f32(v66);
    precise float v71 = (v69 * s19);
    precise float v73 = (v71 + s20);
    precise float v74 = sn_div_f32(v68, v73);
    precise float v75 = (v27 - v74);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v36;
      b5.at[x0] = v43;
      b6.at[x0] = v52;
      b8.at[x0] = v59;
      b9.at[x0] = v66;
      b10.at[x0] = v75;
    }
  }
}
// ---- kernel 6
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b3_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b4_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 22u + 20u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 22u;
  const u32 sn_workgroup = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_workgroups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  b4_t b4 = b4_t(uvec2(sn_arguments.word[sn_mine + 8u], sn_arguments.word[sn_mine + 9u]));
  const int n0 = int(sn_arguments.word[sn_mine + 10u]);
  const int n1 = int(sn_arguments.word[sn_mine + 11u]);
  const int n2 = int(sn_arguments.word[sn_mine + 12u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 13u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 14u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 15u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 16u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 17u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 18u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 19u]);
  const u32 points = u32(n0);
  for (u32 t = u32(sn_workgroup) * u32(SN_LANES); t < points; t += u32(sn_workgroups) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v8 = b2.at[x0];
    precise float v10 = (v8 * s2);
    precise float v23 = b3.at[x0];
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + v3);
            }
          }
          if (g < end) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const bool inside = g + u32(u) < end;
              const u32 j = inside ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + (inside ? v3 : float(0)));
            }
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
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
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v7;
      b2.at[x0] = v14;
      b4.at[x0] = v24;
    }
  }
}
// ---- kernel 7
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
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
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v8 = b2.at[x0];
    precise float v10 = (v8 * s2);
    precise float v23 = b3.at[x0];
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + v3);
            }
          }
          if (g < end) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const bool inside = g + u32(u) < end;
              const u32 j = inside ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + (inside ? v3 : float(0)));
            }
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
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
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v7;
      b2.at[x0] = v14;
      b3.at[x0] = v24;
    }
  }
}
// ---- kernel 8
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
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
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b3_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b4_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b5_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b6_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b7_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b8_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b9_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b10_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 44u + 43u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 44u;
  const u32 sn_workgroup = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_workgroups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
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
  const u32 points = u32(n0);
  for (u32 t = u32(sn_workgroup) * u32(SN_LANES); t < points; t += u32(sn_workgroups) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v4 = b2.at[x0];
    precise float v26 = b6.at[x0];
    precise float v28 = (v26 * s6);
    precise float v41 = b7.at[x0];
    precise float v43 = b8.at[x0];
    precise float v45 = (v43 * s11);
    precise float v50 = b9.at[x0];
    precise float v52 = (v50 * s13);
    precise float v65 = b10.at[x0];
    float r22 = float(0);
    float r46 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q22 = float(0);
        float q46 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
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
              precise float v19 = (v17 * v18);
              precise float v20 = b5.at[x0 + x1 * n2];
              precise float v21 = (v20 * v19);
              q22 = fma(v20, v19, q22);
              q46 = (q46 + v20);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
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
            precise float v19 = (v17 * v18);
            precise float v20 = b5.at[x0 + x1 * n2];
            precise float v21 = (v20 * v19);
            q22 = fma(v20, v19, q22);
            q46 = (q46 + v20);
          }
        }
        r22 = r22 + q22;
        r46 = r46 + q46;
      }
    }
    sn_rows_sum_f32(r22);
    precise float v22 = r22;
    precise float v24 = (v22 * s5);
    precise float v25 = (v2 + v24);
    precise float v29 = (v22 * v22);
    precise float v31 = (v29 * s7);
    precise float v32 = (v28 + v31);
    precise float v34 = (v25 * s8);
    precise float v35 = sn_sqrt_f32(v32);
    precise float v37 = (v35 * s9);
    precise float v39 = (v37 + s10);
    precise float v40 = sn_div_f32(v34, v39);
    precise float v42 = (v41 - v40);
    sn_rows_sum_f32(r46);
    precise float v46 = r46;
    precise float v48 = (v46 * s12);
    precise float v49 = (v45 + v48);
    precise float v53 = (v46 * v46);
    precise float v55 = (v53 * s14);
    precise float v56 = (v52 + v55);
    precise float v58 = (v49 * s15);
    precise float v59 = sn_sqrt_f32(v56);
    precise float v61 = (v59 * s16);
    precise float v63 = (v61 + s17);
    precise float v64 = sn_div_f32(v58, v63);
    precise float v66 = (v65 - v64);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v25;
      b2.at[x0] = v32;
      b6.at[x0] = v42;
      b7.at[x0] = v49;
      b8.at[x0] = v56;
      b9.at[x0] = v66;
    }
  }
}
