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
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, float* __restrict__ b1, int n0, int n1, int n2, int n3, int n4, int n5, int n6, int n7, int n8, int n9, float s0) {
  sn_follow();
  const u32 points = u32(n0) * u32(n1);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    u32 t0 = f;
    const u32 d1 = sn_mulhi(t0, u32(n8)) >> u32(n9);
    const int x1 = int(t0 - d1 * u32(n1));
    t0 = d1;
    const int x0 = int(t0);
    float r1 = float(0);
    float q1 = float(0);
    #pragma unroll
    for (int y0 = 0; y0 < 3; ++y0) {
      const int x2 = int(y0);
      #pragma unroll
      for (int y1 = 0; y1 < 3; ++y1) {
        const int x3 = int(y1);
        const float v0 = b0[x0 * n4 + x1 * n5 + x2 * n6 + x3];
        q1 = (q1 + v0);
      }
    }
    r1 = r1 + q1;
    const float v1 = r1;
    const float v3 = (v1 * s0);
    b1[x0 * n7 + x1] = v3;
  }
}
