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
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 5) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 6) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
layout(std430, binding = 7) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const int n5 = int(sn_arguments.word[5]);
  const float s0 = uintBitsToFloat(sn_arguments.word[6]);
  const u32 parts = sn_arguments.word[7];
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
  float r5 = float(0);
  for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
    float q5[4] = {float(0), float(0), float(0), float(0)};
    {
      u32 g = h;
      for (; g + u32(SN_LANES) * u32(4) * u32(3) < end; g += u32(SN_LANES) * u32(4) * u32(4)) {
        [[unroll]]
        for (int u = 0; u < 4; ++u) {
          const u32 j = g + u32(SN_LANES) * u32(4) * u32(u);
          u32 t1 = j;
          const int y = int(t1 % u32(n2));
          t1 /= u32(n2);
          const int x1 = int(t1);
          const u32 vector = (u32(y) >> 2);
          vec4 l2;
          l2 = b2_4.at[(u32(x1 * n3) >> 2) + vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x2 = y + k;
            const i64 v0 = b0.at[x1];
            float v1 = float(0);
            if (v0 >= i64(0) && v0 < i64(n5)) {
              v1 = b1.at[x2 + int(v0) * n4];
            }
            else {
              sn_fault.word[0u] = 1u;
            }
            precise float v2 = l2[k];
            precise float v3 = (v1 - v2);
            precise float v4 = (v3 * v3);
            q5[k] = fma(v3, v3, q5[k]);
          }
        }
      }
      for (u32 j = g; j < end; j += u32(SN_LANES) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const u32 vector = (u32(y) >> 2);
        vec4 l2;
        l2 = b2_4.at[(u32(x1 * n3) >> 2) + vector];
        [[unroll]]
        for (int k = 0; k < 4; ++k) {
          const int x2 = y + k;
          const i64 v0 = b0.at[x1];
          float v1 = float(0);
          if (v0 >= i64(0) && v0 < i64(n5)) {
            v1 = b1.at[x2 + int(v0) * n4];
          }
          else {
            sn_fault.word[0u] = 1u;
          }
          precise float v2 = l2[k];
          precise float v3 = (v1 - v2);
          precise float v4 = (v3 * v3);
          q5[k] = fma(v3, v3, q5[k]);
        }
      }
    }
    r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
  }
  for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
    float q5 = float(0);
    for (u32 j = h; j < end; j += u32(SN_LANES)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      const i64 v0 = b0.at[x1];
      float v1 = float(0);
      if (v0 >= i64(0) && v0 < i64(n5)) {
        v1 = b1.at[x2 + int(v0) * n4];
      }
      else {
        sn_fault.word[0u] = 1u;
      }
      precise float v2 = b2.at[x1 * n3 + x2];
      precise float v3 = (v1 - v2);
      precise float v4 = (v3 * v3);
      q5 = fma(v3, v3, q5);
    }
    r5 = r5 + q5;
  }
  r5 = sn_workgroup_sum_f32(r5);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r5);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r5 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r5[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r5[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r5 = (r5 + p_r5[u]);
        }
      }
    }
  }
  r5 = sn_workgroup_sum_f32(r5);
  precise float v5 = r5;
  precise float v7 = (v5 * s0);
  if (SN_LANE == 0u) {
    b3.at[0] = v7;
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
#define SN_LANES gl_WorkGroupSize.x
#define SN_LANE gl_LocalInvocationID.x
#define SN_ROWS 1u
#define SN_ROW 0u
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) writeonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 5) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const float s1 = uintBitsToFloat(sn_arguments.word[6]);
  const float s2 = uintBitsToFloat(sn_arguments.word[7]);
  const bool vectors = ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l7;
    l7 = b2_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      precise float v2 = (s0 * s1);
      precise float v4 = (v2 * s2);
      const i64 v5 = b0.at[x0];
      float v6 = float(0);
      if (v5 >= i64(0) && v5 < i64(n4)) {
        v6 = b1.at[x1 + int(v5) * n3];
      }
      else {
        sn_fault.word[0u] = 1u;
      }
      precise float v7 = l7[k];
      precise float v8 = (v6 - v7);
      precise float v9 = (v4 * v8);
      w0[k] = v9;
    }
    b3_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
  }
  for (u32 t = points4 + u32(gl_WorkGroupID.x) * (u32(SN_LANES) * u32(4)); t < points; t += u32(gl_NumWorkGroups.x) * (u32(SN_LANES) * u32(4))) {
    if (points - t >= (u32(SN_LANES) * u32(4))) {
      float w0[4];
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v2 = (s0 * s1);
        precise float v4 = (v2 * s2);
        const i64 v5 = b0.at[x0];
        float v6 = float(0);
        if (v5 >= i64(0) && v5 < i64(n4)) {
          v6 = b1.at[x1 + int(v5) * n3];
        }
        else {
          sn_fault.word[0u] = 1u;
        }
        precise float v7 = b2.at[x0 * n2 + x1];
        precise float v8 = (v6 - v7);
        precise float v9 = (v4 * v8);
        w0[u] = v9;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b3.at[x0 * n2 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v2 = (s0 * s1);
        precise float v4 = (v2 * s2);
        const i64 v5 = b0.at[x0];
        float v6 = float(0);
        if (v5 >= i64(0) && v5 < i64(n4)) {
          v6 = b1.at[x1 + int(v5) * n3];
        }
        else {
          sn_fault.word[0u] = 1u;
        }
        precise float v7 = b2.at[x0 * n2 + x1];
        precise float v8 = (v6 - v7);
        precise float v9 = (v4 * v8);
        b3.at[x0 * n2 + x1] = v9;
      }
    }
  }
}
// ---- kernel 2
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
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
SN_FN i64 sn_max_i64(i64 a, i64 b) { return a > b ? a : b; }
SN_FN i64 sn_min_i64(i64 a, i64 b) { return a < b ? a : b; }
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { i64vec2 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { int at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { ivec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 3) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[2], sn_arguments.word[3])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[4], sn_arguments.word[5])));
  const i64 s2 = packInt2x32(ivec2(uvec2(sn_arguments.word[6], sn_arguments.word[7])));
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 2);
    i64vec4 l0;
    l0 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
    ivec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const i64 v0 = l0[k];
      i64 v1 = i64(0);
      if (v0 >= i64(0) && v0 < i64(n1)) {
        v1 = b0.at[0];
      }
      else {
        sn_fault.word[0u] = 1u;
      }
      const i64 v2 = b0.at[0];
      const bool v3 = (v1 == v2);
      const i64 v5 = sn_max_i64(v0, s0);
      const i64 v7 = sn_min_i64(v5, s1);
      const i64 v9 = (v3 ? v7 : s2);
      const int v10 = sn_cast_i64_i32(v9);
      w0[k] = v10;
    }
    b1_4.at[vector] = w0;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const i64 v0 = b0.at[x0];
    i64 v1 = i64(0);
    if (v0 >= i64(0) && v0 < i64(n1)) {
      v1 = b0.at[0];
    }
    else {
      sn_fault.word[0u] = 1u;
    }
    const i64 v2 = b0.at[0];
    const bool v3 = (v1 == v2);
    const i64 v5 = sn_max_i64(v0, s0);
    const i64 v7 = sn_min_i64(v5, s1);
    const i64 v9 = (v3 ? v7 : s2);
    const int v10 = sn_cast_i64_i32(v9);
    b1.at[x0] = v10;
  }
}
// ---- kernel 3
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
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
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0)  buffer b0_t { float at[]; } b0;
layout(std430, binding = 0)  buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { int at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3)  buffer b3_t { float at[]; } b3;
layout(std430, binding = 3)  buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4)  buffer b4_t { float at[]; } b4;
layout(std430, binding = 4)  buffer b4_4_t { vec4 at[]; } b4_4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 6) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const float s1 = uintBitsToFloat(sn_arguments.word[6]);
  const float s2 = uintBitsToFloat(sn_arguments.word[7]);
  const float s3 = uintBitsToFloat(sn_arguments.word[8]);
  const float s4 = uintBitsToFloat(sn_arguments.word[9]);
  const float s5 = uintBitsToFloat(sn_arguments.word[10]);
  const float s6 = uintBitsToFloat(sn_arguments.word[11]);
  const bool vectors = ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l0;
    l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 l8;
    l8 = b3_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 l23;
    l23 = b4_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 w0;
    vec4 w1;
    vec4 w2;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      precise float v0 = l0[k];
      precise float v2 = (v0 * s0);
      const int v3 = b1.at[x0];
      float v4 = float(0);
      if (v3 >= int(0) && v3 < int(n4)) {
        v4 = b2.at[x1 + int(v3) * n3];
      }
      else {
        sn_fault.word[0u] = 1u;
      }
      precise float v6 = (v4 * s1);
      precise float v7 = (v2 + v6);
      precise float v8 = l8[k];
      precise float v10 = (v8 * s2);
      precise float v11 = (v4 * v4);
      precise float v13 = (v11 * s3);
      precise float v14 = (v10 + v13);
      precise float v16 = (v7 * s4);
      precise float v17 = sn_sqrt_f32(v14);
      precise float v19 = (v17 * s5);
      precise float v21 = (v19 + s6);
      precise float v22 = sn_div_f32(v16, v21);
      precise float v23 = l23[k];
      precise float v24 = (v23 - v22);
      w0[k] = v7;
      w1[k] = v14;
      w2[k] = v24;
    }
    b0_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
    b3_4.at[(u32(x0 * n2) >> 2) + vector] = w1;
    b4_4.at[(u32(x0 * n2) >> 2) + vector] = w2;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    precise float v0 = b0.at[x0 * n2 + x1];
    precise float v2 = (v0 * s0);
    const int v3 = b1.at[x0];
    float v4 = float(0);
    if (v3 >= int(0) && v3 < int(n4)) {
      v4 = b2.at[x1 + int(v3) * n3];
    }
    else {
      sn_fault.word[0u] = 1u;
    }
    precise float v6 = (v4 * s1);
    precise float v7 = (v2 + v6);
    precise float v8 = b3.at[x0 * n2 + x1];
    precise float v10 = (v8 * s2);
    precise float v11 = (v4 * v4);
    precise float v13 = (v11 * s3);
    precise float v14 = (v10 + v13);
    precise float v16 = (v7 * s4);
    precise float v17 = sn_sqrt_f32(v14);
    precise float v19 = (v17 * s5);
    precise float v21 = (v19 + s6);
    precise float v22 = sn_div_f32(v16, v21);
    precise float v23 = b4.at[x0 * n2 + x1];
    precise float v24 = (v23 - v22);
    b0.at[x0 * n2 + x1] = v7;
    b3.at[x0 * n2 + x1] = v14;
    b4.at[x0 * n2 + x1] = v24;
  }
}
