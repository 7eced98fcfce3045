// ---- kernel 0
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
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b1_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer b2_t { float at[]; };
layout(buffer_reference, std430, buffer_reference_align = 4) readonly buffer b3_t { float at[]; };
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
    b1.at[x0] = v13;
    b2.at[x0] = v23;
  }
}
