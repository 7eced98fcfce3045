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
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, float* __restrict__ b1, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, int n11, int n12, int n13, int n14) {
  sn_follow();
  const bool vectors = ((u64(b1)) & 15) == 0 && ((n1 | n14) & 3) == 0;
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
      int m0 = n4 + x0 * n2 + x1 * n3;
      {
        u32 t = u32(m0);
        const int c1 = int(t % u32(n6));
        t /= u32(n6);
        const int c0 = int(t);
        m0 = c0 + c1 * n7;
      }
      {
        u32 t = u32(m0);
        const int c2 = int(t % u32(n10));
        t /= u32(n10);
        const int c1 = int(t % u32(n9));
        t /= u32(n9);
        const int c0 = int(t);
        m0 = n13 + c0 + c1 * n11 + c2 * n12;
      }
      const float v0 = b0[m0];
      w0[k] = v0;
    }
    sn_store4_f32(b1 + (x0 * n14 + y), w0);
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
        int m0 = n4 + x0 * n2 + x1 * n3;
        {
          u32 t = u32(m0);
          const int c1 = int(t % u32(n6));
          t /= u32(n6);
          const int c0 = int(t);
          m0 = c0 + c1 * n7;
        }
        {
          u32 t = u32(m0);
          const int c2 = int(t % u32(n10));
          t /= u32(n10);
          const int c1 = int(t % u32(n9));
          t /= u32(n9);
          const int c0 = int(t);
          m0 = n13 + c0 + c1 * n11 + c2 * n12;
        }
        const float v0 = b0[m0];
        w0[u] = v0;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b1[x0 * n14 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        int m0 = n4 + x0 * n2 + x1 * n3;
        {
          u32 t = u32(m0);
          const int c1 = int(t % u32(n6));
          t /= u32(n6);
          const int c0 = int(t);
          m0 = c0 + c1 * n7;
        }
        {
          u32 t = u32(m0);
          const int c2 = int(t % u32(n10));
          t /= u32(n10);
          const int c1 = int(t % u32(n9));
          t /= u32(n9);
          const int c0 = int(t);
          m0 = n13 + c0 + c1 * n11 + c2 * n12;
        }
        const float v0 = b0[m0];
        b1[x0 * n14 + x1] = v0;
      }
    }
  }
}
