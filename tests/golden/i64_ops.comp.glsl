#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
SN_FN i64 sn_div_i64(i64 a, i64 b) { return b == i64(0) ? i64(0) : b == i64(-1) ? -a : a / b; }
i64 sn_remainder_i64(i64 a, i64 b) {
  if (b == i64(0) || b == i64(-1)) return i64(0);
  const i64 r = a - (a / b) * b;
  return r != i64(0) && (r < i64(0)) != (b < i64(0)) ? r + b : r;
}
SN_FN i64 sn_and_i64(i64 a, i64 b) { return a & b; }
SN_FN i64 sn_or_i64(i64 a, i64 b) { return a | b; }
SN_FN i64 sn_xor_i64(i64 a, i64 b) { return a ^ b; }
SN_FN i64 sn_max_i64(i64 a, i64 b) { return a > b ? a : b; }
SN_FN i64 sn_not_i64(i64 a) { return ~a; }
SN_FN i64 sn_sign_i64(i64 a) { return a > i64(0) ? i64(1) : a < i64(0) ? i64(-1) : i64(0); }
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { i64 at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { i64 at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { i64 at[]; } b3;
layout(std430, binding = 4) restrict writeonly buffer b4_t { i64 at[]; } b4;
layout(std430, binding = 5) restrict writeonly buffer b5_t { i64 at[]; } b5;
layout(std430, binding = 6) restrict writeonly buffer b6_t { i64 at[]; } b6;
layout(std430, binding = 7) restrict writeonly buffer b7_t { i64 at[]; } b7;
layout(std430, binding = 8) restrict writeonly buffer b8_t { i64 at[]; } b8;
layout(std430, binding = 9) restrict writeonly buffer b9_t { i64 at[]; } b9;
layout(std430, binding = 10) restrict writeonly buffer b10_t { i64 at[]; } b10;
layout(std430, binding = 11) restrict writeonly buffer b11_t { i64 at[]; } b11;
layout(std430, binding = 12) restrict writeonly buffer b12_t { i64 at[]; } b12;
layout(std430, binding = 13) restrict writeonly buffer b13_t { i64 at[]; } b13;
layout(std430, binding = 14) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const i64 v0 = b0.at[x0];
    const i64 v1 = b1.at[x0];
    const i64 v2 = (v0 + v1);
    const i64 v3 = (v0 - v1);
    const i64 v4 = (v0 * v1);
    const i64 v5 = sn_div_i64(v0, v1);
    const i64 v6 = sn_remainder_i64(v0, v1);
    const i64 v7 = sn_and_i64(v0, v1);
    const i64 v8 = sn_or_i64(v0, v1);
    const i64 v9 = sn_xor_i64(v0, v1);
    const i64 v10 = sn_max_i64(v0, v1);
    const i64 v11 = (v0 * v0);
    const i64 v12 = sn_not_i64(v0);
    const i64 v13 = sn_sign_i64(v1);
    b2.at[x0] = v2;
    b3.at[x0] = v3;
    b4.at[x0] = v4;
    b5.at[x0] = v5;
    b6.at[x0] = v6;
    b7.at[x0] = v7;
    b8.at[x0] = v8;
    b9.at[x0] = v9;
    b10.at[x0] = v10;
    b11.at[x0] = v11;
    b12.at[x0] = v12;
    b13.at[x0] = v13;
  }
}
