// Noise for training: dropout of elements, of channels and of whole samples, and Gaussian noise.
#pragma once

#include <cstddef>

#include <sinter/detail/api.h>
#include <sinter/state.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
/// One random number for each element of the first `dims` axes, which decides about all that is behind it.
SINTER_API AnyTensor dropout(const AnyTensor& x, double probability, std::size_t dims, bool training,
                             Location where);
SINTER_API AnyTensor alpha_dropout(const AnyTensor& x, double probability, bool training, Location where);
SINTER_API AnyTensor gaussian_noise(const AnyTensor& x, double deviation, bool training, Location where);
/// The number, or Error where forward() would throw it.
SINTER_API double checked_probability(const char* layer, double probability, Location where);
SINTER_API double checked_deviation(double deviation, Location where);
}  // namespace detail

/// In training, zeroes each element with the given probability and divides the others by 1 - probability,
/// which preserves the mean; otherwise x passes unchanged. N. Srivastava et al., "Dropout: a simple way to
/// prevent neural networks from overfitting", JMLR 2014.
struct Dropout {
  double probability = 0.5;
  Training training;

  /// Throws Error when the probability is not in [0, 1].
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return Tensor<R>(detail::dropout(x.dynamic(), probability, R, training, where));
  }
};

struct DropoutConfig {
  double probability = 0.5;

  /// In training iff the device has autodiff. Throws Error when the probability is not in [0, 1], as the
  /// configs below do.
  Dropout init(const Device& device, Location where = Location::current()) const {
    return {detail::checked_probability("dropout", probability, where), Training(device)};
  }
};

/// Dropout of whole channels: x is (n, c, ..), and one number decides about each of its n c channels
/// (PyTorch's Dropout1d, 2d and 3d). J. Tompson et al., "Efficient object localization using convolutional
/// networks", CVPR 2015.
struct ChannelDropout {
  double probability = 0.5;
  Training training;

  template <std::size_t R>
  requires(R >= 2) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::dropout(x.dynamic(), probability, 2, training, where)); }
};

struct ChannelDropoutConfig {
  double probability = 0.5;
  ChannelDropout init(const Device& device, Location where = Location::current()) const {
    return {detail::checked_probability("dropout", probability, where), Training(device)};
  }
};

/// Dropout of whole samples, for the branch of a residual connection: G. Huang et al., "Deep networks with
/// stochastic depth", ECCV 2016.
struct DropPath {
  double probability = 0.5;
  Training training;

  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::dropout(x.dynamic(), probability, 1, training, where)); }
};

struct DropPathConfig {
  double probability = 0.5;
  DropPath init(const Device& device, Location where = Location::current()) const {
    return {detail::checked_probability("dropout", probability, where), Training(device)};
  }
};

/// Dropout for networks of SELUs: sets elements to what SELU tends to for small x, and scales so that mean 0
/// and variance 1 are preserved. G. Klambauer et al., "Self-normalizing neural networks", NeurIPS 2017.
struct AlphaDropout {
  double probability = 0.5;
  Training training;

  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return Tensor<R>(detail::alpha_dropout(x.dynamic(), probability, training, where));
  }
};

struct AlphaDropoutConfig {
  double probability = 0.5;
  AlphaDropout init(const Device& device, Location where = Location::current()) const {
    return {detail::checked_probability("alpha_dropout", probability, where), Training(device)};
  }
};

/// In training, adds normal noise of mean 0 and the given standard deviation.
struct GaussianNoise {
  double deviation = 0.1;
  Training training;

  /// Throws Error when the deviation is negative or no number.
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return Tensor<R>(detail::gaussian_noise(x.dynamic(), deviation, training, where));
  }
};

struct GaussianNoiseConfig {
  double deviation = 0.1;
  GaussianNoise init(const Device& device, Location where = Location::current()) const {
    return {detail::checked_deviation(deviation, where), Training(device)};
  }
};

}  // namespace sinter::nn
