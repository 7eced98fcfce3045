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
SN_FN float sn_tanh_f32(float a) {
  const float x = abs(a);
  precise float z = a * a;
  precise float p = fma(z, -6.61022774875164e-3, 2.1309388801455498e-2);
  p = fma(z, p, -5.390942841768265e-2);
  p = fma(z, p, 1.3333113491535187e-1);
  p = fma(z, p, -3.333333134651184e-1);
  p = fma(a, z * p, a);
  precise float e = exp2(min(x, 10.0) * 2.8853900817779268);
  precise float y = 1.0 - 2.0 / (e + 1.0);
  y = uintBitsToFloat(floatBitsToUint(y) | (floatBitsToUint(a) & 0x80000000u));
  return x >= 0.55 ? y : p;
}
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
  const float s0 = uintBitsToFloat(sn_arguments.word[3]);
  const float s1 = uintBitsToFloat(sn_arguments.word[4]);
  const float s2 = uintBitsToFloat(sn_arguments.word[5]);
  const float s3 = uintBitsToFloat(sn_arguments.word[6]);
  const float s4 = uintBitsToFloat(sn_arguments.word[7]);
  const float s5 = uintBitsToFloat(sn_arguments.word[8]);
  const float s6 = uintBitsToFloat(sn_arguments.word[9]);
  const float s7 = uintBitsToFloat(sn_arguments.word[10]);
  const float s8 = uintBitsToFloat(sn_arguments.word[11]);
  const float s9 = uintBitsToFloat(sn_arguments.word[12]);
  const float s10 = uintBitsToFloat(sn_arguments.word[13]);
  const float s11 = uintBitsToFloat(sn_arguments.word[14]);
  const float s12 = uintBitsToFloat(sn_arguments.word[15]);
  const float s13 = uintBitsToFloat(sn_arguments.word[16]);
  const float s14 = uintBitsToFloat(sn_arguments.word[17]);
  const bool vectors = ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 l0;
    l0 = b0_4.at[(u32(x0 * n2) >> 2) + vector];
    vec4 l3;
    l3 = b1_4.at[vector];
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      precise float v0 = l0[k];
      precise float v2 = (v0 * s0);
      precise float v3 = l3[k];
      precise float v4 = (v2 + v3);
      precise float v5 = sn_tanh_f32(v4);
      precise float v7 = (v5 * s1);
      precise float v8 = (v7 + v3);
      precise float v9 = sn_tanh_f32(v8);
      precise float v11 = (v9 * s2);
      precise float v12 = (v11 + v3);
      precise float v13 = sn_tanh_f32(v12);
      precise float v15 = (v13 * s3);
      precise float v16 = (v15 + v3);
      precise float v17 = sn_tanh_f32(v16);
      precise float v19 = (v17 * s4);
      precise float v20 = (v19 + v3);
      precise float v21 = sn_tanh_f32(v20);
      precise float v23 = (v21 * s5);
      precise float v24 = (v23 + v3);
      precise float v25 = sn_tanh_f32(v24);
      precise float v27 = (v25 * s6);
      precise float v28 = (v27 + v3);
      precise float v29 = sn_tanh_f32(v28);
      precise float v31 = (v29 * s7);
      precise float v32 = (v31 + v3);
      precise float v33 = sn_tanh_f32(v32);
      precise float v35 = (v33 * s8);
      precise float v36 = (v35 + v3);
      precise float v37 = sn_tanh_f32(v36);
      precise float v39 = (v37 * s9);
      precise float v40 = (v39 + v3);
      precise float v41 = sn_tanh_f32(v40);
      precise float v43 = (v41 * s10);
      precise float v44 = (v43 + v3);
      precise float v45 = sn_tanh_f32(v44);
      precise float v47 = (v45 * s11);
      precise float v48 = (v47 + v3);
      precise float v49 = sn_tanh_f32(v48);
      precise float v51 = (v49 * s12);
      precise float v52 = (v51 + v3);
      precise float v53 = sn_tanh_f32(v52);
      precise float v55 = (v53 * s13);
      precise float v56 = (v55 + v3);
      precise float v57 = sn_tanh_f32(v56);
      precise float v59 = (v57 * s14);
      precise float v60 = (v59 + v3);
      precise float v61 = sn_tanh_f32(v60);
      w0[k] = v61;
    }
    b2_4.at[(u32(x0 * n2) >> 2) + vector] = w0;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    precise float v0 = b0.at[x0 * n2 + x1];
    precise float v2 = (v0 * s0);
    precise float v3 = b1.at[x1];
    precise float v4 = (v2 + v3);
    precise float v5 = sn_tanh_f32(v4);
    precise float v7 = (v5 * s1);
    precise float v8 = (v7 + v3);
    precise float v9 = sn_tanh_f32(v8);
    precise float v11 = (v9 * s2);
    precise float v12 = (v11 + v3);
    precise float v13 = sn_tanh_f32(v12);
    precise float v15 = (v13 * s3);
    precise float v16 = (v15 + v3);
    precise float v17 = sn_tanh_f32(v16);
    precise float v19 = (v17 * s4);
    precise float v20 = (v19 + v3);
    precise float v21 = sn_tanh_f32(v20);
    precise float v23 = (v21 * s5);
    precise float v24 = (v23 + v3);
    precise float v25 = sn_tanh_f32(v24);
    precise float v27 = (v25 * s6);
    precise float v28 = (v27 + v3);
    precise float v29 = sn_tanh_f32(v28);
    precise float v31 = (v29 * s7);
    precise float v32 = (v31 + v3);
    precise float v33 = sn_tanh_f32(v32);
    precise float v35 = (v33 * s8);
    precise float v36 = (v35 + v3);
    precise float v37 = sn_tanh_f32(v36);
    precise float v39 = (v37 * s9);
    precise float v40 = (v39 + v3);
    precise float v41 = sn_tanh_f32(v40);
    precise float v43 = (v41 * s10);
    precise float v44 = (v43 + v3);
    precise float v45 = sn_tanh_f32(v44);
    precise float v47 = (v45 * s11);
    precise float v48 = (v47 + v3);
    precise float v49 = sn_tanh_f32(v48);
    precise float v51 = (v49 * s12);
    precise float v52 = (v51 + v3);
    precise float v53 = sn_tanh_f32(v52);
    precise float v55 = (v53 * s13);
    precise float v56 = (v55 + v3);
    precise float v57 = sn_tanh_f32(v56);
    precise float v59 = (v57 * s14);
    precise float v60 = (v59 + v3);
    precise float v61 = sn_tanh_f32(v60);
    b2.at[x0 * n2 + x1] = v61;
  }
}
