// Trigonometric, inverse trigonometric and hyperbolic functions of f32 over Highway vectors. Included by
// maths-inl.h, which has the functions they use; error bounds are in bounds.h.
#if defined(SINTER_HOST_TRIGONOMETRY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_TRIGONOMETRY_INL_H_
#undef SINTER_HOST_TRIGONOMETRY_INL_H_
#else
#define SINTER_HOST_TRIGONOMETRY_INL_H_
#endif

#include <cmath>
#include <limits>
#include <numbers>

#include <hwy/highway.h>

#include "src/base/polynomials.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

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
HWY_INLINE V sin_of_quadrant(D d, V r, VI of) {
  const hn::RebindToUnsigned<D> du;
  const auto quadrant = hn::BitCast(du, of);
  const V r2 = hn::Mul(r, r);
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(quadrant, hn::Set(du, 1)), hn::Zero(du)));
  const V y = hn::IfThenElse(odd, cos_core(d, r2), sin_core(d, r, r2));
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(du, 2))));
  return hn::Xor(y, sign);
}

/// sin(x + shift pi/2). Beyond 8000 the reduction below loses digits; such lanes call the precise scalar
/// function. Each lane's value depends on that lane only.
template <int shift, class D, class V = hn::Vec<D>>
HWY_INLINE V sin_f32(D d, V a) {
  const auto small = hn::Lt(hn::Abs(a), hn::Set(d, 8000.0f));
  const V x = hn::IfThenElseZero(small, a);
  const Split<D> q = split(d, x, base::kQuadrantsPerUnit, shift);
  V r = x;
  for (float part : base::kHalfPi) r = hn::NegMulAdd(q.whole, hn::Set(d, part), r);
  V y = sin_of_quadrant(d, r, q.bits);
  if constexpr (shift == 0)
    y = hn::IfThenElse(hn::Eq(a, hn::Zero(d)), a, y);  // sums of zeros lose their sign
  if (HWY_LIKELY(hn::AllTrue(d, small))) return y;
  return hn::IfThenElse(small, y, map_lanes(d, a, [](float v) {
                          return static_cast<float>(shift == 0 ? std::sin(static_cast<double>(v))
                                                               : std::cos(static_cast<double>(v)));
                        }));
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V tan_f32(D d, V a) {
  return hn::Div(sin_f32<0>(d, a), sin_f32<1>(d, a));
}

/// The arc tangent of t in [0, 1]; beyond tan(pi / 8) as pi / 4 plus a small angle.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V arc_f32(D d, V t) {
  const V one = hn::Set(d, 1.0f);
  const auto steep = hn::Gt(t, hn::Set(d, 0.414213562f));
  const V u = hn::IfThenElse(steep, hn::Div(hn::Sub(t, one), hn::Add(t, one)), t);
  const V z = hn::Mul(u, u);
  const V p = horner(d, z, base::kAtanPolynomial);
  const V y = hn::MulAdd(hn::Mul(z, p), u, u);
  return hn::IfThenElse(steep, hn::Add(y, hn::Set(d, std::numbers::pi_v<float> / 4)), y);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V atan2_f32(D d, V a, V b) {
  const hn::RebindToSigned<D> di;
  const V x = hn::Abs(b), y = hn::Abs(a), zero = hn::Zero(d);
  const V high = hn::Max(x, y), low = hn::Min(x, y);
  // 0 / 0 and infinity / infinity
  const V even = hn::IfThenElse(hn::Eq(high, zero), zero, hn::Set(d, 1.0f));
  const V ratio = hn::IfThenElse(hn::Eq(x, y), even, hn::Div(low, high));
  V angle = arc_f32(d, ratio);
  angle = hn::IfThenElse(hn::Gt(y, x), hn::Sub(hn::Set(d, std::numbers::pi_v<float> / 2), angle), angle);
  const auto left = hn::RebindMask(d, hn::Lt(hn::BitCast(di, b), hn::Zero(di)));
  angle = hn::IfThenElse(left, hn::Sub(hn::Set(d, std::numbers::pi_v<float>), angle), angle);
  return hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), hn::CopySign(angle, a));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V atan_f32(D d, V a) {
  return atan2_f32(d, a, hn::Set(d, 1.0f));
}

