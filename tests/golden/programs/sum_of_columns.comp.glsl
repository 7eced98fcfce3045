// ---- kernel 0
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
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 3) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 4) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
shared float sn_handed_over[1056];
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const u32 parts = sn_arguments.word[4];
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
  float r4 = float(0);
  if (vectors) {
    const u32 groups = u32(SN_LANES) / u32(4);
    const u32 number = u32(SN_ROW) * u32(SN_LANES) + u32(SN_LANE);
    const u32 base = u32(unit) * u32(SN_LANES) + number % groups * u32(4);
    float r4_of[4] = {float(0), float(0), float(0), float(0)};
    if (base < points) {
      const int y = int(base);
      const u32 vector = (u32(y) >> 2);
      const u32 rounds = begin + number / groups >= end_of_part ? u32(0) : ((u32(SN_ROWS) * u32(4)) == u32(1) ? end_of_part - (begin + number / groups) : (end_of_part - (begin + number / groups) + (u32(SN_ROWS) * u32(4)) - 1) / (u32(SN_ROWS) * u32(4)));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4[4] = {float(0), float(0), float(0), float(0)};
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(begin + number / groups + j * (u32(SN_ROWS) * u32(4)));
              vec4 l0;
              l0 = b0_4.at[(u32(x1 * n2) >> 2) + vector];
              [[unroll]]
              for (int k = 0; k < 4; ++k) {
                const int x0 = y + k;
                precise float v0 = l0[k];
                precise float v2 = (v0 * s0);
                precise float v3 = sn_exp_f32(v2);
                q4[k] = (q4[k] + v3);
              }
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + number / groups + j * (u32(SN_ROWS) * u32(4)));
            vec4 l0;
            l0 = b0_4.at[(u32(x1 * n2) >> 2) + vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x0 = y + k;
              precise float v0 = l0[k];
              precise float v2 = (v0 * s0);
              precise float v3 = sn_exp_f32(v2);
              q4[k] = (q4[k] + v3);
            }
          }
        }
        [[unroll]]
        for (int k = 0; k < 4; ++k) {
          r4_of[k] = r4_of[k] + q4[k];
        }
      }
    }
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      sn_handed_over[(u32(0) + u32(k)) * u32(264) + u32(number)] = r4_of[k];
    }
    barrier();
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const u32 other = (u32(SN_ROW) + u32(k) * u32(SN_ROWS)) * u32(groups) + u32(SN_LANE) / u32(4);
      r4 = r4 + sn_handed_over[(u32(0) + u32(SN_LANE) % u32(4)) * u32(264) + other];
    }
  }
  else {
    if (f < points) {
      const int x0 = int(f);
      const u32 rounds = begin + u32(SN_ROW) >= end_of_part ? u32(0) : (u32(SN_ROWS) == u32(1) ? end_of_part - (begin + u32(SN_ROW)) : (end_of_part - (begin + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
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
              const int x1 = int(begin + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v0 = b0.at[x0 + x1 * n2];
              precise float v2 = (v0 * s0);
              precise float v3 = sn_exp_f32(v2);
              q4 = (q4 + v3);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 + x1 * n2];
            precise float v2 = (v0 * s0);
            precise float v3 = sn_exp_f32(v2);
            q4 = (q4 + v3);
          }
        }
        r4 = r4 + q4;
      }
    }
  }
  sn_rows_sum_f32(r4);
  if (f < points && SN_ROW == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r4);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r4 = float(0);
  if (f < points) {
    {
      const u32 joins = u32(SN_ROW) < u32(parts) ? (u32(parts) - u32(SN_ROW) + u32(SN_ROWS) - 1) / u32(SN_ROWS) : u32(0);
      for (u32 g = u32(0); g < joins; g += u32(8)) {
        float p_r4[8];
        [[unroll]]
        for (int u = 0; u < 8; ++u) {
          const u32 p = u32(SN_ROW) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_ROWS);
          p_r4[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
        }
        [[unroll]]
        for (int u = 0; u < 8; ++u) {
          if (g + u32(u) < joins) {
            r4 = (r4 + p_r4[u]);
          }
        }
      }
    }
  }
  sn_rows_sum_f32(r4);
  if (f < points && SN_ROW == 0u) {
    const int x0 = int(f);
    precise float v4 = r4;
    b1.at[x0] = v4;
  }
}
