// x^y of f32 over Highway vectors. Included by maths-inl.h, which has the functions it uses.
#if defined(SINTER_HOST_POWER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_POWER_INL_H_
#undef SINTER_HOST_POWER_INL_H_
#else
#define SINTER_HOST_POWER_INL_H_
#endif

#include <cmath>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

#if HWY_TARGET != HWY_SCALAR
/// log2(x) of x >= 0 that is normal in f64; an arbitrary number for 0, infinity and NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log2_f64(D d, V x) {
  const Logarithm<D> parts = split_exponent(d, x);
  const V one = hn::Set(d, 1.0), s = hn::Div(hn::Sub(parts.mantissa, one), hn::Add(parts.mantissa, one));
  return hn::MulAdd(s, horner(d, hn::Mul(s, s), base::kLog2Polynomial), parts.exponent);
}

/// 2^x for |x| <= 200.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp2_f64(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V shift = hn::Set(d, ExponentialsOf<D>::kShift + 1023), sum = hn::Add(x, shift);
  const V r = hn::Sub(x, hn::Sub(sum, shift));
  return hn::Mul(horner(d, r, base::kPowerOf2Polynomial),
                 hn::BitCast(d, hn::ShiftLeft<52>(hn::BitCast(du, sum))));
}

/// |x|^y of half a vector.
template <class D, class DW, class V>
HWY_INLINE V power_of_half(D d, DW dw, V a, V b) {
  const double infinity = std::numeric_limits<double>::infinity();
  const auto x = hn::PromoteTo(dw, hn::Abs(a)), y = hn::PromoteTo(dw, b);
  auto logarithm = log2_f64(dw, x);
  logarithm = hn::IfThenElse(hn::Eq(x, hn::Zero(dw)), hn::Set(dw, -infinity), logarithm);
  logarithm = hn::IfThenElse(hn::Eq(x, hn::Set(dw, infinity)), hn::Set(dw, infinity), logarithm);
  const auto product = hn::Mul(y, logarithm);
  const auto low = hn::Set(dw, -200.0), high = hn::Set(dw, 200.0);
  return hn::DemoteTo(d, exp2_f64(dw, hn::Max(low, hn::Min(high, product))));
}
#endif

/// 2^(y log2 x) in f64: in f32 the logarithm has too few digits for large exponents, and in f64 denormal
/// operands and results, overflow and rounding need no special cases.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V pow_f32(D d, V a, V b) {
#if HWY_TARGET == HWY_SCALAR
  return map_lanes(d, a, b, [](float x, float y) { return std::pow(x, y); });
#else
  const hn::Repartition<double, D> dw;
  const hn::Half<D> dh;
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0f),
          infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  V power = hn::Combine(d, power_of_half(dh, dw, hn::UpperHalf(dh, a), hn::UpperHalf(dh, b)),
                        power_of_half(dh, dw, hn::LowerHalf(dh, a), hn::LowerHalf(dh, b)));
  const V half = hn::Mul(b, hn::Set(d, 0.5f));
  const auto whole = hn::Eq(hn::Trunc(b), b);
  const auto odd = hn::And(whole, hn::Not(hn::Eq(hn::Trunc(half), half)));
  power = hn::IfThenElse(odd, hn::CopySign(power, a), power);
  const auto inside = hn::And(hn::Lt(a, zero), hn::Gt(a, hn::Neg(infinity)));
  power = hn::IfThenElse(hn::And(inside, hn::Not(whole)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()),
                         power);
  power = hn::IfThenElse(hn::Or(hn::IsNaN(a), hn::IsNaN(b)), hn::Add(a, b), power);
  // 1 for any other operand: x^0, 1^y, and (-1)^infinity.
  const auto endless = hn::And(hn::Eq(a, hn::Neg(one)), hn::Eq(hn::Abs(b), infinity));
  return hn::IfThenElse(hn::Or(hn::Or(hn::Eq(b, zero), hn::Eq(a, one)), endless), one, power);
#endif
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SINTER_HOST_POWER_INL_H_
