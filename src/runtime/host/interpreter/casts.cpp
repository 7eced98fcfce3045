// Conversions between dtypes, for each target: plain loops, which compilers vectorise.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/interpreter/casts.cpp"
#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/interpreter/elementwise.h"

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

template <class Half>
void add_half_casts(host::BlockFunctions& functions) {
  constexpr auto half = static_cast<std::size_t>(dtype_of<Half>), f32 = static_cast<std::size_t>(DType::f32);
  functions.cast[half][f32] = &widen_loop<Half>;
  functions.cast[f32][half] = &round_loop<Half>;
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
