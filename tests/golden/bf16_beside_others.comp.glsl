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
#define SN_LANES gl_WorkGroupSize.x
#define SN_LANE gl_LocalInvocationID.x
#define SN_ROWS 1u
#define SN_ROW 0u
uvec4 sn_halves(uvec2 a) { return uvec4(a.x & 65535u, a.x >> 16, a.y & 65535u, a.y >> 16); }
uvec4 sn_bytes(u32 a) { return uvec4(a & 255u, (a >> 8) & 255u, (a >> 16) & 255u, a >> 24); }
SN_FN float sn_cast_bf16_f32(u32 a) { return uintBitsToFloat(a << 16); }
u32 sn_cast_f32_bf16(float a) {
  const u32 b = floatBitsToUint(a), nan = (b >> 16) | 0x40u, near = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  return (b & 0x7fffffffu) > 0x7f800000u ? nan : near;
}
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
u32 sn_pair_of_bf16(vec2 a) {
  const u32 x = floatBitsToUint(a.x), y = floatBitsToUint(a.y);
  return ((x + 0x7fffu + ((x >> 16) & 1u)) >> 16) | ((y + 0x7fffu + ((y >> 16) & 1u)) & 0xffff0000u);
}
uvec2 sn_words_of_halves(uvec4 a) { return uvec2(a.x | (a.y << 16), a.z | (a.w << 16)); }
uvec2 sn_words_of_bf16(vec4 a) {
  precise float all = (abs(a.x) + abs(a.y)) + (abs(a.z) + abs(a.w));
  if (!sn_is_nan_f32(all)) return uvec2(sn_pair_of_bf16(a.xy), sn_pair_of_bf16(a.zw));
  return sn_words_of_halves(uvec4(sn_cast_f32_bf16(a.x), sn_cast_f32_bf16(a.y), sn_cast_f32_bf16(a.z),
                                  sn_cast_f32_bf16(a.w)));
}
uvec4 sn_words_of_8_bf16(vec4 a, vec4 b) {
  precise float all = ((abs(a.x) + abs(a.y)) + (abs(a.z) + abs(a.w))) +
                      ((abs(b.x) + abs(b.y)) + (abs(b.z) + abs(b.w)));
  if (sn_is_nan_f32(all)) return uvec4(sn_words_of_bf16(a), sn_words_of_bf16(b));
  return uvec4(sn_pair_of_bf16(a.xy), sn_pair_of_bf16(a.zw), sn_pair_of_bf16(b.xy), sn_pair_of_bf16(b.zw));
}
u32 sn_word(uvec4 a) {
  return (a.x & 255u) | ((a.y & 255u) << 8) | ((a.z & 255u) << 16) | (a.w << 24);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { uint16_t at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { uvec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { uint16_t at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { uvec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { uint8_t at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { u32 at[]; } b2_4;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 3) restrict readonly buffer b3_4_t { vec4 at[]; } b3_4;
layout(std430, binding = 4) writeonly buffer b4_t { uint16_t at[]; } b4;
layout(std430, binding = 4) writeonly buffer b4_4_t { uvec4 at[]; } b4_4;
layout(std430, binding = 5) writeonly buffer b5_t { uint16_t at[]; } b5;
layout(std430, binding = 5) writeonly buffer b5_4_t { uvec4 at[]; } b5_4;
layout(std430, binding = 6) writeonly buffer b6_t { uint16_t at[]; } b6;
layout(std430, binding = 6) writeonly buffer b6_4_t { uvec4 at[]; } b6_4;
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
  const u32 points4 = vectors ? points - points % u32(8) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(8); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(8)) {
    const int y = int(f);
    const u32 vector = (u32(y) >> 3);
    u32 l0[8];
    { const uvec4 words = b0_4.at[vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
    u32 l1[8];
    { const uvec4 words = b1_4.at[vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l1 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
    bool l2[8];
    { const bvec4 a = notEqual(sn_bytes(b2_4.at[2u * (vector)]), uvec4(0u)), b = notEqual(sn_bytes(b2_4.at[2u * (vector) + 1u]), uvec4(0u)); l2 = bool[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
    float l3[8];
    { const vec4 a = b3_4.at[2u * (vector)], b = b3_4.at[2u * (vector) + 1u]; l3 = float[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
    float w0[8];
    u32 w1[8];
    u32 w2[8];
    float w3[8];
    bool w4[8];
    [[unroll]]
    for (int k = 0; k < 8; ++k) {
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
      w0[k] = v5;
      w1[k] = v7;
      w2[k] = v9;
      w3[k] = v5;
      w4[k] = v11;
    }
    b4_4.at[vector] = sn_words_of_8_bf16(vec4(w0[0], w0[1], w0[2], w0[3]), vec4(w0[4], w0[5], w0[6], w0[7]));
    b5_4.at[vector] = uvec4(sn_words_of_halves(uvec4(w1[0], w1[1], w1[2], w1[3])), sn_words_of_halves(uvec4(w1[4], w1[5], w1[6], w1[7])));
    b6_4.at[vector] = uvec4(sn_words_of_halves(uvec4(w2[0], w2[1], w2[2], w2[3])), sn_words_of_halves(uvec4(w2[4], w2[5], w2[6], w2[7])));
    { const vec4 a = vec4(w3[0], w3[1], w3[2], w3[3]), b = vec4(w3[4], w3[5], w3[6], w3[7]); b7_4.at[2u * (vector)] = a; b7_4.at[2u * (vector) + 1u] = b; }
    { const bvec4 a = bvec4(w4[0], w4[1], w4[2], w4[3]), b = bvec4(w4[4], w4[5], w4[6], w4[7]); b8_4.at[2u * (vector)] = sn_word(uvec4(a)); b8_4.at[2u * (vector) + 1u] = sn_word(uvec4(b)); }
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
