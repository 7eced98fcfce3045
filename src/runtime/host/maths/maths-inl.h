// Elementwise functions over Highway vectors, named by the op table's `host` column. Compiled once per
// target: include it after hwy/highway.h, inside no namespace.
//
// Error bounds are in bounds.h. Exponentials and logarithms of f64 use the same formulas as f32 with longer
// polynomials; the other f64 functions are the C library's.
//
// Sums of products are written as MulAdd: the compiler has nothing left to contract, and compiled kernels,
// which use the same formulas, give the same bits.
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

/// Applies f to each lane, where there is no vector form.
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
HWY_INLINE V horner(D d, V x, const hn::TFromD<D> (&coefficients)[kTerms]) {
  V y = hn::Set(d, coefficients[kTerms - 1]);
  for (std::size_t i = kTerms - 1; i-- > 0;) y = hn::MulAdd(y, x, hn::Set(d, coefficients[i]));
  return y;
}

// ---- exponentials

/// Clamps that propagate NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_most(D d, double bound, V x) {
  const V limit = hn::Set(d, static_cast<hn::TFromD<D>>(bound));
#if HWY_ARCH_X86
  return hn::Min(limit, x);  // returns the second operand unless the first is less
#else
  return hn::IfThenElse(hn::Lt(limit, x), limit, x);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V at_least(D d, double bound, V x) {
  const V limit = hn::Set(d, static_cast<hn::TFromD<D>>(bound));
#if HWY_ARCH_X86
  return hn::Max(limit, x);
#else
  return hn::IfThenElse(hn::Gt(limit, x), limit, x);
#endif
}

template <class D>
using ExponentialsOf = base::Exponentials<hn::TFromD<D>>;

/// Splits x into a whole multiple n of a unit and a rest: x + 1.5 * 2^23 (f64: 2^52) has n in its low bits,
/// or n + bias if `bias` is added. Cheaper than rounding and converting, and NaN propagates through the rest.
template <class D>
struct Split {
  hn::Vec<hn::RebindToUnsigned<D>> bits;  // the low bits are n + bias
  hn::Vec<D> whole;                       // n
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Split<D> split(D d, V x, double per_unit, int bias) {
  using T = hn::TFromD<D>;
  const V shift = hn::Set(d, static_cast<T>(ExponentialsOf<D>::kShift + bias));
  const V sum = hn::MulAdd(x, hn::Set(d, static_cast<T>(per_unit)), shift);
  return {hn::BitCast(hn::RebindToUnsigned<D>(), sum), hn::Sub(sum, shift)};
}

/// x - n * unit, where the unit is given as a sum of two parts.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V rest(D d, V x, V n, const hn::TFromD<D> (&parts)[2]) {
  return hn::NegMulAdd(n, hn::Set(d, parts[1]), hn::NegMulAdd(n, hn::Set(d, parts[0]), x));
}

/// 2^k from low bits that hold k + the exponent's bias.
template <class D, class VU>
HWY_INLINE hn::Vec<D> power_of_two(D d, VU bits) {
  return hn::BitCast(d, hn::ShiftLeft<ExponentialsOf<D>::kMantissa>(bits));
}

/// exp(r) for |r| <= ln 2 / 2.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_core(D d, V r) {
  const V one = hn::Set(d, 1);
  return hn::MulAdd(hn::MulAdd(horner(d, r, ExponentialsOf<D>::kExp), r, one), r, one);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_of(D d, V a) {
  using E = ExponentialsOf<D>;
  const V x = at_least(d, E::kExpLeast, at_most(d, E::kExpMost, a));
  const Split<D> n = split(d, x, base::kLog2E, 2 * E::kBias);
  const V p = exp_core(d, rest(d, x, n.whole, E::kLn2));
  // 2^n as a product of two powers: 2^n itself may be outside of the normal range.
  const auto half = hn::ShiftRight<1>(n.bits);
  return hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, hn::Sub(n.bits, half)));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V expm1_of(D d, V a) {
  using E = ExponentialsOf<D>;
  using T = hn::TFromD<D>;
  const V x = at_least(d, E::kExpm1Least, at_most(d, E::kExpm1Most, a));
  const Split<D> n = split(d, x, base::kLog2E, E::kBias);
  const V r = rest(d, x, n.whole, E::kLn2);
  const V p = hn::MulAdd(horner(d, r, E::kExpm1), hn::Mul(r, r), r), s = power_of_two(d, n.bits);
  const V small = hn::MulAdd(s, p, hn::Sub(s, hn::Set(d, T{1})));
  const V y = hn::IfThenElse(hn::Gt(a, hn::Set(d, static_cast<T>(E::kExpm1Most))), exp_of(d, a), small);
  // Returns tiny numbers and -0 unchanged.
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::Lt(hn::Abs(a), hn::Set(d, static_cast<T>(1e-30f)))), a, y);
}

