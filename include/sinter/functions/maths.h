// Elementwise functions as free functions, for tensors of known and of unknown rank: exp(x), lerp(a, b, 0.3).
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

// What the methods of the same names do.
#define SINTER_FUNCTION(name)                              \
  template <detail::AnyKindOfTensor T>                     \
  auto name(T&& x, Location where = Location::current()) { \
    return std::forward<T>(x).name(where);                 \
  }
SINTER_FUNCTION(neg)
SINTER_FUNCTION(abs)
SINTER_FUNCTION(sign)
SINTER_FUNCTION(square)
SINTER_FUNCTION(exp)
SINTER_FUNCTION(exp2)
SINTER_FUNCTION(expm1)
SINTER_FUNCTION(log)
SINTER_FUNCTION(log1p)
SINTER_FUNCTION(log2)
SINTER_FUNCTION(log10)
SINTER_FUNCTION(sqrt)
SINTER_FUNCTION(rsqrt)
SINTER_FUNCTION(recip)
SINTER_FUNCTION(sin)
SINTER_FUNCTION(cos)
SINTER_FUNCTION(tan)
SINTER_FUNCTION(asin)
SINTER_FUNCTION(acos)
SINTER_FUNCTION(atan)
SINTER_FUNCTION(sinh)
SINTER_FUNCTION(cosh)
SINTER_FUNCTION(tanh)
SINTER_FUNCTION(asinh)
SINTER_FUNCTION(acosh)
SINTER_FUNCTION(atanh)
SINTER_FUNCTION(sigmoid)
SINTER_FUNCTION(erf)
SINTER_FUNCTION(ndtr)
SINTER_FUNCTION(floor)
SINTER_FUNCTION(ceil)
SINTER_FUNCTION(round)
SINTER_FUNCTION(trunc)
SINTER_FUNCTION(logical_not)
SINTER_FUNCTION(is_nan)
SINTER_FUNCTION(is_inf)
SINTER_FUNCTION(is_finite)
#undef SINTER_FUNCTION

#define SINTER_FUNCTION(name, Kind)                                                                       \
  template <std::size_t Rank, class K>                                                                    \
  auto name(const Tensor<Rank, K>& a, const std::type_identity_t<detail::OperandOf<Rank, Kind>>& b) {     \
    return a.name(b);                                                                                     \
  }                                                                                                       \
  inline AnyTensor name(const AnyTensor& a, AnyTensor::Operand b, Location where = Location::current()) { \
    return AnyTensor::name(a, b, where);                                                                  \
  }
SINTER_FUNCTION(add, K)
SINTER_FUNCTION(sub, K)
SINTER_FUNCTION(mul, K)
SINTER_FUNCTION(div, K)
SINTER_FUNCTION(equal, K)
SINTER_FUNCTION(not_equal, K)
SINTER_FUNCTION(less, K)
SINTER_FUNCTION(less_equal, K)
SINTER_FUNCTION(greater, K)
SINTER_FUNCTION(greater_equal, K)
SINTER_FUNCTION(shift_left, K)
SINTER_FUNCTION(shift_right, K)
SINTER_FUNCTION(maximum, K)
SINTER_FUNCTION(minimum, K)
SINTER_FUNCTION(fmod, K)
SINTER_FUNCTION(remainder, K)
SINTER_FUNCTION(pow, K)
SINTER_FUNCTION(atan2, Float)
SINTER_FUNCTION(hypot, Float)
SINTER_FUNCTION(logical_and, K)
SINTER_FUNCTION(logical_or, K)
SINTER_FUNCTION(logical_xor, K)
#undef SINTER_FUNCTION

// ---- one operand
/// x - trunc(x): the fraction, with the sign of x.
SINTER_API AnyTensor frac(const AnyTensor& x, Location where = Location::current());
SINTER_API AnyTensor deg2rad(const AnyTensor& x, Location where = Location::current());
SINTER_API AnyTensor rad2deg(const AnyTensor& x, Location where = Location::current());
/// sin(pi x) / (pi x), and 1 at 0.
SINTER_API AnyTensor sinc(const AnyTensor& x, Location where = Location::current());
/// log(x / (1 - x)), the inverse of sigmoid.
SINTER_API AnyTensor logit(const AnyTensor& x, Location where = Location::current());
/// x with NaN replaced by `nan`, infinity by `high` and negative infinity by `low`.
SINTER_API AnyTensor nan_to_num(const AnyTensor& x, double nan, double high, double low,
                                Location where = Location::current());

