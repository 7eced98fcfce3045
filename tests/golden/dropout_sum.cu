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
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, float* __restrict__ b1, float* __restrict__ b2, int n0, int n1, int n2, int n3, int n4, float s0, i64 s1, i64 s2, float s3, float s4) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1)) & 15) == 0 && ((n3 | n4) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const bool stretches = !vectors && u32(n1) >= u32(8) && ((n4 ^ n3) & 3) == 0 && (u64(b0) & 15) == 0 && (u64(b1) & 15) == 0;
  const u32 of_stretch = (u32(n1) + u32(6)) / u32(4);
  const u32 pieces = u32(1) * of_stretch;
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
    const int x0 = int(f);
    float r8 = float(0);
    if (stretches) {
      for (u32 h = u32(threadIdx.x); h < pieces; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = pieces - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q8[4] = {float(0), float(0), float(0), float(0)};
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int y = int(j * u32(4)) - ((x0 * n3 + 0) & 3);
          if (y < int(n1)) {
            float l3[4];
            sn_load4_f32(l3, b0 + (x0 * n3 + y));
            float w0[4];
            #pragma unroll
            for (int k = 0; k < 4; ++k) {
              const bool inside = u32(y + k) < u32(n1);
              const int x1 = inside ? y + k : int(0);
              const float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
              const bool v2 = (v1 < s0);
              const float v3 = l3[k];
              const float v6 = (v3 * s4);
              const float v7 = (v2 ? v6 : s3);
              w0[k] = v7;
              q8[k] = (q8[k] + (inside ? v7 : float(0)));
            }
            if (y >= 0 && u32(y + 4) <= u32(n1)) {
              sn_store4_f32(b1 + (x0 * n4 + y), w0);
            }
            else {
              #pragma unroll
              for (int k = 0; k < 4; ++k) {
                if (u32(y + k) < u32(n1)) {
                  const int x1 = y + k;
                  b1[x0 * n4 + x1] = w0[k];
                }
              }
            }
          }
        }
        r8 = r8 + ((q8[0] + q8[1]) + (q8[2] + q8[3]));
      }
    }
    else {
      for (u32 h = u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
        const u32 left = inner4 - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
        float q8[4] = {float(0), float(0), float(0), float(0)};
        for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
          const int y = int(j);
          float l3[4];
          sn_load4_f32(l3, b0 + (x0 * n3 + y));
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y | k;
            const float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
            const bool v2 = (v1 < s0);
            const float v3 = l3[k];
            const float v6 = (v3 * s4);
            const float v7 = (v2 ? v6 : s3);
            w0[k] = v7;
            q8[k] = (q8[k] + v7);
          }
          sn_store4_f32(b1 + (x0 * n4 + y), w0);
        }
        r8 = r8 + ((q8[0] + q8[1]) + (q8[2] + q8[3]));
      }
      for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q8 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v1 = sn_uniform(i64(x0 * n2 + x1), s1, s2);
          const bool v2 = (v1 < s0);
          const float v3 = b0[x0 * n3 + x1];
          const float v6 = (v3 * s4);
          const float v7 = (v2 ? v6 : s3);
          b1[x0 * n4 + x1] = v7;
          q8 = (q8 + v7);
        }
        r8 = r8 + q8;
      }
    }
    { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r8, warps, blockDim.x, true); }
    const float v8 = r8;
    if (threadIdx.x == 0u) {
      b2[x0] = v8;
    }
  }
}