/// tanh(x) = t / (t + 1) with t = (exp(2x) - 1) / 2: no cancellation near 0, and x itself where it is tiny.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh_of(D d, V a) {
  using E = ExponentialsOf<D>;
  using T = hn::TFromD<D>;
  const V x = at_most(d, E::kTanhMost, hn::Abs(a));
  const Split<D> n = split(d, x, 2 * base::kLog2E, E::kBias);
  const V r = rest(d, x, n.whole, E::kHalfLn2);
  const V p = hn::MulAdd(horner(d, r, E::kTanh), hn::Mul(r, r), r), s = power_of_two(d, n.bits);
  const V t = hn::MulAdd(s, p, hn::MulAdd(s, hn::Set(d, T(0.5)), hn::Set(d, T(-0.5))));
  return hn::CopySign(hn::Div(t, hn::Add(t, hn::Set(d, T{1}))), a);
}

/// 1 / (1 + exp(-x)), with numerator and denominator scaled so that no exponential overflows before the
/// result is 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid_of(D d, V a) {
  using E = ExponentialsOf<D>;
  const V x = at_least(d, E::kSigmoidLeast, at_most(d, E::kSigmoidMost, hn::Neg(a)));
  const Split<D> n = split(d, x, base::kLog2E, E::kBias - E::kSigmoidScale);
  const V p = exp_core(d, rest(d, x, n.whole, E::kLn2));
  const V unit = hn::Set(d, hn::TFromD<D>{1} / (std::uint64_t{1} << E::kSigmoidScale));
  return hn::Div(unit, hn::MulAdd(power_of_two(d, n.bits), p, unit));
}

/// erf(x) = 1 - 2^(-x h(x)) for x >= 0, where h(x) = -log2(erfc(x)) / x is smooth.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V erf_f32(D d, V a) {
  const hn::RebindToUnsigned<D> du;
  const V x = at_most(d, 4, hn::Abs(a));
  const V t = hn::Mul(x, horner(d, x, base::kErfPolynomial));
  const V shift = hn::Set(d, static_cast<float>(ExponentialsOf<D>::kShift + 127)), one = hn::Set(d, 1.0f);
  // shift - t and t + n, written so that no compiler contracts them with the product t.
  const V sum = hn::NegMulAdd(t, one, shift);
  const V r = hn::MulAdd(t, one, hn::Sub(sum, shift));
  const V p = hn::Mul(r, horner(d, r, base::kExp2Polynomial)), s = power_of_two(d, hn::BitCast(du, sum));
  return hn::CopySign(hn::MulAdd(s, p, hn::Sub(one, s)), a);
}

/// Phi(x), the distribution function of the standard normal distribution: Phi(-c) = 2^(-1 - c p(c)) for c >=
/// 0, with p smooth, and Phi(c) = 1 - Phi(-c). Powers from 127 on are 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ndtr_f32(D d, V a) {
  const hn::RebindToUnsigned<D> du;
  const V c = hn::Abs(a), one = hn::Set(d, 1.0f);
  const V t = at_most(d, 127, hn::MulAdd(c, horner(d, c, base::kNdtrPolynomial), one));
  const V shift = hn::Set(d, static_cast<float>(ExponentialsOf<D>::kShift + 127));
  const V sum = hn::Sub(shift, t), r = hn::Add(t, hn::Sub(sum, shift));
  const V p = hn::Mul(r, horner(d, r, base::kExp2Polynomial)), s = power_of_two(d, hn::BitCast(du, sum));
  const V below = hn::NegMulAdd(s, p, s);
  return hn::IfThenElse(hn::Lt(a, hn::Zero(d)), below, hn::Sub(one, below));
}

// ---- logarithms

/// y; replaced for arguments that are not positive numbers.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_special(D d, V a, V y) {
  using Limits = std::numeric_limits<hn::TFromD<D>>;
  const V infinity = hn::Set(d, Limits::infinity());
  y = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), hn::Neg(infinity), y);
  y = hn::IfThenElse(hn::Lt(a, hn::Zero(d)), hn::Set(d, Limits::quiet_NaN()), y);
  return hn::IfThenElse(hn::Or(hn::Eq(a, infinity), hn::IsNaN(a)), a, y);
}

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
  return log_of_special(d, a, y);
}

