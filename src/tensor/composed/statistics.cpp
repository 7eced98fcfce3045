// Reductions composed of others.
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <vector>

#include <sinter/functions/statistics.h>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void check(std::string_view name, const AnyTensor& x, const Location& where) {
  tensor::check_float(name, tensor::value_of(name, x, where).dtype, where);
}

/// 1 where the element is not 0 (or false), i64.
AnyTensor is_something(const AnyTensor& x, const Location& where) {
  const A some = x.dtype() == DType::boolean ? x : A::not_equal(x, 0, where);
  return some.cast(DType::i64, where);
}

/// x^2 summed: the gradient of the root at 0 is 0 where the root is taken of 1 instead.
AnyTensor root(const AnyTensor& sum, const Location& where) {
  const A zero = A::equal(sum, 0, where);
  return A::where(zero, 0, A::where(zero, 1, sum, where).sqrt(where), where);
}

std::vector<double> numbers(const AnyTensor& x, const Location& where) {
  const A wide = x.cast(DType::f64, where);
  std::vector<double> values(static_cast<std::size_t>(wide.numel()));
  wide.read_bytes(std::as_writable_bytes(std::span(values)), where);
  return values;
}

Dims position_of(std::int64_t element, const Shape& shape) {
  Dims at = Dims::filled(shape.rank(), 0);
  for (std::size_t i = shape.rank(); i-- > 0; element /= shape[i]) at[i] = element % shape[i];
  return at;
}

/// A result of products, which have a dtype of their own in scopes, as x where that has 16 or 8 bits.
AnyTensor narrowed(const AnyTensor& result, const AnyTensor& x, const Location& where) {
  return is_stored_float(x.dtype()) ? result.cast(x.dtype(), where) : result;
}

/// In the digits of x.
AnyTensor norm_of(const AnyTensor& x, double p, const Axes& axes, const Location& where) {
  if (p == kInfinity) return x.abs(where).max(axes, where);
  if (p == -kInfinity) return x.abs(where).min(axes, where);
  if (p == 0) return A::not_equal(x, 0, where).cast(x.dtype(), where).sum(axes, where);
  if (p == 1) return x.abs(where).sum(axes, where);
  if (p == 2) return root(x.square(where).sum(axes, where), where);
  if (!(p > 0)) throw Error("[norm] p is 0 or more or an infinity, not " + std::to_string(p), where);
  // As for the root of squares, no gradient is infinite at 0.
  const A magnitude = x.abs(where);
  const A nothing = A::equal(magnitude, 0, where);
  const A powers = A::where(nothing, 0, A::pow(A::where(nothing, 1, magnitude, where), p, where), where);
  const A sum = powers.sum(axes, where);
  const A zero = A::equal(sum, 0, where);
  return A::where(zero, 0, A::pow(A::where(zero, 1, sum, where), 1 / p, where), where);
}

}  // namespace

AnyTensor logsumexp(const AnyTensor& given, const Axes& axes, Location where) {
  check("logsumexp", given, where);
  tensor::axes_of("logsumexp", axes, given.shape(), where);
  // The sum of nothing is 0.
  if (given.numel() == 0) return given.sum(axes, where).log(where);
  const DType dtype = tensor::autocast_wide(given.dtype());
  const A x = tensor::widened(given, where);
  const A largest = x.detach().max(axes, where);
  // Where all are -infinity, or one is infinite, the distance to the largest would be NaN.
  const A shift = A::where(largest.is_finite(where), largest, 0, where);
  return A::add(A::sub(x, shift, where).exp(where).sum(axes, where).log(where), shift, where)
      .cast(dtype, where);
}

std::pair<AnyTensor, AnyTensor> var_mean(const AnyTensor& x, const Axes& axes, double correction,
                                         Location where) {
  return {x.var(axes, correction, where), x.mean(axes, where)};
}

std::pair<AnyTensor, AnyTensor> std_mean(const AnyTensor& x, const Axes& axes, double correction,
                                         Location where) {
  return {x.std(axes, correction, where), x.mean(axes, where)};
}

