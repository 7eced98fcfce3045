typedef unsigned int u32;
typedef long long i64;
typedef unsigned long long u64;
#define SN_FN static __device__ __forceinline__
SN_FN void sn_follow() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;\n\tgriddepcontrol.wait;" ::: "memory");
#endif
}
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN void sn_join_welford_f32(float& n, float& mean, float& m2, float on, float omean, float om2) {
  const float total = n + on, d = omean - mean, share = total > float(0) ? on / total : float(0);
  mean = mean + d * share;
  m2 = (m2 + om2) + d * d * (n * share);
  n = total;
}
SN_FN void sn_workgroup_squared_deviations_f32(float& n, float& mean, float& m2, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float on = __shfl_xor_sync(0xffffffffu, n, d), om = __shfl_xor_sync(0xffffffffu, mean, d),
        os = __shfl_xor_sync(0xffffffffu, m2, d);
    const float a = n, b = mean, c = m2;
    if (threadIdx.x & d) { n = on; mean = om; m2 = os; sn_join_welford_f32(n, mean, m2, a, b, c); }
    else sn_join_welford_f32(n, mean, m2, on, om, os);
  }
  const u32 count = lanes >> 5, warp = threadIdx.x >> 5, other = threadIdx.x & (count - 1u);
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) { warps[0][warp] = n; warps[1][warp] = mean; warps[2][warp] = m2; }
  __syncthreads();
  n = warps[0][other]; mean = warps[1][other]; m2 = warps[2][other];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float on = __shfl_xor_sync(0xffffffffu, n, d), om = __shfl_xor_sync(0xffffffffu, mean, d),
        os = __shfl_xor_sync(0xffffffffu, m2, d);
    const float a = n, b = mean, c = m2;
    if (threadIdx.x & d) { n = on; mean = om; m2 = os; sn_join_welford_f32(n, mean, m2, a, b, c); }
    else sn_join_welford_f32(n, mean, m2, on, om, os);
  }
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
    const float* b0, float* __restrict__ b1, float* __restrict__ b2, int n0, int n1, int n2) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
    const int x0 = int(f);
    float r1_n = float(0), r1_mean = float(0);
    float r1 = float(0);
    float r2 = float(0);
    for (u32 h = u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q2[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        const int y = int(j);
        float l0[4];
        sn_load4_f32(l0, b0 + (x0 * n2 + y));
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x1 = y + k;
          const float v0 = l0[k];
          sn_join_welford_f32(r1_n, r1_mean, r1, float(1), v0, float(0));
          q2[k] = (q2[k] + v0);
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
        const float v0 = b0[x0 * n2 + x1];
        sn_join_welford_f32(r1_n, r1_mean, r1, float(1), v0, float(0));
        q2 = (q2 + v0);
      }
      r2 = r2 + q2;
    }
    { __shared__ float warps[3][32]; sn_workgroup_squared_deviations_f32(r1_n, r1_mean, r1, warps, blockDim.x, false); }
    const float v1 = r1;
    { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r2, warps, blockDim.x, false); }
    const float v2 = r2;
    if (threadIdx.x == 0u) {
      b1[x0] = v1;
      b2[x0] = v2;
    }
  }
}
