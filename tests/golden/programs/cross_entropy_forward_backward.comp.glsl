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
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
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
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
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
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { i64 at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) writeonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 4) writeonly buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[3], sn_arguments.word[4])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const i64 s2 = packInt2x32(ivec2(uvec2(sn_arguments.word[7], sn_arguments.word[8])));
  const float s3 = uintBitsToFloat(sn_arguments.word[9]);
  const float s4 = uintBitsToFloat(sn_arguments.word[10]);
  const float s5 = uintBitsToFloat(sn_arguments.word[11]);
  const float s6 = uintBitsToFloat(sn_arguments.word[12]);
  const float s7 = uintBitsToFloat(sn_arguments.word[13]);
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      const i64 v8 = b2.at[x0];
      const bool v9 = (s0 <= v8);
      const bool v11 = (v8 < s1);
      const bool v12 = sn_and_bool(v9, v11);
      const i64 v14 = (v12 ? v8 : s2);
      const int v15 = sn_cast_i64_i32(v14);
      precise float v22 = (s4 * s5);
      precise float v24 = (v12 ? v22 : s6);
      precise float v27 = (-v24);
      float r1 = uintBitsToFloat(0xff800000u);
      float r1_all = float(0);
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
            r1 = max(r1, v0);
            r1_all = r1_all + abs(v0);
          }
        }
      }
      r1 = sn_is_nan_f32(r1_all) ? r1_all : r1;
      r1 = sn_workgroup_max_f32(r1);
      precise float v1 = r1;
      float r4 = float(0);
      float r19 = float(0);
      float q4[4] = {float(0), float(0), float(0), float(0)};
      float q19[4] = {float(0), float(0), float(0), float(0)};
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
            precise float v2 = (v0 - v1);
            precise float v3 = sn_exp_f32(v2);
            h0[i][k] = v3;
            const i64 v5 = i64(x1);
            const int v6 = sn_cast_i64_i32(v5);
            const bool v16 = (v6 == v15);
            precise float v18 = (v16 ? v2 : s3);
            q4[k] = (q4[k] + v3);
            q19[k] = (q19[k] + v18);
          }
        }
      }
      r4 = r4 + ((q4[0] + q4[1]) + (q4[2] + q4[3]));
      r19 = r19 + ((q19[0] + q19[1]) + (q19[2] + q19[3]));
      r4 = sn_workgroup_sum_f32(r4);
      r19 = sn_workgroup_sum_f32(r19);
      precise float v4 = r4;
      precise float v19 = r19;
      precise float v28 = sn_div_f32(v27, v4);
      if (SN_LANE == 0u) {
        b1.at[x0] = v4;
        b3.at[x0] = v19;
      }
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
            precise float v3 = h0[i][k];
            const i64 v5 = i64(x1);
            const int v6 = sn_cast_i64_i32(v5);
            const bool v16 = (v6 == v15);
            precise float v26 = (v16 ? v24 : s7);
            precise float v29 = (v28 * v3);
            precise float v30 = (v26 + v29);
            w0[k] = v30;
          }
          b4_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      const i64 v8 = b2.at[x0];
      const bool v9 = (s0 <= v8);
      const bool v11 = (v8 < s1);
      const bool v12 = sn_and_bool(v9, v11);
      const i64 v14 = (v12 ? v8 : s2);
      const int v15 = sn_cast_i64_i32(v14);
      precise float v22 = (s4 * s5);
      precise float v24 = (v12 ? v22 : s6);
      precise float v27 = (-v24);
      float r1 = uintBitsToFloat(0xff800000u);
      float r1_all = float(0);
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        r1 = max(r1, v0);
        r1_all = r1_all + abs(v0);
      }
      r1 = sn_is_nan_f32(r1_all) ? r1_all : r1;
      r1 = sn_workgroup_max_f32(r1);
      precise float v1 = r1;
      float r4 = float(0);
      float r19 = float(0);
      for (u32 h = u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q4 = float(0);
        float q19 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v2 = (v0 - v1);
          precise float v3 = sn_exp_f32(v2);
          const i64 v5 = i64(x1);
          const int v6 = sn_cast_i64_i32(v5);
          const bool v16 = (v6 == v15);
          precise float v18 = (v16 ? v2 : s3);
          q4 = (q4 + v3);
          q19 = (q19 + v18);
        }
        r4 = r4 + q4;
        r19 = r19 + q19;
      }
      r4 = sn_workgroup_sum_f32(r4);
      r19 = sn_workgroup_sum_f32(r19);
      precise float v4 = r4;
      precise float v19 = r19;
      precise float v28 = sn_div_f32(v27, v4);
      if (SN_LANE == 0u) {
        b1.at[x0] = v4;
        b3.at[x0] = v19;
      }
      for (u32 j = u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 - v1);
        precise float v3 = sn_exp_f32(v2);
        const i64 v5 = i64(x1);
        const int v6 = sn_cast_i64_i32(v5);
        const bool v16 = (v6 == v15);
        precise float v26 = (v16 ? v24 : s7);
        precise float v29 = (v28 * v3);
        precise float v30 = (v26 + v29);
        b4.at[x0 * n2 + x1] = v30;
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
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
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
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
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
    float r12 = float(0);
    for (u32 h = u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q12[4] = {float(0), float(0), float(0), float(0)};
      {
        u32 g = h;
        for (; g + u32(SN_LANES) * u32(4) * u32(3) < end; g += u32(SN_LANES) * u32(4) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(SN_LANES) * u32(4) * u32(u);
            const int y = int(j);
            const u32 vector = (u32(y) >> 2);
            i64vec4 l1;
            l1 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
            vec4 l6;
            l6 = b1_4.at[vector];
            vec4 l8;
            l8 = b2_4.at[vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x1 = y + k;
              const i64 v1 = l1[k];
              const bool v2 = (s0 <= v1);
              const bool v4 = (v1 < s1);
              const bool v5 = sn_and_bool(v2, v4);
              precise float v6 = l6[k];
              precise float v7 = sn_log_f32(v6);
              precise float v8 = l8[k];
              precise float v9 = (v8 - v7);
              precise float v11 = (v5 ? v9 : s2);
              q12[k] = (q12[k] + v11);
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
          vec4 l8;
          l8 = b2_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const i64 v1 = l1[k];
            const bool v2 = (s0 <= v1);
            const bool v4 = (v1 < s1);
            const bool v5 = sn_and_bool(v2, v4);
            precise float v6 = l6[k];
            precise float v7 = sn_log_f32(v6);
            precise float v8 = l8[k];
            precise float v9 = (v8 - v7);
            precise float v11 = (v5 ? v9 : s2);
            q12[k] = (q12[k] + v11);
          }
        }
      }
      r12 = r12 + ((q12[0] + q12[1]) + (q12[2] + q12[3]));
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q12 = float(0);
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        const int x1 = int(j);
        const i64 v1 = b0.at[x1];
        const bool v2 = (s0 <= v1);
        const bool v4 = (v1 < s1);
        const bool v5 = sn_and_bool(v2, v4);
        precise float v6 = b1.at[x1];
        precise float v7 = sn_log_f32(v6);
        precise float v8 = b2.at[x1];
        precise float v9 = (v8 - v7);
        precise float v11 = (v5 ? v9 : s2);
        q12 = (q12 + v11);
      }
      r12 = r12 + q12;
    }
    r12 = sn_workgroup_sum_f32(r12);
    precise float v12 = r12;
    precise float v14 = (v12 * s3);
    if (SN_LANE == 0u) {
      b3.at[0] = v14;
    }
  }
}
