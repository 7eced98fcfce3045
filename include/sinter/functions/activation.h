// Activation functions, composed of plain operations: they fuse with their neighbours and need no gradient
// rules of their own. Where a function has a corner, its gradient there is PyTorch's.
#pragma once

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// max(x, 0); NaN gives NaN.
SINTER_API AnyTensor relu(const AnyTensor& x, Location where = Location::current());
/// x limited to [0, 6] (Howard et al., "MobileNets", 2017).
SINTER_API AnyTensor relu6(const AnyTensor& x, Location where = Location::current());
/// x where x > 0, else slope * x.
SINTER_API AnyTensor leaky_relu(const AnyTensor& x, double slope = 0.01,
                                Location where = Location::current());
/// leaky_relu with slopes that are learned (He et al., "Delving deep into rectifiers", 2015): one, or one for
/// each channel, which is axis 1 of x.
SINTER_API AnyTensor prelu(const AnyTensor& x, const AnyTensor& slopes, Location where = Location::current());
/// x where x > 0, else alpha * (exp(x) - 1) (Clevert et al., "Fast and accurate deep network learning by
/// exponential linear units", 2015).
SINTER_API AnyTensor elu(const AnyTensor& x, double alpha = 1, Location where = Location::current());
/// x where x > 0, else alpha * (exp(x / alpha) - 1) (Barron, "Continuously differentiable exponential linear
/// units", 2017).
SINTER_API AnyTensor celu(const AnyTensor& x, double alpha = 1, Location where = Location::current());
/// scale * elu(x, alpha), with the constants that keep mean 0 and variance 1 (Klambauer et al.,
/// "Self-normalizing neural networks", 2017).
SINTER_API AnyTensor selu(const AnyTensor& x, Location where = Location::current());
/// x * Phi(x), Phi the standard normal distribution (Hendrycks and Gimpel, "Gaussian error linear units",
/// 2016).
SINTER_API AnyTensor gelu(const AnyTensor& x, Location where = Location::current());
/// The same paper's approximation by tanh; differs from `gelu` by less than 0.0005.
SINTER_API AnyTensor gelu_tanh(const AnyTensor& x, Location where = Location::current());
/// x * sigmoid(x).
SINTER_API AnyTensor silu(const AnyTensor& x, Location where = Location::current());
/// x * tanh(softplus(x)) (Misra, "Mish: a self regularized non-monotonic activation function", 2019).
SINTER_API AnyTensor mish(const AnyTensor& x, Location where = Location::current());
/// x / 6 + 1 / 2, limited to [0, 1].
SINTER_API AnyTensor hard_sigmoid(const AnyTensor& x, Location where = Location::current());
/// x * hard_sigmoid(x) (Howard et al., "Searching for MobileNetV3", 2019).
SINTER_API AnyTensor hard_swish(const AnyTensor& x, Location where = Location::current());
/// x limited to [low, high].
SINTER_API AnyTensor hardtanh(const AnyTensor& x, double low = -1, double high = 1,
                              Location where = Location::current());
/// log(sigmoid(x)), without overflow and without cancellation.
SINTER_API AnyTensor log_sigmoid(const AnyTensor& x, Location where = Location::current());
/// log(1 + exp(beta * x)) / beta, without overflow.
SINTER_API AnyTensor softplus(const AnyTensor& x, double beta = 1, Location where = Location::current());
/// x / (1 + |x|).
SINTER_API AnyTensor softsign(const AnyTensor& x, Location where = Location::current());
/// x - tanh(x).
SINTER_API AnyTensor tanhshrink(const AnyTensor& x, Location where = Location::current());
/// x where |x| > lambda, else 0.
SINTER_API AnyTensor hard_shrink(const AnyTensor& x, double lambda = 0.5,
                                 Location where = Location::current());
/// x moved towards 0 by lambda, and 0 where |x| <= lambda.
SINTER_API AnyTensor soft_shrink(const AnyTensor& x, double lambda = 0.5,
                                 Location where = Location::current());
/// x moved towards 0 by bias where |x| > lambda, else 0: hard_shrink has bias 0, soft_shrink bias lambda.
SINTER_API AnyTensor shrink(const AnyTensor& x, double lambda = 0.5, double bias = 0,
                            Location where = Location::current());
/// x where x > limit, else value.
SINTER_API AnyTensor threshold(const AnyTensor& x, double limit, double value,
                               Location where = Location::current());