AnyTensor max_abs(const AnyTensor& x, const Axes& axes, Location where) {
  return x.abs(where).max(axes, where);
}

AnyTensor norm(const AnyTensor& given, double p, const Axes& axes, Location where) {
  check("norm", given, where);
  tensor::axes_of("norm", axes, given.shape(), where);
  return norm_of(tensor::widened(given, where), p, axes, where)
      .cast(tensor::autocast_wide(given.dtype()), where);
}

AnyTensor normalize(const AnyTensor& x, double p, const Axes& axes, double epsilon, Location where) {
  return A::div(x, A::maximum(norm(x, p, axes, where), epsilon, where), where);
}

AnyTensor count_nonzero(const AnyTensor& x, const Axes& axes, Location where) {
  return is_something(x, where).sum(axes, where);
}

AnyTensor nansum(const AnyTensor& x, const Axes& axes, Location where) {
  check("nansum", x, where);
  return A::where(x.is_nan(where), 0, x, where).sum(axes, where);
}

AnyTensor nanmean(const AnyTensor& x, const Axes& axes, Location where) {
  check("nanmean", x, where);
  const A wide = tensor::widened(x, where);
  const A count = wide.is_nan(where).logical_not(where).cast(wide.dtype(), where).sum(axes, where);
  return A::div(nansum(wide, axes, where), count, where).cast(tensor::autocast_wide(x.dtype()), where);
}

AnyTensor contains_nan(const AnyTensor& x, Location where) {
  check("contains_nan", x, where);
  return x.is_nan(where).any(x.all_axes(), where).reshape({}, where);
}

AnyTensor cov(const AnyTensor& x, double correction, Location where) {
  check("cov", x, where);
  if (x.rank() != 2)
    throw ShapeError("[cov] takes [variables, observations], not shape " + to_string(x.shape()), where);
  const A wide = tensor::widened(x, where), centred = A::sub(wide, wide.mean(1, where), where);
  const double count = static_cast<double>(x.shape()[1]) - correction;
  const A product = centred.matmul(centred.transpose(0, 1, where), where);
  return narrowed(A::mul(product, 1 / std::max(0.0, count), where), x, where);
}

AnyTensor corrcoef(const AnyTensor& x, Location where) {
  check("corrcoef", x, where);
  if (x.rank() != 2)
    throw ShapeError("[corrcoef] takes [variables, observations], not shape " + to_string(x.shape()), where);
  const A wide = tensor::widened(x, where), centred = A::sub(wide, wide.mean(1, where), where);
  const A unit = A::mul(centred, centred.square(where).sum(1, where).rsqrt(where), where);
  const A product = unit.matmul(unit.transpose(0, 1, where), where);
  // Rounding may lead beyond.
  return narrowed(A::minimum(A::maximum(product, -1, where), 1, where), x, where);
}

AnyTensor is_close(const AnyTensor& a, const AnyTensor& b, double relative, double absolute, bool equal_nan,
                   Location where) {
  const DType dtype = tensor::promoted_dtype("is_close", tensor::value_of("is_close", a, where).dtype,
                                             tensor::value_of("is_close", b, where).dtype, where);
  if (a.dtype() != b.dtype())
    return is_close(a.cast(dtype, where), b.cast(dtype, where), relative, absolute, equal_nan, where);
  const A same = A::equal(a, b, where);
  if (!is_float(dtype)) {
    if (dtype == DType::boolean) return same;
    // f64 does not tell all integers apart: their distance is exact, as a number without a sign.
    const A x = is_unsigned(dtype) ? a : a.cast(DType::i64, where);
    const A y = is_unsigned(dtype) ? b : b.cast(DType::i64, where);
    const A distance = A::where(A::less(x, y, where), A::sub(y, x, where), A::sub(x, y, where), where)
                           .cast(DType::u64, where)
                           .cast(DType::f64, where);
    const A size = b.cast(DType::f64, where).abs(where);
    const A bound = A::add(A::mul(size, relative, where), absolute, where);
    return A::logical_or(same, A::less_equal(distance, bound, where), where);
  }
  const A bound = A::add(A::mul(b.abs(where), relative, where), absolute, where);
  const A near = A::less_equal(A::sub(a, b, where).abs(where), bound, where);
  const A close = A::logical_or(same, A::logical_and(near, b.is_finite(where), where), where);
  if (!equal_nan) return close;
  return A::logical_or(close, A::logical_and(a.is_nan(where), b.is_nan(where), where), where);
}

