// Definitions that let generated CUDA C++ compile as C++ for this CPU. The emulated NVRTC includes this
// before a kernel's text. It includes no standard header, which would slow down every kernel's compilation.
#pragma once

#include "interface.h"

sinter_emulation::State* sinter_emulation_state = nullptr;  // set by the emulated driver

extern "C" __attribute__((weak)) sinter_emulation::State** sinter_emulation_slot() {
  return &sinter_emulation_state;
}

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __grid_constant__
#define __shared__ static
#define LAUNCH_SHARED(type, name) alignas(16) static type name[sinter_emulation::kMostShared / sizeof(type)]
#define __align__(n) __attribute__((aligned(n)))
#define threadIdx (sinter_emulation_state->thread)
#define blockIdx (sinter_emulation_state->block)
#define blockDim (sinter_emulation_state->block_size)
#define gridDim (sinter_emulation_state->grid_size)
#define __syncthreads() sinter_emulation_state->wait_for_block()
#define __threadfence()
template <class T>
T __ldcg(const T* from) {
  return *from;
}
template <class T>
T atomicAdd(T* to, T more) {
  const T old = *to;
  *to = old + more;
  return old;
}
inline unsigned atomicOr(unsigned* to, unsigned bits) {
  const unsigned old = *to;
  *to = old | bits;
  return old;
}
template <class T>
T atomicMax(T* to, T other) {
  const T old = *to;
  *to = old < other ? other : old;
  return old;
}
inline long long min(long long a, long long b) { return b < a ? b : a; }
inline long long max(long long a, long long b) { return a < b ? b : a; }
inline int __popc(unsigned a) { return __builtin_popcount(a); }
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned places) {
  const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
  unsigned chosen = 0;
  for (unsigned i = 0; i < 4; ++i)
    chosen |= static_cast<unsigned>(bytes >> (places >> 4 * i & 7u) * 8 & 255u) << 8 * i;
  return chosen;
}
#define __syncwarp() sinter_emulation_state->wait_for_warp()

template <class T>
T __shfl_xor_sync(unsigned, T value, int mask) {
  T other;
  sinter_emulation_state->exchange(&value, &other, sizeof(T), mask);
  return other;
}
inline int __any_sync(unsigned lanes, bool own) {
  int any = own;
  for (int mask = 16; mask > 0; mask /= 2) any |= __shfl_xor_sync(lanes, any, mask);
  return any;
}
inline int __all_sync(unsigned lanes, bool own) { return !__any_sync(lanes, !own); }

struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
struct alignas(16) double2 {
  double x, y;
};
struct alignas(16) longlong2 {
  long long x, y;
};
struct alignas(4) uchar4 {
  unsigned char x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned int x, y;
};
struct alignas(16) uint4 {
  unsigned int x, y, z, w;
};
inline uint2 make_uint2(unsigned int x, unsigned int y) { return {x, y}; }
inline uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) {
  return {x, y, z, w};
}
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
#define SINTER_ADDS_FOURS  // as compute capability 9.0 does
inline float4 atomicAdd(float4* to, float4 more) {
  const float4 old = *to;
  *to = {old.x + more.x, old.y + more.y, old.z + more.z, old.w + more.w};
  return old;
}
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }
inline double2 make_double2(double x, double y) { return {x, y}; }
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
inline uchar4 make_uchar4(unsigned char x, unsigned char y, unsigned char z, unsigned char w) {
  return {x, y, z, w};
}

inline float ptx_ex2_approx_ftz_f32(float a) { return __builtin_exp2f(a); }
inline unsigned ptx_cvt_rna_tf32_f32(float a) {
  return (__builtin_bit_cast(unsigned, a) + 0x1000u) & 0xffffe000u;
}
inline unsigned bits_of_bf16(float a) {
  const unsigned bits = __builtin_bit_cast(unsigned, a);
  return a != a ? 0x7fffu : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}
