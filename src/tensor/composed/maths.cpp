// Elementwise functions composed of operations of the table.
#include <array>
#include <limits>
#include <numbers>
#include <string>

#include <sinter/functions/maths.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

void check(std::string_view name, const AnyTensor& x, const Location& where) {
  tensor::check_float(name, tensor::value_of(name, x, where).dtype, where);
}

/// As Python and PyTorch compute it: a / b may round up to an integer that is above the quotient, while fmod
/// is exact.
AnyTensor float_floor_divide(const A& a, const tensor::Operand& b, const Location& where) {
  const A rest = A::fmod(a, b, where);
  const A towards_zero = A::div(A::sub(a, rest, where), b, where);
  A rounded_up;
  if (b.tensor)
    rounded_up = A::logical_and(A::not_equal(rest, 0, where),
                                A::not_equal(A::less(rest, 0, where), A::less(b, 0, where), where), where);
  else
    rounded_up = b.scalar.as_double() < 0 ? A::less(0, rest, where) : A::less(rest, 0, where);
  const A whole = A::where(rounded_up, A::sub(towards_zero, 1, where), towards_zero, where);
  // Whole but for the rounding of the division: to the nearest integer.
  const A below = whole.floor(where);
  const A is_above = A::less(0.5, A::sub(whole, below, where), where);
  const A nearest = A::where(is_above, A::add(below, 1, where), below, where);
  const A plain = A::div(a, b, where);
  const A signed_zero = A::mul(plain, 0, where);
  A quotient = A::where(A::equal(whole, 0, where), signed_zero, nearest, where);
  if (b.tensor)
    quotient = A::where(A::equal(b, 0, where), plain, quotient, where);
  else if (b.scalar.as_double() == 0)
    quotient = plain;
  // An integer already: the function is constant wherever a derivative exists, and so is floor.
  return quotient.floor(where);
}

/// The quotient, which is rounded to 0, less 1 where there is a remainder of the other sign. Nothing
/// overflows but the least integer by -1. By 0 no sign differs, and the quotient stays 0.
AnyTensor integer_floor_divide(const tensor::Operand& a, const tensor::Operand& b, const Location& where) {
  const A quotient = A::div(a, b, where);
  if (is_unsigned(quotient.dtype())) return quotient;
  const A rest = A::sub(a, A::mul(quotient, b, where), where);
  A rounded_up;
  if (b.tensor) {
    rounded_up = A::logical_or(A::logical_and(A::less(rest, 0, where), A::less(0, b, where), where),
                               A::logical_and(A::less(0, rest, where), A::less(b, 0, where), where), where);
  } else {
    const std::int64_t divisor = b.scalar.as_int();
    if (divisor == 0) return quotient;
    rounded_up = divisor > 0 ? A::less(rest, 0, where) : A::less(0, rest, where);
  }
  return A::sub(quotient, rounded_up.cast(quotient.dtype(), where), where);
}

}  // namespace

AnyTensor frac(const AnyTensor& x, Location where) {
  check("frac", x, where);
  return A::sub(x, x.trunc(where), where);
}

AnyTensor deg2rad(const AnyTensor& x, Location where) {
  check("deg2rad", x, where);
  return A::mul(x, std::numbers::pi / 180, where);
}

AnyTensor rad2deg(const AnyTensor& x, Location where) {
  check("rad2deg", x, where);
  return A::mul(x, 180 / std::numbers::pi, where);
}

AnyTensor sinc(const AnyTensor& x, Location where) {
  check("sinc", x, where);
  // At 0 the sine of another angle is taken, so that neither branch has a gradient of 0 / 0.
  const A zero = A::equal(x, 0, where);
  const A angle = A::mul(A::where(zero, 1, x, where), std::numbers::pi, where);
  return A::where(zero, 1, A::div(angle.sin(where), angle, where), where);
}

AnyTensor logit(const AnyTensor& x, Location where) {
  check("logit", x, where);
  return A::sub(x.log(where), x.neg(where).log1p(where), where);
}

AnyTensor nan_to_num(const AnyTensor& x, double nan, double high, double low, Location where) {
  check("nan_to_num", x, where);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const A number = A::where(x.is_nan(where), nan, x, where);
  const A below = A::where(A::equal(number, kInfinity, where), high, number, where);
  return A::where(A::equal(below, -kInfinity, where), low, below, where);
}

AnyTensor clamp(const AnyTensor& x, AnyTensor::Operand low, AnyTensor::Operand high, Location where) {
  return clamp_max(clamp_min(x, low, where), high, where);
}

AnyTensor clamp_min(const AnyTensor& x, AnyTensor::Operand low, Location where) {
  tensor::check_numeric("clamp_min", tensor::value_of("clamp_min", x, where).dtype, where);
  // x itself at the limit, for its gradient; the maximum is NaN where either is.
  return A::where(A::greater_equal(x, low, where), x, A::maximum(x, low, where), where);
}

AnyTensor clamp_max(const AnyTensor& x, AnyTensor::Operand high, Location where) {
  tensor::check_numeric("clamp_max", tensor::value_of("clamp_max", x, where).dtype, where);
  return A::where(A::less_equal(x, high, where), x, A::minimum(x, high, where), where);
}

AnyTensor lerp(const AnyTensor& a, const AnyTensor& b, AnyTensor::Operand weight, Location where) {
  check("lerp", a, where);
  return A::add(a, A::mul(A::sub(b, a, where), weight, where), where);
}

AnyTensor logaddexp(const AnyTensor& a, const AnyTensor& b, Location where) {
  check("logaddexp", a, where);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const A high = A::maximum(a.detach(), b.detach(), where);
  // Both infinite with one sign: the distance to the larger one is 0, not NaN.
  const A finite = A::where(A::less(high.abs(where), kInfinity, where), high, 0, where);
  // Where one alone is infinite, the sum is that one, and so is its gradient: inf / inf is not computed.
  const A one_infinite = A::logical_and(A::equal(high, kInfinity, where), A::not_equal(a, b, where), where);
  const auto power = [&](const A& x) {
    return A::where(one_infinite, 0, A::sub(x, finite, where), where).exp(where);
  };
  const A sum = A::add(A::add(power(a), power(b), where).log(where), finite, where);
  return A::where(one_infinite, A::maximum(a, b, where), sum, where);
}

AnyTensor xlogy(const AnyTensor& a, const AnyTensor& b, Location where) {
  check("xlogy", a, where);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  // At a = 0 the logarithm stays as the gradient of a, unless it is infinite or NaN because of b <= 0 or
  // b = infinity: then it is 0, and so is no part of a gradient. That of b = NaN stays NaN.
  const A no_logarithm = A::logical_or(A::less_equal(b, 0, where), A::equal(b, kInfinity, where), where);
  const A zero = A::logical_and(A::equal(a, 0, where), no_logarithm, where);
  return A::mul(a, A::where(zero, 1, b, where).log(where), where);
}

AnyTensor floor_divide(const AnyTensor& a, AnyTensor::Operand b, Location where) {
  tensor::Operand first = a, second = b;
  std::array<AnyTensor, 2> casts;
  tensor::promote_operands("floor_divide", first, second, casts, where);
  const DType dtype = tensor::value_of("floor_divide", *first.tensor, where).dtype;
  tensor::check_numeric("floor_divide", dtype, where);
  if (!is_float(dtype)) return integer_floor_divide(first, second, where);
  return float_floor_divide(*first.tensor, second, where);
}

}  // namespace sinter
