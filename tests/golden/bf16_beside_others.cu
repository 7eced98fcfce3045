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
SN_FN void sn_load8_bf16(SnPairs<8>& to, const unsigned short* from) {
  const uint4 all = *(const uint4*)from;
  to.words[0] = all.x;
  to.words[1] = all.y;
  to.words[2] = all.z;
  to.words[3] = all.w;
}
SN_FN void sn_load8_bool(bool (&to)[8], const unsigned char* from) {
  const uint2 all = *(const uint2*)from;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    to[i] = __byte_perm(all.x, 0u, 0x4440u | i) != 0;
    to[4 + i] = __byte_perm(all.y, 0u, 0x4440u | i) != 0;
  }
}
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN void sn_load8_f32(float (&to)[8], const float* from) {
  sn_load4_f32((float (&)[4])to[0], from);
  sn_load4_f32((float (&)[4])to[4], from + 4);
}
SN_FN float sn_cast_bf16_f32(u32 a) { return __int_as_float(int(a << 16)); }
SN_FN u32 sn_cast_f32_bf16(float a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  u32 pair;  // with zero: of a single one some conversions run at an eighth of the speed
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(0.0f), "f"(a));
  return pair;
#else
  const u32 b = u32(__float_as_int(a)), nan = (b >> 16) | 0x40u, near = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
  return (b & 0x7fffffffu) > 0x7f800000u ? nan : near;
#endif
}
SN_FN u32 sn_pair_bf16(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  u32 pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
#else
  return sn_cast_f32_bf16(low) | sn_cast_f32_bf16(high) << 16;
#endif
}
SN_FN void sn_store_floats8_bf16(unsigned short* to, const float (&from)[8]) {
  *(uint4*)to = make_uint4(sn_pair_bf16(from[0], from[1]), sn_pair_bf16(from[2], from[3]), sn_pair_bf16(from[4], from[5]), sn_pair_bf16(from[6], from[7]));
}
SN_FN void sn_store8_bf16(unsigned short* to, const SnPairs<8>& from) {
  *(uint4*)to = make_uint4(from.words[0], from.words[1], from.words[2], from.words[3]);
}
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
SN_FN void sn_store8_f32(float* to, const float (&from)[8]) {
  sn_store4_f32(to, (const float (&)[4])from[0]);
  sn_store4_f32(to + 4, (const float (&)[4])from[4]);
}
SN_FN void sn_store8_bool(unsigned char* to, const bool (&from)[8]) {
  u32 low = 0, high = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    low |= (u32(from[i]) & 255u) << 8 * i;
    high |= (u32(from[4 + i]) & 255u) << 8 * i;
  }
  *(uint2*)to = make_uint2(low, high);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const unsigned short* b0, const unsigned short* b1, const unsigned char* b2, const float* b3, unsigned short* __restrict__ b4, unsigned short* __restrict__ b5, unsigned short* __restrict__ b6, float* __restrict__ b7, unsigned char* __restrict__ b8, int n0, u32 s0) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1) | u64(b3) | u64(b4) | u64(b5) | u64(b6) | u64(b7)) & 15) == 0 && ((u64(b2) | u64(b8)) & 7) == 0;
  const u32 points = u32(n0);
  const u32 points4 = vectors ? points - points % u32(8) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(8); f < points4; f += u32(gridDim.x * blockDim.x) * u32(8)) {
    const int y = int(f);
    SnPairs<8> l0;
    sn_load8_bf16(l0, b0 + (y));
    SnPairs<8> l1;
    sn_load8_bf16(l1, b1 + (y));
    bool l2[8];
    sn_load8_bool(l2, b2 + (y));
    float l3[8];
    sn_load8_f32(l3, b3 + (y));
    float w0[8];
    SnPairs<8> w1;
    SnPairs<8> w2;
    float w3[8];
    bool w4[8];
    #pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int x0 = y + k;
      const u32 v0 = l0[k];
      const u32 v1 = l1[k];
      const bool v2 = l2[k];
      const float v3 = l3[k];
      const float v4 = sn_cast_bf16_f32(v0);
      const float v5 = (v4 + v3);
      const u32 v6 = sn_cast_f32_bf16(v5);
      const u32 v7 = (v2 ? v0 : v1);
      const u32 v9 = (v2 ? v1 : s0);
      const float v10 = sn_cast_bf16_f32(v1);
      const bool v11 = (v5 < v10);
      w0[k] = v5;
      w1[k] = v7;
      w2[k] = v9;
      w3[k] = v5;
      w4[k] = v11;
    }
    sn_store_floats8_bf16(b4 + (y), w0);
    sn_store8_bf16(b5 + (y), w1);
    sn_store8_bf16(b6 + (y), w2);
    sn_store8_f32(b7 + (y), w3);
    sn_store8_bool(b8 + (y), w4);
  }
  for (u32 f = points4 + u32(blockIdx.x * blockDim.x + threadIdx.x); f < points; f += u32(gridDim.x * blockDim.x)) {
    const int x0 = int(f);
    const u32 v0 = b0[x0];
    const u32 v1 = b1[x0];
    const bool v2 = b2[x0] != 0;
    const float v3 = b3[x0];
    const float v4 = sn_cast_bf16_f32(v0);
    const float v5 = (v4 + v3);
    const u32 v6 = sn_cast_f32_bf16(v5);
    const u32 v7 = (v2 ? v0 : v1);
    const u32 v9 = (v2 ? v1 : s0);
    const float v10 = sn_cast_bf16_f32(v1);
    const bool v11 = (v5 < v10);
    b4[x0] = v6;
    b5[x0] = v7;
    b6[x0] = v9;
    b7[x0] = v5;
    b8[x0] = v11;
  }
}
