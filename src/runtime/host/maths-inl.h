// Elementwise functions over Highway vectors that the table's `host` column names. Compiled once per target:
// include it after hwy/highway.h, inside no namespace.
//
// Errors of f32, measured against f64 over the whole range (tests/unit/host_maths_test.cpp holds them): exp,
// expm1, tanh, sigmoid, log, log1p, sin, cos, pow within 4 ulp; erf within 4 ulp too, and so are those of
// trigonometry-inl.h. The f64 functions are those of the C library.
#if defined(SINTER_HOST_MATHS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_MATHS_INL_H_
#undef SINTER_HOST_MATHS_INL_H_
#else
#define SINTER_HOST_MATHS_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "src/base/polynomials.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class D>
inline constexpr bool kIsF32 = std::is_same_v<hn::TFromD<D>, float>;
template <class D>
inline constexpr bool kIsF64 = std::is_same_v<hn::TFromD<D>, double>;
template <class D>
inline constexpr bool kIsFloat = kIsF32<D> || kIsF64<D>;

/// f of each lane, for what has no vector form.
template <class D, class F>
HWY_INLINE hn::Vec<D> map_lanes(D d, hn::Vec<D> a, F f) {
  HWY_ALIGN hn::TFromD<D> x[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(a, d, x);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) x[i] = f(x[i]);
  return hn::Load(d, x);
}
template <class D, class F>
HWY_INLINE hn::Vec<D> map_lanes(D d, hn::Vec<D> a, hn::Vec<D> b, F f) {
  HWY_ALIGN hn::TFromD<D> x[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  HWY_ALIGN hn::TFromD<D> y[HWY_MAX_BYTES / sizeof(hn::TFromD<D>)];
  hn::Store(a, d, x);
  hn::Store(b, d, y);
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) x[i] = f(x[i], y[i]);
  return hn::Load(d, x);
}

/// The polynomial with the given coefficients, lowest power first, by Horner's rule.
template <std::size_t kTerms, class D, class V = hn::Vec<D>>
HWY_INLINE V horner(D d, V x, const float (&coefficients)[kTerms]) {
  V y = hn::Set(d, coefficients[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, coefficients[i]));
  return y;
}

/// 2^n for integers n in [-126, 127].
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

/// x = n ln 2 + r with |r| <= ln 2 / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V reduce_ln2(D d, V x, V n) {
  const V r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  return hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
}

// ---- exponentials (f32)

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_f32(D d, V a) {
  const hn::RebindToSigned<D> di;
  const V x = hn::Max(hn::Min(a, hn::Set(d, 89.0f)), hn::Set(d, -104.5f));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const V r = reduce_ln2(d, x, n);
  const V q = horner(d, r, base::kExpPolynomial);
  const V p = hn::Add(hn::MulAdd(q, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  // Two factors: 2^n itself may lie outside of the normal numbers.
  const auto ni = hn::ConvertTo(di, n);
  const auto half = hn::ShiftRight<1>(ni);
  const V y = hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, hn::Sub(ni, half)));
  return hn::IfThenElse(hn::IsNaN(a), a, y);
}

/// exp(x) - 1 for x in [-87, 30], NaN unspecified: what expm1, tanh and erf share.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_core(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const V r = reduce_ln2(d, x, n);
  const V q = horner(d, r, base::kExpm1Polynomial);
  const V p = hn::MulAdd(q, hn::Mul(r, r), r);  // exp(r) - 1
  const V s = power_of_two(d, hn::ConvertTo(di, n));
  return hn::MulAdd(s, p, hn::Sub(s, one));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_f32(D d, V a) {
  const V x = hn::Max(hn::Min(a, hn::Set(d, 30.0f)), hn::Set(d, -40.0f));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, 20.0f)), exp_f32(d, a), expm1_core(d, x));
  // Tiny numbers and -0 are their own result.
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(hn::Abs(a), hn::Set(d, 1e-30f))), a, y);
}

/// tanh(x) = t / (t + 2) with t = exp(2x) - 1: no cancellation near 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_f32(D d, V a) {
  const V x = hn::Abs(a);
  const V t = expm1_core(d, hn::Min(hn::Add(x, x), hn::Set(d, 20.0f)));
  const V y = hn::Div(t, hn::Add(t, hn::Set(d, 2.0f)));
  const V small = hn::IfThenElse(hn::Gt(x, hn::Set(d, 1e-5f)), y, x);  // also keeps NaN
  return hn::CopySign(small, a);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_f32(D d, V a) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp_f32(d, hn::Neg(hn::Abs(a)));  // never overflows
  return hn::Div(hn::IfThenElse(hn::Lt(a, hn::Zero(d)), e, one), hn::Add(one, e));
}