// ---- several operands, which broadcast
/// Low where smaller, high where larger, by numbers or tensors; NaN where any of them is, as in PyTorch. High
/// counts where high < low.
/// At the limits the gradient is that of x.
SINTER_API AnyTensor clamp(const AnyTensor& x, AnyTensor::Operand low, AnyTensor::Operand high,
                           Location where = Location::current());
SINTER_API AnyTensor clamp_min(const AnyTensor& x, AnyTensor::Operand low,
                               Location where = Location::current());
SINTER_API AnyTensor clamp_max(const AnyTensor& x, AnyTensor::Operand high,
                               Location where = Location::current());
/// a + weight * (b - a).
SINTER_API AnyTensor lerp(const AnyTensor& a, const AnyTensor& b, AnyTensor::Operand weight,
                          Location where = Location::current());
/// log(exp(a) + exp(b)) without overflow.
SINTER_API AnyTensor logaddexp(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// a * log(b), and 0 where a is 0, unless b is NaN. The gradient of a = 0 is log(b) for b in (0, infinity).
SINTER_API AnyTensor xlogy(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// The largest integer that is not above a / b, which goes with `remainder`; floats as in PyTorch. Integers
/// by zero: as `div`, 0.
SINTER_API AnyTensor floor_divide(const AnyTensor& a, AnyTensor::Operand b,
                                  Location where = Location::current());

// The same functions with the rank in the type.
#define SINTER_TYPED(name)                                                         \
  template <std::size_t Rank>                                                      \
  Tensor<Rank> name(const Tensor<Rank>& x, Location where = Location::current()) { \
    return {detail::trusted, name(x.dynamic(), where)};                            \
  }
SINTER_TYPED(frac)
SINTER_TYPED(deg2rad)
SINTER_TYPED(rad2deg)
SINTER_TYPED(sinc)
SINTER_TYPED(logit)
#undef SINTER_TYPED
#define SINTER_TYPED(name)                                                                                \
  template <std::size_t Rank>                                                                             \
  Tensor<Rank> name(const Tensor<Rank>& a, const Tensor<Rank>& b, Location where = Location::current()) { \
    return {detail::trusted, name(a.dynamic(), b.dynamic(), where)};                                      \
  }
SINTER_TYPED(logaddexp)
SINTER_TYPED(xlogy)
#undef SINTER_TYPED
#define SINTER_TYPED(name)                                                                 \
  template <std::size_t Rank, class Kind>                                                  \
  Tensor<Rank, Kind> name(const Tensor<Rank, Kind>& x,                                     \
                          const std::type_identity_t<detail::OperandOf<Rank, Kind>>& by) { \
    return {detail::trusted, name(x.dynamic(), by.operand, by.where)};                     \
  }
SINTER_TYPED(clamp_min)
SINTER_TYPED(clamp_max)
SINTER_TYPED(floor_divide)
#undef SINTER_TYPED
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> clamp(const Tensor<Rank, Kind>& x,
                         const std::type_identity_t<detail::OperandOf<Rank, Kind>>& low,
                         const std::type_identity_t<detail::OperandOf<Rank, Kind>>& high) {
  return {detail::trusted, clamp(x.dynamic(), low.operand, high.operand, low.where)};
}
template <std::size_t Rank>
Tensor<Rank> lerp(const Tensor<Rank>& a, const Tensor<Rank>& b,
                  const std::type_identity_t<detail::OperandOf<Rank, Float>>& weight) {
  return {detail::trusted, lerp(a.dynamic(), b.dynamic(), weight.operand, weight.where)};
}
template <std::size_t Rank>
Tensor<Rank> nan_to_num(const Tensor<Rank>& x, double nan, double high, double low,
                        Location where = Location::current()) {
  return {detail::trusted, nan_to_num(x.dynamic(), nan, high, low, where)};
}

}  // namespace sinter
