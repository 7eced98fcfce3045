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
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) restrict readonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) restrict readonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) writeonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { vec4 at[]; } b5_4;
layout(std430, binding = 6) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
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
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      vec4 h1[2];
      float r1 = float(0);
      float q1[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          h0[i] = b0_4.at[(u32(x0 * n2) >> 2) + vector];
        }
      }
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = h0[i][k];
            q1[k] = (q1[k] + v0);
          }
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      r1 = sn_workgroup_sum_f32(r1);
      precise float v1 = r1;
      precise float v3 = (v1 * s0);
      if (SN_LANE == 0u) {
        b1.at[x0] = v1;
      }
      float r6 = float(0);
      float q6[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = h0[i][k];
            precise float v4 = (v0 - v3);
            h0[i][k] = v4;
            precise float v5 = (v4 * v4);
            q6[k] = fma(v4, v4, q6[k]);
          }
        }
      }
      r6 = r6 + ((q6[0] + q6[1]) + (q6[2] + q6[3]));
      r6 = sn_workgroup_sum_f32(r6);
      precise float v6 = r6;
      precise float v8 = (v6 * s1);
      precise float v10 = (v8 + s2);
      precise float v11 = sn_rsqrt_f32(v10);
      precise float v32 = (v11 * v11);
      precise float v33 = (v32 * v11);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r29 = float(0);
      float q29[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 l13;
          l13 = b3_4.at[vector];
          vec4 l15;
          l15 = b4_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v4 = h0[i][k];
            precise float v12 = (v4 * v11);
            precise float v13 = l13[k];
            precise float v14 = (v12 * v13);
            precise float v15 = l15[k];
            precise float v16 = (v14 + v15);
            precise float v17 = sn_ndtr_f32(v16);
            precise float v18 = (v16 * v16);
            precise float v20 = (v18 * s3);
            precise float v21 = sn_exp_f32(v20);
            precise float v23 = (v21 * s4);
            precise float v24 = (v16 * v23);
            precise float v25 = (v17 + v24);
            precise float v26 = (v25 * v13);
            h1[i][k] = v26;
            precise float v28 = (v26 * v4);
            q29[k] = fma(v26, v4, q29[k]);
          }
        }
      }
      r29 = r29 + ((q29[0] + q29[1]) + (q29[2] + q29[3]));
      r29 = sn_workgroup_sum_f32(r29);
      precise float v29 = r29;
      precise float v31 = (v29 * s5);
      precise float v34 = (v31 * v33);
      precise float v36 = (v34 * s6);
      precise float v38 = (v36 * s7);
      float r42 = float(0);
      float q42[4] = {float(0), float(0), float(0), float(0)};
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
            precise float v26 = h1[i][k];
            precise float v27 = (v26 * v11);
            precise float v39 = (v38 * v4);
            precise float v40 = (v27 + v39);
            h0[i][k] = v40;
            precise float v41 = (-v40);
            q42[k] = (q42[k] + v41);
          }
        }
      }
      r42 = r42 + ((q42[0] + q42[1]) + (q42[2] + q42[3]));
      r42 = sn_workgroup_sum_f32(r42);
      precise float v42 = r42;
      precise float v44 = (v42 * s8);
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
            precise float v40 = h0[i][k];
            precise float v45 = (v40 + v44);
            w0[k] = v45;
          }
          b5_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      float r1 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q1 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          q1 = (q1 + v0);
        }
        r1 = r1 + q1;
      }
      r1 = sn_workgroup_sum_f32(r1);
      precise float v1 = r1;
      precise float v3 = (v1 * s0);
      if (SN_LANE == 0u) {
        b1.at[x0] = v1;
      }
      float r6 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q6 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v4 = (v0 - v3);
          precise float v5 = (v4 * v4);
          q6 = fma(v4, v4, q6);
        }
        r6 = r6 + q6;
      }
      r6 = sn_workgroup_sum_f32(r6);
      precise float v6 = r6;
      precise float v8 = (v6 * s1);
      precise float v10 = (v8 + s2);
      precise float v11 = sn_rsqrt_f32(v10);
      precise float v32 = (v11 * v11);
      precise float v33 = (v32 * v11);
      if (SN_LANE == 0u) {
        b2.at[x0] = v11;
      }
      float r29 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q29 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v4 = (v0 - v3);
          precise float v12 = (v4 * v11);
          precise float v13 = b3.at[x1];
          precise float v14 = (v12 * v13);
          precise float v15 = b4.at[x1];
          precise float v16 = (v14 + v15);
          precise float v17 = sn_ndtr_f32(v16);
          precise float v18 = (v16 * v16);
          precise float v20 = (v18 * s3);
          precise float v21 = sn_exp_f32(v20);
          precise float v23 = (v21 * s4);
          precise float v24 = (v16 * v23);
          precise float v25 = (v17 + v24);
          precise float v26 = (v25 * v13);
          precise float v28 = (v26 * v4);
          q29 = fma(v26, v4, q29);
        }
        r29 = r29 + q29;
      }
      r29 = sn_workgroup_sum_f32(r29);
      precise float v29 = r29;
      precise float v31 = (v29 * s5);
      precise float v34 = (v31 * v33);
      precise float v36 = (v34 * s6);
      precise float v38 = (v36 * s7);
      float r42 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q42 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v4 = (v0 - v3);
          precise float v12 = (v4 * v11);
          precise float v13 = b3.at[x1];
          precise float v14 = (v12 * v13);
          precise float v15 = b4.at[x1];
          precise float v16 = (v14 + v15);
          precise float v17 = sn_ndtr_f32(v16);
          precise float v18 = (v16 * v16);
          precise float v20 = (v18 * s3);
          precise float v21 = sn_exp_f32(v20);
          precise float v23 = (v21 * s4);
          precise float v24 = (v16 * v23);
          precise float v25 = (v17 + v24);
          precise float v26 = (v25 * v13);
          precise float v27 = (v26 * v11);
          precise float v39 = (v38 * v4);
          precise float v40 = (v27 + v39);
          precise float v41 = (-v40);
          q42 = (q42 + v41);
        }
        r42 = r42 + q42;
      }
      r42 = sn_workgroup_sum_f32(r42);
      precise float v42 = r42;
      precise float v44 = (v42 * s8);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v4 = (v0 - v3);
        precise float v12 = (v4 * v11);
        precise float v13 = b3.at[x1];
        precise float v14 = (v12 * v13);
        precise float v15 = b4.at[x1];
        precise float v16 = (v14 + v15);
        precise float v17 = sn_ndtr_f32(v16);
        precise float v18 = (v16 * v16);
        precise float v20 = (v18 * s3);
        precise float v21 = sn_exp_f32(v20);
        precise float v23 = (v21 * s4);
        precise float v24 = (v16 * v23);
        precise float v25 = (v17 + v24);
        precise float v26 = (v25 * v13);
        precise float v27 = (v26 * v11);
        precise float v39 = (v38 * v4);
        precise float v40 = (v27 + v39);
        precise float v45 = (v40 + v44);
        b5.at[x0 * n2 + x1] = v45;
      }
    }
  }
}
// ---- kernel 1
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
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict writeonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict writeonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 8) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 9) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
shared float sn_handed_over[2112];
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const u32 parts = sn_arguments.word[6];
  const bool vectors = ((n0 | n2) & 3) == 0 && u32(SN_LANES) % u32(4) == u32(0);
  const u32 points = u32(n0);
  const u32 units = (points + u32(SN_LANES) - u32(1)) / u32(SN_LANES);
  const u32 part = u32(gl_WorkGroupID.x) / units;
  const u32 unit = u32(u32(gl_WorkGroupID.x) % units);
  const u32 f = u32(unit) * u32(SN_LANES) + u32(SN_LANE);
  const u32 whole = u32(n1);
  const u32 length = (whole + parts - 1) / parts;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 end_of_part = length < whole - begin ? begin + length : whole;
  float r20 = float(0);
  float r22 = float(0);
  if (vectors) {
    const u32 groups = u32(SN_LANES) / u32(4);
    const u32 number = u32(SN_ROW) * u32(SN_LANES) + u32(SN_LANE);
    const u32 base = u32(unit) * u32(SN_LANES) + number % groups * u32(4);
    float r20_of[4] = {float(0), float(0), float(0), float(0)};
    float r22_of[4] = {float(0), float(0), float(0), float(0)};
    if (base < points) {
      const int y = int(base);
      const u32 vector = (u32(y) >> 2);
      vec4 o7;
      vec4 o9;
      [[unroll]]
      for (int k = 0; k < 4; ++k) {
        const int x0 = y + k;
        precise float v7 = b3.at[x0];
        precise float v9 = b4.at[x0];
        o7[k] = v7;
        o9[k] = v9;
      }
      const u32 rounds = begin + number / groups >= end_of_part ? u32(0) : ((u32(SN_ROWS) * u32(4)) == u32(1) ? end_of_part - (begin + number / groups) : (end_of_part - (begin + number / groups) + (u32(SN_ROWS) * u32(4)) - 1) / (u32(SN_ROWS) * u32(4)));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q20[4] = {float(0), float(0), float(0), float(0)};
        float q22[4] = {float(0), float(0), float(0), float(0)};
        {
          u32 g = h;
          for (; g + u32(1) < end; g += u32(2)) {
            [[unroll]]
            for (int u = 0; u < 2; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(begin + number / groups + j * (u32(SN_ROWS) * u32(4)));
              vec4 l3;
              l3 = b1_4.at[(u32(x1 * n2) >> 2) + vector];
              [[unroll]]
              for (int k = 0; k < 4; ++k) {
                const int x0 = y + k;
                precise float v7 = o7[k];
                precise float v9 = o9[k];
                precise float v0 = b0.at[x1];
                precise float v2 = (v0 * s0);
                precise float v3 = l3[k];
                precise float v4 = (v3 - v2);
                precise float v5 = b2.at[x1];
                precise float v6 = (v4 * v5);
                precise float v8 = (v6 * v7);
                precise float v10 = (v8 + v9);
                precise float v11 = sn_ndtr_f32(v10);
                precise float v12 = (v10 * v10);
                precise float v14 = (v12 * s1);
                precise float v15 = sn_exp_f32(v14);
                precise float v17 = (v15 * s2);
                precise float v18 = (v10 * v17);
                precise float v19 = (v11 + v18);
                precise float v21 = (v19 * v6);
                q20[k] = (q20[k] + v19);
                q22[k] = fma(v19, v6, q22[k]);
              }
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + number / groups + j * (u32(SN_ROWS) * u32(4)));
            vec4 l3;
            l3 = b1_4.at[(u32(x1 * n2) >> 2) + vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x0 = y + k;
              precise float v7 = o7[k];
              precise float v9 = o9[k];
              precise float v0 = b0.at[x1];
              precise float v2 = (v0 * s0);
              precise float v3 = l3[k];
              precise float v4 = (v3 - v2);
              precise float v5 = b2.at[x1];
              precise float v6 = (v4 * v5);
              precise float v8 = (v6 * v7);
              precise float v10 = (v8 + v9);
              precise float v11 = sn_ndtr_f32(v10);
              precise float v12 = (v10 * v10);
              precise float v14 = (v12 * s1);
              precise float v15 = sn_exp_f32(v14);
              precise float v17 = (v15 * s2);
              precise float v18 = (v10 * v17);
              precise float v19 = (v11 + v18);
              precise float v21 = (v19 * v6);
              q20[k] = (q20[k] + v19);
              q22[k] = fma(v19, v6, q22[k]);
            }
          }
        }
        [[unroll]]
        for (int k = 0; k < 4; ++k) {
          r20_of[k] = r20_of[k] + q20[k];
          r22_of[k] = r22_of[k] + q22[k];
        }
      }
    }
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      sn_handed_over[(u32(0) + u32(k)) * u32(264) + u32(number)] = r20_of[k];
      sn_handed_over[(u32(4) + u32(k)) * u32(264) + u32(number)] = r22_of[k];
    }
    barrier();
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const u32 other = (u32(SN_ROW) + u32(k) * u32(SN_ROWS)) * u32(groups) + u32(SN_LANE) / u32(4);
      r20 = r20 + sn_handed_over[(u32(0) + u32(SN_LANE) % u32(4)) * u32(264) + other];
      r22 = r22 + sn_handed_over[(u32(4) + u32(SN_LANE) % u32(4)) * u32(264) + other];
    }
  }
  else {
    if (f < points) {
      const int x0 = int(f);
      precise float v7 = b3.at[x0];
      precise float v9 = b4.at[x0];
      const u32 rounds = begin + u32(SN_ROW) >= end_of_part ? u32(0) : (u32(SN_ROWS) == u32(1) ? end_of_part - (begin + u32(SN_ROW)) : (end_of_part - (begin + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q20 = float(0);
        float q22 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(begin + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v0 = b0.at[x1];
              precise float v2 = (v0 * s0);
              precise float v3 = b1.at[x0 + x1 * n2];
              precise float v4 = (v3 - v2);
              precise float v5 = b2.at[x1];
              precise float v6 = (v4 * v5);
              precise float v8 = (v6 * v7);
              precise float v10 = (v8 + v9);
              precise float v11 = sn_ndtr_f32(v10);
              precise float v12 = (v10 * v10);
              precise float v14 = (v12 * s1);
              precise float v15 = sn_exp_f32(v14);
              precise float v17 = (v15 * s2);
              precise float v18 = (v10 * v17);
              precise float v19 = (v11 + v18);
              precise float v21 = (v19 * v6);
              q20 = (q20 + v19);
              q22 = fma(v19, v6, q22);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x1];
            precise float v2 = (v0 * s0);
            precise float v3 = b1.at[x0 + x1 * n2];
            precise float v4 = (v3 - v2);
            precise float v5 = b2.at[x1];
            precise float v6 = (v4 * v5);
            precise float v8 = (v6 * v7);
            precise float v10 = (v8 + v9);
            precise float v11 = sn_ndtr_f32(v10);
            precise float v12 = (v10 * v10);
            precise float v14 = (v12 * s1);
            precise float v15 = sn_exp_f32(v14);
            precise float v17 = (v15 * s2);
            precise float v18 = (v10 * v17);
            precise float v19 = (v11 + v18);
            precise float v21 = (v19 * v6);
            q20 = (q20 + v19);
            q22 = fma(v19, v6, q22);
          }
        }
        r20 = r20 + q20;
        r22 = r22 + q22;
      }
    }
  }
  sn_rows_sum_f32(r20);
  sn_rows_sum_f32(r22);
  if (f < points && SN_ROW == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r20);
    sn_partials.word[1u * u32(u32(1) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r22);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r20 = float(0);
  r22 = float(0);
  if (f < points) {
    {
      const u32 joins = u32(SN_ROW) < u32(parts) ? (u32(parts) - u32(SN_ROW) + u32(SN_ROWS) - 1) / u32(SN_ROWS) : u32(0);
      for (u32 g = u32(0); g < joins; g += u32(8)) {
        float p_r20[8];
        float p_r22[8];
        [[unroll]]
        for (int u = 0; u < 8; ++u) {
          const u32 p = u32(SN_ROW) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_ROWS);
          p_r20[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
          p_r22[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(1) * u32(parts) * points + p * points + f) + 0u]);
        }
        [[unroll]]
        for (int u = 0; u < 8; ++u) {
          if (g + u32(u) < joins) {
            r20 = (r20 + p_r20[u]);
            r22 = (r22 + p_r22[u]);
          }
        }
      }
    }
  }
  sn_rows_sum_f32(r20);
  sn_rows_sum_f32(r22);
  if (f < points && SN_ROW == 0u) {
    const int x0 = int(f);
    precise float v7 = b3.at[x0];
    precise float v9 = b4.at[x0];
    precise float v20 = r20;
    precise float v22 = r22;
    b5.at[x0] = v20;
    b6.at[x0] = v22;
  }
}
