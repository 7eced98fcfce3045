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
u32 sn_mulhi(u32 a, u32 b) {
  u32 high, low;
  umulExtended(a, b, high, low);
  return high;
}
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
layout(std430, binding = 0)  buffer b0_t { float at[]; } b0;
layout(std430, binding = 0)  buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[7], sn_arguments.word[8])));
  const float s2 = uintBitsToFloat(sn_arguments.word[9]);
  const float s3 = uintBitsToFloat(sn_arguments.word[10]);
  const float s4 = uintBitsToFloat(sn_arguments.word[11]);
  const bool vectors = ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0) * u32(n1) * u32(n2);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l3;
    l3 = b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x2 = y | k;
      precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
      const bool v2 = (v0 < s2);
      precise float v3 = l3[k];
      precise float v4 = b1.at[x1];
      precise float v5 = (v3 + v4);
      precise float v7 = (v5 * s3);
      precise float v9 = (v2 ? s4 : v7);
      w0[k] = v9;
    }
    b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector] = w0;
  }
  for (u32 t = points4 + u32(gl_WorkGroupID.x) * (u32(SN_LANES) * u32(4)); t < points; t += u32(gl_NumWorkGroups.x) * (u32(SN_LANES) * u32(4))) {
    if (points - t >= (u32(SN_LANES) * u32(4))) {
      float w0[4];
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v3 = b0.at[x0 * n3 + x1 * n4 + x2];
        precise float v4 = b1.at[x1];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s3);
        precise float v9 = (v2 ? s4 : v7);
        w0[u] = v9;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b0.at[x0 * n3 + x1 * n4 + x2] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v3 = b0.at[x0 * n3 + x1 * n4 + x2];
        precise float v4 = b1.at[x1];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s3);
        precise float v9 = (v2 ? s4 : v7);
        b0.at[x0 * n3 + x1 * n4 + x2] = v9;
      }
    }
  }
}
// ---- kernel 1
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
u32 sn_mulhi(u32 a, u32 b) {
  u32 high, low;
  umulExtended(a, b, high, low);
  return high;
}
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
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
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[14], sn_arguments.word[15])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[16], sn_arguments.word[17])));
  const float s2 = uintBitsToFloat(sn_arguments.word[18]);
  const float s3 = uintBitsToFloat(sn_arguments.word[19]);
  const float s4 = uintBitsToFloat(sn_arguments.word[20]);
  const float s5 = uintBitsToFloat(sn_arguments.word[21]);
  const float s6 = uintBitsToFloat(sn_arguments.word[22]);
  const u32 points = u32(n0) * u32(n1) * u32(n2) * u32(n3);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    u32 t0 = f;
    const int x3 = int(t0 % u32(n3));
    t0 /= u32(n3);
    const int x2 = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    precise float v4 = b1.at[x1];
    float r12 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n4) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n4) - (u32(0) + u32(SN_ROW)) : (u32(n4) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 y4 = u32(0); y4 < rounds; y4 += 1) {
        const int x4 = int(u32(0) + u32(SN_ROW) + y4 * u32(SN_ROWS));
        for (u32 h = u32(0); h < u32(n5); h += u32(32)) {
          const u32 left = u32(n5) - h;
          const u32 end = h + (left < u32(32) ? left : u32(32));
          float q12 = float(0);
          {
            u32 g = h;
            for (; g + u32(7) < end; g += u32(8)) {
              [[unroll]]
              for (int u = 0; u < 8; ++u) {
                const u32 j = g + u32(u);
                const int x5 = int(j);
                precise float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
                const bool v2 = (v0 < s2);
                precise float v3 = b0.at[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
                precise float v5 = (v3 + v4);
                precise float v7 = (v5 * s3);
                precise float v9 = (v2 ? s4 : v7);
                precise float v11 = sn_max_f32(v9, s5);
                q12 = (q12 + v11);
              }
            }
            for (u32 j = g; j < end; j += 1) {
              const int x5 = int(j);
              precise float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
              const bool v2 = (v0 < s2);
              precise float v3 = b0.at[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
              precise float v5 = (v3 + v4);
              precise float v7 = (v5 * s3);
              precise float v9 = (v2 ? s4 : v7);
              precise float v11 = sn_max_f32(v9, s5);
              q12 = (q12 + v11);
            }
          }
          r12 = r12 + q12;
        }
      }
    }
    sn_rows_sum_f32(r12);
    precise float v12 = r12;
    precise float v14 = (v12 * s6);
    if (there && SN_ROW == 0u) {
      b2.at[x0 * n11 + x1 * n12 + x2 * n13 + x3] = v14;
    }
  }
}
// ---- kernel 2
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
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) writeonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[3], sn_arguments.word[4])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const float s2 = uintBitsToFloat(sn_arguments.word[7]);
  const float s3 = uintBitsToFloat(sn_arguments.word[8]);
  const float s4 = uintBitsToFloat(sn_arguments.word[9]);
  const float s5 = uintBitsToFloat(sn_arguments.word[10]);
  const bool vectors = ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l3;
    l3 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 l4;
    l4 = b1_4.at[vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y | k;
      precise float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
      const bool v2 = (v0 < s2);
      precise float v3 = l3[k];
      precise float v4 = l4[k];
      precise float v5 = (v3 + v4);
      precise float v7 = (v5 * s3);
      precise float v9 = (v2 ? s4 : v7);
      precise float v11 = sn_max_f32(v9, s5);
      w0[k] = v11;
    }
    b2_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
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
        precise float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v3 = b0.at[x0 * n2 + x1];
        precise float v4 = b1.at[x1];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s3);
        precise float v9 = (v2 ? s4 : v7);
        precise float v11 = sn_max_f32(v9, s5);
        w0[u] = v11;
      }
      [[unroll]]
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(SN_LANES) + u32(SN_LANE);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b2.at[x0 * n2 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(SN_LANE); f < points; f += u32(SN_LANES)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        precise float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v3 = b0.at[x0 * n2 + x1];
        precise float v4 = b1.at[x1];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s3);
        precise float v9 = (v2 ? s4 : v7);
        precise float v11 = sn_max_f32(v9, s5);
        b2.at[x0 * n2 + x1] = v11;
      }
    }
  }
}
// ---- kernel 3
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
shared float sn_rows_max_f32_v[256];
void sn_rows_max_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_max_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_max_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = sn_max_f32(v, w);
      v = joined;
      sn_rows_max_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_max_f32_v[SN_LANE];
}
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
  return y;
}
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { i64 at[]; } b3;
layout(std430, binding = 4) restrict writeonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[3], sn_arguments.word[4])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const i64 s2 = packInt2x32(ivec2(uvec2(sn_arguments.word[7], sn_arguments.word[8])));
  const float s3 = uintBitsToFloat(sn_arguments.word[9]);
  const float s4 = uintBitsToFloat(sn_arguments.word[10]);
  const float s5 = uintBitsToFloat(sn_arguments.word[11]);
  const float s6 = uintBitsToFloat(sn_arguments.word[12]);
  const float s7 = uintBitsToFloat(sn_arguments.word[13]);
  const u32 points = u32(n0);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    const i64 v10 = b3.at[x0];
    const bool v11 = (s0 <= v10);
    const bool v13 = (v10 < s1);
    const bool v14 = sn_and_bool(v11, v13);
    const i64 v16 = (v14 ? v10 : s2);
    const int v17 = sn_cast_i64_i32(v16);
    precise float v24 = (s4 * s5);
    precise float v26 = (v14 ? v24 : s6);
    precise float v29 = (-v26);
    float r3 = uintBitsToFloat(0xff800000u);
    float r3_all = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      {
        u32 g = u32(0);
        for (; g + u32(7) < rounds; g += u32(8)) {
          [[unroll]]
          for (int u = 0; u < 8; ++u) {
            const u32 j = g + u32(u);
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            precise float v1 = b1.at[x1];
            precise float v2 = (v0 + v1);
            r3 = max(r3, v2);
            r3_all = r3_all + abs(v2);
          }
        }
        if (g < rounds) {
          [[unroll]]
          for (int u = 0; u < 8; ++u) {
            const bool comes = g + u32(u) < rounds;
            const u32 j = comes ? g + u32(u) : g;
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            precise float v1 = b1.at[x1];
            precise float v2 = (v0 + v1);
            r3 = max(r3, (comes ? v2 : uintBitsToFloat(0xff800000u)));
            r3_all = r3_all + abs((comes ? v2 : uintBitsToFloat(0xff800000u)));
          }
        }
      }
    }
    r3 = sn_is_nan_f32(r3_all) ? r3_all : r3;
    sn_rows_max_f32(r3);
    precise float v3 = r3;
    float r6 = float(0);
    float r21 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q6 = float(0);
        float q21 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v0 = b0.at[x0 * n2 + x1];
              precise float v1 = b1.at[x1];
              precise float v2 = (v0 + v1);
              precise float v4 = (v2 - v3);
              precise float v5 = sn_exp_f32(v4);
              const i64 v7 = i64(x1);
              const int v8 = sn_cast_i64_i32(v7);
              const bool v18 = (v8 == v17);
              precise float v20 = (v18 ? v4 : s3);
              q6 = (q6 + v5);
              q21 = (q21 + v20);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
            precise float v0 = b0.at[x0 * n2 + x1];
            precise float v1 = b1.at[x1];
            precise float v2 = (v0 + v1);
            precise float v4 = (v2 - v3);
            precise float v5 = sn_exp_f32(v4);
            const i64 v7 = i64(x1);
            const int v8 = sn_cast_i64_i32(v7);
            const bool v18 = (v8 == v17);
            precise float v20 = (v18 ? v4 : s3);
            q6 = (q6 + v5);
            q21 = (q21 + v20);
          }
        }
        r6 = r6 + q6;
        r21 = r21 + q21;
      }
    }
    sn_rows_sum_f32(r6);
    precise float v6 = r6;
    sn_rows_sum_f32(r21);
    precise float v21 = r21;
    precise float v30 = sn_div_f32(v29, v6);
    if (there && SN_ROW == 0u) {
      b2.at[x0] = v6;
      b4.at[x0] = v21;
    }
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 j = u32(0); j < rounds; j += 1) {
        const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v1 = b1.at[x1];
        precise float v2 = (v0 + v1);
        precise float v4 = (v2 - v3);
        precise float v5 = sn_exp_f32(v4);
        const i64 v7 = i64(x1);
        const int v8 = sn_cast_i64_i32(v7);
        const bool v18 = (v8 == v17);
        precise float v28 = (v18 ? v26 : s7);
        precise float v31 = (v30 * v5);
        precise float v32 = (v28 + v31);
        b0.at[x0 * n2 + x1] = v32;
      }
    }
  }
}
// ---- kernel 4
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_log_f32(float a) {
  if (sn_is_nan_f32(a)) return a;
  if (a < 0.0) return uintBitsToFloat(0x7fc00000u);
  if (a == 0.0) return uintBitsToFloat(0xff800000u);
  if (floatBitsToUint(a) == 0x7f800000u) return a;
  const bool tiny = a < 1.1754943508222875e-38;
  const int bits = floatBitsToInt(tiny ? a * 8388608.0 : a);
  const int e = (bits - 0x3f3504f3) >> 23;
  const float k = float(tiny ? e - 23 : e);
  precise float f = intBitsToFloat(bits - (e << 23)) - 1.0;
  precise float s = f / (2.0 + f);
  precise float z = s * s;
  precise float p = 0.2857142857142857 + z * 0.2222222222222222;
  p = 0.4 + z * p;
  precise float t = z * (0.6666666666666666 + z * p);
  precise float y = k * 0.693359375 + (f - (s * (f - t) + k * 2.1219444005469057e-4));
  return y;
}
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
layout(std430, binding = 0) restrict readonly buffer b0_t { i64 at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { i64vec2 at[]; } b0_4;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) restrict readonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 2) restrict readonly buffer b2_4_t { vec4 at[]; } b2_4;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[2], sn_arguments.word[3])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[4], sn_arguments.word[5])));
  const float s2 = uintBitsToFloat(sn_arguments.word[6]);
  const float s3 = uintBitsToFloat(sn_arguments.word[7]);
  const bool vectors = true;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    float r12 = float(0);
    for (u32 h = u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q12[4] = {float(0), float(0), float(0), float(0)};
      {
        u32 g = h;
        for (; g + u32(SN_LANES) * u32(4) * u32(3) < end; g += u32(SN_LANES) * u32(4) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(SN_LANES) * u32(4) * u32(u);
            const int y = int(j);
            const u32 vector = (u32(y) >> 2);
            i64vec4 l1;
            l1 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
            vec4 l6;
            l6 = b1_4.at[vector];
            vec4 l8;
            l8 = b2_4.at[vector];
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const int x1 = y + k;
              const i64 v1 = l1[k];
              const bool v2 = (s0 <= v1);
              const bool v4 = (v1 < s1);
              const bool v5 = sn_and_bool(v2, v4);
              precise float v6 = l6[k];
              precise float v7 = sn_log_f32(v6);
              precise float v8 = l8[k];
              precise float v9 = (v8 - v7);
              precise float v11 = (v5 ? v9 : s2);
              q12[k] = (q12[k] + v11);
            }
          }
        }
        for (u32 j = g; j < end; j += u32(SN_LANES) * u32(4)) {
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          i64vec4 l1;
          l1 = i64vec4(b0_4.at[2u * (vector)], b0_4.at[2u * (vector) + 1u]);
          vec4 l6;
          l6 = b1_4.at[vector];
          vec4 l8;
          l8 = b2_4.at[vector];
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const i64 v1 = l1[k];
            const bool v2 = (s0 <= v1);
            const bool v4 = (v1 < s1);
            const bool v5 = sn_and_bool(v2, v4);
            precise float v6 = l6[k];
            precise float v7 = sn_log_f32(v6);
            precise float v8 = l8[k];
            precise float v9 = (v8 - v7);
            precise float v11 = (v5 ? v9 : s2);
            q12[k] = (q12[k] + v11);
          }
        }
      }
      r12 = r12 + ((q12[0] + q12[1]) + (q12[2] + q12[3]));
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q12 = float(0);
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        const int x1 = int(j);
        const i64 v1 = b0.at[x1];
        const bool v2 = (s0 <= v1);
        const bool v4 = (v1 < s1);
        const bool v5 = sn_and_bool(v2, v4);
        precise float v6 = b1.at[x1];
        precise float v7 = sn_log_f32(v6);
        precise float v8 = b2.at[x1];
        precise float v9 = (v8 - v7);
        precise float v11 = (v5 ? v9 : s2);
        q12 = (q12 + v11);
      }
      r12 = r12 + q12;
    }
    r12 = sn_workgroup_sum_f32(r12);
    precise float v12 = r12;
    precise float v14 = (v12 * s3);
    if (SN_LANE == 0u) {
      b3.at[0] = v14;
    }
  }
}
// ---- kernel 5
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
u32 sn_mulhi(u32 a, u32 b) {
  u32 high, low;
  umulExtended(a, b, high, low);
  return high;
}
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[3], sn_arguments.word[4])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const float s2 = uintBitsToFloat(sn_arguments.word[7]);
  const float s3 = uintBitsToFloat(sn_arguments.word[8]);
  const float s4 = uintBitsToFloat(sn_arguments.word[9]);
  const float s5 = uintBitsToFloat(sn_arguments.word[10]);
  const float s6 = uintBitsToFloat(sn_arguments.word[11]);
  const float s7 = uintBitsToFloat(sn_arguments.word[12]);
  const float s8 = uintBitsToFloat(sn_arguments.word[13]);
  const float s9 = uintBitsToFloat(sn_arguments.word[14]);
  const float s10 = uintBitsToFloat(sn_arguments.word[15]);
  const float s11 = uintBitsToFloat(sn_arguments.word[16]);
  const float s12 = uintBitsToFloat(sn_arguments.word[17]);
  const float s13 = uintBitsToFloat(sn_arguments.word[18]);
  const float s14 = uintBitsToFloat(sn_arguments.word[19]);
  const float s15 = uintBitsToFloat(sn_arguments.word[20]);
  const u32 points = u32(n0);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v4 = b1.at[x0];
    precise float v19 = b3.at[x0];
    precise float v21 = (v19 * s9);
    precise float v26 = b4.at[x0];
    precise float v28 = (v26 * s11);
    float r22 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q22 = float(0);
        for (u32 j = h; j < end; j += 1) {
          const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
          precise float v0 = sn_uniform(i64(x0 + x1 * n2), s0, s1);
          const bool v2 = (v0 < s2);
          precise float v3 = b0.at[x0 + x1 * n2];
          precise float v5 = (v3 + v4);
          precise float v7 = (v5 * s3);
          precise float v9 = (v2 ? s4 : v7);
          const bool v11 = (s5 < v9);
          precise float v12 = b2.at[x0 + x1 * n2];
          precise float v14 = (v11 ? v12 : s6);
          precise float v16 = (v2 ? s7 : v14);
          precise float v18 = (v16 * s8);
          b0.at[x0 + x1 * n2] = v18;
          q22 = fma(v16, s8, q22);
        }
        r22 = r22 + q22;
      }
    }
    sn_rows_sum_f32(r22);
    precise float v22 = r22;
    precise float v24 = (v22 * s10);
    precise float v25 = (v21 + v24);
    precise float v29 = (v22 * v22);
    precise float v31 = (v29 * s12);
    precise float v32 = (v28 + v31);
    precise float v34 = (v25 * s13);
    precise float v35 = sn_sqrt_f32(v32);
    precise float v37 = (v35 * s14);
    precise float v39 = (v37 + s15);
    precise float v40 = sn_div_f32(v34, v39);
    precise float v41 = (v4 - v40);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b1.at[x0] = v25;
      b3.at[x0] = v32;
      b4.at[x0] = v41;
    }
  }
}
// ---- kernel 6
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0)  buffer b0_t { float at[]; } b0;
layout(std430, binding = 0)  buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 6) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 7) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
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
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[14], sn_arguments.word[15])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[16], sn_arguments.word[17])));
  const float s2 = uintBitsToFloat(sn_arguments.word[18]);
  const float s3 = uintBitsToFloat(sn_arguments.word[19]);
  const float s4 = uintBitsToFloat(sn_arguments.word[20]);
  const float s5 = uintBitsToFloat(sn_arguments.word[21]);
  const float s6 = uintBitsToFloat(sn_arguments.word[22]);
  const float s7 = uintBitsToFloat(sn_arguments.word[23]);
  const float s8 = uintBitsToFloat(sn_arguments.word[24]);
  const float s9 = uintBitsToFloat(sn_arguments.word[25]);
  const float s10 = uintBitsToFloat(sn_arguments.word[26]);
  const float s11 = uintBitsToFloat(sn_arguments.word[27]);
  const float s12 = uintBitsToFloat(sn_arguments.word[28]);
  const float s13 = uintBitsToFloat(sn_arguments.word[29]);
  const float s14 = uintBitsToFloat(sn_arguments.word[30]);
  const float s15 = uintBitsToFloat(sn_arguments.word[31]);
  const float s16 = uintBitsToFloat(sn_arguments.word[32]);
  const u32 parts = sn_arguments.word[33];
  const bool vectors = ((n5 | n6 | n7 | n8 | n9 | n10) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2) * u32(n3) * u32(n4) * u32(n5);
  const u32 step = u32(SN_LANES) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  const bool stretches = !vectors && u32(n5) >= u32(8);
  const u32 of_stretch = (u32(n5) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * u32(n2) * u32(n3) * u32(n4) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r24 = float(0);
  const int x0 = int(f);
  precise float v4 = b1.at[x0];
  precise float v21 = b3.at[x0];
  precise float v23 = (v21 * s10);
  precise float v28 = b4.at[x0];
  precise float v30 = (v28 * s12);
  if (stretches) {
    for (u32 h = first_piece + u32(SN_LANE); h < pieces; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q24[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        const u32 s = j / of_stretch;
        u32 t1 = s;
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + 0) & 3);
        if (y < int(n5)) {
          vec4 l3;
          l3 = b0_4.at[(u32(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y) >> 2)];
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const bool inside = u32(y + k) < u32(n5);
            const int x5 = inside ? y + k : int(0);
            precise float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
            const bool v2 = (v0 < s2);
            precise float v3 = l3[k];
            precise float v5 = (v3 + v4);
            precise float v7 = (v5 * s3);
            precise float v9 = (v2 ? s4 : v7);
            const bool v11 = (s5 < v9);
            precise float v12 = b2.at[x0 * n11 + x1 * n12 + x2 * n13 + x4];
            precise float v14 = (v12 * s6);
            precise float v16 = (v11 ? v14 : s7);
            precise float v18 = (v2 ? s8 : v16);
            precise float v20 = (v18 * s9);
            w0[k] = v20;
            q24[k] = inside ? fma(v18, s9, q24[k]) : q24[k];
          }
          if (y >= 0 && u32(y + 4) <= u32(n5)) {
            b0_4.at[(u32(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y) >> 2)] = w0;
          }
          else {
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              if (u32(y + k) < u32(n5)) {
                const int x5 = y + k;
                b0.at[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5] = w0[k];
              }
            }
          }
        }
      }
      r24 = r24 + ((q24[0] + q24[1]) + (q24[2] + q24[3]));
    }
  }
  else {
    for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q24[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(SN_LANES) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n5));
        t1 /= u32(n5);
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const u32 vector = (u32(y) >> 2);
        vec4 l3;
        l3 = b0_4.at[(u32(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10) >> 2) + vector];
        vec4 w0;
        [[unroll]]
        for (int k = 0; k < 4; ++k) {
          const int x5 = y | k;
          precise float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
          const bool v2 = (v0 < s2);
          precise float v3 = l3[k];
          precise float v5 = (v3 + v4);
          precise float v7 = (v5 * s3);
          precise float v9 = (v2 ? s4 : v7);
          const bool v11 = (s5 < v9);
          precise float v12 = b2.at[x0 * n11 + x1 * n12 + x2 * n13 + x4];
          precise float v14 = (v12 * s6);
          precise float v16 = (v11 ? v14 : s7);
          precise float v18 = (v2 ? s8 : v16);
          precise float v20 = (v18 * s9);
          w0[k] = v20;
          q24[k] = fma(v18, s9, q24[k]);
        }
        b0_4.at[(u32(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10) >> 2) + vector] = w0;
      }
      r24 = r24 + ((q24[0] + q24[1]) + (q24[2] + q24[3]));
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q24 = float(0);
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        u32 t1 = j;
        const int x5 = int(t1 % u32(n5));
        t1 /= u32(n5);
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        precise float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v3 = b0.at[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
        precise float v5 = (v3 + v4);
        precise float v7 = (v5 * s3);
        precise float v9 = (v2 ? s4 : v7);
        const bool v11 = (s5 < v9);
        precise float v12 = b2.at[x0 * n11 + x1 * n12 + x2 * n13 + x4];
        precise float v14 = (v12 * s6);
        precise float v16 = (v11 ? v14 : s7);
        precise float v18 = (v2 ? s8 : v16);
        precise float v20 = (v18 * s9);
        b0.at[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5] = v20;
        q24 = fma(v18, s9, q24);
      }
      r24 = r24 + q24;
    }
  }
  r24 = sn_workgroup_sum_f32(r24);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r24);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r24 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r24[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r24[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r24 = (r24 + p_r24[u]);
        }
      }
    }
  }
  r24 = sn_workgroup_sum_f32(r24);
  precise float v24 = r24;
  precise float v26 = (v24 * s11);
  precise float v27 = (v23 + v26);
  precise float v31 = (v24 * v24);
  precise float v33 = (v31 * s13);
  precise float v34 = (v30 + v33);
  precise float v36 = (v27 * s14);
  precise float v37 = sn_sqrt_f32(v34);
  precise float v39 = (v37 * s15);
  precise float v41 = (v39 + s16);
  precise float v42 = sn_div_f32(v36, v41);
  precise float v43 = (v4 - v42);
  barrier();
  if (SN_LANE == 0u) {
    b1.at[x0] = v27;
    b3.at[x0] = v34;
    b4.at[x0] = v43;
  }
}
// ---- kernel 7
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_KHR_shader_subgroup_basic : require
#extension GL_KHR_shader_subgroup_shuffle : require
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
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
shared float sn_workgroup_sum_f32_parts[2][8];
u32 sn_workgroup_sum_f32_turn = 0u;
float sn_workgroup_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = sn_workgroup_sum_f32_parts[sn_workgroup_sum_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const float w = subgroupShuffleXor(v, d);
      v = (v + w);
    }
    sn_workgroup_sum_f32_turn ^= 1u;
  }
  return v;
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0)  buffer b0_t { float at[]; } b0;
layout(std430, binding = 0)  buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) restrict buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 5) restrict coherent buffer sn_partials_t { u32 word[]; } sn_partials;
layout(std430, binding = 6) restrict coherent buffer sn_counters_t { u32 word[]; } sn_counters;
shared u32 sn_turn;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const i64 s0 = packInt2x32(ivec2(uvec2(sn_arguments.word[5], sn_arguments.word[6])));
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[7], sn_arguments.word[8])));
  const float s2 = uintBitsToFloat(sn_arguments.word[9]);
  const float s3 = uintBitsToFloat(sn_arguments.word[10]);
  const float s4 = uintBitsToFloat(sn_arguments.word[11]);
  const float s5 = uintBitsToFloat(sn_arguments.word[12]);
  const float s6 = uintBitsToFloat(sn_arguments.word[13]);
  const float s7 = uintBitsToFloat(sn_arguments.word[14]);
  const float s8 = uintBitsToFloat(sn_arguments.word[15]);
  const float s9 = uintBitsToFloat(sn_arguments.word[16]);
  const float s10 = uintBitsToFloat(sn_arguments.word[17]);
  const float s11 = uintBitsToFloat(sn_arguments.word[18]);
  const u32 parts = sn_arguments.word[19];
  const bool vectors = ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(gl_WorkGroupID.x) % u32(parts);
  const u32 unit = u32(gl_WorkGroupID.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(SN_LANES) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  const bool stretches = !vectors && u32(n2) >= u32(8);
  const u32 of_stretch = (u32(n2) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r11 = float(0);
  const int x0 = int(f);
  precise float v8 = b1.at[x0];
  precise float v10 = (v8 * s5);
  precise float v15 = b2.at[x0];
  precise float v17 = (v15 * s7);
  precise float v30 = b3.at[x0];
  if (stretches) {
    for (u32 h = first_piece + u32(SN_LANE); h < pieces; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q11[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        const u32 s = j / of_stretch;
        const int x1 = int(s);
        const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n3 + x1 * n4 + 0) & 3);
        if (y < int(n2)) {
          vec4 l4;
          l4 = b0_4.at[(u32(x0 * n3 + x1 * n4 + y) >> 2)];
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const bool inside = u32(y + k) < u32(n2);
            const int x2 = inside ? y + k : int(0);
            precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
            const bool v2 = (v0 < s2);
            precise float v4 = l4[k];
            precise float v5 = (v2 ? s3 : v4);
            precise float v7 = (v5 * s4);
            w0[k] = v7;
            q11[k] = inside ? fma(v5, s4, q11[k]) : q11[k];
          }
          if (y >= 0 && u32(y + 4) <= u32(n2)) {
            b0_4.at[(u32(x0 * n3 + x1 * n4 + y) >> 2)] = w0;
          }
          else {
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              if (u32(y + k) < u32(n2)) {
                const int x2 = y + k;
                b0.at[x0 * n3 + x1 * n4 + x2] = w0[k];
              }
            }
          }
        }
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
    }
  }
  else {
    for (u32 h = begin + u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
      float q11[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(SN_LANES) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const u32 vector = (u32(y) >> 2);
        vec4 l4;
        l4 = b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector];
        vec4 w0;
        [[unroll]]
        for (int k = 0; k < 4; ++k) {
          const int x2 = y | k;
          precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
          const bool v2 = (v0 < s2);
          precise float v4 = l4[k];
          precise float v5 = (v2 ? s3 : v4);
          precise float v7 = (v5 * s4);
          w0[k] = v7;
          q11[k] = fma(v5, s4, q11[k]);
        }
        b0_4.at[(u32(x0 * n3 + x1 * n4) >> 2) + vector] = w0;
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
    }
    for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
      float q11 = float(0);
      for (u32 j = h; j < end; j += u32(SN_LANES)) {
        u32 t1 = j;
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        precise float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        precise float v4 = b0.at[x0 * n3 + x1 * n4 + x2];
        precise float v5 = (v2 ? s3 : v4);
        precise float v7 = (v5 * s4);
        b0.at[x0 * n3 + x1 * n4 + x2] = v7;
        q11 = fma(v5, s4, q11);
      }
      r11 = r11 + q11;
    }
  }
  r11 = sn_workgroup_sum_f32(r11);
  if (SN_LANE == 0u) {
    sn_partials.word[1u * u32(u32(0) * u32(parts) * points + part * points + f) + 0u] = floatBitsToUint(r11);
  }
  memoryBarrierBuffer();
  barrier();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_turn = atomicAdd(sn_counters.word[unit], 1u);
  memoryBarrierShared();
  barrier();
  if (sn_turn + 1u != parts) return;
  memoryBarrierBuffer();
  if (SN_LANE == 0u && SN_ROW == 0u) sn_counters.word[unit] = 0u;
  r11 = float(0);
  {
    const u32 joins = u32(SN_LANE) < u32(parts) ? (u32(parts) - u32(SN_LANE) + u32(SN_LANES) - 1) / u32(SN_LANES) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r11[8];
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(SN_LANE) + (g + u32(u) < joins ? g + u32(u) : g) * u32(SN_LANES);
        p_r11[u] = uintBitsToFloat(sn_partials.word[1u * u32(u32(0) * u32(parts) * points + p * points + f) + 0u]);
      }
      [[unroll]]
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r11 = (r11 + p_r11[u]);
        }
      }
    }
  }
  r11 = sn_workgroup_sum_f32(r11);
  precise float v11 = r11;
  precise float v13 = (v11 * s6);
  precise float v14 = (v10 + v13);
  precise float v18 = (v11 * v11);
  precise float v20 = (v18 * s8);
  precise float v21 = (v17 + v20);
  precise float v23 = (v14 * s9);
  precise float v24 = sn_sqrt_f32(v21);
  precise float v26 = (v24 * s10);
  precise float v28 = (v26 + s11);
  precise float v29 = sn_div_f32(v23, v28);
  precise float v31 = (v30 - v29);
  barrier();
  if (SN_LANE == 0u) {
    b1.at[x0] = v14;
    b2.at[x0] = v21;
    b3.at[x0] = v31;
  }
}
// ---- kernel 8
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
#define SN_LANES gl_WorkGroupSize.x
#define SN_LANE gl_LocalInvocationID.x
#define SN_ROWS 1u
#define SN_ROW 0u
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b0_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b3_t { float at[]; };
layout(std430, binding = 0) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
u32 sn_first(u32 member) { return sn_arguments.word[1u + member * 18u + 16u]; }
void main() {
  const u32 sn_count = sn_arguments.word[0];
  u32 sn_low = 0u, sn_high = sn_count;
  while (sn_high - sn_low > 1u) {
    const u32 middle = (sn_low + sn_high) >> 1;
    if (sn_first(middle) <= gl_WorkGroupID.x) sn_low = middle; else sn_high = middle;
  }
  const u32 sn_mine = 1u + sn_low * 18u;
  const u32 sn_workgroup = gl_WorkGroupID.x - sn_first(sn_low);
  const u32 sn_workgroups = (sn_high < sn_count ? sn_first(sn_high) : gl_NumWorkGroups.x) - sn_first(sn_low);
  b0_t b0 = b0_t(uvec2(sn_arguments.word[sn_mine + 0u], sn_arguments.word[sn_mine + 1u]));
  b1_t b1 = b1_t(uvec2(sn_arguments.word[sn_mine + 2u], sn_arguments.word[sn_mine + 3u]));
  b2_t b2 = b2_t(uvec2(sn_arguments.word[sn_mine + 4u], sn_arguments.word[sn_mine + 5u]));
  b3_t b3 = b3_t(uvec2(sn_arguments.word[sn_mine + 6u], sn_arguments.word[sn_mine + 7u]));
  const int n0 = int(sn_arguments.word[sn_mine + 8u]);
  const float s0 = uintBitsToFloat(sn_arguments.word[sn_mine + 9u]);
  const float s1 = uintBitsToFloat(sn_arguments.word[sn_mine + 10u]);
  const float s2 = uintBitsToFloat(sn_arguments.word[sn_mine + 11u]);
  const float s3 = uintBitsToFloat(sn_arguments.word[sn_mine + 12u]);
  const float s4 = uintBitsToFloat(sn_arguments.word[sn_mine + 13u]);
  const float s5 = uintBitsToFloat(sn_arguments.word[sn_mine + 14u]);
  const float s6 = uintBitsToFloat(sn_arguments.word[sn_mine + 15u]);
  const u32 points = u32(n0);
  for (u32 f = u32(sn_workgroup * gl_WorkGroupSize.x + gl_LocalInvocationID.x); f < points; f += u32(sn_workgroups * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v3 = b1.at[x0];
    precise float v5 = (v3 * s1);
    precise float v6 = (v2 + v5);
    precise float v7 = b2.at[x0];
    precise float v9 = (v7 * s2);
    precise float v10 = (v3 * v3);
    precise float v12 = (v10 * s3);
    precise float v13 = (v9 + v12);
    precise float v15 = (v6 * s4);
    precise float v16 = sn_sqrt_f32(v13);
    precise float v18 = (v16 * s5);
    precise float v20 = (v18 + s6);
    precise float v21 = sn_div_f32(v15, v20);
    precise float v22 = b3.at[x0];
    precise float v23 = (v22 - v21);
    b0.at[x0] = v6;
    b2.at[x0] = v13;
    b3.at[x0] = v23;
  }
}
// ---- kernel 9
#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_control_flow_attributes : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(constant_id = 1) const uint SN_LANES = 256;
#define SN_LANE (gl_LocalInvocationID.x % SN_LANES)
#define SN_ROWS (gl_WorkGroupSize.x / SN_LANES)
#define SN_ROW (gl_LocalInvocationID.x / SN_LANES)
shared float sn_rows_sum_f32_v[256];
void sn_rows_sum_f32(inout float v) {
  if (SN_ROWS == 1u) return;
  barrier();
  sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
  barrier();
  for (u32 rows = SN_ROWS; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (SN_ROW + left < rows) {
      const float w = sn_rows_sum_f32_v[gl_LocalInvocationID.x + left * SN_LANES];
      precise float joined = (v + w);
      v = joined;
      sn_rows_sum_f32_v[gl_LocalInvocationID.x] = v;
    }
    rows = left;
    barrier();
  }
  v = sn_rows_sum_f32_v[SN_LANE];
}
SN_FN float sn_sqrt_f32(float a) { return sqrt(a); }
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const u32 points = u32(n0);
  for (u32 t = u32(gl_WorkGroupID.x) * u32(SN_LANES); t < points; t += u32(gl_NumWorkGroups.x) * u32(SN_LANES)) {
    const bool there = t + u32(SN_LANE) < points;
    const u32 f = there ? t + u32(SN_LANE) : t;
    const int x0 = int(f);
    precise float v0 = b0.at[x0];
    precise float v2 = (v0 * s0);
    precise float v8 = b2.at[x0];
    precise float v10 = (v8 * s2);
    precise float v23 = b3.at[x0];
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(SN_ROW) >= u32(n1) ? u32(0) : (u32(SN_ROWS) == u32(1) ? u32(n1) - (u32(0) + u32(SN_ROW)) : (u32(n1) - (u32(0) + u32(SN_ROW)) + u32(SN_ROWS) - 1) / u32(SN_ROWS));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + v3);
            }
          }
          if (g < end) {
            [[unroll]]
            for (int u = 0; u < 8; ++u) {
              const bool comes = g + u32(u) < end;
              const u32 j = comes ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(SN_ROW) + j * u32(SN_ROWS));
              precise float v3 = b1.at[x0 + x1 * n2];
              q4 = (q4 + (comes ? v3 : float(0)));
            }
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
    precise float v4 = r4;
    precise float v6 = (v4 * s1);
    precise float v7 = (v2 + v6);
    precise float v11 = (v4 * v4);
    precise float v13 = (v11 * s3);
    precise float v14 = (v10 + v13);
    precise float v16 = (v7 * s4);
    precise float v17 = sn_sqrt_f32(v14);
    precise float v19 = (v17 * s5);
    precise float v21 = (v19 + s6);
    precise float v22 = sn_div_f32(v16, v21);
    precise float v24 = (v23 - v22);
    if (SN_ROWS > 1u) barrier();
    if (there && SN_ROW == 0u) {
      b0.at[x0] = v7;
      b2.at[x0] = v14;
      b3.at[x0] = v24;
    }
  }
}
