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
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, float* __restrict__ b2, int n0, int n1, int n2, int n3, int n4, int n5) {
  sn_follow();
  const u32 points = u32(n0) * u32(n1);
  const bool vectors = (u64(b0) & 15) == 0 && (u64(b2) & 15) == 0;
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    float l0[4];
    sn_load4_f32(l0, b0 + (int(f)));
    float w0[4];
    u32 t = f;
    const u32 d1 = sn_mulhi(t, u32(n4)) >> u32(n5);
    const int first1 = int(t - d1 * u32(n1));
    int x1 = first1;
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int e = int(f) + k;
      const float v0 = l0[k];
      const float v1 = b1[x1];
      const float v2 = (v0 + v1);
      w0[k] = v2;
      x1 = x1 + int(1);
      if (x1 == int(n1)) {
        x1 = int(0);
      }
    }
    sn_store4_f32(b2 + (int(f)), w0);
  }
  for (u32 t = points4 + u32(blockIdx.x) * (u32(blockDim.x) * u32(4)); t < points; t += u32(gridDim.x) * (u32(blockDim.x) * u32(4))) {
    if (points - t >= (u32(blockDim.x) * u32(4))) {
      float w0[4];
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 + v1);
        w0[u] = v2;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        b2[x0 * n3 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const u32 d1 = sn_mulhi(t0, u32(n4)) >> u32(n5);
        const int x1 = int(t0 - d1 * u32(n1));
        t0 = d1;
        const int x0 = int(t0);
        const float v0 = b0[x0 * n2 + x1];
        const float v1 = b1[x1];
        const float v2 = (v0 + v1);
        b2[x0 * n3 + x1] = v2;
      }
    }
  }
}
