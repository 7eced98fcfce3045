// ---- kernel 0
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
bool sn_is_nan_f32(float a) { return (floatBitsToUint(a) & 0x7fffffffu) > 0x7f800000u; }
SN_FN float sn_max_f32(float a, float b) { return a > b || sn_is_nan_f32(a) ? a : b; }
shared float sn_group_max_f32_parts[8];
float sn_group_max_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = sn_max_f32(v, w);
  }
  if (gl_WorkGroupSize.x > 32u) {
    barrier();
    if (gl_SubgroupInvocationID == 0u) sn_group_max_f32_parts[gl_SubgroupID] = v;
    barrier();
    v = sn_group_max_f32_parts[0];
    for (u32 i = 1u; i < gl_WorkGroupSize.x / 32u; ++i) {
      const float w = sn_group_max_f32_parts[i];
      v = sn_max_f32(v, w);
    }
    return v;
  }
  return subgroupShuffle(v, 0u);
}
SN_FN float sn_exp_f32(float a) {
  const float x = clamp(a, -104.0, 89.0);
  precise float t = x * 1.4426950408889634 + 12582912.0;
  precise float k = t - 12582912.0;
  precise float r = (x - k * 0.693359375) + k * 2.1219444005469057e-4;
  precise float p = fma(r, 1.3926966348662972e-3, 8.363766595721245e-3);
  p = fma(r, p, 4.166654869914055e-2);
  p = fma(r, p, 1.6666573286056519e-1);
  p = fma(r, p, 0.5);
  p = 1.0 + fma(r * r, p, r);
  const u32 e = floatBitsToUint(t), low = e >> 1;
  precise float y = (p * uintBitsToFloat((low << 23) + 0x3f800000u)) * uintBitsToFloat(((e - low) << 23) + 0x3f800000u);
  return sn_is_nan_f32(a) ? a : y;
}
shared float sn_group_sum_f32_parts[8];
float sn_group_sum_f32(float mine) {
  precise float v = mine;
  [[unroll]]
  for (u32 d = 32u >> 1; d > 0u; d >>= 1) {
    const float w = subgroupShuffleXor(v, d);
    v = (v + w);
  }
  if (gl_WorkGroupSize.x > 32u) {
    barrier();
    if (gl_SubgroupInvocationID == 0u) sn_group_sum_f32_parts[gl_SubgroupID] = v;
    barrier();
    v = sn_group_sum_f32_parts[0];
    for (u32 i = 1u; i < gl_WorkGroupSize.x / 32u; ++i) {
      const float w = sn_group_sum_f32_parts[i];
      v = (v + w);
    }
    return v;
  }
  return subgroupShuffle(v, 0u);
}
SN_FN float sn_div_f32(float a, float b) {
  const float s = abs(b) > float(4.2535295865117308e37) ? float(0.25) : float(1);
  return (a * s) / (b * s);
}
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 0) restrict readonly buffer b0_4_t { vec4 at[]; } b0_4;
layout(std430, binding = 1) writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 1) writeonly buffer b1_4_t { vec4 at[]; } b1_4;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const int n2 = int(sn_arguments.word[2]);
  const bool vectors = ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && inner % u32(4) == u32(0)) {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      vec4 h0[2];
      float r1 = uintBitsToFloat(0xff800000u);
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(gl_WorkGroupSize.x) + u32(gl_LocalInvocationID.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          h0[i] = b0_4.at[(u32(x0 * n2 + y) >> 2)];
        }
      }
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(gl_WorkGroupSize.x) + u32(gl_LocalInvocationID.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = h0[i][k];
            r1 = sn_max_f32(r1, v0);
          }
        }
      }
      r1 = sn_group_max_f32(r1);
      precise float v1 = r1;
      float r4 = float(0);
      float q4[4] = {float(0), float(0), float(0), float(0)};
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(gl_WorkGroupSize.x) + u32(gl_LocalInvocationID.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v0 = h0[i][k];
            precise float v2 = (v0 - v1);
            precise float v3 = sn_exp_f32(v2);
            h0[i][k] = v3;
            q4[k] = (q4[k] + v3);
          }
        }
      }
      r4 = r4 + ((q4[0] + q4[1]) + (q4[2] + q4[3]));
      r4 = sn_group_sum_f32(r4);
      precise float v4 = r4;
      [[unroll]]
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(gl_WorkGroupSize.x) + u32(gl_LocalInvocationID.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          vec4 w0;
          [[unroll]]
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            precise float v3 = h0[i][k];
            precise float v5 = sn_div_f32(v3, v4);
            w0[k] = v5;
          }
          b1_4.at[(u32(x0 * n2 + y) >> 2)] = w0;
        }
      }
    }
  }
  else {
    for (u32 f = u32(gl_WorkGroupID.x); f < points; f += u32(gl_NumWorkGroups.x)) {
      const int x0 = int(f);
      float r1 = uintBitsToFloat(0xff800000u);
      for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        r1 = sn_max_f32(r1, v0);
      }
      r1 = sn_group_max_f32(r1);
      precise float v1 = r1;
      float r4 = float(0);
      for (u32 h = u32(gl_LocalInvocationID.x); h < inner; h += u32(u32(gl_WorkGroupSize.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(gl_WorkGroupSize.x) * 32) ? left : u32(u32(gl_WorkGroupSize.x) * 32));
        float q4 = float(0);
        for (u32 j = h; j < end; j += u32(gl_WorkGroupSize.x)) {
          const int x1 = int(j);
          precise float v0 = b0.at[x0 * n2 + x1];
          precise float v2 = (v0 - v1);
          precise float v3 = sn_exp_f32(v2);
          q4 = (q4 + v3);
        }
        r4 = r4 + q4;
      }
      r4 = sn_group_sum_f32(r4);
      precise float v4 = r4;
      for (u32 j = u32(gl_LocalInvocationID.x); j < inner; j += u32(gl_WorkGroupSize.x)) {
        const int x1 = int(j);
        precise float v0 = b0.at[x0 * n2 + x1];
        precise float v2 = (v0 - v1);
        precise float v3 = sn_exp_f32(v2);
        precise float v5 = sn_div_f32(v3, v4);
        b1.at[x0 * n2 + x1] = v5;
      }
    }
  }
}
