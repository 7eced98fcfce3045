// Two-dimensional convolution.
#include <cmath>
#include <string>

#include <sinter/nn/conv.h>

#include "src/nn/init.h"

namespace sinter::nn {

Tensor<4> Conv2d::forward(const Tensor<4>& x, Location where) const {
  detail::require_given("conv2d", weight.dynamic(), where);
  Conv2dOptions options{.stride = stride, .padding = padding, .dilation = dilation, .groups = groups};
  AnyTensor y = x.dynamic().conv2d(weight.dynamic(), options, where);
  if (bias) y = detail::biased(y, bias->dynamic().reshape({1, bias->shape()[0], 1, 1}, where), where);
  return Tensor<4>(std::move(y));
}

Conv2d Conv2dConfig::init(const Device& device, Location where) const {
  for (int i : {0, 1}) {
    detail::require_positive("conv2d", "a number of channels", channels[i], where);
    detail::require_positive("conv2d", "a size of the kernel", kernel[i], where);
    detail::require_positive("conv2d", "a stride", stride[i], where);
    detail::require_positive("conv2d", "a dilation", dilation[i], where);
    if (padding[i] < 0)
      throw ShapeError("[conv2d] a padding is " + std::to_string(padding[i]) + ", expected 0 or more", where);
  }
  detail::require_positive("conv2d", "groups", groups, where);
  if (channels[0] % groups != 0 || channels[1] % groups != 0)
    throw ShapeError("[conv2d] " + std::to_string(groups) + " groups do not divide " +
                         std::to_string(channels[0]) + " channels in and " + std::to_string(channels[1]) +
                         " out",
                     where);
  double fan_in = static_cast<double>(channels[0] / groups) * static_cast<double>(kernel[0]) *
                  static_cast<double>(kernel[1]);
  double bound = 1 / std::sqrt(fan_in);
  Conv2d layer;
  layer.stride = stride;
  layer.padding = padding;
  layer.dilation = dilation;
  layer.groups = groups;
  layer.weight =
      initializer.parameter<4>({channels[1], channels[0] / groups, kernel[0], kernel[1]}, device, where);
  if (bias) layer.bias = Tensor<1>(detail::uniform_parameter({channels[1]}, bound, device, where));
  return layer;
}

}  // namespace sinter::nn