std::ostream& operator<<(std::ostream& out, const Difference& difference) {
  return out << (difference.close ? "close" : difference.text);
}

Difference all_close(const AnyTensor& a, const AnyTensor& b, double relative, double absolute, bool equal_nan,
                     Location where) {
  const A close = is_close(a.detach(), b.detach(), relative, absolute, equal_nan, where);
  Difference result;
  std::uint8_t all = 1;
  const A whole = close.all(close.all_axes(), where);
  whole.read_bytes(std::as_writable_bytes(std::span(&all, 1)), where);
  if (all) return result;

  const Shape& shape = close.shape();
  std::vector<std::uint8_t> flags(static_cast<std::size_t>(close.numel()));
  close.read_bytes(std::as_writable_bytes(std::span(flags)), where);
  const std::vector<double> first = numbers(a.detach().expand(shape, where), where);
  const std::vector<double> second = numbers(b.detach().expand(shape, where), where);
  result.close = false;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i]) continue;
    const double distance = std::abs(first[i] - second[i]);
    const bool further = std::isnan(distance) ? !std::isnan(result.largest) : distance > result.largest;
    if (result.count++ == 0 || further) {
      result.largest = distance;
      result.at = position_of(static_cast<std::int64_t>(i), shape);
      result.a = first[i];
      result.b = second[i];
    }
  }
  std::ostringstream text;
  text.precision(9);
  text << result.count << " of " << flags.size() << " elements differ, most at " << to_string(result.at)
       << ": " << result.a << " and " << result.b;
  result.text = text.str();
  return result;
}

std::string describe(const AnyTensor& given, Location where) {
  const trace::Value& value = tensor::value_of("describe", given, where);
  std::ostringstream text;
  text << to_string(value.shape) << " " << name_of(value.dtype) << " " << given.device().name();
  if (given.numel() == 0) return text.str() + ": no elements";
  const A x = given.inner();
  const bool is_real = is_float(value.dtype);
  // Numbers of 32 bits have no exact sums in f32.
  const bool wide = !is_stored_float(value.dtype) && value.device->traits().supports(DType::f64);
  const DType dtype = wide ? DType::f64 : DType::f32;
  const A numbers = x.cast(dtype, where);
  const A counted =
      is_real ? x.is_finite(where) : A::full(value.shape, true, DType::boolean, x.device(), where);
  const A count = counted.sum(where).cast(dtype, where);
  const auto of_counted = [&](const A& y, double otherwise) {
    return A::where(counted, y, otherwise, where);
  };
  const A mean = A::div(of_counted(numbers, 0).sum(where), count, where);
  const A square = of_counted(A::sub(numbers, mean, where).square(where), 0).sum(where);
  const A nans = is_real ? x.is_nan(where).sum(where).cast(dtype, where) : count.zeros_like(where);
  const A found = A::stack(std::vector{count, nans, of_counted(numbers, kInfinity).min(where),
                                       of_counted(numbers, -kInfinity).max(where), mean,
                                       A::div(square, A::sub(count, 1, where), where).sqrt(where)},
                           0, where);
  const std::vector<double> read = sinter::numbers(found, where);
  text.precision(6);
  if (read[0] == 0)
    text << ": nothing finite";
  else
    text << ": from " << read[2] << " to " << read[3] << ", mean " << read[4];
  if (read[0] > 1) text << ", deviation " << read[5];
  const double infinite = static_cast<double>(given.numel()) - read[0] - read[1];
  if (read[1] > 0 || infinite > 0) text << "; " << read[1] << " nan, " << infinite << " infinite";
  return text.str();
}

}  // namespace sinter
