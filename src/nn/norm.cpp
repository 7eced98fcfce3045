// Normalisations, composed of plain operations: a norm and what follows it become one kernel.
#include <string>

#include <sinter/nn/norm.h>

#include "src/base/number_text.h"
#include "src/nn/init.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"
#include "src/tensor/composed/variance.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

void require_channels(const char* layer, const AnyTensor& x, std::size_t axis, const Shape& weight,
                      const Location& where) {
  if (x.shape()[axis] != weight[0])
    throw ShapeError("[" + std::string(layer) + "] axis " + std::to_string(axis) + " of the input " +
                         to_string(x.shape()) + " is not of the layer's size " + std::to_string(weight[0]),
                     where);
}

/// The difference from a mean, over the deviation that goes with it. Variance and result are made of one
/// difference, so that their gradients meet in it.
AnyTensor normalized(const AnyTensor& centred, const AnyTensor& var, double epsilon, const Location& where) {
  return A::mul(centred, A::add(var, epsilon, where).rsqrt(where), where);
}

/// In f32 where the input has 16 or 8 bits.
AnyTensor normalized_along(const AnyTensor& given, const Axes& axes, double epsilon, const Location& where) {
  const A x = tensor::widened(given, where);
  const A mean = x.mean(axes, where), centred = A::sub(x, mean, where);
  const double size = static_cast<double>(x.numel()) / static_cast<double>(mean.numel());
  const A var = tensor::scaled_variance(x, centred, axes, 1 / size, where);
  return normalized(centred, var, epsilon, where);
}

/// Of what a layer hands on: an input of that dtype, times a weight, and a bias.
DType dtype_of_result(const char* layer, DType input, const std::optional<Tensor<1>>& weight,
                      const std::optional<Tensor<1>>& bias, const Location& where) {
  DType dtype = tensor::autocast_wide(input);
  for (const std::optional<Tensor<1>>* each : {&weight, &bias})
    if (*each) dtype = tensor::promoted_dtype(layer, dtype, (*each)->dtype(), where);
  return dtype;
}

/// x * weight + bias, where those are, along `axis` of x, which an input of that dtype has become.
AnyTensor scaled(const char* layer, AnyTensor x, DType input, const std::optional<Tensor<1>>& weight,
                 const std::optional<Tensor<1>>& bias, std::size_t axis, const Location& where) {
  Dims sizes = Dims::filled(x.rank() - axis, 1);
  if (weight) {
    require_channels(layer, x, axis, weight->shape(), where);
    sizes[0] = weight->shape()[0];
    x = A::mul(x, weight->dynamic().reshape(sizes, where), where);
  }
  if (bias) {
    require_channels(layer, x, axis, bias->shape(), where);
    sizes[0] = bias->shape()[0];
    x = A::add(x, bias->dynamic().reshape(sizes, where), where);
  }
  return x.cast(dtype_of_result(layer, input, weight, bias, where), where);
}

void require_elements(const char* layer, const char* what, std::int64_t count, std::int64_t least,
                      const Shape& shape, const Location& where) {
  if (count < least)
    throw ShapeError("[" + std::string(layer) + "] " + what + " of the input " + to_string(shape) + " has " +
                         std::to_string(count) + " elements, expected " + std::to_string(least) + " or more",
                     where);
}

void require_epsilon(const char* layer, double epsilon, const Location& where) {
  if (!(epsilon >= 0))
    throw Error("[" + std::string(layer) + "] epsilon is " + text_of(epsilon) + ", expected 0 or more",
                where);
}

/// Each sample's `groups` groups of channels, normalized, times weight and bias of each channel. Groups and
/// channels are dims of their own throughout, so that sums over a group and over a channel's samples go
/// through the same elements in the same order.
AnyTensor grouped(const char* layer, const AnyTensor& x, std::int64_t groups,
                  const std::optional<Tensor<1>>& weight, const std::optional<Tensor<1>>& bias,
                  double epsilon, const Location& where) {
  const std::int64_t n = x.shape()[0], channels = x.shape()[1];
  detail::require_positive(layer, "groups", groups, where);
  if (channels % groups != 0)
    throw ShapeError("[" + std::string(layer) + "] " + std::to_string(groups) + " groups do not divide the " +
                         std::to_string(channels) + " channels of the input " + to_string(x.shape()),
                     where);
  for (const std::optional<Tensor<1>>* each : {&weight, &bias})
    if (*each) require_channels(layer, x, 1, (*each)->shape(), where);
  if (x.numel() == 0) return scaled(layer, x, x.dtype(), weight, bias, 1, where);
  const std::int64_t of_group = channels / groups;
  A y = x.reshape({n, groups, of_group, x.numel() / n / channels}, where);
  y = normalized_along(y, {2, 3}, epsilon, where);
  const Shape each({groups, of_group, 1});
  if (weight) y = A::mul(y, weight->dynamic().reshape(each, where), where);
  if (bias) y = A::add(y, bias->dynamic().reshape(each, where), where);
  return y.cast(dtype_of_result(layer, x.dtype(), weight, bias, where), where).reshape(x.shape(), where);
}

}  // namespace

