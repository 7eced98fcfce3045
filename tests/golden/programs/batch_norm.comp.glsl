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
void sn_join_welford_f32(inout float n, inout float mean, inout float m2, float on, float omean, float om2) {
  precise float total = n + on, d = omean - mean, share = total > float(0) ? on / total : float(0);
  precise float next_mean = mean + d * share, next_m2 = (m2 + om2) + d * d * (n * share);
  mean = next_mean;
  m2 = next_m2;
  n = total;
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
shared float sn_workgroup_squared_deviations_f32_parts[2][3][8];
u32 sn_workgroup_squared_deviations_f32_turn = 0u;
void sn_workgroup_squared_deviations_f32(inout float n, inout float mean, inout float m2) {
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    float on = subgroupShuffleXor(n, d), omean = subgroupShuffleXor(mean, d), om2 = subgroupShuffleXor(m2, d);
    if ((gl_SubgroupInvocationID & d) != 0u) {
      const float sn = n, smean = mean, sm2 = m2;
      n = on; mean = omean; m2 = om2;
      on = sn; omean = smean; om2 = sm2;
    }
    sn_join_welford_f32(n, mean, m2, on, omean, om2);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) {
      sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][0][gl_SubgroupID] = n;
      sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][1][gl_SubgroupID] = mean;
      sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][2][gl_SubgroupID] = m2;
    }
    barrier();
    n = sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][0][gl_SubgroupInvocationID & (count - 1u)];
    mean = sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][1][gl_SubgroupInvocationID & (count - 1u)];
    m2 = sn_workgroup_squared_deviations_f32_parts[sn_workgroup_squared_deviations_f32_turn][2][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      float on = subgroupShuffleXor(n, d), omean = subgroupShuffleXor(mean, d), om2 = subgroupShuffleXor(m2, d);
      if ((gl_SubgroupInvocationID & d) != 0u) {
        const float sn = n, smean = mean, sm2 = m2;
        n = on; mean = omean; m2 = om2;
        on = sn; omean = smean; om2 = sm2;
      }
      sn_join_welford_f32(n, mean, m2, on, omean, om2);
    }
    sn_workgroup_squared_deviations_f32_turn ^= 1u;
  }
}
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
SN_FN float sn_rsqrt_f32(float a) { return float(1) / sqrt(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
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
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const float s1 = uintBitsToFloat(sn_arguments.word[6]);
  const float s2 = uintBitsToFloat(sn_arguments.word[7]);
  const float s3 = uintBitsToFloat(sn_arguments.word[8]);
  const u32 parts = sn_arguments.word[9];
  const bool vectors = ((n2 | n3 | n4) & 3) == 0;
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
  const bool stretches = !vectors && u32(n2) >= u32(8);
  const u32 of_stretch = (u32(n2) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r1 = float(0);
  float r9_n = float(0), r9_mean = float(0);
  float r9 = float(0);
  const int x0 = int(f);
  if (stretches) {
    for (u32 h = first_piece + u32(SN_LANE); h < pieces; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q1[4] = {float(0), float(0), float(0), float(0)};
      float q9[4] = {float(0), float(0), float(0), float(0)};
      float q9_s[4] = {float(0), float(0), float(0), float(0)};
      float q9_p = float(0);
      u32 q9_n = 0u;
      {
        u32 g = h;
        for (; g + u32(SN_LANES) * u32(3) < end; g += u32(SN_LANES) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(SN_LANES) * u32(u);
            const u32 s = j / of_stretch;
            const int x1 = int(s);
            const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n3 + x1 * n4 + 0) & 3);
            if (y < int(n2)) {
              vec4 l0;
              l0 = b0_4.at[(u32(x0 * n3 + x1 * n4 + y) >> 2)];
              [[unroll]]
              for (int k = 0; k < 4; ++k) {
                const bool inside = u32(y + k) < u32(n2);
                const int x2 = inside ? y + k : int(0);
                precise float v0 = l0[k];
                q1[k] = (q1[k] + (inside ? v0 : float(0)));
                q9_p = inside && q9_n == 0u ? v0 : q9_p;
                q9_n += inside ? 1u : 0u;
                precise float off9 = inside ? v0 - q9_p : float(0);
                q9_s[k] = q9_s[k] + off9;
                q9[k] = fma(off9, off9, q9[k]);
              }
            }
          }
        }
        if (g < end) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const bool comes = g + u32(SN_LANES) * u32(u) < end;
            const u32 j = comes ? g + u32(SN_LANES) * u32(u) : g;
            const u32 s = j / of_stretch;
            const int x1 = int(s);
            const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n3 + x1 * n4 + 0) & 3);
            if (y < int(n2)) {
              vec4 l0;
              l0 = b0_4.at[(u32(x0 * n3 + x1 * n4 + y) >> 2)];
              [[unroll]]
              for (int k = 0; k < 4; ++k) {
                const bool inside = u32(y + k) < u32(n2);
                const int x2 = inside ? y + k : int(0);
                precise float v0 = l0[k];
                q1[k] = (q1[k] + (inside && comes ? v0 : float(0)));
                q9_p = inside && comes && q9_n == 0u ? v0 : q9_p;
                q9_n += inside && comes ? 1u : 0u;
                precise float off9 = inside && comes ? v0 - q9_p : float(0);
                q9_s[k] = q9_s[k] + off9;
                q9[k] = fma(off9, off9, q9[k]);
              }
            }
          }
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      if (q9_n > 0u) {
        precise float values = float(q9_n);
        precise float sum = ((q9_s[0] + q9_s[1]) + (q9_s[2] + q9_s[3]));
        precise float above = sum / values;
        precise float squares = ((q9[0] + q9[1]) + (q9[2] + q9[3])) - sum * above;
        precise float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
  }
  else {
    for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q1[4] = {float(0), float(0), float(0), float(0)};
      float q9[4] = {float(0), float(0), float(0), float(0)};
      float q9_s[4] = {float(0), float(0), float(0), float(0)};
      float q9_p = float(0);
      u32 q9_n = 0u;
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
            vec4 l0;
            l0 = b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x2 = y + k;
              precise float v0 = l0[k];
              q1[k] = (q1[k] + v0);
              q9_p = k == 0 && q9_n == 0u ? v0 : q9_p;
              q9_n += 1u;
              precise float off9 = v0 - q9_p;
              q9_s[k] = q9_s[k] + off9;
              q9[k] = fma(off9, off9, q9[k]);
            }
          }
        }
        if (g < end) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const bool comes = g + u32(SN_LANES) * u32(4) * u32(u) < end;
            const u32 j = comes ? g + u32(SN_LANES) * u32(4) * u32(u) : g;
            u32 t1 = j;
            const int y = int(t1 % u32(n2));
            t1 /= u32(n2);
            const int x1 = int(t1);
            const u32 vector = (u32(y) >> 2);
            vec4 l0;
            l0 = b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x2 = y + k;
              precise float v0 = l0[k];
              q1[k] = (q1[k] + (comes ? v0 : float(0)));
              q9_p = comes && q9_n == 0u ? v0 : q9_p;
              q9_n += comes ? 1u : 0u;
              precise float off9 = comes ? v0 - q9_p : float(0);
              q9_s[k] = q9_s[k] + off9;
              q9[k] = fma(off9, off9, q9[k]);
            }
          }
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      if (q9_n > 0u) {
        precise float values = float(q9_n);
        precise float sum = ((q9_s[0] + q9_s[1]) + (q9_s[2] + q9_s[3]));
        precise float above = sum / values;
        precise float squares = ((q9[0] + q9[1]) + (q9[2] + q9[3])) - sum * above;
        precise float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q1 = float(0);
      float q9 = float(0);
      float q9_s = float(0);
      float q9_p = float(0);
      u32 q9_n = 0u;
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        u32 t1 = j;
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        precise float v0 = b0.at[x0 * n3 + x1 * n4 + x2];
        q1 = (q1 + v0);
        q9_p = q9_n == 0u ? v0 : q9_p;
        q9_n += 1u;
        precise float off9 = v0 - q9_p;
        q9_s = q9_s + off9;
        q9 = fma(off9, off9, q9);
      }
      r1 = r1 + q1;
      if (q9_n > 0u) {
        precise float values = float(q9_n);
        precise float sum = q9_s;
        precise float above = sum / values;
        precise float squares = q9 - sum * above;
        precise float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
  }
  r1 = sn_workgroup_sum_f32(r1);
  sn_workgroup_squared_deviations_f32(r9_n, r9_mean, r9);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r1);
    sn_partials.word[1u * u32(u32(1) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r9_n);
    sn_partials.word[1u * u32(u32(2) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r9_mean);
    sn_partials.word[1u * u32(u32(3) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r9);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r1 = float(0);
  r9_n = float(0); r9_mean = float(0);
  r9 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r1[8];
      float p_r9_n[8];
      float p_r9_mean[8];
      float p_r9[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r1[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
        p_r9_n[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(1) * u32(parts) * points + p * points + f) + 0u]);
        p_r9_mean[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(2) * u32(parts) * points + p * points + f) + 0u]);
        p_r9[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(3) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r1 = (r1 + p_r1[u]);
          sn_join_welford_f32(r9_n, r9_mean, r9, p_r9_n[u], p_r9_mean[u], p_r9[u]);
        }
      }
    }
  }
  r1 = sn_workgroup_sum_f32(r1);
  sn_workgroup_squared_deviations_f32(r9_n, r9_mean, r9);
  precise float v1 = r1;
  precise float v3 = sn_div_f32(v1, s0);
  precise float v5 = (v1 * s1);
  precise float v6 = (v3 - v5);
  precise float v7 = (v6 * v6);
  precise float v8 = (s0 * v7);
  precise float v9 = r9;
  precise float v10 = (v9 + v8);
  precise float v12 = (v10 * s2);
  precise float v14 = (v12 + s3);
  precise float v15 = sn_rsqrt_f32(v14);
  if (SN_LANE == 0u) {
    b1.at[x0] = v1;
    b2.at[x0] = v15;
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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) writeonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { vec4 at[]; } b5_4;
layout(std430, binding = 6) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const bool vectors = ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0) * u32(n1) * u32(n2);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l3;
    l3 = b1_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x2 = y + k;
      precise float v0 = b0.at[x1];
      precise float v2 = (v0 * s0);
      precise float v3 = l3[k];
      precise float v4 = (v3 - v2);
      precise float v5 = b2.at[x1];
      precise float v6 = (v4 * v5);
      precise float v7 = b3.at[x1];
      precise float v8 = (v6 * v7);
      precise float v9 = b4.at[x1];
      precise float v10 = (v8 + v9);
      w0[k] = v10;
    }
    b5_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector] = w0;
  }
  for (u32 t = points4 + u32(gl_WorkGroupID.x) * (u32(SN_LANES) * u32(4)); t < points; t += u32(gl_NumWorkGroups.x) * (u32(SN_LANES) * u32(4))) {
    if (points - t >= (u32(SN_LANES) * u32(4))) {
      float w0[4];
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
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
        w0[u] = v10;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b5.at[x0 * n3 + x1 * n4 + x2] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
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
  }
}
