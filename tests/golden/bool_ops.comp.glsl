#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN bool sn_or_bool(bool a, bool b) { return a || b; }
SN_FN bool sn_xor_bool(bool a, bool b) { return a != b; }
SN_FN bool sn_not_bool(bool a) { return !a; }
layout(std430, binding = 0) restrict readonly buffer b0_t { uint8_t at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { uint8_t at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { uint8_t at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { uint8_t at[]; } b3;
layout(std430, binding = 4) restrict writeonly buffer b4_t { uint8_t at[]; } b4;
layout(std430, binding = 5) restrict writeonly buffer b5_t { uint8_t at[]; } b5;
layout(std430, binding = 6) restrict writeonly buffer b6_t { uint8_t at[]; } b6;
layout(std430, binding = 7) restrict writeonly buffer b7_t { uint8_t at[]; } b7;
layout(std430, binding = 8) restrict writeonly buffer b8_t { uint8_t at[]; } b8;
layout(std430, binding = 9) restrict writeonly buffer b9_t { uint8_t at[]; } b9;
layout(std430, binding = 10) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const bool s0 = sn_arguments.word[1] != 0u;
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
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
