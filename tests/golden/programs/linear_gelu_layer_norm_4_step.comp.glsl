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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      float r5 = float(0);
      float q5[4] = {float(0), float(0), float(0), float(0)};
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
            precise float v3 = sn_ndtr_f32(v2);
            precise float v4 = (v2 * v3);
            h0[i][k] = v4;
            q5[k] = fma(v2, v3, q5[k]);
          }
        }
      }
      r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
      r5 = sn_workgroup_sum_f32(r5);
      precise float v5 = r5;
      precise float v7 = (v5 * s0);
      if (SN_LANE == 0u) {
        b2.at[x0] = v5;
      }
      float r10 = float(0);
      float q10[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v4 = h0[i][k];
            precise float v8 = (v4 - v7);
            h0[i][k] = v8;
            precise float v9 = (v8 * v8);
            q10[k] = fma(v8, v8, q10[k]);
          }
        }
      }
      r10 = r10 + ((q10[0] + q10[1]) + (q10[2] + q10[3]));
      r10 = sn_workgroup_sum_f32(r10);
      precise float v10 = r10;
      precise float v12 = (v10 * s1);
      precise float v14 = (v12 + s2);
      precise float v15 = sn_rsqrt_f32(v14);
      if (SN_LANE == 0u) {
        b3.at[x0] = v15;
      }
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l17;
          l17 = b4_4.at[vector];
          vec4 l19;
          l19 = b5_4.at[vector];
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v8 = h0[i][k];
            precise float v16 = (v8 * v15);
            precise float v17 = l17[k];
            precise float v18 = (v16 * v17);
            precise float v19 = l19[k];
            precise float v20 = (v18 + v19);
            w0[k] = v20;
          }
          b6_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      float r5 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q5 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          q5 = fma(v2, v3, q5);
        }
        r5 = r5 + q5;
      }
      r5 = sn_workgroup_sum_f32(r5);
      precise float v5 = r5;
      precise float v7 = (v5 * s0);
      if (SN_LANE == 0u) {
        b2.at[x0] = v5;
      }
      float r10 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q10 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          precise float v8 = (v4 - v7);
          precise float v9 = (v8 * v8);
          q10 = fma(v8, v8, q10);
        }
        r10 = r10 + q10;
      }
      r10 = sn_workgroup_sum_f32(r10);
      precise float v10 = r10;
      precise float v12 = (v10 * s1);
      precise float v14 = (v12 + s2);
      precise float v15 = sn_rsqrt_f32(v14);
      if (SN_LANE == 0u) {
        b3.at[x0] = v15;
      }
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v3 = sn_ndtr_f32(v2);
        precise float v4 = (v2 * v3);
        precise float v8 = (v4 - v7);
        precise float v16 = (v8 * v15);
        precise float v17 = b4.at[x1];
        precise float v18 = (v16 * v17);
        precise float v19 = b5.at[x1];
        precise float v20 = (v18 + v19);
        b6.at[x0 * n2 + x1] = v20;
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
      precise float v18 = (s3 * s4);
      precise float v20 = (v18 * s5);
      float r5 = float(0);
      float q5[4] = {float(0), float(0), float(0), float(0)};
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
            h2[i][k] = v2;
            precise float v3 = sn_ndtr_f32(v2);
            h3[i][k] = v3;
            precise float v4 = (v2 * v3);
            h0[i][k] = v4;
            precise float v26 = h1[i][k];
            q5[k] = fma(v2, v3, q5[k]);
          }
        }
      }
      r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
      r5 = sn_workgroup_sum_f32(r5);
      precise float v5 = r5;
      precise float v7 = (v5 * s0);
      if (SN_LANE == 0u) {
        b2.at[x0] = v5;
      }
      float r10 = float(0);
      float q10[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v4 = h0[i][k];
            precise float v8 = (v4 - v7);
            h0[i][k] = v8;
            precise float v9 = (v8 * v8);
            q10[k] = fma(v8, v8, q10[k]);
          }
        }
      }
      r10 = r10 + ((q10[0] + q10[1]) + (q10[2] + q10[3]));
      r10 = sn_workgroup_sum_f32(r10);
      precise float v10 = r10;
      precise float v12 = (v10 * s1);
      precise float v14 = (v12 + s2);
      precise float v15 = sn_rsqrt_f32(v14);
      precise float v35 = (v15 * v15);
      precise float v36 = (v35 * v15);
      if (SN_LANE == 0u) {
        b3.at[x0] = v15;
      }
      float r32 = float(0);
      float q32[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l22;
          l22 = b4_4.at[vector];
          vec4 l24;
          l24 = b5_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v8 = h0[i][k];
            precise float v26 = h1[i][k];
            precise float v21 = (v8 * v15);
            precise float v22 = l22[k];
            precise float v23 = (v21 * v22);
            precise float v24 = l24[k];
            precise float v25 = (v23 + v24);
            precise float v27 = (v25 - v26);
            precise float v28 = (v20 * v27);
            precise float v29 = (v28 * v22);
            h1[i][k] = v29;
            precise float v31 = (v29 * v8);
            q32[k] = fma(v29, v8, q32[k]);
          }
        }
      }
      r32 = r32 + ((q32[0] + q32[1]) + (q32[2] + q32[3]));
      r32 = sn_workgroup_sum_f32(r32);
      precise float v32 = r32;
      precise float v34 = (v32 * s6);
      precise float v37 = (v34 * v36);
      precise float v39 = (v37 * s7);
      precise float v41 = (v39 * s8);
      float r45 = float(0);
      float q45[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v8 = h0[i][k];
            precise float v29 = h1[i][k];
            precise float v30 = (v29 * v15);
            precise float v42 = (v41 * v8);
            precise float v43 = (v30 + v42);
            h0[i][k] = v43;
            precise float v44 = (-v43);
            q45[k] = (q45[k] + v44);
          }
        }
      }
      r45 = r45 + ((q45[0] + q45[1]) + (q45[2] + q45[3]));
      r45 = sn_workgroup_sum_f32(r45);
      precise float v45 = r45;
      precise float v47 = (v45 * s9);
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
            precise float v2 = h2[i][k];
            precise float v3 = h3[i][k];
            precise float v43 = h0[i][k];
            precise float v48 = (v43 + v47);
            precise float v49 = (v48 * v3);
            precise float v50 = (v48 * v2);
            precise float v51 = (v2 * v2);
            precise float v53 = (v51 * s10);
            precise float v54 = sn_exp_f32(v53);
            precise float v56 = (v54 * s11);
            precise float v57 = (v50 * v56);
            precise float v58 = (v49 + v57);
            w0[k] = v58;
          }
          b7_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      precise float v18 = (s3 * s4);
      precise float v20 = (v18 * s5);
      float r5 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q5 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          q5 = fma(v2, v3, q5);
        }
        r5 = r5 + q5;
      }
      r5 = sn_workgroup_sum_f32(r5);
      precise float v5 = r5;
      precise float v7 = (v5 * s0);
      if (SN_LANE == 0u) {
        b2.at[x0] = v5;
      }
      float r10 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q10 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          precise float v8 = (v4 - v7);
          precise float v9 = (v8 * v8);
          q10 = fma(v8, v8, q10);
        }
        r10 = r10 + q10;
      }
      r10 = sn_workgroup_sum_f32(r10);
      precise float v10 = r10;
      precise float v12 = (v10 * s1);
      precise float v14 = (v12 + s2);
      precise float v15 = sn_rsqrt_f32(v14);
      precise float v35 = (v15 * v15);
      precise float v36 = (v35 * v15);
      if (SN_LANE == 0u) {
        b3.at[x0] = v15;
      }
      float r32 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q32 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          precise float v8 = (v4 - v7);
          precise float v21 = (v8 * v15);
          precise float v22 = b4.at[x1];
          precise float v23 = (v21 * v22);
          precise float v24 = b5.at[x1];
          precise float v25 = (v23 + v24);
          precise float v26 = b6.at[x0 * n2 + x1];
          precise float v27 = (v25 - v26);
          precise float v28 = (v20 * v27);
          precise float v29 = (v28 * v22);
          precise float v31 = (v29 * v8);
          q32 = fma(v29, v8, q32);
        }
        r32 = r32 + q32;
      }
      r32 = sn_workgroup_sum_f32(r32);
      precise float v32 = r32;
      precise float v34 = (v32 * s6);
      precise float v37 = (v34 * v36);
      precise float v39 = (v37 * s7);
      precise float v41 = (v39 * s8);
      float r45 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q45 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 + v1);
          precise float v3 = sn_ndtr_f32(v2);
          precise float v4 = (v2 * v3);
          precise float v8 = (v4 - v7);
          precise float v21 = (v8 * v15);
          precise float v22 = b4.at[x1];
          precise float v23 = (v21 * v22);
          precise float v24 = b5.at[x1];
          precise float v25 = (v23 + v24);
          precise float v26 = b6.at[x0 * n2 + x1];
          precise float v27 = (v25 - v26);
          precise float v28 = (v20 * v27);
          precise float v29 = (v28 * v22);
          precise float v30 = (v29 * v15);
          precise float v42 = (v41 * v8);
          precise float v43 = (v30 + v42);
          precise float v44 = (-v43);
          q45 = (q45 + v44);
        }
        r45 = r45 + q45;
      }
      r45 = sn_workgroup_sum_f32(r45);
      precise float v45 = r45;
      precise float v47 = (v45 * s9);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v3 = sn_ndtr_f32(v2);
        precise float v4 = (v2 * v3);
        precise float v8 = (v4 - v7);
        precise float v21 = (v8 * v15);
        precise float v22 = b4.at[x1];
        precise float v23 = (v21 * v22);
        precise float v24 = b5.at[x1];
        precise float v25 = (v23 + v24);
        precise float v26 = b6.at[x0 * n2 + x1];
        precise float v27 = (v25 - v26);
        precise float v28 = (v20 * v27);
        precise float v29 = (v28 * v22);
        precise float v30 = (v29 * v15);
        precise float v42 = (v41 * v8);
        precise float v43 = (v30 + v42);
        precise float v48 = (v43 + v47);
        precise float v49 = (v48 * v3);
        precise float v50 = (v48 * v2);
        precise float v51 = (v2 * v2);
        precise float v53 = (v51 * s10);
        precise float v54 = sn_exp_f32(v53);
        precise float v56 = (v54 * s11);
        precise float v57 = (v50 * v56);
        precise float v58 = (v49 + v57);
        b7.at[x0 * n2 + x1] = v58;
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
  const u32 parts = sn_arguments.word[6];
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
  float r18 = float(0);
  for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
    float q18[4] = {float(0), float(0), float(0), float(0)};
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
      vec4 l11;
      l11 = b4_4.at[vector];
      vec4 l13;
      l13 = b5_4.at[vector];
      vec4 l15;
      l15 = b6_4.at[(u32(x1 * n3) >> 2) + vector];
      [[unroll]]
      for (int k = 0; k < 4; ++k) {
        const int x2 = y + k;
        precise float v0 = l0[k];
        precise float v1 = l1[k];
        precise float v2 = (v0 + v1);
        precise float v3 = sn_ndtr_f32(v2);
        precise float v4 = (v2 * v3);
        precise float v5 = b2.at[x1];
        precise float v7 = (v5 * s0);
        precise float v8 = (v4 - v7);
        precise float v9 = b3.at[x1];
        precise float v10 = (v8 * v9);
        precise float v11 = l11[k];
        precise float v12 = (v10 * v11);
        precise float v13 = l13[k];
        precise float v14 = (v12 + v13);
        precise float v15 = l15[k];
        precise float v16 = (v14 - v15);
        precise float v17 = (v16 * v16);
        q18[k] = fma(v16, v16, q18[k]);
      }
    }
    r18 = r18 + ((q18[0] + q18[1]) + (q18[2] + q18[3]));
  }
  for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
    float q18 = float(0);
    for (u32 j = h; j < end; j += u32(SN_LANES)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      precise float v0 = b0.at[x1 * n3 + x2];
      precise float v1 = b1.at[x2];
      precise float v2 = (v0 + v1);
      precise float v3 = sn_ndtr_f32(v2);
      precise float v4 = (v2 * v3);
      precise float v5 = b2.at[x1];
      precise float v7 = (v5 * s0);
      precise float v8 = (v4 - v7);
      precise float v9 = b3.at[x1];
      precise float v10 = (v8 * v9);
      precise float v11 = b4.at[x2];
      precise float v12 = (v10 * v11);
      precise float v13 = b5.at[x2];
      precise float v14 = (v12 + v13);
      precise float v15 = b6.at[x1 * n3 + x2];
      precise float v16 = (v14 - v15);
      precise float v17 = (v16 * v16);
      q18 = fma(v16, v16, q18);
    }
    r18 = r18 + q18;
  }
  r18 = sn_workgroup_sum_f32(r18);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r18);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r18 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r18[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r18[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r18 = (r18 + p_r18[u]);
        }
      }
    }
  }
  r18 = sn_workgroup_sum_f32(r18);
  precise float v18 = r18;
  precise float v20 = (v18 * s1);
  if (SN_LANE == 0u) {
    b7.at[0] = v20;
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
      precise float v3 = b2.at[x0];
      precise float v10 = b5.at[x0];
      precise float v12 = (v10 * s0);
      precise float v18 = (v3 * v3);
      precise float v19 = (v18 * v3);
      float r15 = float(0);
      float q15[4] = {float(0), float(0), float(0), float(0)};
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
            h2[i][k] = v7;
            precise float v8 = sn_ndtr_f32(v7);
            h3[i][k] = v8;
            precise float v9 = (v7 * v8);
            precise float v13 = (v9 - v12);
            h1[i][k] = v13;
            precise float v14 = (v2 * v13);
            q15[k] = fma(v2, v13, q15[k]);
          }
        }
      }
      r15 = r15 + ((q15[0] + q15[1]) + (q15[2] + q15[3]));
      r15 = sn_workgroup_sum_f32(r15);
      precise float v15 = r15;
      precise float v17 = (v15 * s1);
      precise float v20 = (v17 * v19);
      precise float v22 = (v20 * s2);
      precise float v24 = (v22 * s3);
      float r28 = float(0);
      float q28[4] = {float(0), float(0), float(0), float(0)};
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
            precise float v13 = h1[i][k];
            precise float v4 = (v2 * v3);
            precise float v25 = (v24 * v13);
            precise float v26 = (v4 + v25);
            h0[i][k] = v26;
            precise float v27 = (-v26);
            q28[k] = (q28[k] + v27);
          }
        }
      }
      r28 = r28 + ((q28[0] + q28[1]) + (q28[2] + q28[3]));
      r28 = sn_workgroup_sum_f32(r28);
      precise float v28 = r28;
      precise float v30 = (v28 * s4);
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
            precise float v7 = h2[i][k];
            precise float v8 = h3[i][k];
            precise float v26 = h0[i][k];
            precise float v31 = (v26 + v30);
            precise float v32 = (v31 * v8);
            precise float v33 = (v31 * v7);
            precise float v34 = (v7 * v7);
            precise float v36 = (v34 * s5);
            precise float v37 = sn_exp_f32(v36);
            precise float v39 = (v37 * s6);
            precise float v40 = (v33 * v39);
            precise float v41 = (v32 + v40);
            w0[k] = v41;
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
      precise float v10 = b5.at[x0];
      precise float v12 = (v10 * s0);
      precise float v18 = (v3 * v3);
      precise float v19 = (v18 * v3);
      float r15 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q15 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 * v1);
          precise float v5 = b3.at[x0 * n2 + x1];
          precise float v6 = b4.at[x1];
          precise float v7 = (v5 + v6);
          precise float v8 = sn_ndtr_f32(v7);
          precise float v9 = (v7 * v8);
          precise float v13 = (v9 - v12);
          precise float v14 = (v2 * v13);
          q15 = fma(v2, v13, q15);
        }
        r15 = r15 + q15;
      }
      r15 = sn_workgroup_sum_f32(r15);
      precise float v15 = r15;
      precise float v17 = (v15 * s1);
      precise float v20 = (v17 * v19);
      precise float v22 = (v20 * s2);
      precise float v24 = (v22 * s3);
      float r28 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q28 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v1 = b1.at[x1];
          precise float v2 = (v0 * v1);
          precise float v4 = (v2 * v3);
          precise float v5 = b3.at[x0 * n2 + x1];
          precise float v6 = b4.at[x1];
          precise float v7 = (v5 + v6);
          precise float v8 = sn_ndtr_f32(v7);
          precise float v9 = (v7 * v8);
          precise float v13 = (v9 - v12);
          precise float v25 = (v24 * v13);
          precise float v26 = (v4 + v25);
          precise float v27 = (-v26);
          q28 = (q28 + v27);
        }
        r28 = r28 + q28;
      }
      r28 = sn_workgroup_sum_f32(r28);
      precise float v28 = r28;
      precise float v30 = (v28 * s4);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 * v1);
        precise float v4 = (v2 * v3);
        precise float v5 = b3.at[x0 * n2 + x1];
        precise float v6 = b4.at[x1];
        precise float v7 = (v5 + v6);
        precise float v8 = sn_ndtr_f32(v7);
        precise float v9 = (v7 * v8);
        precise float v13 = (v9 - v12);
        precise float v25 = (v24 * v13);
        precise float v26 = (v4 + v25);
        precise float v31 = (v26 + v30);
        precise float v32 = (v31 * v8);
        precise float v33 = (v31 * v7);
        precise float v34 = (v7 * v7);
        precise float v36 = (v34 * s5);
        precise float v37 = sn_exp_f32(v36);
        precise float v39 = (v37 * s6);
        precise float v40 = (v33 * v39);
        precise float v41 = (v32 + v40);
        b6.at[x0 * n2 + x1] = v41;
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
    precise float v19 = b5.at[x0];
    precise float v21 = b6.at[x0];
    precise float v31 = b8.at[x0];
    precise float v33 = (v31 * s6);
    precise float v47 = b9.at[x0];
    precise float v49 = (v47 * s11);
    precise float v54 = b10.at[x0];
    precise float v56 = (v54 * s13);
    float r27 = float(0);
    float r50 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q27 = float(0);
        float q50 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v8 = b1.at[x0 + x1 * n2];
              precise float v10 = (v8 + v9);
              precise float v11 = sn_ndtr_f32(v10);
              precise float v12 = (v10 * v11);
              precise float v13 = b3.at[x1];
              precise float v15 = (v13 * s4);
              precise float v16 = (v12 - v15);
              precise float v17 = b4.at[x1];
              precise float v18 = (v16 * v17);
              precise float v20 = (v18 * v19);
              precise float v22 = (v20 + v21);
              precise float v23 = b7.at[x0 + x1 * n2];
              precise float v24 = (v22 - v23);
              precise float v25 = (v7 * v24);
              precise float v26 = (v25 * v18);
              q27 = fma(v25, v18, q27);
              q50 = fma(v7, v24, q50);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v8 = b1.at[x0 + x1 * n2];
            precise float v10 = (v8 + v9);
            precise float v11 = sn_ndtr_f32(v10);
            precise float v12 = (v10 * v11);
            precise float v13 = b3.at[x1];
            precise float v15 = (v13 * s4);
            precise float v16 = (v12 - v15);
            precise float v17 = b4.at[x1];
            precise float v18 = (v16 * v17);
            precise float v20 = (v18 * v19);
            precise float v22 = (v20 + v21);
            precise float v23 = b7.at[x0 + x1 * n2];
            precise float v24 = (v22 - v23);
            precise float v25 = (v7 * v24);
            precise float v26 = (v25 * v18);
            q27 = fma(v25, v18, q27);
            q50 = fma(v7, v24, q50);
          }
        }
        r27 = r27 + q27;
        r50 = r50 + q50;
      }
    }
    sn_rows_sum_f32(r27);
    precise float v27 = r27;
    precise float v29 = (v27 * s5);
    precise float v30 = (v2 + v29);
    precise float v34 = (v27 * v27);
    precise float v36 = (v34 * s7);
    precise float v37 = (v33 + v36);
    precise float v39 = (v30 * s8);
    precise float v40 = sn_sqrt_f32(v37);
    precise float v42 = (v40 * s9);
    precise float v44 = (v42 + s10);
    precise float v45 = sn_div_f32(v39, v44);
    precise float v46 = (v19 - v45);
    sn_rows_sum_f32(r50);
    precise float v50 = r50;
    precise float v52 = (v50 * s12);
    precise float v53 = (v49 + v52);
    precise float v57 = (v50 * v50);
    precise float v59 = (v57 * s14);
    precise float v60 = (v56 + v59);
    precise float v62 = (v53 * s15);
    precise float v63 = sn_sqrt_f32(v60);
    precise float v65 = (v63 * s16);
    precise float v67 = (v65 + s17);
    precise float v68 = sn_div_f32(v62, v67);
    precise float v69 = (v21 - v68);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v30;
      b5.at[x0] = v37;
      b6.at[x0] = v46;
      b8.at[x0] = v53;
      b9.at[x0] = v60;
      b10.at[x0] = v69;
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
              const bool comes = g + u32(u) < end;
              const u32 j = comes ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + (comes ? v3 : float(0)));
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
              const bool comes = g + u32(u) < end;
              const u32 j = comes ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + (comes ? v3 : float(0)));
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = abs(a);
  precise float t = fma(c, -1.16375758807e-6, 1.99007135961e-5);
  t = fma(t, c, -9.85285323929e-5);
  t = fma(t, c, -3.31867719069e-4);
  t = fma(t, c, 7.29042151943e-3);
  t = fma(t, c, -5.2630674094e-2);
  t = fma(t, c, -4.59172338247e-1);
  t = fma(t, c, -1.15110826492);
  t = fma(t, c, -1.0);
  precise float q = exp2(t);
  return a < 0.0 ? q : 1.0 - q;
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
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 42u + 40u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 42u;
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
  const u32 points = u32(n0);
  for (u32 t = u32(sn_workgroup) * u32(SN_LANES); t < points; t += u32(sn_workgroups) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v4 = b2.at[x0];
    precise float v20 = b6.at[x0];
    precise float v22 = (v20 * s3);
    precise float v35 = b7.at[x0];
    precise float v37 = b8.at[x0];
    precise float v39 = (v37 * s8);
    precise float v44 = b9.at[x0];
    precise float v46 = (v44 * s10);
    precise float v59 = b10.at[x0];
    float r16 = float(0);
    float r40 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q16 = float(0);
        float q40 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              precise float v5 = (v3 + v4);
              precise float v6 = sn_ndtr_f32(v5);
              precise float v7 = (v5 * v6);
              precise float v8 = b3.at[x1];
              precise float v10 = (v8 * s1);
              precise float v11 = (v7 - v10);
              precise float v12 = b4.at[x1];
              precise float v13 = (v11 * v12);
              precise float v14 = b5.at[x0 + x1 * n2];
              precise float v15 = (v14 * v13);
              q16 = fma(v14, v13, q16);
              q40 = (q40 + v14);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v3 = b1.at[x0 + x1 * n2];
            precise float v5 = (v3 + v4);
            precise float v6 = sn_ndtr_f32(v5);
            precise float v7 = (v5 * v6);
            precise float v8 = b3.at[x1];
            precise float v10 = (v8 * s1);
            precise float v11 = (v7 - v10);
            precise float v12 = b4.at[x1];
            precise float v13 = (v11 * v12);
            precise float v14 = b5.at[x0 + x1 * n2];
            precise float v15 = (v14 * v13);
            q16 = fma(v14, v13, q16);
            q40 = (q40 + v14);
          }
        }
        r16 = r16 + q16;
        r40 = r40 + q40;
      }
    }
    sn_rows_sum_f32(r16);
    precise float v16 = r16;
    precise float v18 = (v16 * s2);
    precise float v19 = (v2 + v18);
    precise float v23 = (v16 * v16);
    precise float v25 = (v23 * s4);
    precise float v26 = (v22 + v25);
    precise float v28 = (v19 * s5);
    precise float v29 = sn_sqrt_f32(v26);
    precise float v31 = (v29 * s6);
    precise float v33 = (v31 + s7);
    precise float v34 = sn_div_f32(v28, v33);
    precise float v36 = (v35 - v34);
    sn_rows_sum_f32(r40);
    precise float v40 = r40;
    precise float v42 = (v40 * s9);
    precise float v43 = (v39 + v42);
    precise float v47 = (v40 * v40);
    precise float v49 = (v47 * s11);
    precise float v50 = (v46 + v49);
    precise float v52 = (v43 * s12);
    precise float v53 = sn_sqrt_f32(v50);
    precise float v55 = (v53 * s13);
    precise float v57 = (v55 + s14);
    precise float v58 = sn_div_f32(v52, v57);
    precise float v60 = (v59 - v58);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v19;
      b2.at[x0] = v26;
      b6.at[x0] = v36;
      b7.at[x0] = v43;
      b8.at[x0] = v50;
      b9.at[x0] = v60;
    }
  }
}
