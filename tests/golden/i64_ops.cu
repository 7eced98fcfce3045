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
SN_FN i64 sn_div_i64(i64 a, i64 b) { return b == 0 ? i64(0) : b == -1 ? i64(u64(0) - u64(a)) : a / b; }
SN_FN i64 sn_remainder_i64(i64 a, i64 b) {
  if (b == 0 || b == -1) return 0;
  const i64 r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}
SN_FN i64 sn_and_i64(i64 a, i64 b) { return a & b; }
SN_FN i64 sn_or_i64(i64 a, i64 b) { return a | b; }
SN_FN i64 sn_xor_i64(i64 a, i64 b) { return a ^ b; }
SN_FN i64 sn_max_i64(i64 a, i64 b) { return a > b ? a : b; }
SN_FN i64 sn_not_i64(i64 a) { return ~a; }
SN_FN i64 sn_sign_i64(i64 a) { return i64(a > 0) - i64(a < 0); }
SN_FN void sn_store4_i64(i64* to, const i64 (&from)[4]) {
  ((longlong2*)to)[0] = make_longlong2(from[0], from[1]);
  ((longlong2*)to)[1] = make_longlong2(from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const i64* b0, const i64* b1, i64* __restrict__ b2, i64* __restrict__ b3, i64* __restrict__ b4, i64* __restrict__ b5, i64* __restrict__ b6, i64* __restrict__ b7, i64* __restrict__ b8, i64* __restrict__ b9, i64* __restrict__ b10, i64* __restrict__ b11, i64* __restrict__ b12, i64* __restrict__ b13, int n0) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b2) | u64(b3) | u64(b4) | u64(b5) | u64(b6) | u64(b7) | u64(b8) | u64(b9) | u64(b10) | u64(b11) | u64(b12) | u64(b13)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    const int y = int(f);
    i64 l0[4];
    sn_load4_i64(l0, b0 + (y));
    i64 l1[4];
    sn_load4_i64(l1, b1 + (y));
    i64 w0[4];
    i64 w1[4];
    i64 w2[4];
    i64 w3[4];
    i64 w4[4];
    i64 w5[4];
    i64 w6[4];
    i64 w7[4];
    i64 w8[4];
    i64 w9[4];
    i64 w10[4];
    i64 w11[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x0 = y + k;
      const i64 v0 = l0[k];
      const i64 v1 = l1[k];
      const i64 v2 = i64(u64(v0) + u64(v1));
      const i64 v3 = i64(u64(v0) - u64(v1));
      const i64 v4 = i64(u64(v0) * u64(v1));
      const i64 v5 = sn_div_i64(v0, v1);
      const i64 v6 = sn_remainder_i64(v0, v1);
      const i64 v7 = sn_and_i64(v0, v1);
      const i64 v8 = sn_or_i64(v0, v1);
      const i64 v9 = sn_xor_i64(v0, v1);
      const i64 v10 = sn_max_i64(v0, v1);
      const i64 v11 = i64(u64(v0) * u64(v0));
      const i64 v12 = sn_not_i64(v0);
      const i64 v13 = sn_sign_i64(v1);
      w0[k] = v2;
      w1[k] = v3;
      w2[k] = v4;
      w3[k] = v5;
      w4[k] = v6;
      w5[k] = v7;
      w6[k] = v8;
      w7[k] = v9;
      w8[k] = v10;
      w9[k] = v11;
      w10[k] = v12;
      w11[k] = v13;
    }
    sn_store4_i64(b2 + (y), w0);
    sn_store4_i64(b3 + (y), w1);
    sn_store4_i64(b4 + (y), w2);
    sn_store4_i64(b5 + (y), w3);
    sn_store4_i64(b6 + (y), w4);
    sn_store4_i64(b7 + (y), w5);
    sn_store4_i64(b8 + (y), w6);
    sn_store4_i64(b9 + (y), w7);
    sn_store4_i64(b10 + (y), w8);
    sn_store4_i64(b11 + (y), w9);
    sn_store4_i64(b12 + (y), w10);
    sn_store4_i64(b13 + (y), w11);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    const int x0 = int(f);
    const i64 v0 = b0[x0];
    const i64 v1 = b1[x0];
    const i64 v2 = i64(u64(v0) + u64(v1));
    const i64 v3 = i64(u64(v0) - u64(v1));
    const i64 v4 = i64(u64(v0) * u64(v1));
    const i64 v5 = sn_div_i64(v0, v1);
    const i64 v6 = sn_remainder_i64(v0, v1);
    const i64 v7 = sn_and_i64(v0, v1);
    const i64 v8 = sn_or_i64(v0, v1);
    const i64 v9 = sn_xor_i64(v0, v1);
    const i64 v10 = sn_max_i64(v0, v1);
    const i64 v11 = i64(u64(v0) * u64(v0));
    const i64 v12 = sn_not_i64(v0);
    const i64 v13 = sn_sign_i64(v1);
    b2[x0] = v2;
    b3[x0] = v3;
    b4[x0] = v4;
    b5[x0] = v5;
    b6[x0] = v6;
    b7[x0] = v7;
    b8[x0] = v8;
    b9[x0] = v9;
    b10[x0] = v10;
    b11[x0] = v11;
    b12[x0] = v12;
    b13[x0] = v13;
  }
}
