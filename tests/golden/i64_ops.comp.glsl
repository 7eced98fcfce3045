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
layout(std430, binding = 0) restrict readonly buffer b0_4_t { i64vec2 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { i64 at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { i64vec2 at[]; } b1_4;
layout(std430, binding = 2) writeonly buffer b2_t { i64 at[]; } b2;
layout(std430, binding = 2) writeonly buffer b2_4_t { i64vec2 at[]; } b2_4;
layout(std430, binding = 3) writeonly buffer b3_t { i64 at[]; } b3;
layout(std430, binding = 3) writeonly buffer b3_4_t { i64vec2 at[]; } b3_4;
layout(std430, binding = 4) writeonly buffer b4_t { i64 at[]; } b4;
layout(std430, binding = 4) writeonly buffer b4_4_t { i64vec2 at[]; } b4_4;
layout(std430, binding = 5) writeonly buffer b5_t { i64 at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { i64vec2 at[]; } b5_4;
layout(std430, binding = 6) writeonly buffer b6_t { i64 at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { i64vec2 at[]; } b6_4;
layout(std430, binding = 7) writeonly buffer b7_t { i64 at[]; } b7;
layout(std430, binding = 7) writeonly buffer b7_4_t { i64vec2 at[]; } b7_4;
layout(std430, binding = 8) writeonly buffer b8_t { i64 at[]; } b8;
layout(std430, binding = 8) writeonly buffer b8_4_t { i64vec2 at[]; } b8_4;
layout(std430, binding = 9) writeonly buffer b9_t { i64 at[]; } b9;
layout(std430, binding = 9) writeonly buffer b9_4_t { i64vec2 at[]; } b9_4;
layout(std430, binding = 10) writeonly buffer b10_t { i64 at[]; } b10;
layout(std430, binding = 10) writeonly buffer b10_4_t { i64vec2 at[]; } b10_4;
layout(std430, binding = 11) writeonly buffer b11_t { i64 at[]; } b11;
layout(std430, binding = 11) writeonly buffer b11_4_t { i64vec2 at[]; } b11_4;
layout(std430, binding = 12) writeonly buffer b12_t { i64 at[]; } b12;
layout(std430, binding = 12) writeonly buffer b12_4_t { i64vec2 at[]; } b12_4;
layout(std430, binding = 13) writeonly buffer b13_t { i64 at[]; } b13;
layout(std430, binding = 13) writeonly buffer b13_4_t { i64vec2 at[]; } b13_4;
layout(std430, binding = 14) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 2);
    i64vec4 l0;
    l0 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
    i64vec4 l1;
    l1 = i64vec4(b1_4.at[2u * (vector)], b1_4.at[2u * (vector) + 1u]);
    i64vec4 w0;
    i64vec4 w1;
    i64vec4 w2;
    i64vec4 w3;
    i64vec4 w4;
    i64vec4 w5;
    i64vec4 w6;
    i64vec4 w7;
    i64vec4 w8;
    i64vec4 w9;
    i64vec4 w10;
    i64vec4 w11;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const i64 v0 = l0[k];
      const i64 v1 = l1[k];
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
      w0[k] = v2;
      w1[k] = v3;
      w2[k] = v4;
      w3[k] = v5;
      w4[k] = v6;
      w5[k] = v7;
      w6[k] = v8;
      w7[k] = v9;
      w8[k] = v10;
      w9[k] = v11;
      w10[k] = v12;
      w11[k] = v13;
    }
    b2_4.at[2u * (vector)] = w0.xy; b2_4.at[2u * (vector) + 1u] = w0.zw;
    b3_4.at[2u * (vector)] = w1.xy; b3_4.at[2u * (vector) + 1u] = w1.zw;
    b4_4.at[2u * (vector)] = w2.xy; b4_4.at[2u * (vector) + 1u] = w2.zw;
    b5_4.at[2u * (vector)] = w3.xy; b5_4.at[2u * (vector) + 1u] = w3.zw;
    b6_4.at[2u * (vector)] = w4.xy; b6_4.at[2u * (vector) + 1u] = w4.zw;
    b7_4.at[2u * (vector)] = w5.xy; b7_4.at[2u * (vector) + 1u] = w5.zw;
    b8_4.at[2u * (vector)] = w6.xy; b8_4.at[2u * (vector) + 1u] = w6.zw;
    b9_4.at[2u * (vector)] = w7.xy; b9_4.at[2u * (vector) + 1u] = w7.zw;
    b10_4.at[2u * (vector)] = w8.xy; b10_4.at[2u * (vector) + 1u] = w8.zw;
    b11_4.at[2u * (vector)] = w9.xy; b11_4.at[2u * (vector) + 1u] = w9.zw;
    b12_4.at[2u * (vector)] = w10.xy; b12_4.at[2u * (vector) + 1u] = w10.zw;
    b13_4.at[2u * (vector)] = w11.xy; b13_4.at[2u * (vector) + 1u] = w11.zw;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
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
