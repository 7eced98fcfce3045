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
    const float* b0, float* __restrict__ b1, int n0, int n1, u32 parts, char* partials, u32* counters) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(blockIdx.x) % u32(parts);
  const u32 unit = u32(blockIdx.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1);
  const u32 step = u32(blockDim.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  float r2 = float(0);
  for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
    const u32 left = inner4 - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
    float q2[4] = {float(0), float(0), float(0), float(0)};
    for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
      const int y = int(j);
      float l0[4];
      sn_load4_f32(l0, b0 + (y));
      #pragma unroll
      for (int k = 0; k < 4; ++k) {
        const int x1 = y + k;
        const float v0 = l0[k];
        const float v1 = (v0 * v0);
        q2[k] = fma(v0, v0, q2[k]);
      }
    }
    r2 = r2 + ((q2[0] + q2[1]) + (q2[2] + q2[3]));
  }
  for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
    const u32 left = inner - h;
    const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
    float q2 = float(0);
    for (u32 j = h; j < end; j += u32(blockDim.x)) {
      const int x1 = int(j);
      const float v0 = b0[x1];
      const float v1 = (v0 * v0);
      q2 = fma(v0, v0, q2);
    }
    r2 = r2 + q2;
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r2, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r2;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r2 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r2[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r2[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r2 = (r2 + p_r2[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r2, warps, blockDim.x, false); }
  const float v2 = r2;
  if (threadIdx.x == 0u) {
    b1[0] = v2;
  }
}
