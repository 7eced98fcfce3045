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
    const float* b0, float* __restrict__ b1, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, int n10, int n11, int n12, int n13, float s0) {
  sn_follow();
  const bool vectors = ((u64(b1)) & 15) == 0 && ((n1 | n13) & 3) == 0;
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
        u32 t = u32(x0 * n2 + x1);
        const int c1 = int(t % u32(n7));
        t /= u32(n7);
        const int c0 = int(t);
        v0 = c1 >= 1 && (c1 - 1) % n8 == 0 && (c1 - 1) / n8 < n9 && c0 >= n4 && (c0 - n4) % n5 == 0 && (c0 - n4) / n5 < n6;
      }
      float v1 = float(0);
      if (v0) {
        int m1 = x0 * n10 + x1;
        {
          u32 t = u32(m1);
          const int c1 = int(t % u32(n12));
          t /= u32(n12);
          const int c0 = int(t);
          m1 = c0 + c1;
        }
        v1 = b0[m1];
      }
      const float v3 = (v0 ? v1 : s0);
      w0[k] = v3;
    }
    sn_store4_f32(b1 + (x0 * n13 + y), w0);
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
        bool v0 = true;
        {
          u32 t = u32(x0 * n2 + x1);
          const int c1 = int(t % u32(n7));
          t /= u32(n7);
          const int c0 = int(t);
          v0 = c1 >= 1 && (c1 - 1) % n8 == 0 && (c1 - 1) / n8 < n9 && c0 >= n4 && (c0 - n4) % n5 == 0 && (c0 - n4) / n5 < n6;
        }
        float v1 = float(0);
        if (v0) {
          int m1 = x0 * n10 + x1;
          {
            u32 t = u32(m1);
            const int c1 = int(t % u32(n12));
            t /= u32(n12);
            const int c0 = int(t);
            m1 = c0 + c1;
          }
          v1 = b0[m1];
        }
        const float v3 = (v0 ? v1 : s0);
        w0[u] = v3;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b1[x0 * n13 + x1] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        bool v0 = true;
        {
          u32 t = u32(x0 * n2 + x1);
          const int c1 = int(t % u32(n7));
          t /= u32(n7);
          const int c0 = int(t);
          v0 = c1 >= 1 && (c1 - 1) % n8 == 0 && (c1 - 1) / n8 < n9 && c0 >= n4 && (c0 - n4) % n5 == 0 && (c0 - n4) / n5 < n6;
        }
        float v1 = float(0);
        if (v0) {
          int m1 = x0 * n10 + x1;
          {
            u32 t = u32(m1);
            const int c1 = int(t % u32(n12));
            t /= u32(n12);
            const int c0 = int(t);
            m1 = c0 + c1;
          }
          v1 = b0[m1];
        }
        const float v3 = (v0 ? v1 : s0);
        b1[x0 * n13 + x1] = v3;
      }
    }
  }
}
