#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
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
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    float r1 = uintBitsToFloat(0xff800000u);
    float r1_all = float(0);
    {
      u32 g = u32(0);
      for (; g + u32(7) < u32(n1); g += u32(8)) {
        [[unroll]]
        for (int u = 0; u < 8; ++u) {
          const u32 j = g + u32(u) * u32(1);
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          r1 = max(r1, v0);
          r1_all = r1_all + abs(v0);
        }
      }
      for (u32 j = g; j < u32(n1); j += 1) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        r1 = max(r1, v0);
        r1_all = r1_all + abs(v0);
      }
    }
    r1 = sn_is_nan_f32(r1_all) ? r1_all : r1;
    precise float v1 = r1;
    float r4 = float(0);
    for (u32 h = u32(0); h < u32(n1); h += u32(32)) {
      const u32 left = u32(n1) - h;
      const u32 end = h + (left < u32(32) ? left : u32(32));
      float q4 = float(0);
      {
        u32 g = h;
        for (; g + u32(7) < end; g += u32(8)) {
          [[unroll]]
          for (int u = 0; u < 8; ++u) {
            const u32 j = g + u32(u) * u32(1);
            const int x1 = int(j);
            precise float v0 = b0.at[x0 * n2 + x1];
            precise float v2 = (v0 - v1);
            precise float v3 = sn_exp_f32(v2);
            q4 = (q4 + v3);
          }
        }
        for (u32 j = g; j < end; j += 1) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v2 = (v0 - v1);
          precise float v3 = sn_exp_f32(v2);
          q4 = (q4 + v3);
        }
      }
      r4 = r4 + q4;
    }
    precise float v4 = r4;
    for (u32 j = u32(0); j < u32(n1); j += 1) {
      const int x1 = int(j);
      precise float v0 = b0.at[x0 * n2 + x1];
      precise float v2 = (v0 - v1);
      precise float v3 = sn_exp_f32(v2);
      precise float v5 = sn_div_f32(v3, v4);
      b1.at[x0 * n3 + x1] = v5;
    }
  }
}