inline unsigned ptx_cvt_rn_bf16x2_f32(float high, float low) {
  return bits_of_bf16(high) << 16 | bits_of_bf16(low);
}
inline unsigned bits_of_f16(float a) { return __builtin_bit_cast(unsigned short, static_cast<_Float16>(a)); }
inline unsigned ptx_cvt_rn_f16x2_f32(float high, float low) {
  return bits_of_f16(high) << 16 | bits_of_f16(low);
}
inline float ptx_max_NaN_f32(float a, float b) { return a > b || a != a ? a : b; }
inline float ptx_min_NaN_f32(float a, float b) { return a < b || a != a ? a : b; }
inline unsigned ptx_max_u32(unsigned a, unsigned b) { return a > b ? a : b; }
inline unsigned ptx_min_u32(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned __float_as_uint(float a) { return __builtin_bit_cast(unsigned, a); }
inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

#define SINTER_EMULATED(name)                                      \
  inline float name##f(float a) { return __builtin_##name##f(a); } \
  inline double name(double a) { return __builtin_##name(a); }
SINTER_EMULATED(fabs)
SINTER_EMULATED(exp)
SINTER_EMULATED(log)
SINTER_EMULATED(log1p)
SINTER_EMULATED(expm1)
SINTER_EMULATED(sqrt)
SINTER_EMULATED(sin)
SINTER_EMULATED(cos)
SINTER_EMULATED(tan)
SINTER_EMULATED(asin)
SINTER_EMULATED(acos)
SINTER_EMULATED(atan)
SINTER_EMULATED(sinh)
SINTER_EMULATED(cosh)
SINTER_EMULATED(asinh)
SINTER_EMULATED(acosh)
SINTER_EMULATED(atanh)
SINTER_EMULATED(tanh)
SINTER_EMULATED(erf)
SINTER_EMULATED(erfc)
SINTER_EMULATED(floor)
SINTER_EMULATED(ceil)
SINTER_EMULATED(rint)
SINTER_EMULATED(trunc)
#undef SINTER_EMULATED
inline float powf(float a, float b) { return __builtin_powf(a, b); }
inline double pow(double a, double b) { return __builtin_pow(a, b); }
inline float atan2f(float a, float b) { return __builtin_atan2f(a, b); }
inline double atan2(double a, double b) { return __builtin_atan2(a, b); }
inline float fmodf(float a, float b) { return __builtin_fmodf(a, b); }
inline double fmod(double a, double b) { return __builtin_fmod(a, b); }
inline float fminf(float a, float b) { return __builtin_fminf(a, b); }
inline float copysignf(float a, float b) { return __builtin_copysignf(a, b); }
inline double fmin(double a, double b) { return __builtin_fmin(a, b); }
inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
inline double fmax(double a, double b) { return __builtin_fmax(a, b); }

inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float a) { return 1 / __builtin_sqrtf(a); }
inline int __float_as_int(float a) { return __builtin_bit_cast(int, a); }
inline float __int_as_float(int a) { return __builtin_bit_cast(float, a); }
inline long long __double_as_longlong(double a) { return __builtin_bit_cast(long long, a); }
inline double __longlong_as_double(long long a) { return __builtin_bit_cast(double, a); }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}
// The hardware saturates. 2147483648.0 and the like are the first values out of range.
inline int __double2int_rz(double a) {
  return a >= 2147483648.0 ? 0x7fffffff : a <= -2147483648.0 ? -0x7fffffff - 1 : static_cast<int>(a);
}
inline long long __double2ll_rz(double a) {
  return a >= 9223372036854775808.0    ? 0x7fffffffffffffffll
         : a <= -9223372036854775808.0 ? -0x7fffffffffffffffll - 1
                                       : static_cast<long long>(a);
}
inline unsigned __double2uint_rz(double a) {
  return a >= 4294967296.0 ? 0xffffffffu : a <= 0 ? 0u : static_cast<unsigned>(a);
}
inline int __float2int_rz(float a) { return __double2int_rz(a); }
inline long long __float2ll_rz(float a) { return __double2ll_rz(a); }
inline unsigned __float2uint_rz(float a) { return __double2uint_rz(a); }

namespace sinter_emulation {

template <int... I>
struct Numbers {};
template <int N, int... I>
struct Count : Count<N - 1, N - 1, I...> {};
template <int... I>
struct Count<0, I...> {
  using type = Numbers<I...>;
};
template <class T>
struct Plain {
  using type = T;
};
template <class T>
struct Plain<const T> {
  using type = T;
};
template <class... A, int... I>
void call(void (*kernel)(A...), void** arguments, Numbers<I...>) {
  kernel(*static_cast<typename Plain<A>::type*>(arguments[I])...);
}
template <class... A>
void call(void (*kernel)(A...), void** arguments) {
  call(kernel, arguments, typename Count<sizeof...(A)>::type());
}

/// Writes the size of each parameter of a kernel, then 0. Not a constant table: all kernels of the process
/// would share its symbol, and they have structs of one name with different sizes.
template <class... A>
void sizes(void (*)(A...), unsigned long* to) {
  ((*to++ = sizeof(A)), ...);
  *to = 0;
}

}  // namespace sinter_emulation
