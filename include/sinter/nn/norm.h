// Normalisations: x less its mean, divided by its standard deviation, over some of its elements; then, where
// they are learned, times a weight and plus a bias. Variances are those of the elements themselves
// (correction 0). Elements of 16 bits are computed in f32 wherever the operations fuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/state.h>
#include <sinter/tensor.h>

namespace sinter::nn {

struct LayerNorm;
struct RmsNorm;
struct GroupNorm;
struct InstanceNorm;
struct BatchNorm;
struct LocalResponseNorm;

namespace detail {
SINTER_API AnyTensor norm(const LayerNorm& layer, const AnyTensor& x, Location where);
SINTER_API AnyTensor norm(const RmsNorm& layer, const AnyTensor& x, Location where);
SINTER_API AnyTensor norm(const GroupNorm& layer, const AnyTensor& x, Location where);
SINTER_API AnyTensor norm(const InstanceNorm& layer, const AnyTensor& x, Location where);
SINTER_API AnyTensor norm(const BatchNorm& layer, const AnyTensor& x, Location where);
SINTER_API AnyTensor norm(const LocalResponseNorm& layer, const AnyTensor& x, Location where);
}  // namespace detail

/// y = (x - mean) / sqrt(var + epsilon) * weight + bias, mean and var over the last axis. J. L. Ba, J. Kiros,
/// G. Hinton, "Layer normalization", 2016.
struct LayerNorm {
  std::optional<Tensor<1>> weight, bias;  // (d_model)
  double epsilon = 1e-5;

  /// (.., d_model) -> (.., d_model). Throws ShapeError when d_model is 0 or not the weight's size.
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

struct SINTER_API LayerNormConfig {
  std::int64_t d_model;
  double epsilon = 1e-5;
  bool affine = true;  // learns a weight, and a bias where `bias` is set too
  bool bias = true;

  /// Weight 1, bias 0.
  LayerNorm init(const Device& device, Location where = Location::current()) const;
};

/// y = x / sqrt(mean(x^2) + epsilon) * weight over the last axis. B. Zhang, R. Sennrich, "Root mean square
/// layer normalization", 2019.
struct RmsNorm {
  std::optional<Tensor<1>> weight;  // (d_model)
  double epsilon = 1e-5;

  /// (.., d_model) -> (.., d_model)
  template <std::size_t R>
  requires(R >= 1) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

struct SINTER_API RmsNormConfig {
  std::int64_t d_model;
  double epsilon = 1e-5;
  bool affine = true;

  RmsNorm init(const Device& device, Location where = Location::current()) const;
};

/// As LayerNorm, with mean and var of each sample over each of `groups` groups of adjacent channels, and
/// weight and bias for each channel. Y. Wu, K. He, "Group normalization", ECCV 2018.
struct GroupNorm {
  std::int64_t groups;
  std::optional<Tensor<1>> weight, bias;  // (channels)
  double epsilon = 1e-5;

  /// (n, channels, ..) -> (n, channels, ..). Throws ShapeError when the groups do not divide the channels.
  template <std::size_t R>
  requires(R >= 2) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

struct SINTER_API GroupNormConfig {
  std::int64_t groups, channels;
  double epsilon = 1e-5;
  bool affine = true;

  GroupNorm init(const Device& device, Location where = Location::current()) const;
};

/// GroupNorm with a group for each channel: mean and var over an image. D. Ulyanov et al., "Instance
/// normalization: the missing ingredient for fast stylization", 2016. As in PyTorch it learns nothing unless
/// told to.
struct InstanceNorm {
  std::optional<Tensor<1>> weight, bias;  // (channels)
  double epsilon = 1e-5;

  /// (n, channels, ..) -> (n, channels, ..), with more than one element in an image.
  template <std::size_t R>
  requires(R >= 3) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

struct SINTER_API InstanceNormConfig {
  std::int64_t channels;
  double epsilon = 1e-5;
  bool affine = false;

  InstanceNorm init(const Device& device, Location where = Location::current()) const;
};

/// As LayerNorm, with mean and var of each channel over batch and image; by rank it is PyTorch's BatchNorm1d,
/// 2d and 3d. S. Ioffe, C. Szegedy, "Batch normalization", 2015.
///
/// In training it uses the batch's own mean and var, and moves the running ones towards them:
///   running = (1 - momentum) running + momentum batch's, with correction 1 for the variance.
/// Otherwise it uses the running ones. Under Autocast it computes 16-bit floats in f32 and gives them again,
/// as PyTorch does; the other norms give f32.
struct BatchNorm {
  std::optional<Tensor<1>> weight, bias;  // (channels)
  Buffer<1> running_mean, running_var;    // (channels), f32
  double epsilon = 1e-5;
  double momentum = 0.1;
  Training training;

  /// (n, channels, ..) -> (n, channels, ..). Throws ShapeError when the channels differ, or in training when
  /// a channel has fewer than two elements.
  template <std::size_t R>
  requires(R >= 2) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

struct SINTER_API BatchNormConfig {
  std::int64_t channels;
  double epsilon = 1e-5;
  double momentum = 0.1;
  bool affine = true;

  /// Weight 1, bias 0, running mean 0 and var 1; in training iff the device has autodiff.
  BatchNorm init(const Device& device, Location where = Location::current()) const;
};

/// y = x / (k + alpha / size * sum of x^2 over the `size` nearest channels)^beta. A. Krizhevsky et al.,
/// "ImageNet classification with deep convolutional neural networks", NeurIPS 2012; alpha is divided by size
/// as in PyTorch.
struct LocalResponseNorm {
  std::int64_t size;
  double alpha = 1e-4, beta = 0.75, k = 1;

  /// (n, channels, ..) -> (n, channels, ..)
  template <std::size_t R>
  requires(R >= 2 && R < kMaxRank) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::norm(*this, x.dynamic(), where)); }
};

}  // namespace sinter::nn
