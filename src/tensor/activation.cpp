// Activation functions, composed of plain operations.
#include <numbers>

#include <sinter/activation.h>

namespace sinter {

namespace {

using A = AnyTensor;

// Above this, log(1 + exp(x)) equals x to the last bit even in f64, and below it exp(x) is finite even in
// f32.
constexpr double kSoftplusLinear = 40;

/// x minus its maximum along `axis`, so that exp does not overflow. The maximum cancels out of the result, so
/// no gradient flows through it.
AnyTensor shifted(const AnyTensor& x, std::int64_t axis, const Location& where) {
  return A::sub(x, x.detach().max(axis, where), where);
}

}  // namespace

AnyTensor relu(const AnyTensor& x, Location where) { return A::maximum(x, 0, where); }

AnyTensor leaky_relu(const AnyTensor& x, double slope, Location where) {
  return A::where(A::greater(x, 0, where), x, A::mul(x, slope, where), where);
}

AnyTensor gelu(const AnyTensor& x, Location where) {
  const AnyTensor erf = A::mul(x, 1 / std::numbers::sqrt2, where).erf(where);
  return A::mul(A::mul(x, 0.5, where), A::add(erf, 1, where), where);
}

AnyTensor gelu_tanh(const AnyTensor& x, Location where) {
  const double scale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;
  const AnyTensor cubic = A::mul(A::add(A::mul(x.square(where), 0.044715, where), 1, where), x, where);
  const AnyTensor tanh = A::mul(cubic, scale, where).tanh(where);
  return A::mul(A::mul(x, 0.5, where), A::add(tanh, 1, where), where);
}

AnyTensor silu(const AnyTensor& x, Location where) { return A::mul(x, x.sigmoid(where), where); }
AnyTensor sigmoid(const AnyTensor& x, Location where) { return x.sigmoid(where); }
AnyTensor tanh(const AnyTensor& x, Location where) { return x.tanh(where); }

AnyTensor softplus(const AnyTensor& x, Location where) {
  const AnyTensor curved = A::minimum(x, kSoftplusLinear, where).exp(where).log1p(where);
  return A::where(A::greater(x, kSoftplusLinear, where), x, curved, where);
}

AnyTensor softmax(const AnyTensor& x, std::int64_t axis, Location where) {
  const AnyTensor e = shifted(x, axis, where).exp(where);
  // One reciprocal for each row instead of a division for each element, and two more in the gradient.
  return A::mul(e, e.sum(axis, where).recip(where), where);
}

AnyTensor log_softmax(const AnyTensor& x, std::int64_t axis, Location where) {
  const AnyTensor z = shifted(x, axis, where);
  return A::sub(z, z.exp(where).sum(axis, where).log(where), where);
}

}  // namespace sinter
