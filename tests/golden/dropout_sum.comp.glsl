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
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict writeonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const int n4 = int(sn_arguments.word[4]);
  const float s0 = uintBitsToFloat(sn_arguments.word[5]);
  const i64 s1 = packInt2x32(ivec2(uvec2(sn_arguments.word[6], sn_arguments.word[7])));
  const i64 s2 = packInt2x32(ivec2(uvec2(sn_arguments.word[8], sn_arguments.word[9])));
  const float s3 = uintBitsToFloat(sn_arguments.word[10]);
  const float s4 = uintBitsToFloat(sn_arguments.word[11]);
  const bool vectors = ((n3 | n4) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const bool stretches = !vectors && u32(n1) >= u32(8) && ((n4 ^ n3) & 3) == 0;
  const u32 of_stretch = (u32(n1) + u32(6)) / u32(4);
  const u32 pieces = u32(1) * of_stretch;
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r8 = float(0);
    if (stretches) {
      for (u32 h = u32(SN_LANE); h < pieces; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = pieces - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q8[4] = {float(0), float(0), float(0), float(0)};
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int y = int(j * u32(4)) - ((x0 * n3 + 0) & 3);
          if (y < int(n1)) {
            vec4 l3;
            l3 = b0_4.at[(u32(x0 * n3 + y) >> 2)];
            vec4 w0;
            [[unroll]]
            for (int k = 0; k < 4; ++k) {
              const bool inside = u32(y + k) < u32(n1);
              const int x1 = inside ? y + k : int(0);
              precise float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
              const bool v2 = (v1 < s0);
              precise float v3 = l3[k];
              precise float v6 = (v3 * s4);
              precise float v7 = (v2 ? v6 : s3);
              w0[k] = v7;
              q8[k] = (q8[k] + (inside ? v7 : float(0)));
            }
            if (y >= 0 && u32(y + 4) <= u32(n1)) {
              b1_4.at[(u32(x0 * n4 + y) >> 2)] = w0;
            }
            else {
              [[unroll]]
              for (int k = 0; k < 4; ++k) {
                if (u32(y + k) < u32(n1)) {
                  const int x1 = y + k;
                  b1.at[x0 * n4 + x1] = w0[k];
                }
              }
            }
          }
        }
        r8 = r8 + ((q8[0] + q8[1]) + (q8[2] + q8[3]));
      }
    }
    else {
      for (u32 h = u32(SN_LANE) * u32(4); h < inner4; h += u32(u32(SN_LANES) * u32(4) * 32)) {
        const u32 left = inner4 - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * u32(4) * 32) ? left : u32(u32(SN_LANES) * u32(4) * 32));
        float q8[4] = {float(0), float(0), float(0), float(0)};
        for (u32 j = h; j < end; j += u32(SN_LANES) * u32(4)) {
          const int y = int(j);
          const u32 vector = (u32(y) >> 2);
          vec4 l3;
          l3 = b0_4.at[(u32(x0 * n3) >> 2) + vector];
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y | k;
            precise float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
            const bool v2 = (v1 < s0);
            precise float v3 = l3[k];
            precise float v6 = (v3 * s4);
            precise float v7 = (v2 ? v6 : s3);
            w0[k] = v7;
            q8[k] = (q8[k] + v7);
          }
          b1_4.at[(u32(x0 * n4) >> 2) + vector] = w0;
        }
        r8 = r8 + ((q8[0] + q8[1]) + (q8[2] + q8[3]));
      }
      for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q8 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          precise float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
          const bool v2 = (v1 < s0);
          precise float v3 = b0.at[x0 * n3 + x1];
          precise float v6 = (v3 * s4);
          precise float v7 = (v2 ? v6 : s3);
          b1.at[x0 * n4 + x1] = v7;
          q8 = (q8 + v7);
        }
        r8 = r8 + q8;
      }
    }
    r8 = sn_workgroup_sum_f32(r8);
    precise float v8 = r8;
    if (SN_LANE == 0u) {
      b2.at[x0] = v8;
    }
  }
}