/// erf(x) = 1 - exp(-x h(x)) for x >= 0, where h(x) = -ln(erfc(x)) / x is smooth.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf_f32(D d, V a) {
  const V x = hn::Abs(a);
  const V z = hn::Min(x, hn::Set(d, 4.0f));
  const V h = horner(d, z, base::kErfPolynomial);
  const V y = hn::Neg(expm1_core(d, hn::Neg(hn::Mul(z, h))));
  const V small = hn::IfThenElse(hn::Gt(x, hn::Set(d, 1e-5f)), y, hn::Mul(x, hn::Set(d, 1.1283791671f)));
  return hn::CopySign(small, a);
}

// ---- logarithms (f32)

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_f32(D d, V a) {
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0f);
  const auto denormal = hn::Lt(a, hn::Set(d, std::numeric_limits<float>::min()));
  const V x = hn::IfThenElse(denormal, hn::Mul(a, hn::Set(d, 8388608.0f)), a);
  // Subtracting the bits of sqrt(1/2) puts the mantissa into [sqrt(1/2), sqrt(2)).
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::Set(di, 0x3f3504f3));
  const auto e = hn::ShiftRight<23>(bits);
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f3504f3)));
  const V shift = hn::IfThenElseZero(denormal, hn::Set(d, 23.0f));
  const V n = hn::Sub(hn::ConvertTo(d, e), shift);
  const V f = hn::Sub(m, one);
  const V p = horner(d, f, base::kLogPolynomial);
  const V f2 = hn::Mul(f, f);
  // n ln 2 + f - f^2 / 2 + f^3 p, small parts first.
  V y = hn::MulAdd(hn::Mul(f2, f), p, hn::Mul(n, hn::Set(d, -2.12194440e-4f)));
  y = hn::MulAdd(hn::Set(d, -0.5f), f2, y);
  y = hn::MulAdd(n, hn::Set(d, 0.693359375f), hn::Add(f, y));
  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  y = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), y);
  return hn::IfThenElse(hn::Or(hn::Eq(a, infinity), hn::IsNaN(a)), a, y);
}

/// ln(u) x / (u - 1) with u = 1 + x: the rounding of u cancels.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p_f32(D d, V a) {
  const V u = hn::Add(a, hn::Set(d, 1.0f));
  const V v = hn::Sub(u, hn::Set(d, 1.0f));
  const V y = hn::Mul(log_f32(d, u), hn::Div(a, v));
  const V whole = hn::IfThenElse(hn::Lt(u, hn::Set(d, std::numeric_limits<float>::infinity())), y, u);
  return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), a, whole);
}

// ---- trigonometry (f32)

/// sin and cos of r in [-pi/4, pi/4].
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sin_core(D d, V r, V r2) {
  const V s = horner(d, r2, base::kSinPolynomial);
  return hn::MulAdd(hn::Mul(s, r2), r, r);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V cos_core(D d, V r2) {
  const V c = horner(d, r2, base::kCosPolynomial);
  return hn::MulAdd(hn::Mul(c, r2), r2, hn::NegMulAdd(hn::Set(d, 0.5f), r2, hn::Set(d, 1.0f)));
}

/// sin(r + quadrant pi/2).
template <class D, class V, class VI>
HWY_INLINE V sin_of_quadrant(D d, V r, VI quadrant) {
  const hn::RebindToSigned<D> di;
  const V r2 = hn::Mul(r, r);
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(quadrant, hn::Set(di, 1)), hn::Zero(di)));
  const V y = hn::IfThenElse(odd, cos_core(d, r2), sin_core(d, r, r2));
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2))));
  return hn::Xor(y, sign);
}

