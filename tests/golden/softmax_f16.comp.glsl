#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_16bit_storage : require
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
uvec4 sn_halves(uvec2 a) { return uvec4(a.x & 65535u, a.x >> 16, a.y & 65535u, a.y >> 16); }
float sn_cast_f16_f32(u32 a) {
  const u32 sign = (a & 0x8000u) << 16, size = a & 0x7fffu;
  const u32 small = floatBitsToUint(float(size) * 5.9604644775390625e-8);
  const u32 large = (size << 13) + (size < 0x7c00u ? 0x38000000u : 0x70000000u);
  return uintBitsToFloat(sign | (size < 0x400u ? small : large));
}
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
shared int keys_of_sn_workgroup_max_f32_parts[2][8];
u32 keys_of_sn_workgroup_max_f32_turn = 0u;
int keys_of_sn_workgroup_max_f32(int mine) {
  int v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const int w = subgroupShuffleXor(v, d);
    v = max(v, w);
  }
  const u32 count = gl_WorkGroupSize.x / 32u;
  if (count > 1u) {
    if (gl_SubgroupInvocationID == 0u) keys_of_sn_workgroup_max_f32_parts[keys_of_sn_workgroup_max_f32_turn][gl_SubgroupID] = v;
    barrier();
    v = keys_of_sn_workgroup_max_f32_parts[keys_of_sn_workgroup_max_f32_turn][gl_SubgroupInvocationID & (count - 1u)];
    [[unroll]]
    for (u32 d = count >> 1; d > 0u; d >>= 1) {
      const int w = subgroupShuffleXor(v, d);
      v = max(v, w);
    }
    keys_of_sn_workgroup_max_f32_turn ^= 1u;
  }
  return v;
}
float sn_workgroup_max_f32(float mine) {
  const int bits = floatBitsToInt(mine);
  const int key = keys_of_sn_workgroup_max_f32(sn_is_nan_f32(mine) ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff));
  return intBitsToFloat(key ^ ((key >> 31) & 0x7fffffff));
}
SN_FN float sn_exp_f32(float a) {
  precise float t = clamp(a * 1.4426950408889634, -126.0, 127.0) + 12583039.0;
  precise float k = t - 12583039.0;
  precise float r = a - k * 0.693359375;
  precise float f = fma(k, 3.0613186637111251e-4, r * 1.4426950408889634);
  precise float y = exp2(f) * uintBitsToFloat(floatBitsToUint(t) << 23);
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
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
u32 sn_cast_f32_f16(float a) {
  const u32 b = floatBitsToUint(a), sign = (b >> 16) & 0x8000u, size = b & 0x7fffffffu;
  precise float sum = uintBitsToFloat(size) + 0.5;
  const u32 small = floatBitsToUint(sum) - 0x3f000000u, moved = size - 0x38000000u;
  const u32 large = min((moved + 0xfffu + ((moved >> 13) & 1u)) >> 13, 0x7c00u);
  const u32 finite = size < 0x38800000u ? small : large;
  return sign | (size > 0x7f800000u ? 0x7e00u : finite);
}
uvec2 sn_words_of_halves(uvec4 a) { return uvec2(a.x | (a.y << 16), a.z | (a.w << 16)); }
layout(std430, binding = 0) restrict readonly buffer b0_t { uint16_t at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { uvec4 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { uint16_t at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { uvec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const int n3 = int(sn_arguments.word[3]);
  const bool vectors = ((n2 | n3) & 7) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const bool stretches = !vectors && u32(n1) >= u32(16) && ((n3 ^ n2) & 7) == 0;
  const u32 of_stretch = (u32(n1) + u32(14)) / u32(8);
  const u32 pieces = u32(1) * of_stretch;
  const u32 inner4 = vectors ? inner - inner % u32(8) : u32(0);
  for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
    const int x0 = int(f);
    float r2 = uintBitsToFloat(0xff800000u);
    float r2_all = float(0);
    if (stretches) {
      {
        u32 g = u32(SN_LANE);
        for (; g + u32(SN_LANES) * u32(3) < pieces; g += u32(SN_LANES) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(SN_LANES) * u32(u);
            const int y = int(j * u32(8)) - ((x0 * n2 + 0) & 7);
            if (y < int(n1)) {
              u32 l0[8];
              { const uvec4 words = b0_4.at[(u32(x0 * n2 + y) >> 3)], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
              [[unroll]]
              for (int k = 0; k < 8; ++k) {
                const bool inside = u32(y + k) < u32(n1);
                const int x1 = inside ? y + k : int(0);
                const u32 v0 = l0[k];
                precise float v1 = sn_cast_f16_f32(v0);
                r2 = max(r2, (inside ? v1 : uintBitsToFloat(0xff800000u)));
                r2_all = r2_all + abs((inside ? v1 : uintBitsToFloat(0xff800000u)));
              }
            }
          }
        }
        if (g < pieces) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const bool comes = g + u32(SN_LANES) * u32(u) < pieces;
            const u32 j = comes ? g + u32(SN_LANES) * u32(u) : g;
            const int y = int(j * u32(8)) - ((x0 * n2 + 0) & 7);
            if (y < int(n1)) {
              u32 l0[8];
              { const uvec4 words = b0_4.at[(u32(x0 * n2 + y) >> 3)], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
              [[unroll]]
              for (int k = 0; k < 8; ++k) {
                const bool inside = u32(y + k) < u32(n1);
                const int x1 = inside ? y + k : int(0);
                const u32 v0 = l0[k];
                precise float v1 = sn_cast_f16_f32(v0);
                r2 = max(r2, (inside && comes ? v1 : uintBitsToFloat(0xff800000u)));
                r2_all = r2_all + abs((inside && comes ? v1 : uintBitsToFloat(0xff800000u)));
              }
            }
          }
        }
      }
    }
    else {
      {
        u32 g = u32(SN_LANE) * u32(8);
        for (; g + u32(SN_LANES) * u32(8) * u32(3) < inner4; g += u32(SN_LANES) * u32(8) * u32(4)) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const u32 j = g + u32(SN_LANES) * u32(8) * u32(u);
            const int y = int(j);
            const u32 vector = (u32(y) >> 3);
            u32 l0[8];
            { const uvec4 words = b0_4.at[(u32(x0 * n2) >> 3) + vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
            [[unroll]]
            for (int k = 0; k < 8; ++k) {
              const int x1 = y + k;
              const u32 v0 = l0[k];
              precise float v1 = sn_cast_f16_f32(v0);
              r2 = max(r2, v1);
              r2_all = r2_all + abs(v1);
            }
          }
        }
        if (g < inner4) {
          [[unroll]]
          for (int u = 0; u < 4; ++u) {
            const bool comes = g + u32(SN_LANES) * u32(8) * u32(u) < inner4;
            const u32 j = comes ? g + u32(SN_LANES) * u32(8) * u32(u) : g;
            const int y = int(j);
            const u32 vector = (u32(y) >> 3);
            u32 l0[8];
            { const uvec4 words = b0_4.at[(u32(x0 * n2) >> 3) + vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
            [[unroll]]
            for (int k = 0; k < 8; ++k) {
              const int x1 = y + k;
              const u32 v0 = l0[k];
              precise float v1 = sn_cast_f16_f32(v0);
              r2 = max(r2, (comes ? v1 : uintBitsToFloat(0xff800000u)));
              r2_all = r2_all + abs((comes ? v1 : uintBitsToFloat(0xff800000u)));
            }
          }
        }
      }
      for (u32 j = inner4 + u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        const u32 v0 = u32(b0.at[x0 * n2 + x1]);
        precise float v1 = sn_cast_f16_f32(v0);
        r2 = max(r2, v1);
        r2_all = r2_all + abs(v1);
      }
    }
    r2 = sn_is_nan_f32(r2_all) ? r2_all : r2;
    r2 = sn_workgroup_max_f32(r2);
    precise float v2 = r2;
    float r5 = float(0);
    if (stretches) {
      for (u32 h = u32(SN_LANE); h < pieces; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = pieces - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q5[8] = {float(0), float(0), float(0), float(0), float(0), float(0), float(0), float(0)};
        {
          u32 g = h;
          for (; g + u32(SN_LANES) * u32(3) < end; g += u32(SN_LANES) * u32(4)) {
            [[unroll]]
            for (int u = 0; u < 4; ++u) {
              const u32 j = g + u32(SN_LANES) * u32(u);
              const int y = int(j * u32(8)) - ((x0 * n2 + 0) & 7);
              if (y < int(n1)) {
                u32 l0[8];
                { const uvec4 words = b0_4.at[(u32(x0 * n2 + y) >> 3)], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
                [[unroll]]
                for (int k = 0; k < 8; ++k) {
                  const bool inside = u32(y + k) < u32(n1);
                  const int x1 = inside ? y + k : int(0);
                  const u32 v0 = l0[k];
                  precise float v1 = sn_cast_f16_f32(v0);
                  precise float v3 = (v1 - v2);
                  precise float v4 = sn_exp_f32(v3);
                  q5[k] = (q5[k] + (inside ? v4 : float(0)));
                }
              }
            }
          }
          for (u32 j = g; j < end; j += u32(SN_LANES)) {
            const int y = int(j * u32(8)) - ((x0 * n2 + 0) & 7);
            if (y < int(n1)) {
              u32 l0[8];
              { const uvec4 words = b0_4.at[(u32(x0 * n2 + y) >> 3)], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
              [[unroll]]
              for (int k = 0; k < 8; ++k) {
                const bool inside = u32(y + k) < u32(n1);
                const int x1 = inside ? y + k : int(0);
                const u32 v0 = l0[k];
                precise float v1 = sn_cast_f16_f32(v0);
                precise float v3 = (v1 - v2);
                precise float v4 = sn_exp_f32(v3);
                q5[k] = (q5[k] + (inside ? v4 : float(0)));
              }
            }
          }
        }
        r5 = r5 + (((q5[0] + q5[1]) + (q5[2] + q5[3])) + ((q5[4] + q5[5]) + (q5[6] + q5[7])));
      }
    }
    else {
      for (u32 h = u32(SN_LANE) * u32(8); h < inner4; h += u32(u32(SN_LANES) * u32(8) * 32)) {
        const u32 left = inner4 - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * u32(8) * 32) ? left : u32(u32(SN_LANES) * u32(8) * 32));
        float q5[8] = {float(0), float(0), float(0), float(0), float(0), float(0), float(0), float(0)};
        {
          u32 g = h;
          for (; g + u32(SN_LANES) * u32(8) * u32(3) < end; g += u32(SN_LANES) * u32(8) * u32(4)) {
            [[unroll]]
            for (int u = 0; u < 4; ++u) {
              const u32 j = g + u32(SN_LANES) * u32(8) * u32(u);
              const int y = int(j);
              const u32 vector = (u32(y) >> 3);
              u32 l0[8];
              { const uvec4 words = b0_4.at[(u32(x0 * n2) >> 3) + vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
              [[unroll]]
              for (int k = 0; k < 8; ++k) {
                const int x1 = y + k;
                const u32 v0 = l0[k];
                precise float v1 = sn_cast_f16_f32(v0);
                precise float v3 = (v1 - v2);
                precise float v4 = sn_exp_f32(v3);
                q5[k] = (q5[k] + v4);
              }
            }
          }
          for (u32 j = g; j < end; j += u32(SN_LANES) * u32(8)) {
            const int y = int(j);
            const u32 vector = (u32(y) >> 3);
            u32 l0[8];
            { const uvec4 words = b0_4.at[(u32(x0 * n2) >> 3) + vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
            [[unroll]]
            for (int k = 0; k < 8; ++k) {
              const int x1 = y + k;
              const u32 v0 = l0[k];
              precise float v1 = sn_cast_f16_f32(v0);
              precise float v3 = (v1 - v2);
              precise float v4 = sn_exp_f32(v3);
              q5[k] = (q5[k] + v4);
            }
          }
        }
        r5 = r5 + (((q5[0] + q5[1]) + (q5[2] + q5[3])) + ((q5[4] + q5[5]) + (q5[6] + q5[7])));
      }
      for (u32 h = inner4 + u32(SN_LANE); h < inner; h += u32(u32(SN_LANES) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(SN_LANES) * 32) ? left : u32(u32(SN_LANES) * 32));
        float q5 = float(0);
        for (u32 j = h; j < end; j += u32(SN_LANES)) {
          const int x1 = int(j);
          const u32 v0 = u32(b0.at[x0 * n2 + x1]);
          precise float v1 = sn_cast_f16_f32(v0);
          precise float v3 = (v1 - v2);
          precise float v4 = sn_exp_f32(v3);
          q5 = (q5 + v4);
        }
        r5 = r5 + q5;
      }
    }
    r5 = sn_workgroup_sum_f32(r5);
    precise float v5 = r5;
    if (stretches) {
      for (u32 j = u32(SN_LANE); j < pieces; j += u32(SN_LANES)) {
        const int y = int(j * u32(8)) - ((x0 * n2 + 0) & 7);
        if (y < int(n1)) {
          u32 l0[8];
          { const uvec4 words = b0_4.at[(u32(x0 * n2 + y) >> 3)], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
          u32 w0[8];
          [[unroll]]
          for (int k = 0; k < 8; ++k) {
            const bool inside = u32(y + k) < u32(n1);
            const int x1 = inside ? y + k : int(0);
            const u32 v0 = l0[k];
            precise float v1 = sn_cast_f16_f32(v0);
            precise float v3 = (v1 - v2);
            precise float v6 = sn_exp_f32(v3);
            precise float v7 = sn_div_f32(v6, v5);
            const u32 v8 = sn_cast_f32_f16(v7);
            w0[k] = v8;
          }
          if (y >= 0 && u32(y + 8) <= u32(n1)) {
            b1_4.at[(u32(x0 * n3 + y) >> 3)] = uvec4(sn_words_of_halves(uvec4(w0[0], w0[1], w0[2], w0[3])), sn_words_of_halves(uvec4(w0[4], w0[5], w0[6], w0[7])));
          }
          else {
            [[unroll]]
            for (int k = 0; k < 8; ++k) {
              if (u32(y + k) < u32(n1)) {
                const int x1 = y + k;
                b1.at[x0 * n3 + x1] = uint16_t(w0[k]);
              }
            }
          }
        }
      }
    }
    else {
      for (u32 j = u32(SN_LANE) * u32(8); j < inner4; j += u32(SN_LANES) * u32(8)) {
        const int y = int(j);
        const u32 vector = (u32(y) >> 3);
        u32 l0[8];
        { const uvec4 words = b0_4.at[(u32(x0 * n2) >> 3) + vector], a = sn_halves(words.xy), b = sn_halves(words.zw); l0 = u32[8](a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w); }
        u32 w0[8];
        [[unroll]]
        for (int k = 0; k < 8; ++k) {
          const int x1 = y + k;
          const u32 v0 = l0[k];
          precise float v1 = sn_cast_f16_f32(v0);
          precise float v3 = (v1 - v2);
          precise float v6 = sn_exp_f32(v3);
          precise float v7 = sn_div_f32(v6, v5);
          const u32 v8 = sn_cast_f32_f16(v7);
          w0[k] = v8;
        }
        b1_4.at[(u32(x0 * n3) >> 3) + vector] = uvec4(sn_words_of_halves(uvec4(w0[0], w0[1], w0[2], w0[3])), sn_words_of_halves(uvec4(w0[4], w0[5], w0[6], w0[7])));
      }
      for (u32 j = inner4 + u32(SN_LANE); j < inner; j += u32(SN_LANES)) {
        const int x1 = int(j);
        const u32 v0 = u32(b0.at[x0 * n2 + x1]);
        precise float v1 = sn_cast_f16_f32(v0);
        precise float v3 = (v1 - v2);
        precise float v6 = sn_exp_f32(v3);
        precise float v7 = sn_div_f32(v6, v5);
        const u32 v8 = sn_cast_f32_f16(v7);
        b1.at[x0 * n3 + x1] = uint16_t(v8);
      }
    }
  }
}