AnyTensor detail::norm(const LayerNorm& layer, const AnyTensor& x, Location where) {
  require_elements("layer_norm", "the last axis", x.shape().back(), 1, x.shape(), where);
  const A y = normalized_along(x, -1, layer.epsilon, where);
  return scaled("layer_norm", y, x.dtype(), layer.weight, layer.bias, x.rank() - 1, where);
}

AnyTensor detail::norm(const RmsNorm& layer, const AnyTensor& x, Location where) {
  require_elements("rms_norm", "the last axis", x.shape().back(), 1, x.shape(), where);
  const A wide = tensor::widened(x, where), mean = wide.square(where).mean(-1, where);
  const A y = A::mul(wide, A::add(mean, layer.epsilon, where).rsqrt(where), where);
  return scaled("rms_norm", y, x.dtype(), layer.weight, std::nullopt, x.rank() - 1, where);
}

AnyTensor detail::norm(const GroupNorm& layer, const AnyTensor& x, Location where) {
  return grouped("group_norm", x, layer.groups, layer.weight, layer.bias, layer.epsilon, where);
}

AnyTensor detail::norm(const InstanceNorm& layer, const AnyTensor& x, Location where) {
  const Shape& shape = x.shape();
  require_elements("instance_norm", "an image", x.numel() == 0 ? 2 : x.numel() / shape[0] / shape[1], 2,
                   shape, where);
  if (shape[1] == 0) return scaled("instance_norm", x, x.dtype(), layer.weight, layer.bias, 1, where);
  return grouped("instance_norm", x, shape[1], layer.weight, layer.bias, layer.epsilon, where);
}

AnyTensor detail::norm(const BatchNorm& layer, const AnyTensor& given, Location where) {
  const A x = tensor::widened(given, where);
  const Shape& shape = given.shape();
  if (!layer.running_mean.defined() || !layer.running_var.defined())
    throw Error("[batch_norm] the layer has no running statistics: make it by BatchNormConfig", where);
  require_channels("batch_norm", x, 1, layer.running_mean.shape(), where);
  Dims across = Dims::filled(x.rank(), 1);
  across[1] = shape[1];
  A mean, centred, var;
  if (layer.training) {
    const std::int64_t count = shape[1] == 0 ? 2 : x.numel() / shape[1];
    require_elements("batch_norm", "in training a channel", count, 2, shape, where);
    Dims axes;
    for (std::size_t i = 0; i < shape.rank(); ++i)
      if (i != 1) axes.push_back(static_cast<std::int64_t>(i));
    mean = x.mean(Axes(axes), where);
    centred = A::sub(x, mean, where);
    var = tensor::scaled_variance(x, centred, Axes(axes), 1 / static_cast<double>(count), where);
    // The running variance estimates that of the population: n / (n - 1).
    const double n = static_cast<double>(count);
    const auto move = [&](const Buffer<1>& running, const AnyTensor& batch, double scale) {
      const A old = running.dynamic();
      const A now = batch.inner().reshape(old.shape(), where).cast(old.dtype(), where);
      running.set(Tensor<1>(
          A::add(A::mul(old, 1 - layer.momentum, where), A::mul(now, layer.momentum * scale, where), where)));
    };
    move(layer.running_mean, mean, 1);
    move(layer.running_var, var, n / (n - 1));
  } else {
    mean = layer.running_mean.dynamic().cast(x.dtype(), where).reshape(across, where);
    centred = A::sub(x, mean, where);
    var = layer.running_var.dynamic().cast(x.dtype(), where).reshape(across, where);
  }
  const A y = scaled("batch_norm", normalized(centred, var, layer.epsilon, where), given.dtype(),
                     layer.weight, layer.bias, 1, where);
  // Mixed precision widens what is computed, not what is handed on: images are most of what a network moves.
  return tensor::autocast_wide(given.dtype()) == given.dtype() ? y : y.cast(given.dtype(), where);
}