/// sin(x + shift pi/2). Beyond 8000 the reduction below loses digits, and one scalar call per lane is
/// precise.
template <int shift, class D, class V = hn::Vec<D>>
HWY_INLINE V sin_f32(D d, V a) {
  const hn::RebindToSigned<D> di;
  if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Lt(hn::Abs(a), hn::Set(d, 8000.0f)))))
    return map_lanes(d, a, [](float x) {
      return static_cast<float>(shift == 0 ? std::sin(static_cast<double>(x))
                                           : std::cos(static_cast<double>(x)));
    });
  const V q = hn::Round(hn::Mul(a, hn::Set(d, 0.636619772f)));
  V r = a;
  for (float part : base::kHalfPi) r = hn::NegMulAdd(q, hn::Set(d, part), r);
  return sin_of_quadrant(d, r, hn::Add(hn::ConvertTo(di, q), hn::Set(di, shift)));
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#include "src/runtime/host/trigonometry-inl.h"
HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

// ---- powers (f32)

/// exp(y ln x) in f64, which leaves 4 ulp of f32 even for the largest exponents; all that is not plain goes
/// to C's pow.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V pow_f32(D d, V a, V b) {
  const V least = hn::Set(d, std::numeric_limits<float>::min());
  const V most = hn::Set(d, std::numeric_limits<float>::max());
  const auto plain = hn::And(hn::And(hn::Ge(a, least), hn::Le(a, most)), hn::Le(hn::Abs(b), most));
  if (HWY_UNLIKELY(!hn::AllTrue(d, plain)))
    return map_lanes(d, a, b, [](float x, float y) { return std::pow(x, y); });
#if HWY_TARGET == HWY_SCALAR
  return map_lanes(d, a, b, [](float x, float y) { return std::pow(x, y); });
#else
  const hn::Repartition<double, D> dd;
  const hn::Half<D> dh;
  using VD = hn::Vec<decltype(dd)>;
  auto half = [&](auto x, auto y) HWY_ATTR {
    const VD product = hn::Mul(hn::PromoteTo(dd, y), hn::Log(dd, hn::PromoteTo(dd, x)));
    const VD bounded = hn::Max(hn::Min(product, hn::Set(dd, 300.0)), hn::Set(dd, -300.0));
    return hn::DemoteTo(dh, hn::Exp(dd, bounded));
  };
  return hn::Combine(d, half(hn::UpperHalf(dh, a), hn::UpperHalf(dh, b)),
                     half(hn::LowerHalf(dh, a), hn::LowerHalf(dh, b)));
#endif
}

// ---- the names of the table

#define SINTER_MATHS(name, vector_form, scalar_form)                          \
  template <class D, class V = hn::Vec<D>>                                    \
  HWY_INLINE V name(D d, V a) {                                               \
    if constexpr (kIsF32<D>) {                                                \
      return vector_form(d, a);                                               \
    } else {                                                                  \
      return map_lanes(d, a, [](double x) -> double { return scalar_form; }); \
    }                                                                         \
  }
