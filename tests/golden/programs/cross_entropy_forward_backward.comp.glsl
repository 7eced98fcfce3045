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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
shared int keys_of_sn_workgroup_max_f32_parts[2][8];
u32 keys_of_sn_workgroup_max_f32_turn = 0u;
int keys_of_sn_workgroup_max_f32(int mine) {
  int v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const int w = subgroupShuffleXor(v, d);
    v = max(v, w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) keys_of_sn_workgroup_max_f32_parts[keys_of_sn_workgroup_max_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = keys_of_sn_workgroup_max_f32_parts[keys_of_sn_workgroup_max_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const int w = subgroupShuffleXor(v, d);
      v = max(v, w);
    }
    keys_of_sn_workgroup_max_f32_turn ^= 1u;
  }
  return v;
}
float sn_workgroup_max_f32(float mine) {
  const int bits = floatBitsToInt(mine);
  const int key = keys_of_sn_workgroup_max_f32(sn_is_nan_f32(mine) ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff));
  return intBitsToFloat(key ^ ((key >> 31) & 0x7fffffff));
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
SN_FN float sn_log_f32(float a) {
  if (sn_is_nan_f32(a)) return a;
  if (a < 0.0) return uintBitsToFloat(0x7fc00000u);
  if (a == 0.0) return uintBitsToFloat(0xff800000u);
  if (floatBitsToUint(a) == 0x7f800000u) return a;
  const bool tiny = a < 1.1754943508222875e-38;
  const int bits = floatBitsToInt(tiny ? a * 8388608.0 : a);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float k = float(tiny ? e - 23 : e);
  precise float f = intBitsToFloat(bits - (e << 23)) - 1.0;
  precise float s = f / (2.0 + f);
  precise float z = s * s;
  precise float p = 0.2857142857142857 + z * 0.2222222222222222;
  p = 0.4 + z * p;
  precise float t = z * (0.6666666666666666 + z * p);
  precise float y = k * 0.693359375 + (f - (s * (f - t) + k * 2.1219444005469057e-4));
  return y;
}
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) writeonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[4], sn_arguments.word[5])));
  const i64 s2 = packInt2x32(ivec2(uvec2(sn_arguments.word[6], sn_arguments.word[7])));
  const float s3 = uintBitsToFloat(sn_arguments.word[8]);
  const float s4 = uintBitsToFloat(sn_arguments.word[9]);
  const float s5 = uintBitsToFloat(sn_arguments.word[10]);
  const float s6 = uintBitsToFloat(sn_arguments.word[11]);
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      vec4 h1[2];
      const i64 v1 = b0.at[x0];
      const bool v14 = (s1 <= v1);
      const bool v16 = (v1 < s2);
      const bool v17 = sn_and_bool(v14, v16);
      precise float v20 = (s3 * s4);
      precise float v22 = (v17 ? v20 : s5);
      float r4 = uintBitsToFloat(0xff800000u);
      float r4_all = float(0);
      float r26 = float(0);
      float q26[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          h0[i] = b1_4.at[(u32(x0 * n2) >> 2) + vector];
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
            const i64 v0 = i64(x1);
            const bool v2 = (v0 == v1);
            precise float v3 = h0[i][k];
            precise float v24 = (v2 ? v22 : s6);
            precise float v25 = (-v24);
            r4 = max(r4, v3);
            r4_all = r4_all + abs(v3);
            q26[k] = (q26[k] + v25);
          }
        }
      }
      r26 = r26 + ((q26[0] + q26[1]) + (q26[2] + q26[3]));
      r4 = sn_is_nan_f32(r4_all) ? r4_all : r4;
      r4 = sn_workgroup_max_f32(r4);
      r26 = sn_workgroup_sum_f32(r26);
      precise float v4 = r4;
      precise float v26 = r26;
      float r7 = float(0);
      float q7[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 vector = u32(u32(i) * u32(SN_LANES) + u32(SN_LANE));
        const u32 j = u32(vector) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v3 = h0[i][k];
            precise float v5 = (v3 - v4);
            h0[i][k] = v5;
            precise float v6 = sn_exp_f32(v5);
            h1[i][k] = v6;
            q7[k] = (q7[k] + v6);
          }
        }
      }
      r7 = r7 + ((q7[0] + q7[1]) + (q7[2] + q7[3]));
      r7 = sn_workgroup_sum_f32(r7);
      precise float v7 = r7;
      precise float v8 = sn_log_f32(v7);
      precise float v27 = sn_div_f32(v26, v7);
      float r12 = float(0);
      float q12[4] = {float(0), float(0), float(0), float(0)};
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
            precise float v5 = h0[i][k];
            precise float v6 = h1[i][k];
            const i64 v0 = i64(x1);
            const bool v2 = (v0 == v1);
            precise float v9 = (v5 - v8);
            precise float v11 = (v2 ? v9 : s0);
            precise float v24 = (v2 ? v22 : s6);
            precise float v28 = (v27 * v6);
            precise float v29 = (v24 + v28);
            w0[k] = v29;
            q12[k] = (q12[k] + v11);
          }
          b3_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
      r12 = r12 + ((q12[0] + q12[1]) + (q12[2] + q12[3]));
      r12 = sn_workgroup_sum_f32(r12);
      precise float v12 = r12;
      if (SN_LANE == 0u) {
        b2.at[x0] = v12;
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      const i64 v1 = b0.at[x0];
      const bool v14 = (s1 <= v1);
      const bool v16 = (v1 < s2);
      const bool v17 = sn_and_bool(v14, v16);
      precise float v20 = (s3 * s4);
      precise float v22 = (v17 ? v20 : s5);
      float r4 = uintBitsToFloat(0xff800000u);
      float r4_all = float(0);
      float r26 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q26 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          const i64 v0 = i64(x1);
          const bool v2 = (v0 == v1);
          precise float v3 = b1.at[x0 * n2 + x1];
          precise float v24 = (v2 ? v22 : s6);
          precise float v25 = (-v24);
          r4 = max(r4, v3);
          r4_all = r4_all + abs(v3);
          q26 = (q26 + v25);
        }
        r26 = r26 + q26;
      }
      r4 = sn_is_nan_f32(r4_all) ? r4_all : r4;
      r4 = sn_workgroup_max_f32(r4);
      r26 = sn_workgroup_sum_f32(r26);
      precise float v4 = r4;
      precise float v26 = r26;
      float r7 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q7 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v3 = b1.at[x0 * n2 + x1];
          precise float v5 = (v3 - v4);
          precise float v6 = sn_exp_f32(v5);
          q7 = (q7 + v6);
        }
        r7 = r7 + q7;
      }
      r7 = sn_workgroup_sum_f32(r7);
      precise float v7 = r7;
      precise float v8 = sn_log_f32(v7);
      precise float v27 = sn_div_f32(v26, v7);
      float r12 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q12 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          const i64 v0 = i64(x1);
          const bool v2 = (v0 == v1);
          precise float v3 = b1.at[x0 * n2 + x1];
          precise float v5 = (v3 - v4);
          precise float v6 = sn_exp_f32(v5);
          precise float v9 = (v5 - v8);
          precise float v11 = (v2 ? v9 : s0);
          precise float v24 = (v2 ? v22 : s6);
          precise float v28 = (v27 * v6);
          precise float v29 = (v24 + v28);
          b3.at[x0 * n2 + x1] = v29;
          q12 = (q12 + v11);
        }
        r12 = r12 + q12;
      }
      r12 = sn_workgroup_sum_f32(r12);
      precise float v12 = r12;
      if (SN_LANE == 0u) {
        b2.at[x0] = v12;
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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
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
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { i64vec2 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[2], sn_arguments.word[3])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[4], sn_arguments.word[5])));
  const float s2 = uintBitsToFloat(sn_arguments.word[6]);
  const float s3 = uintBitsToFloat(sn_arguments.word[7]);
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    float r9 = float(0);
    for (u32 h = u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q9[4] = {float(0), float(0), float(0), float(0)};
      {
        u32 g = h;
        for (; g + u32(SN_LANES) * u32(4) * u32(3) < end; g += u32(SN_LANES) * u32(4) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(u) * u32(u32(SN_LANES) * u32(4));
            const int y = int(j);
            const u32 vector = (u32(y) >> 2);
            i64vec4 l1;
            l1 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
            vec4 l6;
            l6 = b1_4.at[vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x1 = y + k;
              const i64 v1 = l1[k];
              const bool v2 = (s0 <= v1);
              const bool v4 = (v1 < s1);
              const bool v5 = sn_and_bool(v2, v4);
              precise float v6 = l6[k];
              precise float v8 = (v5 ? v6 : s2);
              q9[k] = (q9[k] + v8);
            }
          }
        }
        for (u32 j = g; j < end; j += u32(SN_LANES) * u32(4)) {
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          i64vec4 l1;
          l1 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
          vec4 l6;
          l6 = b1_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const i64 v1 = l1[k];
            const bool v2 = (s0 <= v1);
            const bool v4 = (v1 < s1);
            const bool v5 = sn_and_bool(v2, v4);
            precise float v6 = l6[k];
            precise float v8 = (v5 ? v6 : s2);
            q9[k] = (q9[k] + v8);
          }
        }
      }
      r9 = r9 + ((q9[0] + q9[1]) + (q9[2] + q9[3]));
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q9 = float(0);
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        const int x1 = int(j);
        const i64 v1 = b0.at[x1];
        const bool v2 = (s0 <= v1);
        const bool v4 = (v1 < s1);
        const bool v5 = sn_and_bool(v2, v4);
        precise float v6 = b1.at[x1];
        precise float v8 = (v5 ? v6 : s2);
        q9 = (q9 + v8);
      }
      r9 = r9 + q9;
    }
    r9 = sn_workgroup_sum_f32(r9);
    precise float v9 = r9;
    precise float v11 = (v9 * s3);
    if (SN_LANE == 0u) {
      b2.at[0] = v11;
    }
  }
}
