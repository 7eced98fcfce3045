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
SN_FN float sn_abs_f32(float a) { return abs(a); }
layout(std430, binding = 0) restrict readonly buffer b0_t { float at[]; } b0;
layout(std430, binding = 1) restrict writeonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
void main() {
  const i64 n0 = packInt2x32(ivec2(uvec2(sn_arguments.word[0], sn_arguments.word[1])));
  const i64 n1 = packInt2x32(ivec2(uvec2(sn_arguments.word[2], sn_arguments.word[3])));
  const i64 n2 = packInt2x32(ivec2(uvec2(sn_arguments.word[4], sn_arguments.word[5])));
  const i64 points = i64(n0);
  for (i64 f = i64(gl_GlobalInvocationID.x); f < points; f += i64(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const i64 x0 = i64(f);
    precise float v0 = b0.at[u32(x0 * n1)];
    precise float v1 = sn_abs_f32(v0);
    b1.at[u32(x0 * n2)] = v1;
  }
}
