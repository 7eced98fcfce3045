// Initial values of parameters.
#include "src/nn/init.h"

#include <cmath>
#include <numbers>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <sinter/autocast.h>

namespace sinter::nn {
namespace {

using A = AnyTensor;

/// The rows of a (rows, columns) matrix with rows <= columns, made orthonormal one after the other, each
/// twice: "twice is enough" (L. Giraud et al., "The loss of orthogonality in the Gram-Schmidt
/// orthogonalization process", 2005).
void orthonormalize(std::vector<double>& matrix, std::size_t rows, std::size_t columns) {
  for (std::size_t i = 0; i < rows; ++i) {
    const std::span row(&matrix[i * columns], columns);
    const auto dot = [&](std::span<const double> other) {
      double sum = 0;
      for (std::size_t k = 0; k < columns; ++k) sum += row[k] * other[k];
      return sum;
    };
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t j = 0; j < i; ++j) {
        const std::span<const double> before(&matrix[j * columns], columns);
        const double along = dot(before);
        for (std::size_t k = 0; k < columns; ++k) row[k] -= along * before[k];
      }
    const double length = std::sqrt(dot(row));
    for (double& x : row) x /= length;
  }
}

AnyTensor orthogonal(const Shape& shape, double gain, const Device& device, const Location& where) {
  if (shape.rank() < 2)
    throw ShapeError("[orthogonal] a weight of shape " + to_string(shape) + " has no rows and columns",
                     where);
  const std::int64_t numel = shape.numel();
  if (numel == 0) return A::full(shape, 0.0, DType::f32, device, where);
  const auto out = static_cast<std::size_t>(shape[0]), in = static_cast<std::size_t>(numel) / out;
  const std::size_t rows = std::min(out, in), columns = std::max(out, in);
  // On the host, twice: this comes before memory is asked for, which may be more than there is.
  std::vector<float> drawn;
  std::vector<double> matrix;
  try {
    drawn.resize(static_cast<std::size_t>(numel));
    matrix.resize(drawn.size());
  } catch (const std::exception&) {
    throw Error("[orthogonal] no memory left for the " + std::to_string(numel) + " numbers of shape " +
                    to_string(shape),
                where);
  }
  A::normal({numel}, 0, 1, device.inner(), where).read_bytes(std::as_writable_bytes(std::span(drawn)), where);
  std::copy(drawn.begin(), drawn.end(), matrix.begin());
  orthonormalize(matrix, rows, columns);
  for (std::size_t i = 0; i < out; ++i)
    for (std::size_t j = 0; j < in; ++j)
      drawn[i * in + j] = static_cast<float>(gain * matrix[out <= in ? i * columns + j : j * columns + i]);
  return A::from_bytes(std::as_bytes(std::span(drawn)), shape, DType::f32, device, where);
}

/// The inverse of the normal distribution function by the inverse error function: M. Giles, "Approximating
/// the erfinv function", 2010, for |x| <= erf(sqrt 2), where its central and tail polynomials are within
/// 1e-6.
AnyTensor truncated_normal(const Shape& shape, double mean, double deviation, const Device& device,
                           const Location& where) {
  const double bound = std::erf(std::numbers::sqrt2);
  const A x = A::uniform(shape, -bound, bound, device, where);
  const A w = A::mul(A::mul(A::sub(1, x, where), A::add(x, 1, where), where).log(where), -1, where);
  const auto polynomial = [&](const A& at, std::initializer_list<double> coefficients) {
    A sum;
    for (const double c : coefficients)
      sum = sum.defined() ? A::add(A::mul(sum, at, where), c, where) : A::add(A::mul(at, 0, where), c, where);
    return sum;
  };
  const A near = polynomial(A::sub(w, 2.5, where),
                            {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                             -0.00125372503, -0.00417768164, 0.246640727, 1.50140941});
  // Within two deviations w is at most 3.1, below 5, where the central polynomial ends.
  const A inverse = A::mul(near, x, where);
  const A limited =
      A::minimum(A::maximum(A::mul(inverse, std::numbers::sqrt2, where), -2.0, where), 2.0, where);
  return A::add(A::mul(limited, deviation, where), mean, where);
}

void require(bool holds, const char* what, double value, const Location& where) {
  if (holds) return;
  std::ostringstream text;
  text << "[init] " << what << " is " << value;
  throw Error(text.str(), where);
}

}  // namespace

AnyTensor Initializer::values(const Shape& shape, const Device& device, Location where) const {
  switch (kind) {
    case Kind::constant: return A::full(shape, a, DType::f32, device, where);
    case Kind::uniform:
      require(std::isfinite(a) && std::isfinite(b) && a <= b, "the upper bound less the lower one", b - a,
              where);
      return A::uniform(shape, a, b, device, where);
    case Kind::normal:
      require(b >= 0, "the deviation", b, where);
      return A::normal(shape, a, b, device, where);
    case Kind::truncated_normal:
      require(b >= 0, "the deviation", b, where);
      return truncated_normal(shape, a, b, device, where);
    case Kind::orthogonal: return orthogonal(shape, a, device, where);
    case Kind::scaled_uniform:
    case Kind::scaled_normal: break;
  }
  require(a >= 0, "the gain", a, where);
  double in = fan_in, out = fan_out;
  if (in == 0 || out == 0) {
    const auto numel = static_cast<double>(shape.numel());
    const double first = shape.rank() > 0 ? static_cast<double>(shape[0]) : 1;
    const double second = shape.rank() > 1 ? static_cast<double>(shape[1]) : first;
    in = shape.rank() > 1 && first > 0 ? numel / first : first;
    out = shape.rank() > 1 && second > 0 ? numel / second : first;
  }
  const double size = fan == Fan::in ? in : fan == Fan::out ? out : (in + out) / 2;
  const double deviation = size > 0 ? a / std::sqrt(size) : 0;
  if (kind == Kind::scaled_normal) return A::normal(shape, 0, deviation, device, where);
  const double bound = std::sqrt(3.0) * deviation;
  return A::uniform(shape, -bound, bound, device, where);
}

AnyTensor Initializer::leaf(const Shape& shape, const Device& device, Location where) const {
  AnyTensor tensor = values(shape, device, where);
  return device.is_autodiff() ? tensor.require_grad(where) : tensor;
}

AnyTensor detail::uniform_parameter(const Shape& shape, double bound, const Device& device, Location where) {
  AnyTensor values = AnyTensor::uniform(shape, -bound, bound, device, where);
  return device.is_autodiff() ? values.require_grad(where) : values;
}

AnyTensor detail::constant_parameter(const Shape& shape, double value, const Device& device, Location where) {
  AnyTensor values = AnyTensor::full(shape, value, DType::f32, device, where);
  return device.is_autodiff() ? values.require_grad(where) : values;
}

AnyTensor detail::biased(const AnyTensor& y, const AnyTensor& bias, const Location& where) {
  const bool mixed = autocast_dtype().has_value() && is_half(y.dtype());
  return AnyTensor::add(y, mixed ? bias.cast(y.dtype(), where) : bias, where);
}

void detail::require_positive(const char* layer, const char* name, std::int64_t value,
                              const Location& where) {
  if (value <= 0)
    throw ShapeError(
        "[" + std::string(layer) + "] " + name + " is " + std::to_string(value) + ", expected 1 or more",
        where);
}

void detail::require_given(const char* layer, const AnyTensor& weight, const Location& where) {
  if (!weight.defined())
    throw Error("[" + std::string(layer) +
                    "] the weight was never given a value: the config's init(device) makes a layer",
                where);
}

}  // namespace sinter::nn
