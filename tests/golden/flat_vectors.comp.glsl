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
u32 sn_mulhi(u32 a, u32 b) {
  u32 high, low;
  umulExtended(a, b, high, low);
  return high;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) writeonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const int n5 = int(sn_arguments.word[5]);
  const u32 points = u32(n0) * u32(n1);
  const bool vectors = true;
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const u32 vector = (u32(f) >> 2);
    vec4 l0;
    l0 = b0_4.at[vector];
    vec4 w0;
    u32 t = f;
    const u32 d1 = sn_mulhi(t, u32(n4)) >> u32(n5);
    const int first1 = int(t - d1 * u32(n1));
    int x1 = first1;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int e = int(f) + k;
      precise float v0 = l0[k];
      precise float v1 = b1.at[x1];
      precise float v2 = (v0 + v1);
      w0[k] = v2;
      x1 = x1 + int(1);
      if (x1 == int(n1)) {
        x1 = int(0);
      }
    }
    b2_4.at[vector] = w0;
  }
  for (u32 t = points4 + u32(gl_WorkGroupID.x) * (u32(SN_LANES) * u32(4)); t < points; t += u32(gl_NumWorkGroups.x) * (u32(SN_LANES) * u32(4))) {
    if (points - t >= (u32(SN_LANES) * u32(4))) {
      float w0[4];
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        w0[u] = v2;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        b2.at[x0 * n3 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        b2.at[x0 * n3 + x1] = v2;
      }
    }
  }
}
