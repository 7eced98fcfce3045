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
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
shared float sn_rows_max_f32_v[256];
void sn_rows_max_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_max_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_max_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = sn_max_f32(v, w);
      v = joined;
      sn_rows_max_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_max_f32_v[SN_LANE];
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
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const u32 points = u32(n0);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    float r1 = uintBitsToFloat(0xff800000u);
    float r1_all = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      {
        u32 g = u32(0);
        for (; g + u32(7) < rounds; g += u32(8)) {
          [[unroll]]
          for (int u = 0; u < 8; ++u) {
            const u32 j = g + u32(u);
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            r1 = max(r1, v0);
            r1_all = r1_all + abs(v0);
          }
        }
        if (g < rounds) {
          [[unroll]]
          for (int u = 0; u < 8; ++u) {
            const bool comes = g + u32(u) < rounds;
            const u32 j = comes ? g + u32(u) : g;
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            r1 = max(r1, (comes ? v0 : uintBitsToFloat(0xff800000u)));
            r1_all = r1_all + abs((comes ? v0 : uintBitsToFloat(0xff800000u)));
          }
        }
      }
    }
    r1 = sn_is_nan_f32(r1_all) ? r1_all : r1;
    sn_rows_max_f32(r1);
    precise float v1 = r1;
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
              precise float v0 = b0.at[x0 * n2 + x1];
              precise float v2 = (v0 - v1);
              precise float v3 = sn_exp_f32(v2);
              q4 = (q4 + v3);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            precise float v2 = (v0 - v1);
            precise float v3 = sn_exp_f32(v2);
            q4 = (q4 + v3);
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
    precise float v4 = r4;
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 j = u32(0); j < rounds; j += 1) {
        const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 - v1);
        precise float v3 = sn_exp_f32(v2);
        precise float v5 = sn_div_f32(v3, v4);
        b1.at[x0 * n3 + x1] = v5;
      }
    }
  }
}
