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
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const i64* b0, const float* b1, const float* b2, float* __restrict__ b3, int n0, int n1, int n2, int n3, int n4, int n5, float s0, u32 parts, char* partials, u32* counters, u32* fault) {
  sn_follow();
  const bool vectors = ((u64(b2)) & 15) == 0 && ((n2 | n3) & 3) == 0;
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
  float r5 = float(0);
  for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
    float q5[4] = {float(0), float(0), float(0), float(0)};
    for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
      u32 t1 = j;
      const int y = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      float l2[4];
      sn_load4_f32(l2, b2 + (x1 * n3 + y));
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int x2 = y + k;
        const i64 v0 = b0[x1];
        float v1 = float(0);
        if (v0 >= i64(0) && v0 < i64(n5)) {
          v1 = b1[x2 + int(v0) * n4];
        }
        else {
          fault[0u] = 1u;
        }
        const float v2 = l2[k];
        const float v3 = (v1 - v2);
        const float v4 = (v3 * v3);
        q5[k] = fma(v3, v3, q5[k]);
      }
    }
    r5 = r5 + ((q5[0] + q5[1]) + (q5[2] + q5[3]));
  }
  for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
    float q5 = float(0);
    for (u32 j = h; j < end; j += u32(blockDim.x)) {
      u32 t1 = j;
      const int x2 = int(t1 % u32(n2));
      t1 /= u32(n2);
      const int x1 = int(t1);
      const i64 v0 = b0[x1];
      float v1 = float(0);
      if (v0 >= i64(0) && v0 < i64(n5)) {
        v1 = b1[x2 + int(v0) * n4];
      }
      else {
        fault[0u] = 1u;
      }
      const float v2 = b2[x1 * n3 + x2];
      const float v3 = (v1 - v2);
      const float v4 = (v3 * v3);
      q5 = fma(v3, v3, q5);
    }
    r5 = r5 + q5;
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r5;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r5 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r5[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r5[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r5 = (r5 + p_r5[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r5, warps, blockDim.x, false); }
  const float v5 = r5;
  const float v7 = (v5 * s0);
  if (threadIdx.x == 0u) {
    b3[0] = v7;
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
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const i64* b0, const float* b1, const float* b2, float* __restrict__ b3, int n0, int n1, int n2, int n3, int n4, float s0, float s1, float s2, u32* fault) {
  sn_follow();
  const bool vectors = ((u64(b2) | u64(b3)) & 15) == 0 && ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float l7[4];
    sn_load4_f32(l7, b2 + (x0 * n2 + y));
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      const float v2 = (s0 * s1);
      const float v4 = (v2 * s2);
      const i64 v5 = b0[x0];
      float v6 = float(0);
      if (v5 >= i64(0) && v5 < i64(n4)) {
        v6 = b1[x1 + int(v5) * n3];
      }
      else {
        fault[0u] = 1u;
      }
      const float v7 = l7[k];
      const float v8 = (v6 - v7);
      const float v9 = (v4 * v8);
      w0[k] = v9;
    }
    sn_store4_f32(b3 + (x0 * n2 + y), w0);
  }
  for (u32 t = points4 + u32(blockIdx.x) * (u32(blockDim.x) * u32(4)); t < points; t += u32(gridDim.x) * (u32(blockDim.x) * u32(4))) {
    if (points - t >= (u32(blockDim.x) * u32(4))) {
      float w0[4];
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v2 = (s0 * s1);
        const float v4 = (v2 * s2);
        const i64 v5 = b0[x0];
        float v6 = float(0);
        if (v5 >= i64(0) && v5 < i64(n4)) {
          v6 = b1[x1 + int(v5) * n3];
        }
        else {
          fault[0u] = 1u;
        }
        const float v7 = b2[x0 * n2 + x1];
        const float v8 = (v6 - v7);
        const float v9 = (v4 * v8);
        w0[u] = v9;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b3[x0 * n2 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v2 = (s0 * s1);
        const float v4 = (v2 * s2);
        const i64 v5 = b0[x0];
        float v6 = float(0);
        if (v5 >= i64(0) && v5 < i64(n4)) {
          v6 = b1[x1 + int(v5) * n3];
        }
        else {
          fault[0u] = 1u;
        }
        const float v7 = b2[x0 * n2 + x1];
        const float v8 = (v6 - v7);
        const float v9 = (v4 * v8);
        b3[x0 * n2 + x1] = v9;
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
SN_FN void sn_load4_i64(i64 (&to)[4], const i64* from) {
  const longlong2 low = ((const longlong2*)from)[0], high = ((const longlong2*)from)[1];
  to[0] = low.x;
  to[1] = low.y;
  to[2] = high.x;
  to[3] = high.y;
}
SN_FN i64 sn_max_i64(i64 a, i64 b) { return a > b ? a : b; }
SN_FN i64 sn_min_i64(i64 a, i64 b) { return a < b ? a : b; }
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
SN_FN void sn_store4_i32(int* to, const int (&from)[4]) {
  *(int4*)to = make_int4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const i64* b0, int* __restrict__ b1, int n0, int n1, i64 s0, i64 s1, i64 s2, u32* fault) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    const int y = int(f);
    i64 l0[4];
    sn_load4_i64(l0, b0 + (y));
    int w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const i64 v0 = l0[k];
      i64 v1 = i64(0);
      if (v0 >= i64(0) && v0 < i64(n1)) {
        v1 = b0[0];
      }
      else {
        fault[0u] = 1u;
      }
      const i64 v2 = b0[0];
      const bool v3 = (v1 == v2);
      const i64 v5 = sn_max_i64(v0, s0);
      const i64 v7 = sn_min_i64(v5, s1);
      const i64 v9 = (v3 ? v7 : s2);
      const int v10 = sn_cast_i64_i32(v9);
      w0[k] = v10;
    }
    sn_store4_i32(b1 + (y), w0);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    const int x0 = int(f);
    const i64 v0 = b0[x0];
    i64 v1 = i64(0);
    if (v0 >= i64(0) && v0 < i64(n1)) {
      v1 = b0[0];
    }
    else {
      fault[0u] = 1u;
    }
    const i64 v2 = b0[0];
    const bool v3 = (v1 == v2);
    const i64 v5 = sn_max_i64(v0, s0);
    const i64 v7 = sn_min_i64(v5, s1);
    const i64 v9 = (v3 ? v7 : s2);
    const int v10 = sn_cast_i64_i32(v9);
    b1[x0] = v10;
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
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, const int* b1, const float* b2, float* __restrict__ b3, float* __restrict__ b4, int n0, int n1, int n2, int n3, int n4, float s0, float s1, float s2, float s3, float s4, float s5, float s6, u32* fault) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b3) | u64(b4)) & 15) == 0 && ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float l0[4];
    sn_load4_f32(l0, b0 + (x0 * n2 + y));
    float l8[4];
    sn_load4_f32(l8, b3 + (x0 * n2 + y));
    float l23[4];
    sn_load4_f32(l23, b4 + (x0 * n2 + y));
    float w0[4];
    float w1[4];
    float w2[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x1 = y + k;
      const float v0 = l0[k];
      const float v2 = (v0 * s0);
      const int v3 = b1[x0];
      float v4 = float(0);
      if (v3 >= int(0) && v3 < int(n4)) {
        v4 = b2[x1 + int(v3) * n3];
      }
      else {
        fault[0u] = 1u;
      }
      const float v6 = (v4 * s1);
      const float v7 = (v2 + v6);
      const float v8 = l8[k];
      const float v10 = (v8 * s2);
      const float v11 = (v4 * v4);
      const float v13 = (v11 * s3);
      const float v14 = (v10 + v13);
      const float v16 = (v7 * s4);
      const float v17 = sn_sqrt_f32(v14);
      const float v19 = (v17 * s5);
      const float v21 = (v19 + s6);
      const float v22 = sn_div_f32(v16, v21);
      const float v23 = l23[k];
      const float v24 = (v23 - v22);
      w0[k] = v7;
      w1[k] = v14;
      w2[k] = v24;
    }
    sn_store4_f32(b0 + (x0 * n2 + y), w0);
    sn_store4_f32(b3 + (x0 * n2 + y), w1);
    sn_store4_f32(b4 + (x0 * n2 + y), w2);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    u32 t0 = f;
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const float v0 = b0[x0 * n2 + x1];
    const float v2 = (v0 * s0);
    const int v3 = b1[x0];
    float v4 = float(0);
    if (v3 >= int(0) && v3 < int(n4)) {
      v4 = b2[x1 + int(v3) * n3];
    }
    else {
      fault[0u] = 1u;
    }
    const float v6 = (v4 * s1);
    const float v7 = (v2 + v6);
    const float v8 = b3[x0 * n2 + x1];
    const float v10 = (v8 * s2);
    const float v11 = (v4 * v4);
    const float v13 = (v11 * s3);
    const float v14 = (v10 + v13);
    const float v16 = (v7 * s4);
    const float v17 = sn_sqrt_f32(v14);
    const float v19 = (v17 * s5);
    const float v21 = (v19 + s6);
    const float v22 = sn_div_f32(v16, v21);
    const float v23 = b4[x0 * n2 + x1];
    const float v24 = (v23 - v22);
    b0[x0 * n2 + x1] = v7;
    b3[x0 * n2 + x1] = v14;
    b4[x0 * n2 + x1] = v24;
  }
}
