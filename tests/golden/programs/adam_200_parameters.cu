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
struct sn_members { sn_member at[256]; };
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const __grid_constant__ sn_members members, u32 count) {
  sn_follow();
  u32 member = 0u;
  for (u32 step = 256u >> 1; step > 0u; step >>= 1)
    if (member + step < count && members.at[member + step].first_ <= blockIdx.x) member += step;
  const sn_member& mine = members.at[member];
  const u32 block = blockIdx.x - mine.first_;
  const u32 blocks = (member + 1u < count ? members.at[member + 1u].first_ : gridDim.x) - mine.first_;
  float* __restrict__ b0 = (float*)mine.b0_;
  float* __restrict__ b1 = (float*)mine.b1_;
  float* __restrict__ b2 = (float*)mine.b2_;
  const float* b3 = (const float*)mine.b3_;
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
    sn_store4_f32(b1 + (y), w1);
    sn_store4_f32(b2 + (y), w2);
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
    b1[x0] = v13;
    b2[x0] = v23;
  }
}
