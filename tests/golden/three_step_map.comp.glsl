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
layout(std430, binding = 1) writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const int n5 = int(sn_arguments.word[5]);
  const int n6 = int(sn_arguments.word[6]);
  const int n7 = int(sn_arguments.word[7]);
  const int n8 = int(sn_arguments.word[8]);
  const int n9 = int(sn_arguments.word[9]);
  const int n10 = int(sn_arguments.word[10]);
  const int n11 = int(sn_arguments.word[11]);
  const int n12 = int(sn_arguments.word[12]);
  const int n13 = int(sn_arguments.word[13]);
  const int n14 = int(sn_arguments.word[14]);
  const bool vectors = ((n1 | n14) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      int m0 = n4 + x0 * n2 + x1 * n3;
      {
        u32 t = u32(m0);
        const int c1 = int(t % u32(n6));
        t /= u32(n6);
        const int c0 = int(t);
        m0 = c0 + c1 * n7;
      }
      {
        u32 t = u32(m0);
        const int c2 = int(t % u32(n10));
        t /= u32(n10);
        const int c1 = int(t % u32(n9));
        t /= u32(n9);
        const int c0 = int(t);
        m0 = n13 + c0 + c1 * n11 + c2 * n12;
      }
      precise float v0 = b0.at[m0];
      w0[k] = v0;
    }
    b1_4.at[(u32(x0 * n14) >> 2) + vector] = w0;
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
        int m0 = n4 + x0 * n2 + x1 * n3;
        {
          u32 t = u32(m0);
          const int c1 = int(t % u32(n6));
          t /= u32(n6);
          const int c0 = int(t);
          m0 = c0 + c1 * n7;
        }
        {
          u32 t = u32(m0);
          const int c2 = int(t % u32(n10));
          t /= u32(n10);
          const int c1 = int(t % u32(n9));
          t /= u32(n9);
          const int c0 = int(t);
          m0 = n13 + c0 + c1 * n11 + c2 * n12;
        }
        precise float v0 = b0.at[m0];
        w0[u] = v0;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b1.at[x0 * n14 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        int m0 = n4 + x0 * n2 + x1 * n3;
        {
          u32 t = u32(m0);
          const int c1 = int(t % u32(n6));
          t /= u32(n6);
          const int c0 = int(t);
          m0 = c0 + c1 * n7;
        }
        {
          u32 t = u32(m0);
          const int c2 = int(t % u32(n10));
          t /= u32(n10);
          const int c1 = int(t % u32(n9));
          t /= u32(n9);
          const int c0 = int(t);
          m0 = n13 + c0 + c1 * n11 + c2 * n12;
        }
        precise float v0 = b0.at[m0];
        b1.at[x0 * n14 + x1] = v0;
      }
    }
  }
}
