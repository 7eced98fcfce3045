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
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN float sn_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a > b || a != a ? a : b;
#endif
}
SN_FN void sn_workgroup_max_sum_f32(float& v0, float& v1, float (*warps)[32], u32 lanes, bool again) {
  for (u32 d = 16u; d > 0u; d >>= 1) {
    const float w0 = __shfl_xor_sync(0xffffffffu, v0, d);
    const float w1 = __shfl_xor_sync(0xffffffffu, v1, d);
    v0 = sn_max_f32(v0, w0);
    v1 = (v1 + w1);
  }
  const u32 count = lanes >> 5, warp = threadIdx.x >> 5, other = threadIdx.x & (count - 1u);
  if (count <= 1u) return;
  if (again) __syncthreads();
  if ((threadIdx.x & 31u) == 0u) { warps[0][warp] = v0; warps[1][warp] = v1; }
  __syncthreads();
  v0 = warps[0][other];
  v1 = warps[1][other];
  for (u32 d = count >> 1; d > 0u; d >>= 1) {
    const float w0 = __shfl_xor_sync(0xffffffffu, v0, d);
    const float w1 = __shfl_xor_sync(0xffffffffu, v1, d);
    v0 = sn_max_f32(v0, w0);
    v1 = (v1 + w1);
  }
}
SN_FN float sn_exp_f32(float a) { return expf(a); }
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
SN_FN float sn_log_f32(float a) { return logf(a); }
SN_FN float sn_div_f32(float a, float b) { return a / b; }
SN_FN void sn_store4_f32(float* to, const float (&from)[4]) {
  *(float4*)to = make_float4(from[0], from[1], from[2], from[3]);
}
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const i64* b0, const float* b1, float* __restrict__ b2, float* __restrict__ b3, int n0, int n1, int n2, i64 s0, i64 s1, float s2, i64 s3, i64 s4, float s5, float s6, float s7, float s8) {
  sn_follow();
  const bool vectors = ((u64(b1) | u64(b3)) & 15) == 0 && ((n2) & 3) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  if (vectors && u32(n1) % u32(4) == u32(0)) {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      float h0[2][4];
      bool h1[2][4];
      float h2[2][4];
      float h3[2][4];
      const i64 v5 = b0[x0];
      const bool v18 = (s3 <= v5);
      const bool v20 = (v5 < s4);
      const bool v21 = sn_and_bool(v18, v20);
      const float v24 = (s5 * s6);
      const float v26 = (v21 ? v24 : s7);
      float r8 = __int_as_float(0xff800000);
      float r30 = float(0);
      float q30[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          sn_load4_f32(h0[i], b1 + (x0 * n2 + y));
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const i64 v0 = i64(x1);
            const i64 v2 = i64(u64(v0) * u64(s0));
            const i64 v4 = i64(u64(v2) + u64(s1));
            const bool v6 = (v4 == v5);
            h1[i][k] = v6;
            const float v7 = h0[i][k];
            const float v28 = (v6 ? v26 : s8);
            h2[i][k] = v28;
            const float v29 = (-v28);
            r8 = sn_max_f32(r8, v7);
            q30[k] = (q30[k] + v29);
          }
        }
      }
      r30 = r30 + ((q30[0] + q30[1]) + (q30[2] + q30[3]));
      { __shared__ float warps[2][32]; sn_workgroup_max_sum_f32(r8, r30, warps, blockDim.x, false); }
      const float v8 = r8;
      const float v30 = r30;
      float r11 = float(0);
      float q11[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const float v7 = h0[i][k];
            const float v9 = (v7 - v8);
            h0[i][k] = v9;
            const float v10 = sn_exp_f32(v9);
            h3[i][k] = v10;
            q11[k] = (q11[k] + v10);
          }
        }
      }
      r11 = r11 + ((q11[0] + q11[1]) + (q11[2] + q11[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r11, warps, blockDim.x, false); }
      const float v11 = r11;
      const float v12 = sn_log_f32(v11);
      const float v31 = sn_div_f32(v30, v11);
      float r16 = float(0);
      float q16[4] = {float(0), float(0), float(0), float(0)};
      #pragma unroll
      for (int i = 0; i < 2; ++i) {
        const u32 j = (u32(i) * u32(blockDim.x) + u32(threadIdx.x)) * u32(4);
        if (j < inner) {
          const int y = int(j);
          float w0[4];
          #pragma unroll
          for (int k = 0; k < 4; ++k) {
            const int x1 = y + k;
            const bool v6 = h1[i][k];
            const float v9 = h0[i][k];
            const float v10 = h3[i][k];
            const float v28 = h2[i][k];
            const float v13 = (v9 - v12);
            const float v15 = (v6 ? v13 : s2);
            const float v32 = (v31 * v10);
            const float v33 = (v28 + v32);
            w0[k] = v33;
            q16[k] = (q16[k] + v15);
          }
          sn_store4_f32(b3 + (x0 * n2 + y), w0);
        }
      }
      r16 = r16 + ((q16[0] + q16[1]) + (q16[2] + q16[3]));
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r16, warps, blockDim.x, false); }
      const float v16 = r16;
      if (threadIdx.x == 0u) {
        b2[x0] = v16;
      }
    }
  }
  else {
    for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
      const int x0 = int(f);
      const i64 v5 = b0[x0];
      const bool v18 = (s3 <= v5);
      const bool v20 = (v5 < s4);
      const bool v21 = sn_and_bool(v18, v20);
      const float v24 = (s5 * s6);
      const float v26 = (v21 ? v24 : s7);
      float r8 = __int_as_float(0xff800000);
      float r30 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q30 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const i64 v0 = i64(x1);
          const i64 v2 = i64(u64(v0) * u64(s0));
          const i64 v4 = i64(u64(v2) + u64(s1));
          const bool v6 = (v4 == v5);
          const float v7 = b1[x0 * n2 + x1];
          const float v28 = (v6 ? v26 : s8);
          const float v29 = (-v28);
          r8 = sn_max_f32(r8, v7);
          q30 = (q30 + v29);
        }
        r30 = r30 + q30;
      }
      { __shared__ float warps[2][32]; sn_workgroup_max_sum_f32(r8, r30, warps, blockDim.x, false); }
      const float v8 = r8;
      const float v30 = r30;
      float r11 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q11 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const float v7 = b1[x0 * n2 + x1];
          const float v9 = (v7 - v8);
          const float v10 = sn_exp_f32(v9);
          q11 = (q11 + v10);
        }
        r11 = r11 + q11;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r11, warps, blockDim.x, false); }
      const float v11 = r11;
      const float v12 = sn_log_f32(v11);
      const float v31 = sn_div_f32(v30, v11);
      float r16 = float(0);
      for (u32 h = u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
        const u32 left = inner - h;
        const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
        float q16 = float(0);
        for (u32 j = h; j < end; j += u32(blockDim.x)) {
          const int x1 = int(j);
          const i64 v0 = i64(x1);
          const i64 v2 = i64(u64(v0) * u64(s0));
          const i64 v4 = i64(u64(v2) + u64(s1));
          const bool v6 = (v4 == v5);
          const float v7 = b1[x0 * n2 + x1];
          const float v9 = (v7 - v8);
          const float v10 = sn_exp_f32(v9);
          const float v13 = (v9 - v12);
          const float v15 = (v6 ? v13 : s2);
          const float v28 = (v6 ? v26 : s8);
          const float v32 = (v31 * v10);
          const float v33 = (v28 + v32);
          b3[x0 * n2 + x1] = v33;
          q16 = (q16 + v15);
        }
        r16 = r16 + q16;
      }
      { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r16, warps, blockDim.x, false); }
      const float v16 = r16;
      if (threadIdx.x == 0u) {
        b2[x0] = v16;
      }
    }
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
SN_FN void sn_load4_i64(i64 (&to)[4], const i64* from) {
  const longlong2 low = ((const longlong2*)from)[0], high = ((const longlong2*)from)[1];
  to[0] = low.x;
  to[1] = low.y;
  to[2] = high.x;
  to[3] = high.y;
}
SN_FN void sn_load4_f32(float (&to)[4], const float* from) {
  const float4 all = *(const float4*)from;
  to[0] = all.x;
  to[1] = all.y;
  to[2] = all.z;
  to[3] = all.w;
}
SN_FN bool sn_and_bool(bool a, bool b) { return a && b; }
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
#ifndef SN_BLOCKS
#define SN_BLOCKS 4
#endif
extern "C" __global__ void __launch_bounds__(256, SN_BLOCKS) sinter_kernel(
    const i64* b0, const float* b1, float* __restrict__ b2, int n0, int n1, i64 s0, i64 s1, float s2, float s3) {
  sn_follow();
  const bool vectors = ((u64(b0) | u64(b1)) & 15) == 0;
  const u32 points = u32(n0);
  const u32 inner = u32(n1);
  const u32 inner4 = vectors ? inner - inner % u32(4) : u32(0);
  for (u32 f = u32(blockIdx.x * blockDim.y + threadIdx.y); f < points; f += u32(gridDim.x * blockDim.y)) {
    float r9 = float(0);
    for (u32 h = u32(threadIdx.x) * u32(4); h < inner4; h += u32(u32(blockDim.x) * u32(4) * 32)) {
      const u32 left = inner4 - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * u32(4) * 32) ? left : u32(u32(blockDim.x) * u32(4) * 32));
      float q9[4] = {float(0), float(0), float(0), float(0)};
      for (u32 j = h; j < end; j += u32(blockDim.x) * u32(4)) {
        const int y = int(j);
        i64 l1[4];
        sn_load4_i64(l1, b0 + (y));
        float l6[4];
        sn_load4_f32(l6, b1 + (y));
        #pragma unroll
        for (int k = 0; k < 4; ++k) {
          const int x1 = y + k;
          const i64 v1 = l1[k];
          const bool v2 = (s0 <= v1);
          const bool v4 = (v1 < s1);
          const bool v5 = sn_and_bool(v2, v4);
          const float v6 = l6[k];
          const float v8 = (v5 ? v6 : s2);
          q9[k] = (q9[k] + v8);
        }
      }
      r9 = r9 + ((q9[0] + q9[1]) + (q9[2] + q9[3]));
    }
    for (u32 h = inner4 + u32(threadIdx.x); h < inner; h += u32(u32(blockDim.x) * 32)) {
      const u32 left = inner - h;
      const u32 end = h + (left < u32(u32(blockDim.x) * 32) ? left : u32(u32(blockDim.x) * 32));
      float q9 = float(0);
      for (u32 j = h; j < end; j += u32(blockDim.x)) {
        const int x1 = int(j);
        const i64 v1 = b0[x1];
        const bool v2 = (s0 <= v1);
        const bool v4 = (v1 < s1);
        const bool v5 = sn_and_bool(v2, v4);
        const float v6 = b1[x1];
        const float v8 = (v5 ? v6 : s2);
        q9 = (q9 + v8);
      }
      r9 = r9 + q9;
    }
    { __shared__ float warps[1][32]; sn_workgroup_sum_f32(r9, warps, blockDim.x, true); }
    const float v9 = r9;
    const float v11 = (v9 * s3);
    if (threadIdx.x == 0u) {
      b2[0] = v11;
    }
  }
}
