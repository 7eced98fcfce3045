// Conversions between dtypes, for each target: plain loops, which compilers vectorise, and those of 16-bit
// floats by vectors.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/interpreter/casts.cpp"
#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/maths/widen-inl.h"

#ifndef SINTER_HOST_CASTS_ONCE
#define SINTER_HOST_CASTS_ONCE
namespace sinter::runtime::host {
struct Truth {  // a byte 0 or 1
  std::uint8_t byte;
};
}  // namespace sinter::runtime::host
#endif

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
using host::Truth;

/// From a float: towards zero, saturating, NaN gives 0. Between integers: the low bits.
template <class To, class From>
HWY_INLINE To convert(From x) {
  if constexpr (std::is_same_v<From, Truth>) {
    if constexpr (std::is_same_v<To, Truth>)
      return x;
    else
      return static_cast<To>(x.byte);
  } else if constexpr (std::is_same_v<To, Truth>) {
    return Truth{static_cast<std::uint8_t>(x != From{0})};
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Both bounds are powers of two (or 0), exact in From; values from `beyond` on do not fit.
    constexpr From least = static_cast<From>(std::numeric_limits<To>::min());
    constexpr From beyond =
        static_cast<From>(2) * static_cast<From>(To{1} << (std::numeric_limits<To>::digits - 1));
    const To inside = static_cast<To>(x >= least && x < beyond ? x : From{0});
    const To saturated = x >= beyond ? std::numeric_limits<To>::max() : inside;
    return x < least ? std::numeric_limits<To>::min() : saturated;
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
HWY_NOINLINE void cast_loop(void* out, const void* in, const void*, const void*, std::size_t n) {
  const From* from = static_cast<const From*>(in);
  To* to = static_cast<To*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = convert<To>(from[i]);
}

template <class From>
void add_casts_from(host::BlockFunctions& functions, DType dtype) {
  auto& to = functions.cast[static_cast<std::size_t>(dtype)];
  to[static_cast<std::size_t>(DType::f32)] = &cast_loop<From, float>;
  to[static_cast<std::size_t>(DType::f64)] = &cast_loop<From, double>;
  to[static_cast<std::size_t>(DType::i32)] = &cast_loop<From, std::int32_t>;
  to[static_cast<std::size_t>(DType::i64)] = &cast_loop<From, std::int64_t>;
  to[static_cast<std::size_t>(DType::boolean)] = &cast_loop<From, Truth>;
}

/// Small and unsigned integers are cast only from and to the dtype that they are computed in.
template <class Stored, class Computed>
void add_stored_casts(host::BlockFunctions& functions) {
  constexpr DType stored = dtype_of<Stored>, computed = dtype_of<Computed>;
  static_assert(arithmetic_of(stored) == computed);
  functions.cast[static_cast<std::size_t>(stored)][static_cast<std::size_t>(computed)] =
      &cast_loop<Stored, Computed>;
  functions.cast[static_cast<std::size_t>(computed)][static_cast<std::size_t>(stored)] =
      &cast_loop<Computed, Stored>;
}

/// Floats of 16 and 8 bits are cast only from and to f32; casts to other dtypes go through it.
template <class Half>
HWY_NOINLINE void widen_loop(void* out, const void* in, const void*, const void*, std::size_t n) {
  const Half* from = static_cast<const Half*>(in);
  float* to = static_cast<float*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = from[i];
}
template <class Half>
HWY_NOINLINE void round_loop(void* out, const void* in, const void*, const void*, std::size_t n) {
  const float* from = static_cast<const float*>(in);
  Half* to = static_cast<Half*>(out);
  for (std::size_t i = 0; i < n; ++i) to[i] = Half(from[i]);
}

/// Of 16 bits: whole vectors to the same bits, and the rest one by one.
template <class Half>
HWY_NOINLINE void widen_vectors(void* out, const void* in, const void*, const void*, std::size_t n) {
  const hn::ScalableTag<float> d;
  const Half* from = static_cast<const Half*>(in);
  float* to = static_cast<float*>(out);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(load_wide(d, from + i), d, to + i);
  widen_loop<Half>(to + i, from + i, nullptr, nullptr, n - i);
}

template <class D>
HWY_INLINE void store_rounded(hn::Vec<D> number, D /*d*/, bfloat16* to) {
  const hn::RebindToUnsigned<D> words;
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<std::uint16_t, D> halves;
  const auto bits = hn::BitCast(words, number);
  // Half a step less one bit, and that bit where the last place kept is odd: ties go to even.
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1u));
  const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7fffu)));
  const auto quiet = hn::Or(bits, hn::Set(words, 0x400000u));
  const auto is_number = hn::RebindMask(words, hn::Eq(number, number));
  const auto upper = hn::ShiftRight<16>(hn::IfThenElse(is_number, rounded, quiet));
  hn::StoreU(hn::DemoteTo(halves, hn::BitCast(whole, upper)), halves, reinterpret_cast<std::uint16_t*>(to));
}
template <class D>
HWY_INLINE void store_rounded(hn::Vec<D> number, D d, float16* to) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const hn::Rebind<hwy::float16_t, D> halves;
  (void)d;
  hn::StoreU(hn::DemoteTo(halves, number), halves, reinterpret_cast<hwy::float16_t*>(to));
#else
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(number, d, lanes);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) to[i] = float16(lanes[i]);
#endif
}
template <class Half>
HWY_NOINLINE void round_vectors(void* out, const void* in, const void*, const void*, std::size_t n) {
  const hn::ScalableTag<float> d;
  const float* from = static_cast<const float*>(in);
  Half* to = static_cast<Half*>(out);
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) store_rounded(hn::LoadU(d, from + i), d, to + i);
  round_loop<Half>(to + i, from + i, nullptr, nullptr, n - i);
}

template <class Half>
void add_half_casts(host::BlockFunctions& functions) {
  constexpr auto half = static_cast<std::size_t>(dtype_of<Half>), f32 = static_cast<std::size_t>(DType::f32);
  if constexpr (sizeof(Half) == 2) {
    functions.cast[half][f32] = &widen_vectors<Half>;
    functions.cast[f32][half] = &round_vectors<Half>;
  } else {
    functions.cast[half][f32] = &widen_loop<Half>;
    functions.cast[f32][half] = &round_loop<Half>;
  }
}

void add_cast_functions(host::BlockFunctions& functions) {
  add_half_casts<bfloat16>(functions);
  add_half_casts<float16>(functions);
  add_half_casts<float8_e4m3>(functions);
  add_half_casts<float8_e5m2>(functions);
  add_stored_casts<std::int8_t, std::int32_t>(functions);
  add_stored_casts<std::int16_t, std::int32_t>(functions);
  add_stored_casts<std::uint8_t, std::int32_t>(functions);
  add_stored_casts<std::uint16_t, std::int32_t>(functions);
  add_stored_casts<std::uint32_t, std::int64_t>(functions);
  add_stored_casts<std::uint64_t, std::int64_t>(functions);
  add_casts_from<float>(functions, DType::f32);
  add_casts_from<double>(functions, DType::f64);
  add_casts_from<std::int32_t>(functions, DType::i32);
  add_casts_from<std::int64_t>(functions, DType::i64);
  add_casts_from<Truth>(functions, DType::boolean);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(add_cast_functions);
void host::add_cast_functions(BlockFunctions& functions) {
  HWY_DYNAMIC_DISPATCH(add_cast_functions)(functions);
}
}  // namespace sinter::runtime
#endif
