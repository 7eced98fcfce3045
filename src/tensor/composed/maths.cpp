// Elementwise functions composed of operations of the table.
#include <limits>
#include <numbers>
#include <string>

#include <sinter/functions/maths.h>

#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

void check(std::string_view name, const AnyTensor& x, const Location& where) {
  tensor::check_float(name, tensor::value_of(name, x, where).dtype, where);
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
  return A::where(A::less(x, low, where), low, x, where);
}

AnyTensor clamp_max(const AnyTensor& x, AnyTensor::Operand high, Location where) {
  tensor::check_numeric("clamp_max", tensor::value_of("clamp_max", x, where).dtype, where);
  return A::where(A::greater(x, high, where), high, x, where);
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
  const A sum = A::add(A::sub(a, finite, where).exp(where), A::sub(b, finite, where).exp(where), where);
  return A::add(sum.log(where), finite, where);
}

AnyTensor xlogy(const AnyTensor& a, const AnyTensor& b, Location where) {
  check("xlogy", a, where);
  const A zero = A::logical_and(A::equal(a, 0, where), b.is_nan(where).logical_not(where), where);
  // Its logarithm there is 0 and not infinite, and so is no part of a gradient.
  return A::mul(a, A::where(zero, 1, b, where).log(where), where);
}

AnyTensor floor_divide(const AnyTensor& a, AnyTensor::Operand b, Location where) {
  const DType dtype = tensor::value_of("floor_divide", a, where).dtype;
  tensor::check_numeric("floor_divide", dtype, where);
  // Without the remainder, which has b's sign, a / b is whole.
  if (is_float(dtype)) return A::div(a, b, where).floor(where);
  return A::div(A::sub(a, A::remainder(a, b, where), where), b, where);
}

}  // namespace sinter
