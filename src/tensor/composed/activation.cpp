// Activation functions, composed of plain operations.
#include <numbers>
#include <string>

#include <sinter/functions/activation.h>

#include "src/tensor/autocast.h"
#include "src/tensor/check.h"
#include "src/tensor/elementwise.h"

namespace sinter {

namespace {

using A = AnyTensor;

// Above this, log(1 + exp(x)) equals x to the last bit even in f64, and below it exp(x) is finite even in
// f32.
constexpr double kSoftplusLinear = 40;

// The fixed point of mean 0 and variance 1 (Klambauer et al., 2017, section 2).
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

void check(std::string_view name, const AnyTensor& x, const Location& where) {
  tensor::check_float(name, tensor::value_of(name, x, where).dtype, where);
}

/// Checks the dtype and the axis; false where there is no element.
bool has_rows(std::string_view name, const AnyTensor& x, std::int64_t axis, const Location& where) {
  check(name, x, where);
  tensor::axis_of(name, axis, x.shape(), where);
  return x.numel() > 0;
}

/// x minus its maximum along `axis`, so that exp does not overflow. The maximum cancels out of the result, so
/// no gradient flows through it. Widened, as the sum of a long row's exponentials leaves the range of f16.
AnyTensor shifted(const AnyTensor& given, std::int64_t axis, const Location& where) {
  const A x = tensor::widened(given, where);
  return A::sub(x, x.detach().max(axis, where), where);
}

/// Maximum and minimum with a number, which at a tie has no gradient: that of `A::maximum` would be half.
AnyTensor at_least(const AnyTensor& x, double low, const Location& where) {
  return tensor::binary(Op::Maximum, x, low, where);
}
AnyTensor at_most(const AnyTensor& x, double high, const Location& where) {
  return tensor::binary(Op::Minimum, x, high, where);
}

/// x where x > 0, else 0 outside of exponentials: with both kept finite, no gradient is 0 * infinity.
AnyTensor negative_part(const AnyTensor& x, const Location& where) {
  return A::where(A::greater(x, 0, where), 0, x, where);
}

/// x where x > 0, else alpha * (exp(x / divisor) - 1).
AnyTensor exponential_unit(const AnyTensor& x, double alpha, double divisor, const Location& where) {
  A below = negative_part(x, where);
  if (divisor != 1) below = A::mul(below, 1 / divisor, where);
  A curved = below.expm1(where);
  if (alpha != 1) curved = A::mul(curved, alpha, where);
  return A::where(A::greater(x, 0, where), x, curved, where);
}

/// The two halves of an axis.
struct Halves {
  AnyTensor first, second;
};
Halves halves(std::string_view name, const AnyTensor& x, std::int64_t axis, const Location& where) {
  check(name, x, where);
  const std::int64_t size = x.shape()[tensor::axis_of(name, axis, x.shape(), where)];
  if (size % 2 != 0)
    throw ShapeError("[" + std::string(name) + "] axis " + std::to_string(axis) + " of shape " +
                         to_string(x.shape()) + " has no two halves",
                     where);
  return {x.narrow(axis, 0, size / 2, where), x.narrow(axis, size / 2, size / 2, where)};
}

}  // namespace

AnyTensor relu(const AnyTensor& x, Location where) { return at_least(x, 0, where); }
AnyTensor relu6(const AnyTensor& x, Location where) { return hardtanh(x, 0, 6, where); }

AnyTensor leaky_relu(const AnyTensor& x, double slope, Location where) {
  return A::where(A::greater(x, 0, where), x, A::mul(x, slope, where), where);
}

AnyTensor prelu(const AnyTensor& x, const AnyTensor& slopes, Location where) {
  check("prelu", x, where);
  const Shape& shape = x.shape();
  const Shape& given = tensor::value_of("prelu", slopes, where).shape;
  const std::int64_t channels = shape.rank() < 2 ? 1 : shape[1];
  if (given.rank() != 1 || (given[0] != 1 && given[0] != channels))
    throw ShapeError("[prelu] slopes of shape " + to_string(given) + " for " + std::to_string(channels) +
                         " channels of shape " + to_string(shape),
                     where);
  Shape aligned(Dims::filled(shape.rank(), 1));
  if (given[0] != 1) aligned[1] = given[0];
  const A slope = slopes.reshape(aligned, where);
  return A::where(A::greater(x, 0, where), x, A::mul(x, slope, where), where);
}

AnyTensor elu(const AnyTensor& x, double alpha, Location where) {
  check("elu", x, where);
  return exponential_unit(x, alpha, 1, where);
}

AnyTensor celu(const AnyTensor& x, double alpha, Location where) {
  check("celu", x, where);
  if (alpha == 0) throw Error("[celu] alpha is not 0: x is divided by it", where);
  return exponential_unit(x, alpha, alpha, where);
}

AnyTensor selu(const AnyTensor& x, Location where) {
  check("selu", x, where);
  return A::mul(exponential_unit(x, kSeluAlpha, 1, where), kSeluScale, where);
}

AnyTensor gelu(const AnyTensor& x, Location where) { return A::mul(x, x.ndtr(where), where); }

AnyTensor gelu_tanh(const AnyTensor& x, Location where) {
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const AnyTensor cubic = A::mul(A::add(A::mul(x.square(where), 0.044715, where), 1, where), x, where);
  const AnyTensor tanh = A::mul(cubic, scale, where).tanh(where);
  return A::mul(A::mul(x, 0.5, where), A::add(tanh, 1, where), where);
}

AnyTensor silu(const AnyTensor& x, Location where) { return A::mul(x, x.sigmoid(where), where); }

AnyTensor mish(const AnyTensor& x, Location where) {
  check("mish", x, where);
  return A::mul(x, softplus(x, 1, where).tanh(where), where);
}

AnyTensor hard_sigmoid(const AnyTensor& x, Location where) {
  check("hard_sigmoid", x, where);
  return A::mul(relu6(A::add(x, 3, where), where), 1.0 / 6, where);
}

AnyTensor hard_swish(const AnyTensor& x, Location where) {
  check("hard_swish", x, where);
  const A inside = A::mul(A::mul(x, A::add(x, 3, where), where), 1.0 / 6, where);
  const A upper = A::where(A::greater_equal(x, 3, where), x, inside, where);
  return A::where(A::less_equal(x, -3, where), 0, upper, where);
}

AnyTensor hardtanh(const AnyTensor& x, double low, double high, Location where) {
  check("hardtanh", x, where);
  if (!(low <= high))
    throw Error(
        "[hardtanh] the limits are in order, not " + std::to_string(low) + " and " + std::to_string(high),
        where);
  return at_most(at_least(x, low, where), high, where);
}

AnyTensor log_sigmoid(const AnyTensor& x, Location where) {
  check("log_sigmoid", x, where);
  return softplus(x.neg(where), 1, where).neg(where);
}

AnyTensor softplus(const AnyTensor& x, double beta, Location where) {
  check("softplus", x, where);
  if (!(beta > 0)) throw Error("[softplus] beta is above 0, not " + std::to_string(beta), where);
  const A scaled = beta == 1 ? x : A::mul(x, beta, where);
  const A is_linear = A::greater(scaled, kSoftplusLinear, where);
  const A finite = A::where(is_linear, 0, scaled, where).exp(where).log1p(where);  // NaN stays NaN
  const A curved = beta == 1 ? finite : A::mul(finite, 1 / beta, where);
  return A::where(is_linear, x, curved, where);
}

AnyTensor softsign(const AnyTensor& x, Location where) {
  check("softsign", x, where);
  return A::div(x, A::add(x.abs(where), 1, where), where);
}

AnyTensor tanhshrink(const AnyTensor& x, Location where) { return A::sub(x, x.tanh(where), where); }

AnyTensor hard_shrink(const AnyTensor& x, double lambda, Location where) {
  check("hard_shrink", x, where);
  return A::where(A::less_equal(x.abs(where), lambda, where), 0, x, where);
}

AnyTensor soft_shrink(const AnyTensor& x, double lambda, Location where) {
  check("soft_shrink", x, where);
  return shrink(x, lambda, lambda, where);
}

AnyTensor shrink(const AnyTensor& x, double lambda, double bias, Location where) {
  check("shrink", x, where);
  const A moved = A::where(A::greater(x, 0, where), A::sub(x, bias, where), A::add(x, bias, where), where);
  return A::where(A::less_equal(x.abs(where), lambda, where), 0, moved, where);
}

AnyTensor threshold(const AnyTensor& x, double limit, double value, Location where) {
  check("threshold", x, where);
  return A::where(A::less_equal(x, limit, where), value, x, where);
}

AnyTensor glu(const AnyTensor& x, std::int64_t axis, Location where) {
  const Halves half = halves("glu", x, axis, where);
  return A::mul(half.first, half.second.sigmoid(where), where);
}

AnyTensor swiglu(const AnyTensor& x, std::int64_t axis, Location where) {
  const Halves half = halves("swiglu", x, axis, where);
  return A::mul(silu(half.first, where), half.second, where);
}

AnyTensor softmax(const AnyTensor& x, std::int64_t axis, Location where) {
  if (!has_rows("softmax", x, axis, where)) return x;
  const AnyTensor e = shifted(x, axis, where).exp(where);
  // One reciprocal for each row instead of a division for each element, and two more in the gradient.
  return A::mul(e, e.sum(axis, where).recip(where), where).cast(tensor::autocast_wide(x.dtype()), where);
}

AnyTensor log_softmax(const AnyTensor& x, std::int64_t axis, Location where) {
  if (!has_rows("log_softmax", x, axis, where)) return x;
  const AnyTensor z = shifted(x, axis, where);
  return A::sub(z, z.exp(where).sum(axis, where).log(where), where)
      .cast(tensor::autocast_wide(x.dtype()), where);
}

AnyTensor softmin(const AnyTensor& x, std::int64_t axis, Location where) {
  if (!has_rows("softmin", x, axis, where)) return x;
  return softmax(x.neg(where), axis, where);
}

AnyTensor quiet_softmax(const AnyTensor& given, std::int64_t axis, Location where) {
  if (!has_rows("quiet_softmax", given, axis, where)) return given;
  const A x = tensor::widened(given, where);
  // The 1 is the exponential of one more logit, which is 0.
  const A largest = A::maximum(x.detach().max(axis, where), 0, where);
  const A e = A::sub(x, largest, where).exp(where);
  const A total = A::add(e.sum(axis, where), largest.neg(where).exp(where), where);
  return A::mul(e, total.recip(where), where).cast(tensor::autocast_wide(given.dtype()), where);
}

}  // namespace sinter
