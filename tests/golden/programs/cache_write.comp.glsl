// ---- kernel 0
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
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const bool vectors = ((n1 | n2 | n3 | n4) & 3) == 0;
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
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      precise float v0 = l0[k];
      precise float v2 = (v0 * s0);
      w0[k] = v2;
    }
    b1_4.at[(u32(n4 + x0 * n3) >> 2) + vector] = w0;
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
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 * s0);
        w0[u] = v2;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b1.at[n4 + x0 * n3 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 * s0);
        b1.at[n4 + x0 * n3 + x1] = v2;
      }
    }
  }
}
