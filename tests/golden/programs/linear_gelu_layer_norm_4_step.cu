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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_workgroup_sum_f32(float& v, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
  const u32 count = lanes >> 5;
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;
  __syncthreads();
  v = warps[0][threadIdx.x & (count - 1u)];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
}
SN_FN float sn_rsqrt_f32(float a) { return rsqrtf(a); }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const float* b0, const float* b1, float* __restrict__ b2, float* __restrict__ b3, const float* b4, const float* b5, float* __restrict__ b6, int n0, int n1, int n2, float s0, float s1, float s2) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b4) | u64(b5) | u64(b6)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      float r5 = float(0);
      float q5[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          sn_load4_f32(h0[i], b0 + (x0 * n2 + y));
        }
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l1[4];
          sn_load4_f32(l1, b1 + (y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h0[i][k];
            const float v1 = l1[k];
            const float v2 = (v0 + v1);
            const float v3 = sn_ndtr_f32(v2);
            const float v4 = (v2 * v3);
            h0[i][k] = v4;
            q5[k] = fma(v2, v3, q5[k]);
          }
        }
      }
      r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
      const float v5 = r5;
      const float v7 = (v5 * s0);
      if (threadIdx.x == 0u) {
        b2[x0] = v5;
      }
      float r10 = float(0);
      float q10[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v4 = h0[i][k];
            const float v8 = (v4 - v7);
            h0[i][k] = v8;
            const float v9 = (v8 * v8);
            q10[k] = fma(v8, v8, q10[k]);
          }
        }
      }
      r10 = r10 + ((q10[0] + q10[1]) + (q10[2] + q10[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r10, warps, blockDim.x, false); }
      const float v10 = r10;
      const float v12 = (v10 * s1);
      const float v14 = (v12 + s2);
      const float v15 = sn_rsqrt_f32(v14);
      if (threadIdx.x == 0u) {
        b3[x0] = v15;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l17[4];
          sn_load4_f32(l17, b4 + (y));
          float l19[4];
          sn_load4_f32(l19, b5 + (y));
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v8 = h0[i][k];
            const float v16 = (v8 * v15);
            const float v17 = l17[k];
            const float v18 = (v16 * v17);
            const float v19 = l19[k];
            const float v20 = (v18 + v19);
            w0[k] = v20;
          }
          sn_store4_f32(b6 + (x0 * n2 + y), w0);
        }
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float r5 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q5 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          q5 = fma(v2, v3, q5);
        }
        r5 = r5 + q5;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
      const float v5 = r5;
      const float v7 = (v5 * s0);
      if (threadIdx.x == 0u) {
        b2[x0] = v5;
      }
      float r10 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q10 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          const float v8 = (v4 - v7);
          const float v9 = (v8 * v8);
          q10 = fma(v8, v8, q10);
        }
        r10 = r10 + q10;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r10, warps, blockDim.x, false); }
      const float v10 = r10;
      const float v12 = (v10 * s1);
      const float v14 = (v12 + s2);
      const float v15 = sn_rsqrt_f32(v14);
      if (threadIdx.x == 0u) {
        b3[x0] = v15;
      }
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 + v1);
        const float v3 = sn_ndtr_f32(v2);
        const float v4 = (v2 * v3);
        const float v8 = (v4 - v7);
        const float v16 = (v8 * v15);
        const float v17 = b4[x1];
        const float v18 = (v16 * v17);
        const float v19 = b5[x1];
        const float v20 = (v18 + v19);
        b6[x0 * n2 + x1] = v20;
      }
    }
  }
}
// ---- kernel 1
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_workgroup_sum_f32(float& v, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
  const u32 count = lanes >> 5;
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;
  __syncthreads();
  v = warps[0][threadIdx.x & (count - 1u)];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
}
SN_FN float sn_rsqrt_f32(float a) { return rsqrtf(a); }
SN_FN float sn_exp_f32(float a) { return expf(a); }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const float* b0, const float* b1, float* __restrict__ b2, float* __restrict__ b3, const float* b4, const float* b5, const float* b6, float* __restrict__ b7, int n0, int n1, int n2, float s0, float s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8, float s9, float s10, float s11) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b4) | u64(b5) | u64(b6) | u64(b7)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      float h1[2][4];
      float h2[2][4];
      float h3[2][4];
      const float v18 = (s3 * s4);
      const float v20 = (v18 * s5);
      float r5 = float(0);
      float q5[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          sn_load4_f32(h1[i], b6 + (x0 * n2 + y));
          sn_load4_f32(h2[i], b0 + (x0 * n2 + y));
        }
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l1[4];
          sn_load4_f32(l1, b1 + (y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h2[i][k];
            const float v1 = l1[k];
            const float v2 = (v0 + v1);
            h2[i][k] = v2;
            const float v3 = sn_ndtr_f32(v2);
            h3[i][k] = v3;
            const float v4 = (v2 * v3);
            h0[i][k] = v4;
            const float v26 = h1[i][k];
            q5[k] = fma(v2, v3, q5[k]);
          }
        }
      }
      r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
      const float v5 = r5;
      const float v7 = (v5 * s0);
      if (threadIdx.x == 0u) {
        b2[x0] = v5;
      }
      float r10 = float(0);
      float q10[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v4 = h0[i][k];
            const float v8 = (v4 - v7);
            h0[i][k] = v8;
            const float v9 = (v8 * v8);
            q10[k] = fma(v8, v8, q10[k]);
          }
        }
      }
      r10 = r10 + ((q10[0] + q10[1]) + (q10[2] + q10[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r10, warps, blockDim.x, false); }
      const float v10 = r10;
      const float v12 = (v10 * s1);
      const float v14 = (v12 + s2);
      const float v15 = sn_rsqrt_f32(v14);
      const float v35 = (v15 * v15);
      const float v36 = (v35 * v15);
      if (threadIdx.x == 0u) {
        b3[x0] = v15;
      }
      float r32 = float(0);
      float q32[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l22[4];
          sn_load4_f32(l22, b4 + (y));
          float l24[4];
          sn_load4_f32(l24, b5 + (y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v8 = h0[i][k];
            const float v26 = h1[i][k];
            const float v21 = (v8 * v15);
            const float v22 = l22[k];
            const float v23 = (v21 * v22);
            const float v24 = l24[k];
            const float v25 = (v23 + v24);
            const float v27 = (v25 - v26);
            const float v28 = (v20 * v27);
            const float v29 = (v28 * v22);
            h1[i][k] = v29;
            const float v31 = (v29 * v8);
            q32[k] = fma(v29, v8, q32[k]);
          }
        }
      }
      r32 = r32 + ((q32[0] + q32[1]) + (q32[2] + q32[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r32, warps, blockDim.x, false); }
      const float v32 = r32;
      const float v34 = (v32 * s6);
      const float v37 = (v34 * v36);
      const float v39 = (v37 * s7);
      const float v41 = (v39 * s8);
      float r45 = float(0);
      float q45[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v8 = h0[i][k];
            const float v29 = h1[i][k];
            const float v30 = (v29 * v15);
            const float v42 = (v41 * v8);
            const float v43 = (v30 + v42);
            h0[i][k] = v43;
            const float v44 = (-v43);
            q45[k] = (q45[k] + v44);
          }
        }
      }
      r45 = r45 + ((q45[0] + q45[1]) + (q45[2] + q45[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r45, warps, blockDim.x, false); }
      const float v45 = r45;
      const float v47 = (v45 * s9);
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v2 = h2[i][k];
            const float v3 = h3[i][k];
            const float v43 = h0[i][k];
            const float v48 = (v43 + v47);
            const float v49 = (v48 * v3);
            const float v50 = (v48 * v2);
            const float v51 = (v2 * v2);
            const float v53 = (v51 * s10);
            const float v54 = sn_exp_f32(v53);
            const float v56 = (v54 * s11);
            const float v57 = (v50 * v56);
            const float v58 = (v49 + v57);
            w0[k] = v58;
          }
          sn_store4_f32(b7 + (x0 * n2 + y), w0);
        }
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      const float v18 = (s3 * s4);
      const float v20 = (v18 * s5);
      float r5 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q5 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          q5 = fma(v2, v3, q5);
        }
        r5 = r5 + q5;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
      const float v5 = r5;
      const float v7 = (v5 * s0);
      if (threadIdx.x == 0u) {
        b2[x0] = v5;
      }
      float r10 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q10 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          const float v8 = (v4 - v7);
          const float v9 = (v8 * v8);
          q10 = fma(v8, v8, q10);
        }
        r10 = r10 + q10;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r10, warps, blockDim.x, false); }
      const float v10 = r10;
      const float v12 = (v10 * s1);
      const float v14 = (v12 + s2);
      const float v15 = sn_rsqrt_f32(v14);
      const float v35 = (v15 * v15);
      const float v36 = (v35 * v15);
      if (threadIdx.x == 0u) {
        b3[x0] = v15;
      }
      float r32 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q32 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          const float v8 = (v4 - v7);
          const float v21 = (v8 * v15);
          const float v22 = b4[x1];
          const float v23 = (v21 * v22);
          const float v24 = b5[x1];
          const float v25 = (v23 + v24);
          const float v26 = b6[x0 * n2 + x1];
          const float v27 = (v25 - v26);
          const float v28 = (v20 * v27);
          const float v29 = (v28 * v22);
          const float v31 = (v29 * v8);
          q32 = fma(v29, v8, q32);
        }
        r32 = r32 + q32;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r32, warps, blockDim.x, false); }
      const float v32 = r32;
      const float v34 = (v32 * s6);
      const float v37 = (v34 * v36);
      const float v39 = (v37 * s7);
      const float v41 = (v39 * s8);
      float r45 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q45 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 + v1);
          const float v3 = sn_ndtr_f32(v2);
          const float v4 = (v2 * v3);
          const float v8 = (v4 - v7);
          const float v21 = (v8 * v15);
          const float v22 = b4[x1];
          const float v23 = (v21 * v22);
          const float v24 = b5[x1];
          const float v25 = (v23 + v24);
          const float v26 = b6[x0 * n2 + x1];
          const float v27 = (v25 - v26);
          const float v28 = (v20 * v27);
          const float v29 = (v28 * v22);
          const float v30 = (v29 * v15);
          const float v42 = (v41 * v8);
          const float v43 = (v30 + v42);
          const float v44 = (-v43);
          q45 = (q45 + v44);
        }
        r45 = r45 + q45;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r45, warps, blockDim.x, false); }
      const float v45 = r45;
      const float v47 = (v45 * s9);
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 + v1);
        const float v3 = sn_ndtr_f32(v2);
        const float v4 = (v2 * v3);
        const float v8 = (v4 - v7);
        const float v21 = (v8 * v15);
        const float v22 = b4[x1];
        const float v23 = (v21 * v22);
        const float v24 = b5[x1];
        const float v25 = (v23 + v24);
        const float v26 = b6[x0 * n2 + x1];
        const float v27 = (v25 - v26);
        const float v28 = (v20 * v27);
        const float v29 = (v28 * v22);
        const float v30 = (v29 * v15);
        const float v42 = (v41 * v8);
        const float v43 = (v30 + v42);
        const float v48 = (v43 + v47);
        const float v49 = (v48 * v3);
        const float v50 = (v48 * v2);
        const float v51 = (v2 * v2);
        const float v53 = (v51 * s10);
        const float v54 = sn_exp_f32(v53);
        const float v56 = (v54 * s11);
        const float v57 = (v50 * v56);
        const float v58 = (v49 + v57);
        b7[x0 * n2 + x1] = v58;
      }
    }
  }
}
// ---- kernel 2
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_workgroup_sum_f32(float& v, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
  const u32 count = lanes >> 5;
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;
  __syncthreads();
  v = warps[0][threadIdx.x & (count - 1u)];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, const float* b2, const float* b3, const float* b4, const float* b5, const float* b6, float* __restrict__ b7, int n0, int n1, int n2, int n3, float s0, float s1, u32 parts, char* partials, u32* counters) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b4) | u64(b5) | u64(b6)) & 15) == 0 && ((n2 | n3) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(blockIdx.x) % u32(parts);
  const u32 unit = u32(blockIdx.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(blockDim.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  float r18 = float(0);
  for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
    float q18[4] = {float(0), float(0), float(0), float(0)};
    for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
      u32 t1 = j;
      const int y = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      float l0[4];
      sn_load4_f32(l0, b0 + (x1 * n3 + y));
      float l1[4];
      sn_load4_f32(l1, b1 + (y));
      float l11[4];
      sn_load4_f32(l11, b4 + (y));
      float l13[4];
      sn_load4_f32(l13, b5 + (y));
      float l15[4];
      sn_load4_f32(l15, b6 + (x1 * n3 + y));
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int x2 = y + k;
        const float v0 = l0[k];
        const float v1 = l1[k];
        const float v2 = (v0 + v1);
        const float v3 = sn_ndtr_f32(v2);
        const float v4 = (v2 * v3);
        const float v5 = b2[x1];
        const float v7 = (v5 * s0);
        const float v8 = (v4 - v7);
        const float v9 = b3[x1];
        const float v10 = (v8 * v9);
        const float v11 = l11[k];
        const float v12 = (v10 * v11);
        const float v13 = l13[k];
        const float v14 = (v12 + v13);
        const float v15 = l15[k];
        const float v16 = (v14 - v15);
        const float v17 = (v16 * v16);
        q18[k] = fma(v16, v16, q18[k]);
      }
    }
    r18 = r18 + ((q18[0] + q18[1]) + (q18[2] + q18[3]));
  }
  for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
    float q18 = float(0);
    for (u32 j = h; j < end; j += u32(blockDim.x)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      const float v0 = b0[x1 * n3 + x2];
      const float v1 = b1[x2];
      const float v2 = (v0 + v1);
      const float v3 = sn_ndtr_f32(v2);
      const float v4 = (v2 * v3);
      const float v5 = b2[x1];
      const float v7 = (v5 * s0);
      const float v8 = (v4 - v7);
      const float v9 = b3[x1];
      const float v10 = (v8 * v9);
      const float v11 = b4[x2];
      const float v12 = (v10 * v11);
      const float v13 = b5[x2];
      const float v14 = (v12 + v13);
      const float v15 = b6[x1 * n3 + x2];
      const float v16 = (v14 - v15);
      const float v17 = (v16 * v16);
      q18 = fma(v16, v16, q18);
    }
    r18 = r18 + q18;
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r18, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r18;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r18 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r18[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r18[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r18 = (r18 + p_r18[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r18, warps, blockDim.x, false); }
  const float v18 = r18;
  const float v20 = (v18 * s1);
  if (threadIdx.x == 0u) {
    b7[0] = v20;
  }
}
// ---- kernel 3
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_workgroup_sum_f32(float& v, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
  const u32 count = lanes >> 5;
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;
  __syncthreads();
  v = warps[0][threadIdx.x & (count - 1u)];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = (v + w);
  }
}
SN_FN float sn_exp_f32(float a) { return expf(a); }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const float* b0, const float* b1, const float* b2, const float* b3, const float* b4, const float* b5, float* __restrict__ b6, int n0, int n1, int n2, float s0, float s1, float s2, float s3, float s4, float s5, float s6) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b3) | u64(b4) | u64(b6)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      float h1[2][4];
      float h2[2][4];
      float h3[2][4];
      const float v3 = b2[x0];
      const float v10 = b5[x0];
      const float v12 = (v10 * s0);
      const float v18 = (v3 * v3);
      const float v19 = (v18 * v3);
      float r15 = float(0);
      float q15[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          sn_load4_f32(h0[i], b0 + (x0 * n2 + y));
          sn_load4_f32(h2[i], b3 + (x0 * n2 + y));
        }
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l1[4];
          sn_load4_f32(l1, b1 + (y));
          float l6[4];
          sn_load4_f32(l6, b4 + (y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h0[i][k];
            const float v1 = l1[k];
            const float v2 = (v0 * v1);
            h0[i][k] = v2;
            const float v5 = h2[i][k];
            const float v6 = l6[k];
            const float v7 = (v5 + v6);
            h2[i][k] = v7;
            const float v8 = sn_ndtr_f32(v7);
            h3[i][k] = v8;
            const float v9 = (v7 * v8);
            const float v13 = (v9 - v12);
            h1[i][k] = v13;
            const float v14 = (v2 * v13);
            q15[k] = fma(v2, v13, q15[k]);
          }
        }
      }
      r15 = r15 + ((q15[0] + q15[1]) + (q15[2] + q15[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r15, warps, blockDim.x, false); }
      const float v15 = r15;
      const float v17 = (v15 * s1);
      const float v20 = (v17 * v19);
      const float v22 = (v20 * s2);
      const float v24 = (v22 * s3);
      float r28 = float(0);
      float q28[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v2 = h0[i][k];
            const float v13 = h1[i][k];
            const float v4 = (v2 * v3);
            const float v25 = (v24 * v13);
            const float v26 = (v4 + v25);
            h0[i][k] = v26;
            const float v27 = (-v26);
            q28[k] = (q28[k] + v27);
          }
        }
      }
      r28 = r28 + ((q28[0] + q28[1]) + (q28[2] + q28[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r28, warps, blockDim.x, false); }
      const float v28 = r28;
      const float v30 = (v28 * s4);
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v7 = h2[i][k];
            const float v8 = h3[i][k];
            const float v26 = h0[i][k];
            const float v31 = (v26 + v30);
            const float v32 = (v31 * v8);
            const float v33 = (v31 * v7);
            const float v34 = (v7 * v7);
            const float v36 = (v34 * s5);
            const float v37 = sn_exp_f32(v36);
            const float v39 = (v37 * s6);
            const float v40 = (v33 * v39);
            const float v41 = (v32 + v40);
            w0[k] = v41;
          }
          sn_store4_f32(b6 + (x0 * n2 + y), w0);
        }
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      const float v3 = b2[x0];
      const float v10 = b5[x0];
      const float v12 = (v10 * s0);
      const float v18 = (v3 * v3);
      const float v19 = (v18 * v3);
      float r15 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q15 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 * v1);
          const float v5 = b3[x0 * n2 + x1];
          const float v6 = b4[x1];
          const float v7 = (v5 + v6);
          const float v8 = sn_ndtr_f32(v7);
          const float v9 = (v7 * v8);
          const float v13 = (v9 - v12);
          const float v14 = (v2 * v13);
          q15 = fma(v2, v13, q15);
        }
        r15 = r15 + q15;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r15, warps, blockDim.x, false); }
      const float v15 = r15;
      const float v17 = (v15 * s1);
      const float v20 = (v17 * v19);
      const float v22 = (v20 * s2);
      const float v24 = (v22 * s3);
      float r28 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q28 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v1 = b1[x1];
          const float v2 = (v0 * v1);
          const float v4 = (v2 * v3);
          const float v5 = b3[x0 * n2 + x1];
          const float v6 = b4[x1];
          const float v7 = (v5 + v6);
          const float v8 = sn_ndtr_f32(v7);
          const float v9 = (v7 * v8);
          const float v13 = (v9 - v12);
          const float v25 = (v24 * v13);
          const float v26 = (v4 + v25);
          const float v27 = (-v26);
          q28 = (q28 + v27);
        }
        r28 = r28 + q28;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r28, warps, blockDim.x, false); }
      const float v28 = r28;
      const float v30 = (v28 * s4);
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 * v1);
        const float v4 = (v2 * v3);
        const float v5 = b3[x0 * n2 + x1];
        const float v6 = b4[x1];
        const float v7 = (v5 + v6);
        const float v8 = sn_ndtr_f32(v7);
        const float v9 = (v7 * v8);
        const float v13 = (v9 - v12);
        const float v25 = (v24 * v13);
        const float v26 = (v4 + v25);
        const float v31 = (v26 + v30);
        const float v32 = (v31 * v8);
        const float v33 = (v31 * v7);
        const float v34 = (v7 * v7);
        const float v36 = (v34 * s5);
        const float v37 = sn_exp_f32(v36);
        const float v39 = (v37 * s6);
        const float v40 = (v33 * v39);
        const float v41 = (v32 + v40);
        b6[x0 * n2 + x1] = v41;
      }
    }
  }
}
// ---- kernel 4
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
struct sn_member {
  u64 b0_;
  u64 b1_;
  u64 b2_;
  u64 b3_;
  u32 n0_;
  u32 s0_;
  u32 s1_;
  u32 s2_;
  u32 s3_;
  u32 s4_;
  u32 s5_;
  u32 s6_;
  u32 first_;
};
struct sn_members { sn_member at[4]; };
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const __grid_constant__ sn_members members, u32 count) {
  sn_follow();
  u32 member = 0u;
  for (u32 step = 4u >> 1; step > 0u; step >>= 1)
    if (member + step < count && members.at[member + step].first_ <= blockIdx.x) member += step;
  const sn_member& mine = members.at[member];
  const u32 block = blockIdx.x - mine.first_;
  const u32 blocks = (member + 1u < count ? members.at[member + 1u].first_ : gridDim.x) - mine.first_;
  float* __restrict__ b0 = (float*)mine.b0_;
  const float* b1 = (const float*)mine.b1_;
  float* __restrict__ b2 = (float*)mine.b2_;
  float* __restrict__ b3 = (float*)mine.b3_;
  const int n0 = int(mine.n0_);
  const float s0 = __int_as_float(int(mine.s0_));
  const float s1 = __int_as_float(int(mine.s1_));
  const float s2 = __int_as_float(int(mine.s2_));
  const float s3 = __int_as_float(int(mine.s3_));
  const float s4 = __int_as_float(int(mine.s4_));
  const float s5 = __int_as_float(int(mine.s5_));
  const float s6 = __int_as_float(int(mine.s6_));
  const bool vectors = ((u64(b0) | u64(b1) | u64(b2) | u64(b3)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(block * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(blocks * blockDim.x) * u32(4)) {
    const int y = int(f);
    float l0[4];
    sn_load4_f32(l0, b0 + (y));
    float l3[4];
    sn_load4_f32(l3, b1 + (y));
    float l7[4];
    sn_load4_f32(l7, b2 + (y));
    float l22[4];
    sn_load4_f32(l22, b3 + (y));
    float w0[4];
    float w1[4];
    float w2[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const float v0 = l0[k];
      const float v2 = (v0 * s0);
      const float v3 = l3[k];
      const float v5 = (v3 * s1);
      const float v6 = (v2 + v5);
      const float v7 = l7[k];
      const float v9 = (v7 * s2);
      const float v10 = (v3 * v3);
      const float v12 = (v10 * s3);
      const float v13 = (v9 + v12);
      const float v15 = (v6 * s4);
      const float v16 = sn_sqrt_f32(v13);
      const float v18 = (v16 * s5);
      const float v20 = (v18 + s6);
      const float v21 = sn_div_f32(v15, v20);
      const float v22 = l22[k];
      const float v23 = (v22 - v21);
      w0[k] = v6;
      w1[k] = v13;
      w2[k] = v23;
    }
    sn_store4_f32(b0 + (y), w0);
    sn_store4_f32(b2 + (y), w1);
    sn_store4_f32(b3 + (y), w2);
  }
  for (u32 f = points4 + u32(block * blockDim.x + threadIdx.x); f < points; f += u32(blocks * blockDim.x)) {
    const int x0 = int(f);
    const float v0 = b0[x0];
    const float v2 = (v0 * s0);
    const float v3 = b1[x0];
    const float v5 = (v3 * s1);
    const float v6 = (v2 + v5);
    const float v7 = b2[x0];
    const float v9 = (v7 * s2);
    const float v10 = (v3 * v3);
    const float v12 = (v10 * s3);
    const float v13 = (v9 + v12);
    const float v15 = (v6 * s4);
    const float v16 = sn_sqrt_f32(v13);
    const float v18 = (v16 * s5);
    const float v20 = (v18 + s6);
    const float v21 = sn_div_f32(v15, v20);
    const float v22 = b3[x0];
    const float v23 = (v22 - v21);
    b0[x0] = v6;
    b2[x0] = v13;
    b3[x0] = v23;
  }
}
// ---- kernel 5
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_rows_sum_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = (v + w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, const float* b1, const float* b2, const float* b3, const float* b4, float* __restrict__ b5, float* __restrict__ b6, const float* b7, float* __restrict__ b8, float* __restrict__ b9, float* __restrict__ b10, int n0, int n1, int n2, float s0, float s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8, float s9, float s10, float s11, float s12, float s13, float s14, float s15, float s16, float s17) {
  sn_follow();
  const u32 points = u32(n0);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const float v0 = b0[x0];
    const float v2 = (v0 * s0);
    const float v5 = (s1 * s2);
    const float v7 = (v5 * s3);
    const float v9 = b2[x0];
    const float v19 = b5[x0];
    const float v21 = b6[x0];
    const float v31 = b8[x0];
    const float v33 = (v31 * s6);
    const float v47 = b9[x0];
    const float v49 = (v47 * s11);
    const float v54 = b10[x0];
    const float v56 = (v54 * s13);
    float r27 = float(0);
    float r50 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q27 = float(0);
        float q50 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v8 = b1[x0 + x1 * n2];
              const float v10 = (v8 + v9);
              const float v11 = sn_ndtr_f32(v10);
              const float v12 = (v10 * v11);
              const float v13 = b3[x1];
              const float v15 = (v13 * s4);
              const float v16 = (v12 - v15);
              const float v17 = b4[x1];
              const float v18 = (v16 * v17);
              const float v20 = (v18 * v19);
              const float v22 = (v20 + v21);
              const float v23 = b7[x0 + x1 * n2];
              const float v24 = (v22 - v23);
              const float v25 = (v7 * v24);
              const float v26 = (v25 * v18);
              q27 = fma(v25, v18, q27);
              q50 = fma(v7, v24, q50);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v8 = b1[x0 + x1 * n2];
            const float v10 = (v8 + v9);
            const float v11 = sn_ndtr_f32(v10);
            const float v12 = (v10 * v11);
            const float v13 = b3[x1];
            const float v15 = (v13 * s4);
            const float v16 = (v12 - v15);
            const float v17 = b4[x1];
            const float v18 = (v16 * v17);
            const float v20 = (v18 * v19);
            const float v22 = (v20 + v21);
            const float v23 = b7[x0 + x1 * n2];
            const float v24 = (v22 - v23);
            const float v25 = (v7 * v24);
            const float v26 = (v25 * v18);
            q27 = fma(v25, v18, q27);
            q50 = fma(v7, v24, q50);
          }
        }
        r27 = r27 + q27;
        r50 = r50 + q50;
      }
    }
    sn_rows_sum_f32(r27);
    const float v27 = r27;
    const float v29 = (v27 * s5);
    const float v30 = (v2 + v29);
    const float v34 = (v27 * v27);
    const float v36 = (v34 * s7);
    const float v37 = (v33 + v36);
    const float v39 = (v30 * s8);
    const float v40 = sn_sqrt_f32(v37);
    const float v42 = (v40 * s9);
    const float v44 = (v42 + s10);
    const float v45 = sn_div_f32(v39, v44);
    const float v46 = (v19 - v45);
    sn_rows_sum_f32(r50);
    const float v50 = r50;
    const float v52 = (v50 * s12);
    const float v53 = (v49 + v52);
    const float v57 = (v50 * v50);
    const float v59 = (v57 * s14);
    const float v60 = (v56 + v59);
    const float v62 = (v53 * s15);
    const float v63 = sn_sqrt_f32(v60);
    const float v65 = (v63 * s16);
    const float v67 = (v65 + s17);
    const float v68 = sn_div_f32(v62, v67);
    const float v69 = (v21 - v68);
    if (blockDim.y > 1u) sn_barrier();
    if (there && threadIdx.y == 0u) {
      b0[x0] = v30;
      b5[x0] = v37;
      b6[x0] = v46;
      b8[x0] = v53;
      b9[x0] = v60;
      b10[x0] = v69;
    }
  }
}
// ---- kernel 6
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
SN_FN void sn_rows_sum_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = (v + w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
struct sn_member {
  u64 b0_;
  u64 b1_;
  u64 b2_;
  u64 b3_;
  u64 b4_;
  u32 n0_;
  u32 n1_;
  u32 n2_;
  u32 s0_;
  u32 s1_;
  u32 s2_;
  u32 s3_;
  u32 s4_;
  u32 s5_;
  u32 s6_;
  u32 first_;
};
struct sn_members { sn_member at[4]; };
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const __grid_constant__ sn_members members, u32 count) {
  sn_follow();
  u32 member = 0u;
  for (u32 step = 4u >> 1; step > 0u; step >>= 1)
    if (member + step < count && members.at[member + step].first_ <= blockIdx.x) member += step;
  const sn_member& mine = members.at[member];
  const u32 block = blockIdx.x - mine.first_;
  const u32 blocks = (member + 1u < count ? members.at[member + 1u].first_ : gridDim.x) - mine.first_;
  float* __restrict__ b0 = (float*)mine.b0_;
  const float* b1 = (const float*)mine.b1_;
  float* __restrict__ b2 = (float*)mine.b2_;
  const float* b3 = (const float*)mine.b3_;
  float* __restrict__ b4 = (float*)mine.b4_;
  const int n0 = int(mine.n0_);
  const int n1 = int(mine.n1_);
  const int n2 = int(mine.n2_);
  const float s0 = __int_as_float(int(mine.s0_));
  const float s1 = __int_as_float(int(mine.s1_));
  const float s2 = __int_as_float(int(mine.s2_));
  const float s3 = __int_as_float(int(mine.s3_));
  const float s4 = __int_as_float(int(mine.s4_));
  const float s5 = __int_as_float(int(mine.s5_));
  const float s6 = __int_as_float(int(mine.s6_));
  const u32 points = u32(n0);
  for (u32 t = u32(block) * u32(blockDim.x); t < points; t += u32(blocks) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const float v0 = b0[x0];
    const float v2 = (v0 * s0);
    const float v8 = b2[x0];
    const float v10 = (v8 * s2);
    const float v23 = b3[x0];
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v3 = b1[x0 + x1 * n2];
              q4 = (q4 + v3);
            }
          }
          if (g < end) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const bool comes = g + u32(u) < end;
              const u32 j = comes ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v3 = b1[x0 + x1 * n2];
              q4 = (q4 + (comes ? v3 : float(0)));
            }
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
    const float v4 = r4;
    const float v6 = (v4 * s1);
    const float v7 = (v2 + v6);
    const float v11 = (v4 * v4);
    const float v13 = (v11 * s3);
    const float v14 = (v10 + v13);
    const float v16 = (v7 * s4);
    const float v17 = sn_sqrt_f32(v14);
    const float v19 = (v17 * s5);
    const float v21 = (v19 + s6);
    const float v22 = sn_div_f32(v16, v21);
    const float v24 = (v23 - v22);
    if (blockDim.y > 1u) sn_barrier();
    if (there && threadIdx.y == 0u) {
      b0[x0] = v7;
      b2[x0] = v14;
      b4[x0] = v24;
    }
  }
}
// ---- kernel 7
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
SN_FN void sn_rows_sum_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = (v + w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, const float* b1, float* __restrict__ b2, float* __restrict__ b3, int n0, int n1, int n2, float s0, float s1, float s2, float s3, float s4, float s5, float s6) {
  sn_follow();
  const u32 points = u32(n0);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const float v0 = b0[x0];
    const float v2 = (v0 * s0);
    const float v8 = b2[x0];
    const float v10 = (v8 * s2);
    const float v23 = b3[x0];
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v3 = b1[x0 + x1 * n2];
              q4 = (q4 + v3);
            }
          }
          if (g < end) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const bool comes = g + u32(u) < end;
              const u32 j = comes ? g + u32(u) : g;
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v3 = b1[x0 + x1 * n2];
              q4 = (q4 + (comes ? v3 : float(0)));
            }
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
    const float v4 = r4;
    const float v6 = (v4 * s1);
    const float v7 = (v2 + v6);
    const float v11 = (v4 * v4);
    const float v13 = (v11 * s3);
    const float v14 = (v10 + v13);
    const float v16 = (v7 * s4);
    const float v17 = sn_sqrt_f32(v14);
    const float v19 = (v17 * s5);
    const float v21 = (v19 + s6);
    const float v22 = sn_div_f32(v16, v21);
    const float v24 = (v23 - v22);
    if (blockDim.y > 1u) sn_barrier();
    if (there && threadIdx.y == 0u) {
      b0[x0] = v7;
      b2[x0] = v14;
      b3[x0] = v24;
    }
  }
}
// ---- kernel 8
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
SN_FN float sn_ndtr_f32(float a) {
  const float c = fabsf(a);
  float t = fma(-1.16375758807e-6f, c, 1.99007135961e-5f);
  t = fma(t, c, -9.85285323929e-5f);
  t = fma(t, c, -3.31867719069e-4f);
  t = fma(t, c, 7.29042151943e-3f);
  t = fma(t, c, -5.2630674094e-2f);
  t = fma(t, c, -4.59172338247e-1f);
  t = fma(t, c, -1.15110826492f);
  t = fma(t, c, -1.0f);
  float q;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(q) : "f"(t));
  return a < 0.0f ? q : 1.0f - q;
}
SN_FN void sn_rows_sum_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = (v + w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
struct sn_member {
  u64 b0_;
  u64 b1_;
  u64 b2_;
  u64 b3_;
  u64 b4_;
  u64 b5_;
  u64 b6_;
  u64 b7_;
  u64 b8_;
  u64 b9_;
  u64 b10_;
  u32 n0_;
  u32 n1_;
  u32 n2_;
  u32 s0_;
  u32 s1_;
  u32 s2_;
  u32 s3_;
  u32 s4_;
  u32 s5_;
  u32 s6_;
  u32 s7_;
  u32 s8_;
  u32 s9_;
  u32 s10_;
  u32 s11_;
  u32 s12_;
  u32 s13_;
  u32 s14_;
  u32 first_;
};
struct sn_members { sn_member at[4]; };
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const __grid_constant__ sn_members members, u32 count) {
  sn_follow();
  u32 member = 0u;
  for (u32 step = 4u >> 1; step > 0u; step >>= 1)
    if (member + step < count && members.at[member + step].first_ <= blockIdx.x) member += step;
  const sn_member& mine = members.at[member];
  const u32 block = blockIdx.x - mine.first_;
  const u32 blocks = (member + 1u < count ? members.at[member + 1u].first_ : gridDim.x) - mine.first_;
  float* __restrict__ b0 = (float*)mine.b0_;
  const float* b1 = (const float*)mine.b1_;
  float* __restrict__ b2 = (float*)mine.b2_;
  const float* b3 = (const float*)mine.b3_;
  const float* b4 = (const float*)mine.b4_;
  const float* b5 = (const float*)mine.b5_;
  float* __restrict__ b6 = (float*)mine.b6_;
  float* __restrict__ b7 = (float*)mine.b7_;
  float* __restrict__ b8 = (float*)mine.b8_;
  float* __restrict__ b9 = (float*)mine.b9_;
  const float* b10 = (const float*)mine.b10_;
  const int n0 = int(mine.n0_);
  const int n1 = int(mine.n1_);
  const int n2 = int(mine.n2_);
  const float s0 = __int_as_float(int(mine.s0_));
  const float s1 = __int_as_float(int(mine.s1_));
  const float s2 = __int_as_float(int(mine.s2_));
  const float s3 = __int_as_float(int(mine.s3_));
  const float s4 = __int_as_float(int(mine.s4_));
  const float s5 = __int_as_float(int(mine.s5_));
  const float s6 = __int_as_float(int(mine.s6_));
  const float s7 = __int_as_float(int(mine.s7_));
  const float s8 = __int_as_float(int(mine.s8_));
  const float s9 = __int_as_float(int(mine.s9_));
  const float s10 = __int_as_float(int(mine.s10_));
  const float s11 = __int_as_float(int(mine.s11_));
  const float s12 = __int_as_float(int(mine.s12_));
  const float s13 = __int_as_float(int(mine.s13_));
  const float s14 = __int_as_float(int(mine.s14_));
  const u32 points = u32(n0);
  for (u32 t = u32(block) * u32(blockDim.x); t < points; t += u32(blocks) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const float v0 = b0[x0];
    const float v2 = (v0 * s0);
    const float v4 = b2[x0];
    const float v20 = b6[x0];
    const float v22 = (v20 * s3);
    const float v35 = b7[x0];
    const float v37 = b8[x0];
    const float v39 = (v37 * s8);
    const float v44 = b9[x0];
    const float v46 = (v44 * s10);
    const float v59 = b10[x0];
    float r16 = float(0);
    float r40 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q16 = float(0);
        float q40 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v3 = b1[x0 + x1 * n2];
              const float v5 = (v3 + v4);
              const float v6 = sn_ndtr_f32(v5);
              const float v7 = (v5 * v6);
              const float v8 = b3[x1];
              const float v10 = (v8 * s1);
              const float v11 = (v7 - v10);
              const float v12 = b4[x1];
              const float v13 = (v11 * v12);
              const float v14 = b5[x0 + x1 * n2];
              const float v15 = (v14 * v13);
              q16 = fma(v14, v13, q16);
              q40 = (q40 + v14);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v3 = b1[x0 + x1 * n2];
            const float v5 = (v3 + v4);
            const float v6 = sn_ndtr_f32(v5);
            const float v7 = (v5 * v6);
            const float v8 = b3[x1];
            const float v10 = (v8 * s1);
            const float v11 = (v7 - v10);
            const float v12 = b4[x1];
            const float v13 = (v11 * v12);
            const float v14 = b5[x0 + x1 * n2];
            const float v15 = (v14 * v13);
            q16 = fma(v14, v13, q16);
            q40 = (q40 + v14);
          }
        }
        r16 = r16 + q16;
        r40 = r40 + q40;
      }
    }
    sn_rows_sum_f32(r16);
    const float v16 = r16;
    const float v18 = (v16 * s2);
    const float v19 = (v2 + v18);
    const float v23 = (v16 * v16);
    const float v25 = (v23 * s4);
    const float v26 = (v22 + v25);
    const float v28 = (v19 * s5);
    const float v29 = sn_sqrt_f32(v26);
    const float v31 = (v29 * s6);
    const float v33 = (v31 + s7);
    const float v34 = sn_div_f32(v28, v33);
    const float v36 = (v35 - v34);
    sn_rows_sum_f32(r40);
    const float v40 = r40;
    const float v42 = (v40 * s9);
    const float v43 = (v39 + v42);
    const float v47 = (v40 * v40);
    const float v49 = (v47 * s11);
    const float v50 = (v46 + v49);
    const float v52 = (v43 * s12);
    const float v53 = sn_sqrt_f32(v50);
    const float v55 = (v53 * s13);
    const float v57 = (v55 + s14);
    const float v58 = sn_div_f32(v52, v57);
    const float v60 = (v59 - v58);
    if (blockDim.y > 1u) sn_barrier();
    if (there && threadIdx.y == 0u) {
      b0[x0] = v19;
      b2[x0] = v26;
      b6[x0] = v36;
      b7[x0] = v43;
      b8[x0] = v50;
      b9[x0] = v60;
    }
  }
}
