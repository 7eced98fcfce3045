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
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, const float* b1, int n0, int n1, int n2, int n3, int n4, i64 s0, i64 s1, float s2, float s3, float s4) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0 && ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0) * u32(n1) * u32(n2);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float l3[4];
    sn_load4_f32(l3, b0 + (x0 * n3 + x1 * n4 + y));
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x2 = y | k;
      const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
      const bool v2 = (v0 < s2);
      const float v3 = l3[k];
      const float v4 = b1[x1];
      const float v5 = (v3 + v4);
      const float v7 = (v5 * s3);
      const float v9 = (v2 ? s4 : v7);
      w0[k] = v9;
    }
    sn_store4_f32(b0 + (x0 * n3 + x1 * n4 + y), w0);
  }
  for (u32 t = points4 + u32(blockIdx.x) * (u32(blockDim.x) * u32(4)); t < points; t += u32(gridDim.x) * (u32(blockDim.x) * u32(4))) {
    if (points - t >= (u32(blockDim.x) * u32(4))) {
      float w0[4];
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        const float v3 = b0[x0 * n3 + x1 * n4 + x2];
        const float v4 = b1[x1];
        const float v5 = (v3 + v4);
        const float v7 = (v5 * s3);
        const float v9 = (v2 ? s4 : v7);
        w0[u] = v9;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b0[x0 * n3 + x1 * n4 + x2] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        const float v3 = b0[x0 * n3 + x1 * n4 + x2];
        const float v4 = b1[x1];
        const float v5 = (v3 + v4);
        const float v7 = (v5 * s3);
        const float v9 = (v2 ? s4 : v7);
        b0[x0 * n3 + x1 * n4 + x2] = v9;
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
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
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
    const float* b0, const float* b1, float* __restrict__ b2, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, int n11, int n12, int n13, i64 s0, i64 s1, float s2, float s3, float s4, float s5, float s6) {
  sn_follow();
  const u32 points = u32(n0) * u32(n1) * u32(n2) * u32(n3);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    u32 t0 = f;
    const int x3 = int(t0 % u32(n3));
    t0 /= u32(n3);
    const int x2 = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    const float v4 = b1[x1];
    float r12 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n4) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n4) - (u32(0) + u32(threadIdx.y)) : (u32(n4) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 y4 = u32(0); y4 < rounds; y4 += 1) {
        const int x4 = int(u32(0) + u32(threadIdx.y) + y4 * u32(blockDim.y));
        for (u32 h = u32(0); h < u32(n5); h += u32(32)) {
          const u32 left = u32(n5) - h;
          const u32 end = h + (left < u32(32) ? left : u32(32));
          float q12 = float(0);
          {
            u32 g = h;
            for (; g + u32(7) < end; g += u32(8)) {
              #pragma unroll
              for (int u = 0; u < 8; ++u) {
                const u32 j = g + u32(u);
                const int x5 = int(j);
                const float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
                const bool v2 = (v0 < s2);
                const float v3 = b0[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
                const float v5 = (v3 + v4);
                const float v7 = (v5 * s3);
                const float v9 = (v2 ? s4 : v7);
                const float v11 = sn_max_f32(v9, s5);
                q12 = (q12 + v11);
              }
            }
            for (u32 j = g; j < end; j += 1) {
              const int x5 = int(j);
              const float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
              const bool v2 = (v0 < s2);
              const float v3 = b0[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
              const float v5 = (v3 + v4);
              const float v7 = (v5 * s3);
              const float v9 = (v2 ? s4 : v7);
              const float v11 = sn_max_f32(v9, s5);
              q12 = (q12 + v11);
            }
          }
          r12 = r12 + q12;
        }
      }
    }
    sn_rows_sum_f32(r12);
    const float v12 = r12;
    const float v14 = (v12 * s6);
    if (there && threadIdx.y == 0u) {
      b2[x0 * n11 + x1 * n12 + x2 * n13 + x3] = v14;
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
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
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
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, float* __restrict__ b2, int n0, int n1, int n2, i64 s0, i64 s1, float s2, float s3, float s4, float s5) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b2)) & 15) == 0 && ((n1 | n2) & 3) == 0;
  const u32 points = u32(n0) * u32(n1);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float l3[4];
    sn_load4_f32(l3, b0 + (x0 * n2 + y));
    float l4[4];
    sn_load4_f32(l4, b1 + (y));
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x1 = y | k;
      const float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
      const bool v2 = (v0 < s2);
      const float v3 = l3[k];
      const float v4 = l4[k];
      const float v5 = (v3 + v4);
      const float v7 = (v5 * s3);
      const float v9 = (v2 ? s4 : v7);
      const float v11 = sn_max_f32(v9, s5);
      w0[k] = v11;
    }
    sn_store4_f32(b2 + (x0 * n2 + y), w0);
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
        const float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
        const bool v2 = (v0 < s2);
        const float v3 = b0[x0 * n2 + x1];
        const float v4 = b1[x1];
        const float v5 = (v3 + v4);
        const float v7 = (v5 * s3);
        const float v9 = (v2 ? s4 : v7);
        const float v11 = sn_max_f32(v9, s5);
        w0[u] = v11;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b2[x0 * n2 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v0 = sn_uniform(i64(x0 * n2 + x1), s0, s1);
        const bool v2 = (v0 < s2);
        const float v3 = b0[x0 * n2 + x1];
        const float v4 = b1[x1];
        const float v5 = (v3 + v4);
        const float v7 = (v5 * s3);
        const float v9 = (v2 ? s4 : v7);
        const float v11 = sn_max_f32(v9, s5);
        b2[x0 * n2 + x1] = v11;
      }
    }
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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN int sn_cast_i64_i32(i64 a) { return int(a); }
SN_FN float sn_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a > b || a != a ? a : b;
#endif
}
SN_FN void sn_rows_max_f32(float& v) {
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
      v = sn_max_f32(v, w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
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
SN_FN float sn_div_f32(float a, float b) { return a / b; }
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, const float* b1, float* __restrict__ b2, const i64* b3, float* __restrict__ b4, int n0, int n1, int n2, i64 s0, i64 s1, i64 s2, float s3, float s4, float s5, float s6, float s7) {
  sn_follow();
  const u32 points = u32(n0);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const i64 v10 = b3[x0];
    const bool v11 = (s0 <= v10);
    const bool v13 = (v10 < s1);
    const bool v14 = sn_and_bool(v11, v13);
    const i64 v16 = (v14 ? v10 : s2);
    const int v17 = sn_cast_i64_i32(v16);
    const float v24 = (s4 * s5);
    const float v26 = (v14 ? v24 : s6);
    const float v29 = (-v26);
    float r3 = __int_as_float(0xff800000);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      {
        u32 g = u32(0);
        for (; g + u32(7) < rounds; g += u32(8)) {
          #pragma unroll
          for (int u = 0; u < 8; ++u) {
            const u32 j = g + u32(u);
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            const float v1 = b1[x1];
            const float v2 = (v0 + v1);
            r3 = sn_max_f32(r3, v2);
          }
        }
        if (g < rounds) {
          #pragma unroll
          for (int u = 0; u < 8; ++u) {
            const bool comes = g + u32(u) < rounds;
            const u32 j = comes ? g + u32(u) : g;
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            const float v1 = b1[x1];
            const float v2 = (v0 + v1);
            r3 = sn_max_f32(r3, (comes ? v2 : __int_as_float(0xff800000)));
          }
        }
      }
    }
    sn_rows_max_f32(r3);
    const float v3 = r3;
    float r6 = float(0);
    float r21 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q6 = float(0);
        float q21 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v0 = b0[x0 * n2 + x1];
              const float v1 = b1[x1];
              const float v2 = (v0 + v1);
              const float v4 = (v2 - v3);
              const float v5 = sn_exp_f32(v4);
              const i64 v7 = i64(x1);
              const int v8 = sn_cast_i64_i32(v7);
              const bool v18 = (v8 == v17);
              const float v20 = (v18 ? v4 : s3);
              q6 = (q6 + v5);
              q21 = (q21 + v20);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            const float v1 = b1[x1];
            const float v2 = (v0 + v1);
            const float v4 = (v2 - v3);
            const float v5 = sn_exp_f32(v4);
            const i64 v7 = i64(x1);
            const int v8 = sn_cast_i64_i32(v7);
            const bool v18 = (v8 == v17);
            const float v20 = (v18 ? v4 : s3);
            q6 = (q6 + v5);
            q21 = (q21 + v20);
          }
        }
        r6 = r6 + q6;
        r21 = r21 + q21;
      }
    }
    sn_rows_sum_f32(r6);
    const float v6 = r6;
    sn_rows_sum_f32(r21);
    const float v21 = r21;
    const float v30 = sn_div_f32(v29, v6);
    if (there && threadIdx.y == 0u) {
      b2[x0] = v6;
      b4[x0] = v21;
    }
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 j = u32(0); j < rounds; j += 1) {
        const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 + v1);
        const float v4 = (v2 - v3);
        const float v5 = sn_exp_f32(v4);
        const i64 v7 = i64(x1);
        const int v8 = sn_cast_i64_i32(v7);
        const bool v18 = (v8 == v17);
        const float v28 = (v18 ? v26 : s7);
        const float v31 = (v30 * v5);
        const float v32 = (v28 + v31);
        b0[x0 * n2 + x1] = v32;
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
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
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
    float* __restrict__ b0, float* __restrict__ b1, const float* b2, float* __restrict__ b3, float* __restrict__ b4, int n0, int n1, int n2, i64 s0, i64 s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8, float s9, float s10, float s11, float s12, float s13, float s14, float s15) {
  sn_follow();
  const u32 points = u32(n0);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    const float v4 = b1[x0];
    const float v19 = b3[x0];
    const float v21 = (v19 * s9);
    const float v26 = b4[x0];
    const float v28 = (v26 * s11);
    float r22 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q22 = float(0);
        #pragma unroll 8
        for (u32 j = h; j < end; j += 1) {
          const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
          const float v0 = sn_uniform(i64(x0 + x1 * n2), s0, s1);
          const bool v2 = (v0 < s2);
          const float v3 = b0[x0 + x1 * n2];
          const float v5 = (v3 + v4);
          const float v7 = (v5 * s3);
          const float v9 = (v2 ? s4 : v7);
          const bool v11 = (s5 < v9);
          const float v12 = b2[x0 + x1 * n2];
          const float v14 = (v11 ? v12 : s6);
          const float v16 = (v2 ? s7 : v14);
          const float v18 = (v16 * s8);
          b0[x0 + x1 * n2] = v18;
          q22 = fma(v16, s8, q22);
        }
        r22 = r22 + q22;
      }
    }
    sn_rows_sum_f32(r22);
    const float v22 = r22;
    const float v24 = (v22 * s10);
    const float v25 = (v21 + v24);
    const float v29 = (v22 * v22);
    const float v31 = (v29 * s12);
    const float v32 = (v28 + v31);
    const float v34 = (v25 * s13);
    const float v35 = sn_sqrt_f32(v32);
    const float v37 = (v35 * s14);
    const float v39 = (v37 + s15);
    const float v40 = sn_div_f32(v34, v39);
    const float v41 = (v4 - v40);
    if (blockDim.y > 1u) sn_barrier();
    if (there && threadIdx.y == 0u) {
      b1[x0] = v25;
      b3[x0] = v32;
      b4[x0] = v41;
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
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
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, float* __restrict__ b1, const float* b2, float* __restrict__ b3, float* __restrict__ b4, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, int n11, int n12, int n13, i64 s0, i64 s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8, float s9, float s10, float s11, float s12, float s13, float s14, float s15, float s16, u32 parts, char* partials, u32* counters) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0 && ((n5 | n6 | n7 | n8 | n9 | n10) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(blockIdx.x) % u32(parts);
  const u32 unit = u32(blockIdx.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2) * u32(n3) * u32(n4) * u32(n5);
  const u32 step = u32(blockDim.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  const bool stretches = !vectors && u32(n5) >= u32(8) && (u64(b0) & 15) == 0;
  const u32 of_stretch = (u32(n5) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * u32(n2) * u32(n3) * u32(n4) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r24 = float(0);
  const int x0 = int(f);
  const float v4 = b1[x0];
  const float v21 = b3[x0];
  const float v23 = (v21 * s10);
  const float v28 = b4[x0];
  const float v30 = (v28 * s12);
  if (stretches) {
    for (u32 h = first_piece + u32(threadIdx.x); h < pieces; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q24[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        const u32 s = j / of_stretch;
        u32 t1 = s;
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + 0) & 3);
        if (y < int(n5)) {
          float l3[4];
          sn_load4_f32(l3, b0 + (x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y));
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const bool inside = u32(y + k) < u32(n5);
            const int x5 = inside ? y + k : int(0);
            const float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
            const bool v2 = (v0 < s2);
            const float v3 = l3[k];
            const float v5 = (v3 + v4);
            const float v7 = (v5 * s3);
            const float v9 = (v2 ? s4 : v7);
            const bool v11 = (s5 < v9);
            const float v12 = b2[x0 * n11 + x1 * n12 + x2 * n13 + x4];
            const float v14 = (v12 * s6);
            const float v16 = (v11 ? v14 : s7);
            const float v18 = (v2 ? s8 : v16);
            const float v20 = (v18 * s9);
            w0[k] = v20;
            q24[k] = inside ? fma(v18, s9, q24[k]) : q24[k];
          }
          if (y >= 0 && u32(y + 4) <= u32(n5)) {
            sn_store4_f32(b0 + (x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y), w0);
          }
          else {
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
              if (u32(y + k) < u32(n5)) {
                const int x5 = y + k;
                b0[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5] = w0[k];
              }
            }
          }
        }
      }
      r24 = r24 + ((q24[0] + q24[1]) + (q24[2] + q24[3]));
    }
  }
  else {
    for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q24[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n5));
        t1 /= u32(n5);
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        float l3[4];
        sn_load4_f32(l3, b0 + (x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y));
        float w0[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x5 = y | k;
          const float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
          const bool v2 = (v0 < s2);
          const float v3 = l3[k];
          const float v5 = (v3 + v4);
          const float v7 = (v5 * s3);
          const float v9 = (v2 ? s4 : v7);
          const bool v11 = (s5 < v9);
          const float v12 = b2[x0 * n11 + x1 * n12 + x2 * n13 + x4];
          const float v14 = (v12 * s6);
          const float v16 = (v11 ? v14 : s7);
          const float v18 = (v2 ? s8 : v16);
          const float v20 = (v18 * s9);
          w0[k] = v20;
          q24[k] = fma(v18, s9, q24[k]);
        }
        sn_store4_f32(b0 + (x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + y), w0);
      }
      r24 = r24 + ((q24[0] + q24[1]) + (q24[2] + q24[3]));
    }
    for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q24 = float(0);
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        u32 t1 = j;
        const int x5 = int(t1 % u32(n5));
        t1 /= u32(n5);
        const int x4 = int(t1 % u32(n4));
        t1 /= u32(n4);
        const int x3 = int(t1 % u32(n3));
        t1 /= u32(n3);
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const float v0 = sn_uniform(i64(x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5), s0, s1);
        const bool v2 = (v0 < s2);
        const float v3 = b0[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5];
        const float v5 = (v3 + v4);
        const float v7 = (v5 * s3);
        const float v9 = (v2 ? s4 : v7);
        const bool v11 = (s5 < v9);
        const float v12 = b2[x0 * n11 + x1 * n12 + x2 * n13 + x4];
        const float v14 = (v12 * s6);
        const float v16 = (v11 ? v14 : s7);
        const float v18 = (v2 ? s8 : v16);
        const float v20 = (v18 * s9);
        b0[x0 * n6 + x1 * n7 + x2 * n8 + x3 * n9 + x4 * n10 + x5] = v20;
        q24 = fma(v18, s9, q24);
      }
      r24 = r24 + q24;
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r24, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r24;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r24 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r24[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r24[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r24 = (r24 + p_r24[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r24, warps, blockDim.x, false); }
  const float v24 = r24;
  const float v26 = (v24 * s11);
  const float v27 = (v23 + v26);
  const float v31 = (v24 * v24);
  const float v33 = (v31 * s13);
  const float v34 = (v30 + v33);
  const float v36 = (v27 * s14);
  const float v37 = sn_sqrt_f32(v34);
  const float v39 = (v37 * s15);
  const float v41 = (v39 + s16);
  const float v42 = sn_div_f32(v36, v41);
  const float v43 = (v4 - v42);
  sn_barrier();
  if (threadIdx.x == 0u) {
    b1[x0] = v27;
    b3[x0] = v34;
    b4[x0] = v43;
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
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN u32 sn_mulhi(u32 a, u32 b) { return __umulhi(a, b); }
struct sn_words { u32 x, y, z, w; };
SN_FN sn_words sn_philox(u64 counter, i64 seed, i64 stream) {
  u32 c0 = u32(counter), c1 = u32(counter >> 32), c2 = u32(u64(stream)), c3 = u32(u64(stream) >> 32);
  u32 k0 = u32(u64(seed)), k1 = u32(u64(seed) >> 32);
  for (int i = 0; i < 10; ++i) {
    const u32 h0 = sn_mulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = sn_mulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    c0 = h1 ^ c1 ^ k0;
    c1 = l1;
    c2 = h0 ^ c3 ^ k1;
    c3 = l0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  sn_words words;
  words.x = c0;
  words.y = c1;
  words.z = c2;
  words.w = c3;
  return words;
}
SN_FN float sn_uniform(i64 i, i64 seed, i64 stream) {
  const sn_words words = sn_philox(u64(i) >> 2, seed, stream);
  const u32 k = u32(i) & 3u;
  const u32 word = k < 2u ? (k == 0u ? words.x : words.y) : (k == 2u ? words.z : words.w);
  return float(word >> 8) * 5.9604644775390625e-8f;
}
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
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
SN_FN float sn_sqrt_f32(float a) { return sqrtf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_barrier() {
  if (blockDim.x > 32u) __syncthreads();
  else __syncwarp();
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    float* __restrict__ b0, float* __restrict__ b1, float* __restrict__ b2, float* __restrict__ b3, int n0, int n1, int n2, int n3, int n4, i64 s0, i64 s1, float s2, float s3, float s4, float s5, float s6, float s7, float s8, float s9, float s10, float s11, u32 parts, char* partials, u32* counters) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0 && ((n2 | n3 | n4) & 3) == 0;
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
  const bool stretches = !vectors && u32(n2) >= u32(8) && (u64(b0) & 15) == 0;
  const u32 of_stretch = (u32(n2) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r11 = float(0);
  const int x0 = int(f);
  const float v8 = b1[x0];
  const float v10 = (v8 * s5);
  const float v15 = b2[x0];
  const float v17 = (v15 * s7);
  const float v30 = b3[x0];
  if (stretches) {
    for (u32 h = first_piece + u32(threadIdx.x); h < pieces; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q11[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        const u32 s = j / of_stretch;
        const int x1 = int(s);
        const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n3 + x1 * n4 + 0) & 3);
        if (y < int(n2)) {
          float l4[4];
          sn_load4_f32(l4, b0 + (x0 * n3 + x1 * n4 + y));
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const bool inside = u32(y + k) < u32(n2);
            const int x2 = inside ? y + k : int(0);
            const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
            const bool v2 = (v0 < s2);
            const float v4 = l4[k];
            const float v5 = (v2 ? s3 : v4);
            const float v7 = (v5 * s4);
            w0[k] = v7;
            q11[k] = inside ? fma(v5, s4, q11[k]) : q11[k];
          }
          if (y >= 0 && u32(y + 4) <= u32(n2)) {
            sn_store4_f32(b0 + (x0 * n3 + x1 * n4 + y), w0);
          }
          else {
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
              if (u32(y + k) < u32(n2)) {
                const int x2 = y + k;
                b0[x0 * n3 + x1 * n4 + x2] = w0[k];
              }
            }
          }
        }
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
    }
  }
  else {
    for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q11[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        float l4[4];
        sn_load4_f32(l4, b0 + (x0 * n3 + x1 * n4 + y));
        float w0[4];
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x2 = y | k;
          const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
          const bool v2 = (v0 < s2);
          const float v4 = l4[k];
          const float v5 = (v2 ? s3 : v4);
          const float v7 = (v5 * s4);
          w0[k] = v7;
          q11[k] = fma(v5, s4, q11[k]);
        }
        sn_store4_f32(b0 + (x0 * n3 + x1 * n4 + y), w0);
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
    }
    for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q11 = float(0);
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        u32 t1 = j;
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const float v0 = sn_uniform(i64(x0 * n3 + x1 * n4 + x2), s0, s1);
        const bool v2 = (v0 < s2);
        const float v4 = b0[x0 * n3 + x1 * n4 + x2];
        const float v5 = (v2 ? s3 : v4);
        const float v7 = (v5 * s4);
        b0[x0 * n3 + x1 * n4 + x2] = v7;
        q11 = fma(v5, s4, q11);
      }
      r11 = r11 + q11;
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r11, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r11;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r11 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r11[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r11[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r11 = (r11 + p_r11[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r11, warps, blockDim.x, false); }
  const float v11 = r11;
  const float v13 = (v11 * s6);
  const float v14 = (v10 + v13);
  const float v18 = (v11 * v11);
  const float v20 = (v18 * s8);
  const float v21 = (v17 + v20);
  const float v23 = (v14 * s9);
  const float v24 = sn_sqrt_f32(v21);
  const float v26 = (v24 * s10);
  const float v28 = (v26 + s11);
  const float v29 = sn_div_f32(v23, v28);
  const float v31 = (v30 - v29);
  sn_barrier();
  if (threadIdx.x == 0u) {
    b1[x0] = v14;
    b2[x0] = v21;
    b3[x0] = v31;
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
// ---- kernel 9
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