SINTER_MATHS(sn_exp, exp_f32, std::exp(x))
SINTER_MATHS(sn_log, log_f32, std::log(x))
SINTER_MATHS(sn_log1p, log1p_f32, std::log1p(x))
SINTER_MATHS(sn_expm1, expm1_f32, std::expm1(x))
SINTER_MATHS(sn_sin, sin_f32<0>, std::sin(x))
SINTER_MATHS(sn_cos, sin_f32<1>, std::cos(x))
SINTER_MATHS(sn_tanh, tanh_f32, std::tanh(x))
SINTER_MATHS(sn_sigmoid, sigmoid_f32, 1.0 / (1.0 + std::exp(-x)))
SINTER_MATHS(sn_erf, erf_f32, std::erf(x))
SINTER_MATHS(sn_tan, tan_f32, std::tan(x))
SINTER_MATHS(sn_asin, asin_f32, std::asin(x))
SINTER_MATHS(sn_acos, acos_f32, std::acos(x))
SINTER_MATHS(sn_atan, atan_f32, std::atan(x))
SINTER_MATHS(sn_sinh, sinh_f32, std::sinh(x))
SINTER_MATHS(sn_cosh, cosh_f32, std::cosh(x))
SINTER_MATHS(sn_asinh, asinh_f32, std::asinh(x))
SINTER_MATHS(sn_acosh, acosh_f32, std::acosh(x))
SINTER_MATHS(sn_atanh, atanh_f32, std::atanh(x))
#undef SINTER_MATHS

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_atan2(D d, V a, V b) {
  if constexpr (kIsF32<D>) {
    return atan2_f32(d, a, b);
  } else {
    return map_lanes(d, a, b, [](double y, double x) { return std::atan2(y, x); });
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_pow(D d, V a, V b) {
  if constexpr (kIsF32<D>) {
    return pow_f32(d, a, b);
  } else {
    return map_lanes(d, a, b, [](double x, double y) { return std::pow(x, y); });
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_sign(D d, V a) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V positive = hn::IfThenElseZero(hn::Gt(a, zero), hn::Set(d, T{1}));
  const V y = hn::IfThenElse(hn::Lt(a, zero), hn::Set(d, T(-1)), positive);
  if constexpr (kIsFloat<D>) {
    return hn::IfThenElse(hn::IsNaN(a), a, y);
  } else {
    return y;
  }
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_mul(D d, V a, V b) {
  if constexpr (kIsFloat<D> || sizeof(hn::TFromD<D>) == 4) {
    (void)d;
    return hn::Mul(a, b);
  } else {
    return map_lanes(d, a, b, [](auto x, auto y) {
      return static_cast<decltype(x)>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    });
  }
}

/// Quotient towards zero; by zero it is 0, and the least number by -1 wraps.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_div(D d, V a, V b) {
  if constexpr (kIsFloat<D>) {
    (void)d;
    return hn::Div(a, b);
  } else {
    return map_lanes(d, a, b, [](auto x, auto y) {
      using T = decltype(x);
      using U = std::make_unsigned_t<T>;
      if (y == 0) return T{0};
      if (y == -1) return static_cast<T>(U{0} - static_cast<U>(x));
      return static_cast<T>(x / y);
    });
  }
}

/// The remainder with the divisor's sign; by an integer zero it is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_remainder(D d, V a, V b) {
  return map_lanes(d, a, b, [](auto x, auto y) {
    using T = decltype(x);
    if constexpr (std::is_floating_point_v<T>) {
      const T r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    } else {
      if (y == 0 || y == -1) return T{0};
      const T r = static_cast<T>(x % y);
      return r != 0 && (r < 0) != (y < 0) ? static_cast<T>(r + y) : r;
    }
  });
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_max(D d, V a, V b) {
  (void)d;
  if constexpr (kIsFloat<D>) {
    return hn::IfThenElse(hn::IsNaN(a), a,
                          hn::IfThenElse(hn::Gt(a, b), a, b));  // a comparison with a NaN b gives b
  } else {
    return hn::Max(a, b);
  }
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_min(D d, V a, V b) {
  (void)d;
  if constexpr (kIsFloat<D>) {
    return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Lt(a, b), a, b));
  } else {
    return hn::Min(a, b);
  }
}

/// Counts that are negative or too large shift all bits out.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_shift_left(D d, V a, V b) {
  return map_lanes(d, a, b, [](auto x, auto count) {
    using T = decltype(x);
    using U = std::make_unsigned_t<T>;
    constexpr U bits = 8 * sizeof(T);
    const U by = static_cast<U>(count);
    return by < bits ? static_cast<T>(static_cast<U>(x) << (by & (bits - 1))) : T{0};
  });
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_shift_right(D d, V a, V b) {
  return map_lanes(d, a, b, [](auto x, auto count) {
    using T = decltype(x);
    using U = std::make_unsigned_t<T>;
    constexpr U bits = 8 * sizeof(T);
    const U by = static_cast<U>(count);
    return static_cast<T>(x >> (by < bits ? by : bits - 1));
  });
}

/// Truth values are bytes 0 and 1.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sn_not(D d, V a) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::Xor(a, hn::Set(d, hn::TFromD<D>{1}));
  } else {
    (void)d;
    return hn::Not(a);
  }
}

// Comparisons give masks, which the loops turn into bytes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sn_is_nan(D, V a) {
  return hn::IsNaN(a);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sn_eq(D, V a, V b) {
  return hn::Eq(a, b);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sn_ne(D, V a, V b) {
  return hn::Not(hn::Eq(a, b));
}  // true with NaN, which Ne leaves open
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sn_lt(D, V a, V b) {
  return hn::Lt(a, b);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE auto sn_le(D, V a, V b) {
  if constexpr (kIsFloat<D>) {
    return hn::Le(a, b);
  } else {
    return hn::Not(hn::Lt(b, a));
  }
}
template <class D, class M, class V = hn::Vec<D>>
HWY_INLINE V sn_where(D, M condition, V b, V c) {
  return hn::IfThenElse(condition, b, c);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SINTER_HOST_MATHS_INL_H_