/// The first half of `axis` times the sigmoid of the second half (Dauphin et al., "Language modeling with
/// gated convolutional networks", 2016).
SINTER_API AnyTensor glu(const AnyTensor& x, std::int64_t axis = -1, Location where = Location::current());
/// silu of the first half of `axis` times the second half (Shazeer, "GLU variants improve transformer",
/// 2020).
SINTER_API AnyTensor swiglu(const AnyTensor& x, std::int64_t axis = -1, Location where = Location::current());

/// exp(x) / sum of exp(x) along `axis`, without overflow.
SINTER_API AnyTensor softmax(const AnyTensor& x, std::int64_t axis, Location where = Location::current());
/// log(softmax(x, axis)), without overflow and without cancellation.
SINTER_API AnyTensor log_softmax(const AnyTensor& x, std::int64_t axis, Location where = Location::current());
/// softmax(-x, axis).
SINTER_API AnyTensor softmin(const AnyTensor& x, std::int64_t axis, Location where = Location::current());
/// exp(x) / (1 + sum of exp(x) along `axis`), without overflow: may attend to nothing (Miller, "Attention is
/// off by one", 2023).
SINTER_API AnyTensor quiet_softmax(const AnyTensor& x, std::int64_t axis,
                                   Location where = Location::current());

// The same functions with the rank in the type.
#define SINTER_TYPED(name)                                                         \
  template <std::size_t Rank>                                                      \
  Tensor<Rank> name(const Tensor<Rank>& x, Location where = Location::current()) { \
    return {detail::trusted, name(x.dynamic(), where)};                            \
  }
SINTER_TYPED(relu)
SINTER_TYPED(relu6)
SINTER_TYPED(selu)
SINTER_TYPED(gelu)
SINTER_TYPED(gelu_tanh)
SINTER_TYPED(silu)
SINTER_TYPED(mish)
SINTER_TYPED(hard_sigmoid)
SINTER_TYPED(hard_swish)
SINTER_TYPED(log_sigmoid)
SINTER_TYPED(softsign)
SINTER_TYPED(tanhshrink)
#undef SINTER_TYPED
#define SINTER_TYPED(name, Argument, argument, ...)                       \
  template <std::size_t Rank>                                             \
  Tensor<Rank> name(const Tensor<Rank>& x, Argument argument __VA_ARGS__, \
                    Location where = Location::current()) {               \
    return {detail::trusted, name(x.dynamic(), argument, where)};         \
  }
SINTER_TYPED(leaky_relu, double, slope, = 0.01)
SINTER_TYPED(elu, double, alpha, = 1)
SINTER_TYPED(celu, double, alpha, = 1)
SINTER_TYPED(softplus, double, beta, = 1)
SINTER_TYPED(hard_shrink, double, lambda, = 0.5)
SINTER_TYPED(soft_shrink, double, lambda, = 0.5)
SINTER_TYPED(glu, std::int64_t, axis, = -1)
SINTER_TYPED(swiglu, std::int64_t, axis, = -1)
SINTER_TYPED(softmax, std::int64_t, axis)
SINTER_TYPED(log_softmax, std::int64_t, axis)
SINTER_TYPED(softmin, std::int64_t, axis)
SINTER_TYPED(quiet_softmax, std::int64_t, axis)
#undef SINTER_TYPED
template <std::size_t Rank>
Tensor<Rank> prelu(const Tensor<Rank>& x, const Tensor<1>& slopes, Location where = Location::current()) {
  return {detail::trusted, prelu(x.dynamic(), slopes.dynamic(), where)};
}
template <std::size_t Rank>
Tensor<Rank> hardtanh(const Tensor<Rank>& x, double low = -1, double high = 1,
                      Location where = Location::current()) {
  return {detail::trusted, hardtanh(x.dynamic(), low, high, where)};
}
template <std::size_t Rank>
Tensor<Rank> shrink(const Tensor<Rank>& x, double lambda = 0.5, double bias = 0,
                    Location where = Location::current()) {
  return {detail::trusted, shrink(x.dynamic(), lambda, bias, where)};
}
template <std::size_t Rank>
Tensor<Rank> threshold(const Tensor<Rank>& x, double limit, double value,
                       Location where = Location::current()) {
  return {detail::trusted, threshold(x.dynamic(), limit, value, where)};
}

}  // namespace sinter
