#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
uvec4 sn_halves(uvec2 a) { return uvec4(a.x & 65535u, a.x >> 16, a.y & 65535u, a.y >> 16); }
uvec4 sn_bytes(u32 a) { return uvec4(a & 255u, (a >> 8) & 255u, (a >> 16) & 255u, a >> 24); }
float sn_cast_bf16_f32(u32 a) { return uintBitsToFloat(a << 16); }
u32 sn_cast_f32_bf16(float a) {
  const u32 b = floatBitsToUint(a);
  if ((b & 0x7fffffffu) > 0x7f800000u) return (b >> 16) | 0x40u;
  return (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
}
uvec2 sn_words_of_halves(uvec4 a) { return uvec2(a.x | (a.y << 16), a.z | (a.w << 16)); }
u32 sn_word(uvec4 a) {
  return (a.x & 255u) | ((a.y & 255u) << 8) | ((a.z & 255u) << 16) | (a.w << 24);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { uint16_t at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { uvec2 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { uint16_t at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { uvec2 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { uint8_t at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { u32 at[]; } b2_4;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) restrict readonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) writeonly buffer b4_t { uint16_t at[]; } b4;
layout(std430, binding = 4) writeonly buffer b4_4_t { uvec2 at[]; } b4_4;
layout(std430, binding = 5) writeonly buffer b5_t { uint16_t at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { uvec2 at[]; } b5_4;
layout(std430, binding = 6) writeonly buffer b6_t { uint16_t at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { uvec2 at[]; } b6_4;
layout(std430, binding = 7) writeonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 7) writeonly buffer b7_4_t { vec4 at[]; } b7_4;
layout(std430, binding = 8) writeonly buffer b8_t { uint8_t at[]; } b8;
layout(std430, binding = 8) writeonly buffer b8_4_t { u32 at[]; } b8_4;
layout(std430, binding = 9) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const u32 s0 = sn_arguments.word[1];
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    const int y = int(f);
    uvec4 l0;
    l0 = sn_halves(b0_4.at[(u32(y) >> 2)]);
    uvec4 l1;
    l1 = sn_halves(b1_4.at[(u32(y) >> 2)]);
    bvec4 l2;
    l2 = notEqual(sn_bytes(b2_4.at[(u32(y) >> 2)]), uvec4(0u));
    vec4 l3;
    l3 = b3_4.at[(u32(y) >> 2)];
    uvec4 w0;
    uvec4 w1;
    uvec4 w2;
    vec4 w3;
    bvec4 w4;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const u32 v0 = l0[k];
      const u32 v1 = l1[k];
      const bool v2 = l2[k];
      precise float v3 = l3[k];
      precise float v4 = sn_cast_bf16_f32(v0);
      precise float v5 = (v4 + v3);
      const u32 v6 = sn_cast_f32_bf16(v5);
      const u32 v7 = (v2 ? v0 : v1);
      const u32 v9 = (v2 ? v1 : s0);
      precise float v10 = sn_cast_bf16_f32(v1);
      const bool v11 = (v5 < v10);
      w0[k] = v6;
      w1[k] = v7;
      w2[k] = v9;
      w3[k] = v5;
      w4[k] = v11;
    }
    b4_4.at[(u32(y) >> 2)] = sn_words_of_halves(w0);
    b5_4.at[(u32(y) >> 2)] = sn_words_of_halves(w1);
    b6_4.at[(u32(y) >> 2)] = sn_words_of_halves(w2);
    b7_4.at[(u32(y) >> 2)] = w3;
    b8_4.at[(u32(y) >> 2)] = sn_word(uvec4(w4));
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const u32 v0 = u32(b0.at[x0]);
    const u32 v1 = u32(b1.at[x0]);
    const bool v2 = u32(b2.at[x0]) != 0u;
    precise float v3 = b3.at[x0];
    precise float v4 = sn_cast_bf16_f32(v0);
    precise float v5 = (v4 + v3);
    const u32 v6 = sn_cast_f32_bf16(v5);
    const u32 v7 = (v2 ? v0 : v1);
    const u32 v9 = (v2 ? v1 : s0);
    precise float v10 = sn_cast_bf16_f32(v1);
    const bool v11 = (v5 < v10);
    b4.at[x0] = uint16_t(v6);
    b5.at[x0] = uint16_t(v7);
    b6.at[x0] = uint16_t(v9);
    b7.at[x0] = v5;
    b8.at[x0] = uint8_t(u32(v11));
  }
}
