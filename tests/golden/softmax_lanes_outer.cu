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
SN_FN float sn_max_f32(float a, float b) {
#if __CUDA_ARCH__ >= 800
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
#else
  return a > b || a != a ? a : b;
#endif
}
SN_FN void sn_rows_max_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = sn_max_f32(v, w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_exp_f32(float a) { return expf(a); }
SN_FN void sn_rows_sum_f32(float& v) {
  if (blockDim.y == 1u) return;
  __shared__ float parts[1][256];
  const u32 mine = threadIdx.y * blockDim.x + threadIdx.x;
  __syncthreads();
  parts[0][mine] = v;
  __syncthreads();
  for (u32 rows = blockDim.y; rows > 1u;) {
    const u32 left = (rows + 1u) / 2u;
    if (threadIdx.y + left < rows) {
      const u32 other = mine + left * blockDim.x;
      const float w = parts[0][other];
      v = (v + w);
      parts[0][mine] = v;
    }
    rows = left;
    __syncthreads();
  }
  v = parts[0][threadIdx.x];
}
SN_FN float sn_reciprocal_f32(float b) {
  const float m = fabsf(b);
  return m > 9.5367431640625e-7f && m < 1.152921504606847e18f ? 1.0f / b : __int_as_float(0x7fc00000);
}
SN_FN float sn_div_by_f32(float a, float b, float reciprocal) {
  const float q = a * reciprocal;
  const float p = fma(fma(-b, q, a), reciprocal, q);
  const float m = fabsf(p);
  if (m > 8.271806125530277e-25f && m < 1.152921504606847e18f) return fma(fma(-b, p, a), reciprocal, p);
  return a == 0.0f && q == 0.0f ? q : a / b;
}
extern "C" __global__ void __launch_bounds__(256) sinter_kernel(
    const float* b0, float* __restrict__ b1, int n0, int n1, int n2, int n3) {
  sn_follow();
  const u32 points = u32(n0);
  for (u32 t = u32(blockIdx.x) * u32(blockDim.x); t < points; t += u32(gridDim.x) * u32(blockDim.x)) {
    const bool there = t + u32(threadIdx.x) < points;
    const u32 f = there ? t + u32(threadIdx.x) : t;
    const int x0 = int(f);
    float r1 = __int_as_float(0xff800000);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      {
        u32 g = u32(0);
        for (; g + u32(7) < rounds; g += u32(8)) {
          #pragma unroll
          for (int u = 0; u < 8; ++u) {
            const u32 j = g + u32(u);
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            r1 = sn_max_f32(r1, v0);
          }
        }
        if (g < rounds) {
          #pragma unroll
          for (int u = 0; u < 8; ++u) {
            const bool comes = g + u32(u) < rounds;
            const u32 j = comes ? g + u32(u) : g;
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            r1 = sn_max_f32(r1, (comes ? v0 : __int_as_float(0xff800000)));
          }
        }
      }
    }
    sn_rows_max_f32(r1);
    const float v1 = r1;
    float r4 = float(0);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 h = u32(0); h < rounds; h += u32(32)) {
        const u32 left = rounds - h;
        const u32 end = h + (left < u32(32) ? left : u32(32));
        float q4 = float(0);
        {
          u32 g = h;
          for (; g + u32(7) < end; g += u32(8)) {
            #pragma unroll
            for (int u = 0; u < 8; ++u) {
              const u32 j = g + u32(u);
              const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
              const float v0 = b0[x0 * n2 + x1];
              const float v2 = (v0 - v1);
              const float v3 = sn_exp_f32(v2);
              q4 = (q4 + v3);
            }
          }
          for (u32 j = g; j < end; j += 1) {
            const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
            const float v0 = b0[x0 * n2 + x1];
            const float v2 = (v0 - v1);
            const float v3 = sn_exp_f32(v2);
            q4 = (q4 + v3);
          }
        }
        r4 = r4 + q4;
      }
    }
    sn_rows_sum_f32(r4);
    const float v4 = r4;
    const float i4 = sn_reciprocal_f32(v4);
    if (there) {
      const u32 rounds = u32(0) + u32(threadIdx.y) >= u32(n1) ? u32(0) : (u32(blockDim.y) == u32(1) ? u32(n1) - (u32(0) + u32(threadIdx.y)) : (u32(n1) - (u32(0) + u32(threadIdx.y)) + u32(blockDim.y) - 1) / u32(blockDim.y));
      for (u32 j = u32(0); j < rounds; j += 1) {
        const int x1 = int(u32(0) + u32(threadIdx.y) + j * u32(blockDim.y));
        const float v0 = b0[x0 * n2 + x1];
        const float v2 = (v0 - v1);
        const float v3 = sn_exp_f32(v2);
        const float v5 = sn_div_by_f32(v3, v4, i4);
        b1[x0 * n3 + x1] = v5;
      }
    }
  }
}
