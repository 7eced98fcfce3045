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
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
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
  const float s0 = uintBitsToFloat(sn_arguments.word[10]);
  const u32 points = u32(n0) * u32(n1);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const u32 d1 = sn_mulhi(t0, u32(n8)) >> u32(n9);
    const int x1 = int(t0 - d1 * u32(n1));
    t0 = d1;
    const int x0 = int(t0);
    float r1 = float(0);
    float q1 = float(0);
    [[unroll]]
    for (int y0 = 0; y0 < 3; ++y0) {
      const int x2 = int(y0);
      [[unroll]]
      for (int y1 = 0; y1 < 3; ++y1) {
        const int x3 = int(y1);
        precise float v0 = b0.at[x0 * n4 + x1 * n5 + x2 * n6 + x3];
        q1 = (q1 + v0);
      }
    }
    r1 = r1 + q1;
    precise float v1 = r1;
    precise float v3 = (v1 * s0);
    b1.at[x0 * n7 + x1] = v3;
  }
}
