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
SN_FN void sn_join_welford_f32(float& n, float& mean, float& m2, float on, float omean, float om2) {
  const float total = n + on, d = omean - mean, share = total > float(0) ? on / total : float(0);
  mean = mean + d * share;
  m2 = (m2 + om2) + d * d * (n * share);
  n = total;
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
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN float sn_rsqrt_f32(float a) { return rsqrtf(a); }
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, float* __restrict__ b1, float* __restrict__ b2, int n0, int n1, int n2, int n3, int n4, float s0, float s1, float s2, float s3, u32 parts, char* partials, u32* counters) {
  sn_follow();
  const bool vectors = ((u64(b0)) & 15) == 0 && ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0);
  const u32 part = u32(blockIdx.x) % u32(parts);
  const u32 unit = u32(blockIdx.x) / parts;
  const u32 f = u32(unit);
  const u32 whole = u32(n1) * u32(n2);
  const u32 step = u32(blockDim.x) * u32(4);
  const u32 length = ((whole + parts - 1) / parts + step - 1) / step * step;
  const u32 begin = part * length < whole ? part * length : whole;
  const u32 inner = length < whole - begin ? begin + length : whole;
  const u32 inner4 = vectors ? inner - (inner - begin) % u32(4) : begin;
  const bool stretches = !vectors && u32(n2) >= u32(8) && (u64(b0) & 15) == 0;
  const u32 of_stretch = (u32(n2) + u32(6)) / u32(4);
  const u32 all_pieces = u32(n1) * of_stretch;
  const u32 of_part = (all_pieces + parts - 1) / parts;
  const u32 first_piece = part * of_part < all_pieces ? part * of_part : all_pieces;
  const u32 pieces = of_part < all_pieces - first_piece ? first_piece + of_part : all_pieces;
  float r1 = float(0);
  float r9_n = float(0), r9_mean = float(0);
  float r9 = float(0);
  const int x0 = int(f);
  if (stretches) {
    for (u32 h = first_piece + u32(threadIdx.x); h < pieces; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = pieces - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q1[4] = {float(0), float(0), float(0), float(0)};
      float q9[4] = {float(0), float(0), float(0), float(0)};
      float q9_s[4] = {float(0), float(0), float(0), float(0)};
      float q9_p = float(0);
      u32 q9_n = 0u;
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        const u32 s = j / of_stretch;
        const int x1 = int(s);
        const int y = int((j - s * of_stretch) * u32(4)) - ((x0 * n3 + x1 * n4 + 0) & 3);
        if (y < int(n2)) {
          float l0[4];
          sn_load4_f32(l0, b0 + (x0 * n3 + x1 * n4 + y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const bool inside = u32(y + k) < u32(n2);
            const int x2 = inside ? y + k : int(0);
            const float v0 = l0[k];
            q1[k] = (q1[k] + (inside ? v0 : float(0)));
            q9_p = inside && q9_n == 0u ? v0 : q9_p;
            q9_n += inside ? 1u : 0u;
            const float off9 = inside ? v0 - q9_p : float(0);
            q9_s[k] = q9_s[k] + off9;
            q9[k] = fma(off9, off9, q9[k]);
          }
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      if (q9_n > 0u) {
        const float values = float(q9_n);
        const float sum = ((q9_s[0] + q9_s[1]) + (q9_s[2] + q9_s[3]));
        const float above = sum / values;
        const float squares = ((q9[0] + q9[1]) + (q9[2] + q9[3])) - sum * above;
        const float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
  }
  else {
    for (u32 h = begin + u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q1[4] = {float(0), float(0), float(0), float(0)};
      float q9[4] = {float(0), float(0), float(0), float(0)};
      float q9_s[4] = {float(0), float(0), float(0), float(0)};
      float q9_p = float(0);
      u32 q9_n = 0u;
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        u32 t1 = j;
        const int y = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        float l0[4];
        sn_load4_f32(l0, b0 + (x0 * n3 + x1 * n4 + y));
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x2 = y + k;
          const float v0 = l0[k];
          q1[k] = (q1[k] + v0);
          q9_p = k == 0 && q9_n == 0u ? v0 : q9_p;
          q9_n += 1u;
          const float off9 = v0 - q9_p;
          q9_s[k] = q9_s[k] + off9;
          q9[k] = fma(off9, off9, q9[k]);
        }
      }
      r1 = r1 + ((q1[0] + q1[1]) + (q1[2] + q1[3]));
      if (q9_n > 0u) {
        const float values = float(q9_n);
        const float sum = ((q9_s[0] + q9_s[1]) + (q9_s[2] + q9_s[3]));
        const float above = sum / values;
        const float squares = ((q9[0] + q9[1]) + (q9[2] + q9[3])) - sum * above;
        const float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
    for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q1 = float(0);
      float q9 = float(0);
      float q9_s = float(0);
      float q9_p = float(0);
      u32 q9_n = 0u;
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        u32 t1 = j;
        const int x2 = int(t1 % u32(n2));
        t1 /= u32(n2);
        const int x1 = int(t1);
        const float v0 = b0[x0 * n3 + x1 * n4 + x2];
        q1 = (q1 + v0);
        q9_p = q9_n == 0u ? v0 : q9_p;
        q9_n += 1u;
        const float off9 = v0 - q9_p;
        q9_s = q9_s + off9;
        q9 = fma(off9, off9, q9);
      }
      r1 = r1 + q1;
      if (q9_n > 0u) {
        const float values = float(q9_n);
        const float sum = q9_s;
        const float above = sum / values;
        const float squares = q9 - sum * above;
        const float centre = q9_p + above;
        sn_join_welford_f32(r9_n, r9_mean, r9, values, centre, (squares < float(0) ? float(0) : squares));
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r1, warps, blockDim.x, false); }
  { __shared__ float warps[3][32]; sn_workgroup_squared_deviations_f32(r9_n, r9_mean, r9, warps, blockDim.x, false); }
  if (threadIdx.x == 0u) {
    *(float*)(partials + 4ull * (u32(0) * u32(parts) * points + part * points + f)) = r1;
    *(float*)(partials + 4ull * (u32(1) * u32(parts) * points + part * points + f)) = r9_n;
    *(float*)(partials + 4ull * (u32(2) * u32(parts) * points + part * points + f)) = r9_mean;
    *(float*)(partials + 4ull * (u32(3) * u32(parts) * points + part * points + f)) = r9;
  }
  __threadfence();
  __shared__ u32 turn;
  __syncthreads();
  if (threadIdx.x == 0u && threadIdx.y == 0u) turn = atomicAdd(counters + unit, 1u);
  __syncthreads();
  if (turn + 1u != parts) return;
  __threadfence();
  if (threadIdx.x == 0u && threadIdx.y == 0u) counters[unit] = 0u;
  r1 = float(0);
  r9_n = float(0); r9_mean = float(0);
  r9 = float(0);
  {
    const u32 joins = u32(threadIdx.x) < u32(parts) ? (u32(parts) - u32(threadIdx.x) + u32(blockDim.x) - 1) / u32(blockDim.x) : u32(0);
    for (u32 g = u32(0); g < joins; g += u32(8)) {
      float p_r1[8];
      float p_r9_n[8];
      float p_r9_mean[8];
      float p_r9[8];
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        const u32 p = u32(threadIdx.x) + (g + u32(u) < joins ? g + u32(u) : g) * u32(blockDim.x);
        p_r1[u] = __ldcg((const float*)(partials + 4ull * (u32(0) * u32(parts) * points + p * points + f)));
        p_r9_n[u] = __ldcg((const float*)(partials + 4ull * (u32(1) * u32(parts) * points + p * points + f)));
        p_r9_mean[u] = __ldcg((const float*)(partials + 4ull * (u32(2) * u32(parts) * points + p * points + f)));
        p_r9[u] = __ldcg((const float*)(partials + 4ull * (u32(3) * u32(parts) * points + p * points + f)));
      }
      #pragma unroll
      for (int u = 0; u < 8; ++u) {
        if (g + u32(u) < joins) {
          r1 = (r1 + p_r1[u]);
          sn_join_welford_f32(r9_n, r9_mean, r9, p_r9_n[u], p_r9_mean[u], p_r9[u]);
        }
      }
    }
  }
  { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r1, warps, blockDim.x, false); }
  { __shared__ float warps[3][32]; sn_workgroup_squared_deviations_f32(r9_n, r9_mean, r9, warps, blockDim.x, false); }
  const float v1 = r1;
  const float v3 = sn_div_f32(v1, s0);
  const float v5 = (v1 * s1);
  const float v6 = (v3 - v5);
  const float v7 = (v6 * v6);
  const float v8 = (s0 * v7);
  const float v9 = r9;
  const float v10 = (v9 + v8);
  const float v12 = (v10 * s2);
  const float v14 = (v12 + s3);
  const float v15 = sn_rsqrt_f32(v14);
  if (threadIdx.x == 0u) {
    b1[x0] = v1;
    b2[x0] = v15;
  }
}
// ---- kernel 1
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
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, const float* b1, const float* b2, const float* b3, const float* b4, float* __restrict__ b5, int n0, int n1, int n2, int n3, int n4, float s0) {
  sn_follow();
  const bool vectors = ((u64(b1) | u64(b5)) & 15) == 0 && ((n2 | n3 | n4) & 3) == 0;
  const u32 points = u32(n0) * u32(n1) * u32(n2);
  const u32 points4 = vectors ? points - points % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.x + threadIdx.x) * u32(4); f < points4; f += u32(gridDim.x * blockDim.x) * u32(4)) {
    u32 t0 = f;
    const int y = int(t0 % u32(n2));
    t0 /= u32(n2);
    const int x1 = int(t0 % u32(n1));
    t0 /= u32(n1);
    const int x0 = int(t0);
    float l3[4];
    sn_load4_f32(l3, b1 + (x0 * n3 + x1 * n4 + y));
    float w0[4];
    #pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int x2 = y + k;
      const float v0 = b0[x1];
      const float v2 = (v0 * s0);
      const float v3 = l3[k];
      const float v4 = (v3 - v2);
      const float v5 = b2[x1];
      const float v6 = (v4 * v5);
      const float v7 = b3[x1];
      const float v8 = (v6 * v7);
      const float v9 = b4[x1];
      const float v10 = (v8 + v9);
      w0[k] = v10;
    }
    sn_store4_f32(b5 + (x0 * n3 + x1 * n4 + y), w0);
  }
  for (u32 t = points4 + u32(blockIdx.x) * (u32(blockDim.x) * u32(4)); t < points; t += u32(gridDim.x) * (u32(blockDim.x) * u32(4))) {
    if (points - t >= (u32(blockDim.x) * u32(4))) {
      float w0[4];
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v0 = b0[x1];
        const float v2 = (v0 * s0);
        const float v3 = b1[x0 * n3 + x1 * n4 + x2];
        const float v4 = (v3 - v2);
        const float v5 = b2[x1];
        const float v6 = (v4 * v5);
        const float v7 = b3[x1];
        const float v8 = (v6 * v7);
        const float v9 = b4[x1];
        const float v10 = (v8 + v9);
        w0[u] = v10;
      }
      #pragma unroll
      for (int u = 0; u < 4; ++u) {
        const u32 f = t + u32(u) * u32(blockDim.x) + u32(threadIdx.x);
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        b5[x0 * n3 + x1 * n4 + x2] = w0[u];
      }
    }
    else {
      for (u32 f = t + u32(threadIdx.x); f < points; f += u32(blockDim.x)) {
        u32 t0 = f;
        const int x2 = int(t0 % u32(n2));
        t0 /= u32(n2);
        const int x1 = int(t0 % u32(n1));
        t0 /= u32(n1);
        const int x0 = int(t0);
        const float v0 = b0[x1];
        const float v2 = (v0 * s0);
        const float v3 = b1[x0 * n3 + x1 * n4 + x2];
        const float v4 = (v3 - v2);
        const float v5 = b2[x1];
        const float v6 = (v4 * v5);
        const float v7 = b3[x1];
        const float v8 = (v6 * v7);
        const float v9 = b4[x1];
        const float v10 = (v8 + v9);
        b5[x0 * n3 + x1 * n4 + x2] = v10;
      }
    }
  }
}
