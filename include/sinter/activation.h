// Activation functions, composed of plain operations: they fuse with their neighbours and need no gradient
// rules of their own.
#pragma once

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// max(x, 0); NaN gives NaN.
SINTER_API AnyTensor relu(const AnyTensor& x, Location where = Location::current());
/// x where x > 0, else slope * x.
SINTER_API AnyTensor leaky_relu(const AnyTensor& x, double slope = 0.01,
                                Location where = Location::current());
/// x * Phi(x), Phi the standard normal distribution (Hendrycks and Gimpel, "Gaussian error linear units",
/// 2016).
SINTER_API AnyTensor gelu(const AnyTensor& x, Location where = Location::current());
/// The same paper's approximation by tanh; differs from `gelu` by less than 0.0005.
SINTER_API AnyTensor gelu_tanh(const AnyTensor& x, Location where = Location::current());
/// x * sigmoid(x).
SINTER_API AnyTensor silu(const AnyTensor& x, Location where = Location::current());
SINTER_API AnyTensor sigmoid(const AnyTensor& x, Location where = Location::current());
SINTER_API AnyTensor tanh(const AnyTensor& x, Location where = Location::current());
/// log(1 + exp(x)), without overflow.
SINTER_API AnyTensor softplus(const AnyTensor& x, Location where = Location::current());
/// exp(x) / sum of exp(x) along `axis`, without overflow.
SINTER_API AnyTensor softmax(const AnyTensor& x, std::int64_t axis, Location where = Location::current());
/// log(softmax(x, axis)), without overflow and without cancellation.
SINTER_API AnyTensor log_softmax(const AnyTensor& x, std::int64_t axis, Location where = Location::current());

// The same functions with the rank in the type.
template <std::size_t Rank>
Tensor<Rank> relu(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, relu(x.any(), where)};
}
template <std::size_t Rank>
Tensor<Rank> leaky_relu(const Tensor<Rank>& x, double slope = 0.01, Location where = Location::current()) {
  return {detail::trusted, leaky_relu(x.any(), slope, where)};
}
template <std::size_t Rank>
Tensor<Rank> gelu(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, gelu(x.any(), where)};
}
template <std::size_t Rank>
Tensor<Rank> gelu_tanh(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, gelu_tanh(x.any(), where)};
}
template <std::size_t Rank>
Tensor<Rank> silu(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, silu(x.any(), where)};
}
template <std::size_t Rank>
Tensor<Rank> sigmoid(const Tensor<Rank>& x, Location where = Location::current()) {
  return x.sigmoid(where);
}
template <std::size_t Rank>
Tensor<Rank> tanh(const Tensor<Rank>& x, Location where = Location::current()) {
  return x.tanh(where);
}
template <std::size_t Rank>
Tensor<Rank> softplus(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, softplus(x.any(), where)};
}
template <std::size_t Rank>
Tensor<Rank> softmax(const Tensor<Rank>& x, std::int64_t axis, Location where = Location::current()) {
  return {detail::trusted, softmax(x.any(), axis, where)};
}
template <std::size_t Rank>
Tensor<Rank> log_softmax(const Tensor<Rank>& x, std::int64_t axis, Location where = Location::current()) {
  return {detail::trusted, log_softmax(x.any(), axis, where)};
}

}  // namespace sinter
