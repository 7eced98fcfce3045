#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
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
uvec4 sn_bytes(u32 a) { return uvec4(a & 255u, (a >> 8) & 255u, (a >> 16) & 255u, a >> 24); }
layout(std430, binding = 0) restrict readonly buffer b0_t { uint8_t at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { u32 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { i64 at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { i64vec2 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) writeonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 5) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 2);
    bvec4 l0;
    l0 = notEqual(sn_bytes(b0_4.at[vector]), uvec4(0u));
    i64vec4 l1;
    l1 = i64vec4(b1_4.at[2u * (vector)], b1_4.at[2u * (vector) + 1u]);
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const bool v0 = l0[k];
      const i64 v1 = l1[k];
      float v2 = float(0);
      if (v0) {
        if (v1 >= i64(0) && v1 < i64(n1)) {
          v2 = b2.at[int(v1)];
        }
        else {
          sn_fault.word[0u] = 1u;
        }
      }
      w0[k] = v2;
    }
    b3_4.at[vector] = w0;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const bool v0 = u32(b0.at[x0]) != 0u;
    const i64 v1 = b1.at[x0];
    float v2 = float(0);
    if (v0) {
      if (v1 >= i64(0) && v1 < i64(n1)) {
        v2 = b2.at[int(v1)];
      }
      else {
        sn_fault.word[0u] = 1u;
      }
    }
    b3.at[x0] = v2;
  }
}
