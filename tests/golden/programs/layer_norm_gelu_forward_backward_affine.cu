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
SN_FN float sn_exp_f32(float a) { return expf(a); }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const float* b0, float* __restrict__ b1, float* __restrict__ b2, const float* b3, const float* b4, float* __restrict__ b5, int n0, int n1, int n2, float s0, float s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b3) | u64(b4) | u64(b5)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      float h1[2][4];
      float r1 = float(0);
      float q1[4] = {float(0), float(0), float(0), float(0)};
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
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h0[i][k];
            q1[k] = (q1[k] + v0);
          }
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r1, warps, blockDim.x, false); }
      const float v1 = r1;
      const float v3 = (v1 * s0);
      if (threadIdx.x == 0u) {
        b1[x0] = v1;
      }
      float r6 = float(0);
      float q6[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h0[i][k];
            const float v4 = (v0 - v3);
            h0[i][k] = v4;
            const float v5 = (v4 * v4);
            q6[k] = fma(v4, v4, q6[k]);
          }
        }
      }
      r6 = r6 + ((q6[0] + q6[1]) + (q6[2] + q6[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r6, warps, blockDim.x, false); }
      const float v6 = r6;
      const float v8 = (v6 * s1);
      const float v10 = (v8 + s2);
      const float v11 = sn_rsqrt_f32(v10);
      const float v32 = (v11 * v11);
      const float v33 = (v32 * v11);
      if (threadIdx.x == 0u) {
        b2[x0] = v11;
      }
      float r29 = float(0);
      float q29[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float l13[4];
          sn_load4_f32(l13, b3 + (y));
          float l15[4];
          sn_load4_f32(l15, b4 + (y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v4 = h0[i][k];
            const float v12 = (v4 * v11);
            const float v13 = l13[k];
            const float v14 = (v12 * v13);
            const float v15 = l15[k];
            const float v16 = (v14 + v15);
            const float v17 = sn_ndtr_f32(v16);
            const float v18 = (v16 * v16);
            const float v20 = (v18 * s3);
            const float v21 = sn_exp_f32(v20);
            const float v23 = (v21 * s4);
            const float v24 = (v16 * v23);
            const float v25 = (v17 + v24);
            const float v26 = (v25 * v13);
            h1[i][k] = v26;
            const float v28 = (v26 * v4);
            q29[k] = fma(v26, v4, q29[k]);
          }
        }
      }
      r29 = r29 + ((q29[0] + q29[1]) + (q29[2] + q29[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r29, warps, blockDim.x, false); }
      const float v29 = r29;
      const float v31 = (v29 * s5);
      const float v34 = (v31 * v33);
      const float v36 = (v34 * s6);
      const float v38 = (v36 * s7);
      float r42 = float(0);
      float q42[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v4 = h0[i][k];
            const float v26 = h1[i][k];
            const float v27 = (v26 * v11);
            const float v39 = (v38 * v4);
            const float v40 = (v27 + v39);
            h0[i][k] = v40;
            const float v41 = (-v40);
            q42[k] = (q42[k] + v41);
          }
        }
      }
      r42 = r42 + ((q42[0] + q42[1]) + (q42[2] + q42[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r42, warps, blockDim.x, false); }
      const float v42 = r42;
      const float v44 = (v42 * s8);
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v40 = h0[i][k];
            const float v45 = (v40 + v44);
            w0[k] = v45;
          }
          sn_store4_f32(b5 + (x0 * n2 + y), w0);
        }
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float r1 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q1 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          q1 = (q1 + v0);
        }
        r1 = r1 + q1;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r1, warps, blockDim.x, false); }
      const float v1 = r1;
      const float v3 = (v1 * s0);
      if (threadIdx.x == 0u) {
        b1[x0] = v1;
      }
      float r6 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q6 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v4 = (v0 - v3);
          const float v5 = (v4 * v4);
          q6 = fma(v4, v4, q6);
        }
        r6 = r6 + q6;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r6, warps, blockDim.x, false); }
      const float v6 = r6;
      const float v8 = (v6 * s1);
      const float v10 = (v8 + s2);
      const float v11 = sn_rsqrt_f32(v10);
      const float v32 = (v11 * v11);
      const float v33 = (v32 * v11);
      if (threadIdx.x == 0u) {
        b2[x0] = v11;
      }
      float r29 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q29 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v4 = (v0 - v3);
          const float v12 = (v4 * v11);
          const float v13 = b3[x1];
          const float v14 = (v12 * v13);
          const float v15 = b4[x1];
          const float v16 = (v14 + v15);
          const float v17 = sn_ndtr_f32(v16);
          const float v18 = (v16 * v16);
          const float v20 = (v18 * s3);
          const float v21 = sn_exp_f32(v20);
          const float v23 = (v21 * s4);
          const float v24 = (v16 * v23);
          const float v25 = (v17 + v24);
          const float v26 = (v25 * v13);
          const float v28 = (v26 * v4);
          q29 = fma(v26, v4, q29);
        }
        r29 = r29 + q29;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r29, warps, blockDim.x, false); }
      const float v29 = r29;
      const float v31 = (v29 * s5);
      const float v34 = (v31 * v33);
      const float v36 = (v34 * s6);
      const float v38 = (v36 * s7);
      float r42 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q42 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v4 = (v0 - v3);
          const float v12 = (v4 * v11);
          const float v13 = b3[x1];
          const float v14 = (v12 * v13);
          const float v15 = b4[x1];
          const float v16 = (v14 + v15);
          const float v17 = sn_ndtr_f32(v16);
          const float v18 = (v16 * v16);
          const float v20 = (v18 * s3);
          const float v21 = sn_exp_f32(v20);
          const float v23 = (v21 * s4);
          const float v24 = (v16 * v23);
          const float v25 = (v17 + v24);
          const float v26 = (v25 * v13);
          const float v27 = (v26 * v11);
          const float v39 = (v38 * v4);
          const float v40 = (v27 + v39);
          const float v41 = (-v40);
          q42 = (q42 + v41);
        }
        r42 = r42 + q42;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r42, warps, blockDim.x, false); }
      const float v42 = r42;
      const float v44 = (v42 * s8);
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        const float v4 = (v0 - v3);
        const float v12 = (v4 * v11);
        const float v13 = b3[x1];
        const float v14 = (v12 * v13);
        const float v15 = b4[x1];
        const float v16 = (v14 + v15);
        const float v17 = sn_ndtr_f32(v16);
        const float v18 = (v16 * v16);
        const float v20 = (v18 * s3);
        const float v21 = sn_exp_f32(v20);
        const float v23 = (v21 * s4);
        const float v24 = (v16 * v23);
        const float v25 = (v17 + v24);
        const float v26 = (v25 * v13);
        const float v27 = (v26 * v11);
        const float v39 = (v38 * v4);
        const float v40 = (v27 + v39);
        const float v45 = (v40 + v44);
        b5[x0 * n2 + x1] = v45;
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
SN_FN float sn_exp_f32(float a) { return expf(a); }
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
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, const float* b2, const float* b3, const float* b4, float* __restrict__ b5, float* __restrict__ b6, int n0, int n1, int n2, float s0, float s1, float s2, u32 parts, char* partials, u32* counters) {
  __shared__ float sn_handed_over[2112];
  sn_follow();
  const bool vectors = ((u64(b1)) & 15) == 0 && ((n0 | n2) & 3) == 0 && u32(blockDim.x) % u32(4) == u32(0);
  const u32 points = u32(n0);
  const u32 units = (points + u32(blockDim.x) - u32(1)) / u32(blockDim.x);
  const u32 part = u32(blockIdx.x) / units;
  const u32 unit = u32(u32(blockIdx.x) % units);
  const u32 f = u32(unit) * u32(blockDim.x) + u32(threadIdx.x);
  const u32 whole = u32(n1);
  const u32 length = (whole + parts - 1) / parts;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 end_of_part = length < whole - begin ? begin + length : whole;
  float r20 = float(0);
  float r22 = float(0);
  if (vectors) {
    const u32 groups = u32(blockDim.x) / u32(4);
    const u32 number = u32(threadIdx.y) * u32(blockDim.x) + u32(threadIdx.x);
    const u32 base = u32(unit) * u32(blockDim.x) + number % groups * u32(4);
    float r20_of[4] = {float(0), float(0), float(0), float(0)};
    float r22_of[4] = {float(0), float(0), float(0), float(0)};
    if (base < points) {
      const int y = int(base);
      float o7[4];
      float o9[4];
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int x0 = y + k;
        const float v7 = b3[x0];
        const float v9 = b4[x0];
        o7[k] = v7;
        o9[k] = v9;
      }
      const u32 rounds = begin + number / groups >= end_of_part ? u32(0) : ((u32(blockDim.y) * u32(4)) == u32(1) ? end_of_part - (begin + number / groups) : (end_of_part - (begin + number / groups) + (u32(blockDim.y) * u32(4)) - 1) / (u32(blockDim.y) * u32(4)));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q20[4] = {float(0), float(0), float(0), float(0)};
        float q22[4] = {float(0), float(0), float(0), float(0)};
        {
          u32 g = h;
          for (; g + u32(1) < end; g += u32(2)) {
            #pragma unroll
            for (int u = 0; u < 2; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(begin + number / groups + j * (u32(blockDim.y) * u32(4)));
              float l3[4];
              sn_load4_f32(l3, b1 + (y + x1 * n2));
              #pragma unroll
              for (int k = 0; k < 4; ++k) {
                const int x0 = y + k;
                const float v7 = o7[k];
                const float v9 = o9[k];
                const float v0 = b0[x1];
                const float v2 = (v0 * s0);
                const float v3 = l3[k];
                const float v4 = (v3 - v2);
                const float v5 = b2[x1];
                const float v6 = (v4 * v5);
                const float v8 = (v6 * v7);
                const float v10 = (v8 + v9);
                const float v11 = sn_ndtr_f32(v10);
                const float v12 = (v10 * v10);
                const float v14 = (v12 * s1);
                const float v15 = sn_exp_f32(v14);
                const float v17 = (v15 * s2);
                const float v18 = (v10 * v17);
                const float v19 = (v11 + v18);
                const float v21 = (v19 * v6);
                q20[k] = (q20[k] + v19);
                q22[k] = fma(v19, v6, q22[k]);
              }
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + number / groups + j * (u32(blockDim.y) * u32(4)));
            float l3[4];
            sn_load4_f32(l3, b1 + (y + x1 * n2));
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
              const int x0 = y + k;
              const float v7 = o7[k];
              const float v9 = o9[k];
              const float v0 = b0[x1];
              const float v2 = (v0 * s0);
              const float v3 = l3[k];
              const float v4 = (v3 - v2);
              const float v5 = b2[x1];
              const float v6 = (v4 * v5);
              const float v8 = (v6 * v7);
              const float v10 = (v8 + v9);
              const float v11 = sn_ndtr_f32(v10);
              const float v12 = (v10 * v10);
              const float v14 = (v12 * s1);
              const float v15 = sn_exp_f32(v14);
              const float v17 = (v15 * s2);
              const float v18 = (v10 * v17);
              const float v19 = (v11 + v18);
              const float v21 = (v19 * v6);
              q20[k] = (q20[k] + v19);
              q22[k] = fma(v19, v6, q22[k]);
            }
          }
        }
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          r20_of[k] = r20_of[k] + q20[k];
          r22_of[k] = r22_of[k] + q22[k];
        }
      }
    }
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      sn_handed_over[(u32(0) + u32(k)) * u32(264) + u32(number)] = r20_of[k];
      sn_handed_over[(u32(4) + u32(k)) * u32(264) + u32(number)] = r22_of[k];
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const u32 other = (u32(threadIdx.y) + u32(k) * u32(blockDim.y)) * u32(groups) + u32(threadIdx.x) / u32(4);
      r20 = r20 + sn_handed_over[(u32(0) + u32(threadIdx.x) % u32(4)) * u32(264) + other];
      r22 = r22 + sn_handed_over[(u32(4) + u32(threadIdx.x) % u32(4)) * u32(264) + other];
    }
  }
  else {
    if (f < points) {
      const int x0 = int(f);
      const float v7 = b3[x0];
      const float v9 = b4[x0];
      const u32 rounds = begin + u32(threadIdx.y) >= end_of_part ? u32(0) : (u32(blockDim.y) == u32(1) ? end_of_part - (begin + u32(threadIdx.y)) : (end_of_part - (begin + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q20 = float(0);
        float q22 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(begin + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v0 = b0[x1];
              const float v2 = (v0 * s0);
              const float v3 = b1[x0 + x1 * n2];
              const float v4 = (v3 - v2);
              const float v5 = b2[x1];
              const float v6 = (v4 * v5);
              const float v8 = (v6 * v7);
              const float v10 = (v8 + v9);
              const float v11 = sn_ndtr_f32(v10);
              const float v12 = (v10 * v10);
              const float v14 = (v12 * s1);
              const float v15 = sn_exp_f32(v14);
              const float v17 = (v15 * s2);
              const float v18 = (v10 * v17);
              const float v19 = (v11 + v18);
              const float v21 = (v19 * v6);
              q20 = (q20 + v19);
              q22 = fma(v19, v6, q22);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(begin + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x1];
            const float v2 = (v0 * s0);
            const float v3 = b1[x0 + x1 * n2];
            const float v4 = (v3 - v2);
            const float v5 = b2[x1];
            const float v6 = (v4 * v5);
            const float v8 = (v6 * v7);
            const float v10 = (v8 + v9);
            const float v11 = sn_ndtr_f32(v10);
            const float v12 = (v10 * v10);
            const float v14 = (v12 * s1);
            const float v15 = sn_exp_f32(v14);
            const float v17 = (v15 * s2);
            const float v18 = (v10 * v17);
            const float v19 = (v11 + v18);
            const float v21 = (v19 * v6);
            q20 = (q20 + v19);
            q22 = fma(v19, v6, q22);
          }
        }
        r20 = r20 + q20;
        r22 = r22 + q22;
      }
    }
  }
  sn_rows_sum_f32(r20);
  sn_rows_sum_f32(r22);
  if (f < points && threadIdx.y == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r20;
    *(float*)(partials + 4ull * (u32(1) * u32(parts) * points + part * points + f)) = r22;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r20 = float(0);
  r22 = float(0);
  if (f < points) {
    {
      const u32 joins = u32(threadIdx.y) < u32(parts) ? (u32(parts) - u32(threadIdx.y) + u32(blockDim.y) - 1) / u32(blockDim.y) : u32(0);
      for (u32 g = u32(0); g < joins; g += u32(8)) {
        float p_r20[8];
        float p_r22[8];
        #pragma unroll
        for (int u = 0; u < 8; ++u) {
          const u32 p = u32(threadIdx.y) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.y);
          p_r20[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
          p_r22[u] = __ldcg((const float*)(partials + 4ull * (u32(1) * u32(parts) * points + p * points + f)));
        }
        #pragma unroll
        for (int u = 0; u < 8; ++u) {
          if (g + u32(u) < joins) {
            r20 = (r20 + p_r20[u]);
            r22 = (r22 + p_r22[u]);
          }
        }
      }
    }
  }
  sn_rows_sum_f32(r20);
  sn_rows_sum_f32(r22);
  if (f < points && threadIdx.y == 0u) {
    const int x0 = int(f);
    const float v7 = b3[x0];
    const float v9 = b4[x0];
    const float v20 = r20;
    const float v22 = r22;
    b5[x0] = v20;
    b6[x0] = v22;
  }
}
