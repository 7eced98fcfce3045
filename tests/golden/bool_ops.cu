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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN bool sn_or_bool(bool a, bool b) { return a || b; }
SN_FN bool sn_xor_bool(bool a, bool b) { return a != b; }
SN_FN bool sn_not_bool(bool a) { return !a; }
SN_FN void sn_store4_bool(unsigned char* to, const bool (&from)[4]) {
  *(uchar4*)to = make_uchar4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const unsigned char* b0, const unsigned char* b1, unsigned char* __restrict__ b2, unsigned char* __restrict__ b3, unsigned char* __restrict__ b4, unsigned char* __restrict__ b5, unsigned char* __restrict__ b6, unsigned char* __restrict__ b7, unsigned char* __restrict__ b8, unsigned char* __restrict__ b9, int n0, bool s0) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b2) | u64(b3) | u64(b4) | u64(b5) | u64(b6) | u64(b7) | u64(b8) | u64(b9)) & 3) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    const int y = int(f);
    bool l0[4];
    sn_load4_bool(l0, b0 + (y));
    bool l1[4];
    sn_load4_bool(l1, b1 + (y));
    bool w0[4];
    bool w1[4];
    bool w2[4];
    bool w3[4];
    bool w4[4];
    bool w5[4];
    bool w6[4];
    bool w7[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const bool v0 = l0[k];
      const bool v1 = l1[k];
      const bool v2 = sn_and_bool(v0, v1);
      const bool v3 = sn_or_bool(v0, v1);
      const bool v4 = sn_xor_bool(v0, v1);
      const bool v5 = sn_not_bool(v0);
      const bool v6 = (v0 == v1);
      const bool v7 = (v0 != v1);
      const bool v8 = (v0 < v1);
      const bool v10 = (v0 ? v1 : s0);
      w0[k] = v2;
      w1[k] = v3;
      w2[k] = v4;
      w3[k] = v5;
      w4[k] = v6;
      w5[k] = v7;
      w6[k] = v8;
      w7[k] = v10;
    }
    sn_store4_bool(b2 + (y), w0);
    sn_store4_bool(b3 + (y), w1);
    sn_store4_bool(b4 + (y), w2);
    sn_store4_bool(b5 + (y), w3);
    sn_store4_bool(b6 + (y), w4);
    sn_store4_bool(b7 + (y), w5);
    sn_store4_bool(b8 + (y), w6);
    sn_store4_bool(b9 + (y), w7);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    const int x0 = int(f);
    const bool v0 = b0[x0] != 0;
    const bool v1 = b1[x0] != 0;
    const bool v2 = sn_and_bool(v0, v1);
    const bool v3 = sn_or_bool(v0, v1);
    const bool v4 = sn_xor_bool(v0, v1);
    const bool v5 = sn_not_bool(v0);
    const bool v6 = (v0 == v1);
    const bool v7 = (v0 != v1);
    const bool v8 = (v0 < v1);
    const bool v10 = (v0 ? v1 : s0);
    b2[x0] = v2;
    b3[x0] = v3;
    b4[x0] = v4;
    b5[x0] = v5;
    b6[x0] = v6;
    b7[x0] = v7;
    b8[x0] = v8;
    b9[x0] = v10;
  }
}
