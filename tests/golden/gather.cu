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
SN_FN void sn_load4_bool(bool (&to)[4], const unsigned char* from) {
  const uchar4 all = *(const uchar4*)from;
  to[0] = all.x != 0;
  to[1] = all.y != 0;
  to[2] = all.z != 0;
  to[3] = all.w != 0;
}
SN_FN void sn_load4_i64(i64 (&to)[4], const i64* from) {
  const longlong2 low = ((const longlong2*)from)[0], high = ((const longlong2*)from)[1];
  to[0] = low.x;
  to[1] = low.y;
  to[2] = high.x;
  to[3] = high.y;
}
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const unsigned char* b0, const i64* b1, const float* b2, float* __restrict__ b3, int n0, int n1, u32* fault) {
  sn_follow();
  const bool vectors = ((u64(b1) | u64(b3)) & 15) == 0 && ((u64(b0)) & 3) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    const int y = int(f);
    bool l0[4];
    sn_load4_bool(l0, b0 + (y));
    i64 l1[4];
    sn_load4_i64(l1, b1 + (y));
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const bool v0 = l0[k];
      const i64 v1 = l1[k];
      float v2 = float(0);
      if (v0) {
        if (v1 >= i64(0) && v1 < i64(n1)) {
          v2 = b2[int(v1)];
        }
        else {
          fault[0u] = 1u;
        }
      }
      w0[k] = v2;
    }
    sn_store4_f32(b3 + (y), w0);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    const int x0 = int(f);
    const bool v0 = b0[x0] != 0;
    const i64 v1 = b1[x0];
    float v2 = float(0);
    if (v0) {
      if (v1 >= i64(0) && v1 < i64(n1)) {
        v2 = b2[int(v1)];
      }
      else {
        fault[0u] = 1u;
      }
    }
    b3[x0] = v2;
  }
}
