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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a > b || a != a ? a : b;
#endif
}
SN_FN void sn_workgroup_max_f32(float& v, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = sn_max_f32(v, w);
  }
  const u32 count = lanes >> 5;
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) warps[0][threadIdx.x >> 5] = v;
  __syncthreads();
  v = warps[0][threadIdx.x & (count - 1u)];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w = __shfl_xor_sync(0xffffffffu, v, d);
    v = sn_max_f32(v, w);
  }
}
SN_FN float sn_exp_f32(float a) { return expf(a); }
SN_FN void sn_workgroup_sum_sum_f32(float& v0, float& v1, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w0 = __shfl_xor_sync(0xffffffffu, v0, d);
    const float w1 = __shfl_xor_sync(0xffffffffu, v1, d);
    v0 = (v0 + w0);
    v1 = (v1 + w1);
  }
  const u32 count = lanes >> 5, warp = threadIdx.x >> 5, other = threadIdx.x & (count - 1u);
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) { warps[0][warp] = v0; warps[1][warp] = v1; }
  __syncthreads();
  v0 = warps[0][other];
  v1 = warps[1][other];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w0 = __shfl_xor_sync(0xffffffffu, v0, d);
    const float w1 = __shfl_xor_sync(0xffffffffu, v1, d);
    v0 = (v0 + w0);
    v1 = (v1 + w1);
  }
}
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const float* b0, float* __restrict__ b1, const i64* b2, float* __restrict__ b3, float* __restrict__ b4, int n0, int n1, int n2, i64 s0, i64 s1, i64 s2, float s3, float s4, float s5, float s6, float s7) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b4)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      const i64 v8 = b2[x0];
      const bool v9 = (s0 <= v8);
      const bool v11 = (v8 < s1);
      const bool v12 = sn_and_bool(v9, v11);
      const i64 v14 = (v12 ? v8 : s2);
      const int v15 = sn_cast_i64_i32(v14);
      const float v22 = (s4 * s5);
      const float v24 = (v12 ? v22 : s6);
      const float v27 = (-v24);
      float r1 = __int_as_float(0xff800000);
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
            r1 = sn_max_f32(r1, v0);
          }
        }
      }
      { __shared__ float warps[1][32]; sn_workgroup_max_f32(r1, warps, blockDim.x, false); }
      const float v1 = r1;
      float r4 = float(0);
      float r19 = float(0);
      float q4[4] = {float(0), float(0), float(0), float(0)};
      float q19[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v0 = h0[i][k];
            const float v2 = (v0 - v1);
            const float v3 = sn_exp_f32(v2);
            h0[i][k] = v3;
            const i64 v5 = i64(x1);
            const int v6 = sn_cast_i64_i32(v5);
            const bool v16 = (v6 == v15);
            const float v18 = (v16 ? v2 : s3);
            q4[k] = (q4[k] + v3);
            q19[k] = (q19[k] + v18);
          }
        }
      }
      r4 = r4 + ((q4[0] + q4[1]) + (q4[2] + q4[3]));
      r19 = r19 + ((q19[0] + q19[1]) + (q19[2] + q19[3]));
      { __shared__ float warps[2][32]; sn_workgroup_sum_sum_f32(r4, r19, warps, blockDim.x, false); }
      const float v4 = r4;
      const float v19 = r19;
      const float v28 = sn_div_f32(v27, v4);
      if (threadIdx.x == 0u) {
        b1[x0] = v4;
        b3[x0] = v19;
      }
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v3 = h0[i][k];
            const i64 v5 = i64(x1);
            const int v6 = sn_cast_i64_i32(v5);
            const bool v16 = (v6 == v15);
            const float v26 = (v16 ? v24 : s7);
            const float v29 = (v28 * v3);
            const float v30 = (v26 + v29);
            w0[k] = v30;
          }
          sn_store4_f32(b4 + (x0 * n2 + y), w0);
        }
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      const i64 v8 = b2[x0];
      const bool v9 = (s0 <= v8);
      const bool v11 = (v8 < s1);
      const bool v12 = sn_and_bool(v9, v11);
      const i64 v14 = (v12 ? v8 : s2);
      const int v15 = sn_cast_i64_i32(v14);
      const float v22 = (s4 * s5);
      const float v24 = (v12 ? v22 : s6);
      const float v27 = (-v24);
      float r1 = __int_as_float(0xff800000);
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        r1 = sn_max_f32(r1, v0);
      }
      { __shared__ float warps[1][32]; sn_workgroup_max_f32(r1, warps, blockDim.x, false); }
      const float v1 = r1;
      float r4 = float(0);
      float r19 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q4 = float(0);
        float q19 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v0 = b0[x0 * n2 + x1];
          const float v2 = (v0 - v1);
          const float v3 = sn_exp_f32(v2);
          const i64 v5 = i64(x1);
          const int v6 = sn_cast_i64_i32(v5);
          const bool v16 = (v6 == v15);
          const float v18 = (v16 ? v2 : s3);
          q4 = (q4 + v3);
          q19 = (q19 + v18);
        }
        r4 = r4 + q4;
        r19 = r19 + q19;
      }
      { __shared__ float warps[2][32]; sn_workgroup_sum_sum_f32(r4, r19, warps, blockDim.x, false); }
      const float v4 = r4;
      const float v19 = r19;
      const float v28 = sn_div_f32(v27, v4);
      if (threadIdx.x == 0u) {
        b1[x0] = v4;
        b3[x0] = v19;
      }
      for (u32 j = u32(threadIdx.x); j < inner; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const float v0 = b0[x0 * n2 + x1];
        const float v2 = (v0 - v1);
        const float v3 = sn_exp_f32(v2);
        const i64 v5 = i64(x1);
        const int v6 = sn_cast_i64_i32(v5);
        const bool v16 = (v6 == v15);
        const float v26 = (v16 ? v24 : s7);
        const float v29 = (v28 * v3);
        const float v30 = (v26 + v29);
        b4[x0 * n2 + x1] = v30;
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
SN_FN void sn_load4_i64(i64 (&to)[4], const i64* from) {
  const longlong2 low = ((const longlong2*)from)[0], high = ((const longlong2*)from)[1];
  to[0] = low.x;
  to[1] = low.y;
  to[2] = high.x;
  to[3] = high.y;
}
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN float sn_log_f32(float a) { return logf(a); }
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
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const i64* b0, const float* b1, const float* b2, float* __restrict__ b3, int n0, int n1, i64 s0, i64 s1, float s2, float s3) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b2)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
    float r12 = float(0);
    for (u32 h = u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q12[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        const int y = int(j);
        i64 l1[4];
        sn_load4_i64(l1, b0 + (y));
        float l6[4];
        sn_load4_f32(l6, b1 + (y));
        float l8[4];
        sn_load4_f32(l8, b2 + (y));
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x1 = y + k;
          const i64 v1 = l1[k];
          const bool v2 = (s0 <= v1);
          const bool v4 = (v1 < s1);
          const bool v5 = sn_and_bool(v2, v4);
          const float v6 = l6[k];
          const float v7 = sn_log_f32(v6);
          const float v8 = l8[k];
          const float v9 = (v8 - v7);
          const float v11 = (v5 ? v9 : s2);
          q12[k] = (q12[k] + v11);
        }
      }
      r12 = r12 + ((q12[0] + q12[1]) + (q12[2] + q12[3]));
    }
    for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q12 = float(0);
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const i64 v1 = b0[x1];
        const bool v2 = (s0 <= v1);
        const bool v4 = (v1 < s1);
        const bool v5 = sn_and_bool(v2, v4);
        const float v6 = b1[x1];
        const float v7 = sn_log_f32(v6);
        const float v8 = b2[x1];
        const float v9 = (v8 - v7);
        const float v11 = (v5 ? v9 : s2);
        q12 = (q12 + v11);
      }
      r12 = r12 + q12;
    }
    { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r12, warps, blockDim.x, true); }
    const float v12 = r12;
    const float v14 = (v12 * s3);
    if (threadIdx.x == 0u) {
      b3[0] = v14;
    }
  }
}