/// x as mantissa * 2^exponent, the mantissa in [sqrt(1/2), sqrt(2)), for x > 0 that is normal in f64.
template <class D>
struct Logarithm {
  hn::Vec<D> mantissa, exponent;
};
template <class D, class V = hn::Vec<D>>
HWY_INLINE Logarithm<D> split_exponent(D d, V x) {
  using U = std::uint64_t;
  const hn::RebindToUnsigned<D> du;
  const auto root = hn::Set(du, static_cast<U>(base::kSqrtHalf64Bits));
  const auto bits = hn::Sub(hn::BitCast(du, x), root);
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, U{0x000fffffffffffff})), root));
  // Moves the exponent plus 1024 to the lowest bits and converts it by the same shift as in split().
  const auto exponent = hn::ShiftRight<52>(hn::Add(bits, hn::Set(du, U{1024} << 52)));
  const V n = hn::BitCast(d, hn::Add(exponent, hn::Set(du, static_cast<U>(base::kShift64Bits))));
  return {m, hn::Sub(n, hn::Set(d, ExponentialsOf<D>::kShift + 1024))};
}

/// ln m = f - f^2 / 2 + s (f^2 / 2 + s^2 p(s^2)) with f = m - 1, s = f / (2 + f); the last term is small.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_f64(D d, V a) {
  const V one = hn::Set(d, 1.0);
  const auto denormal = hn::Lt(a, hn::Set(d, std::numeric_limits<double>::min()));
  const V x = hn::IfThenElse(denormal, hn::Mul(a, hn::Set(d, 0x1p54)), a);
  const Logarithm<D> parts = split_exponent(d, x);
  const V n = hn::Sub(parts.exponent, hn::IfThenElseZero(denormal, hn::Set(d, 54.0)));
  const V r = hn::Sub(parts.mantissa, one), s = hn::Div(r, hn::Add(r, hn::Set(d, 2.0))), z = hn::Mul(s, s);
  const V half_square = hn::Mul(hn::Mul(r, hn::Set(d, 0.5)), r);
  const V p = hn::MulAdd(z, horner(d, z, base::kLog64Polynomial), half_square);
  const V small = hn::MulAdd(n, hn::Set(d, ExponentialsOf<D>::kLn2[1]), hn::Mul(s, p));
  // half_square - small, written so that no compiler contracts it with the product.
  const V y = hn::Sub(r, hn::MulSub(half_square, one, small));
  return log_of_special(d, a, hn::MulAdd(n, hn::Set(d, ExponentialsOf<D>::kLn2[0]), y));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of(D d, V a) {
  if constexpr (kIsF32<D>) {
    return log_f32(d, a);
  } else {
    return log_f64(d, a);
  }
}

/// ln(u) x / (u - 1) with u = 1 + x: the rounding of u cancels.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log1p_of(D d, V a) {
  using T = hn::TFromD<D>;
  const V u = hn::Add(a, hn::Set(d, T{1})), v = hn::Sub(u, hn::Set(d, T{1}));
  const V y = hn::Mul(log_of(d, u), hn::Div(a, v));
  const V whole = hn::IfThenElse(hn::Lt(u, hn::Set(d, std::numeric_limits<T>::infinity())), y, u);
  return hn::IfThenElse(hn::Eq(v, hn::Zero(d)), a, whole);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#include "src/runtime/host/maths/power-inl.h"
#include "src/runtime/host/maths/trigonometry-inl.h"
HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

// ---- the functions that the op table names

#define SINTER_MATHS(name, vector_form, scalar_form)                          \
  template <class D, class V = hn::Vec<D>>                                    \
  HWY_INLINE V name(D d, V a) {                                               \
    if constexpr (kIsF32<D>) {                                                \
      return vector_form(d, a);                                               \
    } else {                                                                  \
      return map_lanes(d, a, [](double x) -> double { return scalar_form; }); \
    }                                                                         \
  }
#define SINTER_MATHS_OF_BOTH(name, vector_form) \
  template <class D, class V = hn::Vec<D>>      \
  HWY_INLINE V name(D d, V a) {                 \
    return vector_form(d, a);                   \
  }
SINTER_MATHS_OF_BOTH(sn_exp, exp_of)
SINTER_MATHS_OF_BOTH(sn_log, log_of)
SINTER_MATHS_OF_BOTH(sn_log1p, log1p_of)
SINTER_MATHS_OF_BOTH(sn_expm1, expm1_of)
SINTER_MATHS(sn_sin, sin_f32<0>, std::sin(x))
SINTER_MATHS(sn_cos, sin_f32<1>, std::cos(x))
SINTER_MATHS_OF_BOTH(sn_tanh, tanh_of)
SINTER_MATHS_OF_BOTH(sn_sigmoid, sigmoid_of)
SINTER_MATHS(sn_erf, erf_f32, std::erf(x))
SINTER_MATHS(sn_ndtr, ndtr_f32, std::erfc(x * -0.70710678118654752) / 2)
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
#undef SINTER_MATHS_OF_BOTH

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

/// Quotient rounded towards zero; division by zero gives 0, and the least number by -1 wraps.
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

/// The remainder with the divisor's sign; 0 for an integer divisor of 0.
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
                          hn::IfThenElse(hn::Gt(a, b), a, b));  // compares false with a NaN b: selects b
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

// Comparisons return masks, which the loops convert to bytes.
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
