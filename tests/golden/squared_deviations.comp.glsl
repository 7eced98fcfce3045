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
void sn_join_welford_f32(inout float n, inout float mean, inout float m2, float on, float omean, float om2) {
  precise float total = n + on, d = omean - mean, share = total > float(0) ? on / total : float(0);
  precise float next_mean = mean + d * share, next_m2 = (m2 + om2) + d * d * (n * share);
  mean = next_mean;
  m2 = next_m2;
  n = total;
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
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r1_n = float(0), r1_mean = float(0);
    float r1 = float(0);
    float r2 = float(0);
    for (u32 h = u32(gl_LocalInvocationID.x) * u32(4); h < inner4; h += u32(u32(gl_WorkGroupSize.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * u32(4) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * u32(4) * 32));
      float q2[4] = {float(0), float(0), float(0), float(0)};
      {
        u32 g = h;
        for (; g + u32(gl_WorkGroupSize.x) * u32(4) * u32(3) < end; g += u32(gl_WorkGroupSize.x) * u32(4) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(u) * u32(u32(gl_WorkGroupSize.x) * u32(4));
            const int y = int(j);
            const u32 vector = (u32(y) >> 2);
            vec4 l0;
            l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x1 = y + k;
              precise float v0 = l0[k];
              sn_join_welford_f32(r1_n, r1_mean, r1, float(1), v0, float(0));
              q2[k] = (q2[k] + v0);
            }
          }
        }
        for (u32 j = g; j < end; j += u32(gl_WorkGroupSize.x) * u32(4)) {
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          vec4 l0;
          l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            sn_join_welford_f32(r1_n, r1_mean, r1, float(1), v0, float(0));
            q2[k] = (q2[k] + v0);
          }
        }
      }
      r2 = r2 + ((q2[0] + q2[1]) + (q2[2] + q2[3]));
    }
    for (u32 h = inner4 + u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
      float q2 = float(0);
      for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        sn_join_welford_f32(r1_n, r1_mean, r1, float(1), v0, float(0));
        q2 = (q2 + v0);
      }
      r2 = r2 + q2;
    }
    sn_workgroup_squared_deviations_f32(r1_n, r1_mean, r1);
    precise float v1 = r1;
    r2 = sn_workgroup_sum_f32(r2);
    precise float v2 = r2;
    if (gl_LocalInvocationID.x == 0u) {
      b1.at[x0] = v1;
      b2.at[x0] = v2;
    }
  }
}
