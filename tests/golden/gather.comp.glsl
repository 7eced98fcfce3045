#version 450
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#extension GL_EXT_shader_8bit_storage : require
#define u32 uint
#define i64 int64_t
#define u64 uint64_t
#define SN_FN
layout(local_size_x = 256, local_size_x_id = 0) in;
layout(std430, binding = 0) restrict readonly buffer b0_t { uint8_t at[]; } b0;
layout(std430, binding = 1) restrict readonly buffer b1_t { i64 at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict writeonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
layout(std430, binding = 5) restrict buffer sn_fault_t { u32 word[]; } sn_fault;
void main() {
  const int n0 = int(sn_arguments.word[0]);
  const int n1 = int(sn_arguments.word[1]);
  const u32 points = u32(n0);
  for (u32 f = u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    const int x0 = int(f);
    const bool v0 = u32(b0.at[x0]) != 0u;
    const i64 v1 = b1.at[x0];
    float v2 = float(0);
    if (v0) {
      if (v1 >= i64(0) && v1 < i64(n1)) {
        v2 = b2.at[int(v1)];
      }
      else {
        sn_fault.word[0] = 1u;
      }
    }
    b3.at[x0] = v2;
  }
}
