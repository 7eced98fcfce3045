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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 3) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 4) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const u32 parts = sn_arguments.word[2];
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1);
  const u32 step = u32(SN_LANES) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  float r2 = float(0);
  for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
    float q2[4] = {float(0), float(0), float(0), float(0)};
    {
      u32 g = h;
      for (; g + u32(SN_LANES) * u32(4) * u32(3) < end; g += u32(SN_LANES) * u32(4) * u32(4)) {
        [[unroll]]
        for (int u = 0; u < 4; ++u) {
          const u32 j = g + u32(SN_LANES) * u32(4) * u32(u);
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          vec4 l0;
          l0 = b0_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            precise float v1 = (v0 * v0);
            q2[k] = fma(v0, v0, q2[k]);
          }
        }
      }
      if (g < end) {
        [[unroll]]
        for (int u = 0; u < 4; ++u) {
          const bool comes = g + u32(SN_LANES) * u32(4) * u32(u) < end;
          const u32 j = comes ? g + u32(SN_LANES) * u32(4) * u32(u) : g;
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          vec4 l0;
          l0 = b0_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = l0[k];
            precise float v1 = (v0 * v0);
            q2[k] = comes ? fma(v0, v0, q2[k]) : q2[k];
          }
        }
      }
    }
    r2 = r2 + ((q2[0] + q2[1]) + (q2[2] + q2[3]));
  }
  for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
    float q2 = float(0);
    for (u32 j = h; j < end; j += u32(SN_LANES)) {
      const int x1 = int(j);
      precise float v0 = b0.at[x1];
      precise float v1 = (v0 * v0);
      q2 = fma(v0, v0, q2);
    }
    r2 = r2 + q2;
  }
  r2 = sn_workgroup_sum_f32(r2);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r2);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r2 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r2[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r2[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r2 = (r2 + p_r2[u]);
        }
      }
    }
  }
  r2 = sn_workgroup_sum_f32(r2);
  precise float v2 = r2;
  if (SN_LANE == 0u) {
    b1.at[0] = v2;
  }
}
