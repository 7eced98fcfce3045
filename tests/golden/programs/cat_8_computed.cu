// ---- kernel 0
typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define SN_FN static __device__ __forceinline__
SN_FN void sn_follow() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}
template <int N>
struct SnPairs {
  u32 words[N / 2];
  struct Value {
    u32& word;
    const int shift;
    __device__ __forceinline__ operator u32() const { return word >> shift & 0xffffu; }
    __device__ __forceinline__ void operator=(u32 value) {
      word = (word & 0xffff0000u >> shift) | value << shift;
    }
  };
  __device__ __forceinline__ Value operator[](int k) { return {words[k / 2], k % 2 * 16}; }
  __device__ __forceinline__ u32 operator[](int k) const { return words[k / 2] >> k % 2 * 16 & 0xffffu; }
};
SN_FN float sn_tanh_f32(float a) { return tanhf(a); }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, const float* b2, const float* b3, const float* b4, const float* b5, const float* b6, const float* b7, float* __restrict__ b8, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, int n11, int n12, int n13, int n14, int n15, int n16, int n17, int n18, int n19, int n20, int n21, int n22, int n23, int n24, int n25, int n26, int n27, int n28, int n29, int n30, int n31, int n32, int n33, int n34, int n35, int n36, int n37, int n38, int n39, int n40, float s0, float s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8) {
  sn_follow();
  const bool vectors = ((u64(b8)) & 15) == 0 && ((n1 | n17) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      bool v0 = true;
      {
        const int c0 = x1;
        v0 = c0 >= n19 && (c0 - n19) < n20;
      }
      float v1 = float(0);
      if (v0) {
        v1 = b0[n3 + x0 * n2 + x1];
      }
      const float v2 = sn_tanh_f32(v1);
      const float v4 = (v2 * s0);
      bool v5 = true;
      {
        const int c0 = x1;
        v5 = c0 >= n22 && (c0 - n22) < n23;
      }
      float v6 = float(0);
      if (v5) {
        v6 = b1[n5 + x0 * n4 + x1];
      }
      const float v7 = sn_tanh_f32(v6);
      const float v9 = (v7 * s1);
      bool v10 = true;
      {
        const int c0 = x1;
        v10 = c0 >= n25 && (c0 - n25) < n26;
      }
      float v11 = float(0);
      if (v10) {
        v11 = b2[n7 + x0 * n6 + x1];
      }
      const float v12 = sn_tanh_f32(v11);
      const float v14 = (v12 * s2);
      bool v15 = true;
      {
        const int c0 = x1;
        v15 = c0 >= n28 && (c0 - n28) < n29;
      }
      float v16 = float(0);
      if (v15) {
        v16 = b3[n9 + x0 * n8 + x1];
      }
      const float v17 = sn_tanh_f32(v16);
      const float v19 = (v17 * s3);
      bool v20 = true;
      {
        const int c0 = x1;
        v20 = c0 >= n31 && (c0 - n31) < n32;
      }
      float v21 = float(0);
      if (v20) {
        v21 = b4[n11 + x0 * n10 + x1];
      }
      const float v22 = sn_tanh_f32(v21);
      const float v24 = (v22 * s4);
      bool v25 = true;
      {
        const int c0 = x1;
        v25 = c0 >= n34 && (c0 - n34) < n35;
      }
      float v26 = float(0);
      if (v25) {
        v26 = b5[n13 + x0 * n12 + x1];
      }
      const float v27 = sn_tanh_f32(v26);
      const float v29 = (v27 * s5);
      bool v30 = true;
      {
        const int c0 = x1;
        v30 = c0 >= n37 && (c0 - n37) < n38;
      }
      float v31 = float(0);
      if (v30) {
        v31 = b6[n15 + x0 * n14 + x1];
      }
      const float v32 = sn_tanh_f32(v31);
      const float v34 = (v32 * s6);
      bool v35 = true;
      {
        const int c0 = x1;
        v35 = c0 < n40;
      }
      float v36 = float(0);
      if (v35) {
        v36 = b7[x0 * n16 + x1];
      }
      const float v37 = sn_tanh_f32(v36);
      const float v39 = (v37 * s7);
      const float v41 = (v35 ? v39 : s8);
      const float v42 = (v30 ? v34 : v41);
      const float v43 = (v25 ? v29 : v42);
      const float v44 = (v20 ? v24 : v43);
      const float v45 = (v15 ? v19 : v44);
      const float v46 = (v10 ? v14 : v45);
      const float v47 = (v5 ? v9 : v46);
      const float v48 = (v0 ? v4 : v47);
      w0[k] = v48;
    }
    sn_store4_f32(b8 + (x0 * n17 + y), w0);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
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
      v1 = b0[n3 + x0 * n2 + x1];
    }
    const float v2 = sn_tanh_f32(v1);
    const float v4 = (v2 * s0);
    bool v5 = true;
    {
      const int c0 = x1;
      v5 = c0 >= n22 && (c0 - n22) < n23;
    }
    float v6 = float(0);
    if (v5) {
      v6 = b1[n5 + x0 * n4 + x1];
    }
    const float v7 = sn_tanh_f32(v6);
    const float v9 = (v7 * s1);
    bool v10 = true;
    {
      const int c0 = x1;
      v10 = c0 >= n25 && (c0 - n25) < n26;
    }
    float v11 = float(0);
    if (v10) {
      v11 = b2[n7 + x0 * n6 + x1];
    }
    const float v12 = sn_tanh_f32(v11);
    const float v14 = (v12 * s2);
    bool v15 = true;
    {
      const int c0 = x1;
      v15 = c0 >= n28 && (c0 - n28) < n29;
    }
    float v16 = float(0);
    if (v15) {
      v16 = b3[n9 + x0 * n8 + x1];
    }
    const float v17 = sn_tanh_f32(v16);
    const float v19 = (v17 * s3);
    bool v20 = true;
    {
      const int c0 = x1;
      v20 = c0 >= n31 && (c0 - n31) < n32;
    }
    float v21 = float(0);
    if (v20) {
      v21 = b4[n11 + x0 * n10 + x1];
    }
    const float v22 = sn_tanh_f32(v21);
    const float v24 = (v22 * s4);
    bool v25 = true;
    {
      const int c0 = x1;
      v25 = c0 >= n34 && (c0 - n34) < n35;
    }
    float v26 = float(0);
    if (v25) {
      v26 = b5[n13 + x0 * n12 + x1];
    }
    const float v27 = sn_tanh_f32(v26);
    const float v29 = (v27 * s5);
    bool v30 = true;
    {
      const int c0 = x1;
      v30 = c0 >= n37 && (c0 - n37) < n38;
    }
    float v31 = float(0);
    if (v30) {
      v31 = b6[n15 + x0 * n14 + x1];
    }
    const float v32 = sn_tanh_f32(v31);
    const float v34 = (v32 * s6);
    bool v35 = true;
    {
      const int c0 = x1;
      v35 = c0 < n40;
    }
    float v36 = float(0);
    if (v35) {
      v36 = b7[x0 * n16 + x1];
    }
    const float v37 = sn_tanh_f32(v36);
    const float v39 = (v37 * s7);
    const float v41 = (v35 ? v39 : s8);
    const float v42 = (v30 ? v34 : v41);
    const float v43 = (v25 ? v29 : v42);
    const float v44 = (v20 ? v24 : v43);
    const float v45 = (v15 ? v19 : v44);
    const float v46 = (v10 ? v14 : v45);
    const float v47 = (v5 ? v9 : v46);
    const float v48 = (v0 ? v4 : v47);
    b8[x0 * n17 + x1] = v48;
  }
}
