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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN bool sn_or_bool(bool a, bool b) { return a || b; }
SN_FN bool sn_xor_bool(bool a, bool b) { return a != b; }
SN_FN bool sn_not_bool(bool a) { return !a; }
u32 sn_word(uvec4 a) {
  return (a.x & 255u) | ((a.y & 255u) << 8) | ((a.z & 255u) << 16) | (a.w << 24);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { uint8_t at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { u32 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { uint8_t at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { u32 at[]; } b1_4;
layout(std430, binding = 2) writeonly buffer b2_t { uint8_t at[]; } b2;
layout(std430, binding = 2) writeonly buffer b2_4_t { u32 at[]; } b2_4;
layout(std430, binding = 3) writeonly buffer b3_t { uint8_t at[]; } b3;
layout(std430, binding = 3) writeonly buffer b3_4_t { u32 at[]; } b3_4;
layout(std430, binding = 4) writeonly buffer b4_t { uint8_t at[]; } b4;
layout(std430, binding = 4) writeonly buffer b4_4_t { u32 at[]; } b4_4;
layout(std430, binding = 5) writeonly buffer b5_t { uint8_t at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { u32 at[]; } b5_4;
layout(std430, binding = 6) writeonly buffer b6_t { uint8_t at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { u32 at[]; } b6_4;
layout(std430, binding = 7) writeonly buffer b7_t { uint8_t at[]; } b7;
layout(std430, binding = 7) writeonly buffer b7_4_t { u32 at[]; } b7_4;
layout(std430, binding = 8) writeonly buffer b8_t { uint8_t at[]; } b8;
layout(std430, binding = 8) writeonly buffer b8_4_t { u32 at[]; } b8_4;
layout(std430, binding = 9) writeonly buffer b9_t { uint8_t at[]; } b9;
layout(std430, binding = 9) writeonly buffer b9_4_t { u32 at[]; } b9_4;
layout(std430, binding = 10) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const bool s0 = sn_arguments.word[1] != 0u;
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 2);
    bvec4 l0;
    l0 = notEqual(sn_bytes(b0_4.at[vector]), uvec4(0u));
    bvec4 l1;
    l1 = notEqual(sn_bytes(b1_4.at[vector]), uvec4(0u));
    bvec4 w0;
    bvec4 w1;
    bvec4 w2;
    bvec4 w3;
    bvec4 w4;
    bvec4 w5;
    bvec4 w6;
    bvec4 w7;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const bool v0 = l0[k];
      const bool v1 = l1[k];
      const bool v2 = sn_and_bool(v0, v1);
      const bool v3 = sn_or_bool(v0, v1);
      const bool v4 = sn_xor_bool(v0, v1);
      const bool v5 = sn_not_bool(v0);
      const bool v6 = (int(v0) == int(v1));
      const bool v7 = (int(v0) != int(v1));
      const bool v8 = (int(v0) < int(v1));
      const bool v10 = (v0 ? v1 : s0);
      w0[k] = v2;
      w1[k] = v3;
      w2[k] = v4;
      w3[k] = v5;
      w4[k] = v6;
      w5[k] = v7;
      w6[k] = v8;
      w7[k] = v10;
    }
    b2_4.at[vector] = sn_word(uvec4(w0));
    b3_4.at[vector] = sn_word(uvec4(w1));
    b4_4.at[vector] = sn_word(uvec4(w2));
    b5_4.at[vector] = sn_word(uvec4(w3));
    b6_4.at[vector] = sn_word(uvec4(w4));
    b7_4.at[vector] = sn_word(uvec4(w5));
    b8_4.at[vector] = sn_word(uvec4(w6));
    b9_4.at[vector] = sn_word(uvec4(w7));
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const bool v0 = u32(b0.at[x0]) != 0u;
    const bool v1 = u32(b1.at[x0]) != 0u;
    const bool v2 = sn_and_bool(v0, v1);
    const bool v3 = sn_or_bool(v0, v1);
    const bool v4 = sn_xor_bool(v0, v1);
    const bool v5 = sn_not_bool(v0);
    const bool v6 = (int(v0) == int(v1));
    const bool v7 = (int(v0) != int(v1));
    const bool v8 = (int(v0) < int(v1));
    const bool v10 = (v0 ? v1 : s0);
    b2.at[x0] = uint8_t(u32(v2));
    b3.at[x0] = uint8_t(u32(v3));
    b4.at[x0] = uint8_t(u32(v4));
    b5.at[x0] = uint8_t(u32(v5));
    b6.at[x0] = uint8_t(u32(v6));
    b7.at[x0] = uint8_t(u32(v7));
    b8.at[x0] = uint8_t(u32(v8));
    b9.at[x0] = uint8_t(u32(v10));
  }
}