AnyTensor detail::norm(const LocalResponseNorm& layer, const AnyTensor& x, Location where) {
  require_positive("local_response_norm", "size", layer.size, where);
  Dims before = Dims::filled(x.rank(), 0), after = before;
  before[1] = layer.size / 2;
  after[1] = (layer.size - 1) / 2;
  const A wide = tensor::widened(x, where);
  const A squares = wide.square(where).pad(before, after, 0, where).windows(1, layer.size, 1, where);
  const auto last = static_cast<std::int64_t>(x.rank());
  const A sum = squares.sum(last, where).squeeze(last, where);
  const A base = A::add(A::mul(sum, layer.alpha / static_cast<double>(layer.size), where), layer.k, where);
  return A::mul(wide, A::pow(base, -layer.beta, where), where).cast(tensor::autocast_wide(x.dtype()), where);
}

LayerNorm LayerNormConfig::init(const Device& device, Location where) const {
  detail::require_positive("layer_norm", "d_model", d_model, where);
  require_epsilon("layer_norm", epsilon, where);
  LayerNorm layer{.weight = {}, .bias = {}, .epsilon = epsilon};
  if (affine) layer.weight = Tensor<1>(detail::constant_parameter({d_model}, 1, device, where));
  if (affine && bias) layer.bias = Tensor<1>(detail::constant_parameter({d_model}, 0, device, where));
  return layer;
}

RmsNorm RmsNormConfig::init(const Device& device, Location where) const {
  detail::require_positive("rms_norm", "d_model", d_model, where);
  require_epsilon("rms_norm", epsilon, where);
  RmsNorm layer{.weight = {}, .epsilon = epsilon};
  if (affine) layer.weight = Tensor<1>(detail::constant_parameter({d_model}, 1, device, where));
  return layer;
}

GroupNorm GroupNormConfig::init(const Device& device, Location where) const {
  detail::require_positive("group_norm", "groups", groups, where);
  detail::require_positive("group_norm", "channels", channels, where);
  require_epsilon("group_norm", epsilon, where);
  if (channels % groups != 0)
    throw ShapeError("[group_norm] " + std::to_string(groups) + " groups do not divide " +
                         std::to_string(channels) + " channels",
                     where);
  GroupNorm layer{.groups = groups, .weight = {}, .bias = {}, .epsilon = epsilon};
  if (affine) {
    layer.weight = Tensor<1>(detail::constant_parameter({channels}, 1, device, where));
    layer.bias = Tensor<1>(detail::constant_parameter({channels}, 0, device, where));
  }
  return layer;
}

InstanceNorm InstanceNormConfig::init(const Device& device, Location where) const {
  detail::require_positive("instance_norm", "channels", channels, where);
  require_epsilon("instance_norm", epsilon, where);
  InstanceNorm layer{.weight = {}, .bias = {}, .epsilon = epsilon};
  if (affine) {
    layer.weight = Tensor<1>(detail::constant_parameter({channels}, 1, device, where));
    layer.bias = Tensor<1>(detail::constant_parameter({channels}, 0, device, where));
  }
  return layer;
}

BatchNorm BatchNormConfig::init(const Device& device, Location where) const {
  detail::require_positive("batch_norm", "channels", channels, where);
  require_epsilon("batch_norm", epsilon, where);
  if (!(momentum >= 0 && momentum <= 1))
    throw Error("[batch_norm] the momentum is " + text_of(momentum) + ", expected 0 to 1", where);
  const Device inner = device.inner();
  BatchNorm layer{.weight = {},
                  .bias = {},
                  .running_mean = Buffer<1>(AnyTensor::full({channels}, 0.0, DType::f32, inner, where)),
                  .running_var = Buffer<1>(AnyTensor::full({channels}, 1.0, DType::f32, inner, where)),
                  .epsilon = epsilon,
                  .momentum = momentum,
                  .training = Training(device)};
  if (affine) {
    layer.weight = Tensor<1>(detail::constant_parameter({channels}, 1, device, where));
    layer.bias = Tensor<1>(detail::constant_parameter({channels}, 0, device, where));
  }
  return layer;
}

}  // namespace sinter::nn
