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
layout(std430, binding = 1) restrict readonly buffer b1_t { float at[]; } b1;
layout(std430, binding = 2) restrict readonly buffer b2_t { float at[]; } b2;
layout(std430, binding = 3) restrict readonly buffer b3_t { float at[]; } b3;
layout(std430, binding = 4) restrict readonly buffer b4_t { float at[]; } b4;
layout(std430, binding = 5) restrict readonly buffer b5_t { float at[]; } b5;
layout(std430, binding = 6) restrict readonly buffer b6_t { float at[]; } b6;
layout(std430, binding = 7) restrict readonly buffer b7_t { float at[]; } b7;
layout(std430, binding = 8) writeonly buffer b8_t { float at[]; } b8;
layout(std430, binding = 8) writeonly buffer b8_4_t { vec4 at[]; } b8_4;
layout(std430, binding = 9) restrict readonly buffer sn_arguments_t { u32 word[]; } sn_arguments;
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
  const int n14 = int(sn_arguments.word[14]);
  const int n15 = int(sn_arguments.word[15]);
  const int n16 = int(sn_arguments.word[16]);
  const int n17 = int(sn_arguments.word[17]);
  const int n18 = int(sn_arguments.word[18]);
  const int n19 = int(sn_arguments.word[19]);
  const int n20 = int(sn_arguments.word[20]);
  const int n21 = int(sn_arguments.word[21]);
  const int n22 = int(sn_arguments.word[22]);
  const int n23 = int(sn_arguments.word[23]);
  const int n24 = int(sn_arguments.word[24]);
  const int n25 = int(sn_arguments.word[25]);
  const int n26 = int(sn_arguments.word[26]);
  const int n27 = int(sn_arguments.word[27]);
  const int n28 = int(sn_arguments.word[28]);
  const int n29 = int(sn_arguments.word[29]);
  const int n30 = int(sn_arguments.word[30]);
  const int n31 = int(sn_arguments.word[31]);
  const int n32 = int(sn_arguments.word[32]);
  const int n33 = int(sn_arguments.word[33]);
  const int n34 = int(sn_arguments.word[34]);
  const int n35 = int(sn_arguments.word[35]);
  const int n36 = int(sn_arguments.word[36]);
  const int n37 = int(sn_arguments.word[37]);
  const int n38 = int(sn_arguments.word[38]);
  const int n39 = int(sn_arguments.word[39]);
  const int n40 = int(sn_arguments.word[40]);
  const float s0 = uintBitsToFloat(sn_arguments.word[41]);
  const float s1 = uintBitsToFloat(sn_arguments.word[42]);
  const float s2 = uintBitsToFloat(sn_arguments.word[43]);
  const float s3 = uintBitsToFloat(sn_arguments.word[44]);
  const float s4 = uintBitsToFloat(sn_arguments.word[45]);
  const float s5 = uintBitsToFloat(sn_arguments.word[46]);
  const float s6 = uintBitsToFloat(sn_arguments.word[47]);
  const float s7 = uintBitsToFloat(sn_arguments.word[48]);
  const float s8 = uintBitsToFloat(sn_arguments.word[49]);
  const bool vectors = ((n1 | n17) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(gl_GlobalInvocationID.x) * u32(4); f < points4; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const u32 vector = (u32(y) >> 2);
    vec4 w0;
    [[unroll]]
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      bool v0 = true;
      {
        const int c0 = x1;
        v0 = c0 >= n19 && (c0 - n19) < n20;
      }
      float v1 = float(0);
      if (v0) {
        v1 = b0.at[n3 + x0 * n2 + x1];
      }
      precise float v2 = sn_tanh_f32(v1);
      precise float v4 = (v2 * s0);
      bool v5 = true;
      {
        const int c0 = x1;
        v5 = c0 >= n22 && (c0 - n22) < n23;
      }
      float v6 = float(0);
      if (v5) {
        v6 = b1.at[n5 + x0 * n4 + x1];
      }
      precise float v7 = sn_tanh_f32(v6);
      precise float v9 = (v7 * s1);
      bool v10 = true;
      {
        const int c0 = x1;
        v10 = c0 >= n25 && (c0 - n25) < n26;
      }
      float v11 = float(0);
      if (v10) {
        v11 = b2.at[n7 + x0 * n6 + x1];
      }
      precise float v12 = sn_tanh_f32(v11);
      precise float v14 = (v12 * s2);
      bool v15 = true;
      {
        const int c0 = x1;
        v15 = c0 >= n28 && (c0 - n28) < n29;
      }
      float v16 = float(0);
      if (v15) {
        v16 = b3.at[n9 + x0 * n8 + x1];
      }
      precise float v17 = sn_tanh_f32(v16);
      precise float v19 = (v17 * s3);
      bool v20 = true;
      {
        const int c0 = x1;
        v20 = c0 >= n31 && (c0 - n31) < n32;
      }
      float v21 = float(0);
      if (v20) {
        v21 = b4.at[n11 + x0 * n10 + x1];
      }
      precise float v22 = sn_tanh_f32(v21);
      precise float v24 = (v22 * s4);
      bool v25 = true;
      {
        const int c0 = x1;
        v25 = c0 >= n34 && (c0 - n34) < n35;
      }
      float v26 = float(0);
      if (v25) {
        v26 = b5.at[n13 + x0 * n12 + x1];
      }
      precise float v27 = sn_tanh_f32(v26);
      precise float v29 = (v27 * s5);
      bool v30 = true;
      {
        const int c0 = x1;
        v30 = c0 >= n37 && (c0 - n37) < n38;
      }
      float v31 = float(0);
      if (v30) {
        v31 = b6.at[n15 + x0 * n14 + x1];
      }
      precise float v32 = sn_tanh_f32(v31);
      precise float v34 = (v32 * s6);
      bool v35 = true;
      {
        const int c0 = x1;
        v35 = c0 < n40;
      }
      float v36 = float(0);
      if (v35) {
        v36 = b7.at[x0 * n16 + x1];
      }
      precise float v37 = sn_tanh_f32(v36);
      precise float v39 = (v37 * s7);
      precise float v41 = (v35 ? v39 : s8);
      precise float v42 = (v30 ? v34 : v41);
      precise float v43 = (v25 ? v29 : v42);
      precise float v44 = (v20 ? v24 : v43);
      precise float v45 = (v15 ? v19 : v44);
      precise float v46 = (v10 ? v14 : v45);
      precise float v47 = (v5 ? v9 : v46);
      precise float v48 = (v0 ? v4 : v47);
      w0[k] = v48;
    }
    b8_4.at[(u32(x0 * n17) >> 2) + vector] = w0;
  }
  for (u32 f = points4 + u32(gl_GlobalInvocationID.x); f < points; f += u32(gl_NumWorkGroups.x * gl_WorkGroupSize.x)) {
    u32 t0 = f;
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    bool v0 = true;
    {
      const int c0 = x1;
      v0 = c0 >= n19 && (c0 - n19) < n20;
    }
    float v1 = float(0);
    if (v0) {
      v1 = b0.at[n3 + x0 * n2 + x1];
    }
    precise float v2 = sn_tanh_f32(v1);
    precise float v4 = (v2 * s0);
    bool v5 = true;
    {
      const int c0 = x1;
      v5 = c0 >= n22 && (c0 - n22) < n23;
    }
    float v6 = float(0);
    if (v5) {
      v6 = b1.at[n5 + x0 * n4 + x1];
    }
    precise float v7 = sn_tanh_f32(v6);
    precise float v9 = (v7 * s1);
    bool v10 = true;
    {
      const int c0 = x1;
      v10 = c0 >= n25 && (c0 - n25) < n26;
    }
    float v11 = float(0);
    if (v10) {
      v11 = b2.at[n7 + x0 * n6 + x1];
    }
    precise float v12 = sn_tanh_f32(v11);
    precise float v14 = (v12 * s2);
    bool v15 = true;
    {
      const int c0 = x1;
      v15 = c0 >= n28 && (c0 - n28) < n29;
    }
    float v16 = float(0);
    if (v15) {
      v16 = b3.at[n9 + x0 * n8 + x1];
    }
    precise float v17 = sn_tanh_f32(v16);
    precise float v19 = (v17 * s3);
    bool v20 = true;
    {
      const int c0 = x1;
      v20 = c0 >= n31 && (c0 - n31) < n32;
    }
    float v21 = float(0);
    if (v20) {
      v21 = b4.at[n11 + x0 * n10 + x1];
    }
    precise float v22 = sn_tanh_f32(v21);
    precise float v24 = (v22 * s4);
    bool v25 = true;
    {
      const int c0 = x1;
      v25 = c0 >= n34 && (c0 - n34) < n35;
    }
    float v26 = float(0);
    if (v25) {
      v26 = b5.at[n13 + x0 * n12 + x1];
    }
    precise float v27 = sn_tanh_f32(v26);
    precise float v29 = (v27 * s5);
    bool v30 = true;
    {
      const int c0 = x1;
      v30 = c0 >= n37 && (c0 - n37) < n38;
    }
    float v31 = float(0);
    if (v30) {
      v31 = b6.at[n15 + x0 * n14 + x1];
    }
    precise float v32 = sn_tanh_f32(v31);
    precise float v34 = (v32 * s6);
    bool v35 = true;
    {
      const int c0 = x1;
      v35 = c0 < n40;
    }
    float v36 = float(0);
    if (v35) {
      v36 = b7.at[x0 * n16 + x1];
    }
    precise float v37 = sn_tanh_f32(v36);
    precise float v39 = (v37 * s7);
    precise float v41 = (v35 ? v39 : s8);
    precise float v42 = (v30 ? v34 : v41);
    precise float v43 = (v25 ? v29 : v42);
    precise float v44 = (v20 ? v24 : v43);
    precise float v45 = (v15 ? v19 : v44);
    precise float v46 = (v10 ? v14 : v45);
    precise float v47 = (v5 ? v9 : v46);
    precise float v48 = (v0 ? v4 : v47);
    b8.at[x0 * n17 + x1] = v48;
  }
}