/// sqrt(1 - x^2): the other leg of a right triangle with hypotenuse 1; NaN beyond.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V other_leg(D d, V a) {
  const V one = hn::Set(d, 1.0f);
  return hn::Sqrt(hn::Mul(hn::Sub(one, a), hn::Add(one, a)));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V asin_f32(D d, V a) {
  return atan2_f32(d, a, other_leg(d, a));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V acos_f32(D d, V a) {
  return atan2_f32(d, other_leg(d, a), a);
}

/// exp(x) / 2 for x > 88, where exp(x) itself may overflow.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V half_exp_large(D d, V x) {
  const V e = exp_of(d, hn::Mul(x, hn::Set(d, 0.5f)));
  return hn::Mul(hn::Mul(e, hn::Set(d, 0.5f)), e);
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sinh_f32(D d, V a) {
  const V x = hn::Abs(a), limit = hn::Set(d, 88.0f), half = hn::Set(d, 0.5f);
  const V t = expm1_of(d, hn::Min(x, limit));
  const V y = hn::Mul(half, hn::Add(t, hn::Div(t, hn::Add(t, hn::Set(d, 1.0f)))));
  const V whole = hn::IfThenElse(hn::Gt(x, limit), half_exp_large(d, x), y);
  return hn::IfThenElse(hn::IsNaN(a), a, hn::CopySign(whole, a));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V cosh_f32(D d, V a) {
  const V x = hn::Abs(a), limit = hn::Set(d, 88.0f), half = hn::Set(d, 0.5f);
  const V e = exp_of(d, hn::Min(x, limit));
  const V y = hn::MulAdd(half, e, hn::Div(half, e));
  return hn::IfThenElse(hn::IsNaN(a), a, hn::IfThenElse(hn::Gt(x, limit), half_exp_large(d, x), y));
}

/// log(2 x), for x whose square would overflow.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_of_double(D d, V x) {
  return hn::Add(log_f32(d, x), hn::Set(d, std::numbers::ln2_v<float>));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V asinh_f32(D d, V a) {
  const V x = hn::Abs(a), limit = hn::Set(d, 1e9f), one = hn::Set(d, 1.0f);
  const V small = hn::Min(x, limit), root = hn::Sqrt(hn::MulAdd(small, small, one));
  const V t = hn::Add(small, hn::Div(hn::Mul(small, small), hn::Add(one, root)));
  const V y = hn::IfThenElse(hn::Gt(x, limit), log_of_double(d, x), log1p_of(d, t));
  return hn::IfThenElse(hn::IsNaN(a), a, hn::CopySign(y, a));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V acosh_f32(D d, V a) {
  const V limit = hn::Set(d, 1e9f), one = hn::Set(d, 1.0f);
  const V t = hn::Sub(hn::Min(a, limit), one);
  const V small = log1p_of(d, hn::Add(t, hn::Sqrt(hn::Mul(t, hn::Add(t, hn::Set(d, 2.0f))))));
  const V y = hn::IfThenElse(hn::Gt(a, limit), log_of_double(d, a), small);
  // Comparisons with NaN are false.
  return hn::IfThenElse(hn::Ge(a, one), y, hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V atanh_f32(D d, V a) {
  const V x = hn::Abs(a), one = hn::Set(d, 1.0f);
  const V t = hn::Div(hn::Add(x, x), hn::Sub(one, x));
  const V y = hn::Mul(hn::Set(d, 0.5f), log1p_of(d, t));
  return hn::IfThenElse(hn::Le(x, one), hn::CopySign(y, a),
                        hn::Set(d, std::numeric_limits<float>::quiet_NaN()));
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SINTER_HOST_TRIGONOMETRY_INL_H_
