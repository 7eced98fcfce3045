// Layers of convolutions of any dimensions, and of transposed ones.
#include <cmath>
#include <string>

#include <sinter/functions/convolution.h>
#include <sinter/nn/conv.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;

template <std::size_t N>
A with_bias(A y, const std::optional<Tensor<1>>& bias, const Location& where) {
  if (!bias) return y;
  Dims sizes = Dims::filled(N + 1, 1);
  sizes[0] = bias->shape()[0];
  return detail::biased(y, bias->dynamic().reshape(sizes, where), where);
}

A convolve(const A& x, const A& weight, const ConvOptions<1>& options, const Location& where) {
  return conv1d(x, weight, options, where);
}
A convolve(const A& x, const A& weight, const ConvOptions<2>& o, const Location& where) {
  return x.conv2d(weight, {o.stride, o.padding, o.dilation, o.groups}, where);
}
A convolve(const A& x, const A& weight, const ConvOptions<3>& options, const Location& where) {
  return conv3d(x, weight, options, where);
}

A convolve_transposed(const A& x, const A& weight, const ConvTransposeOptions<1>& options,
                      const Location& where) {
  return conv_transpose1d(x, weight, options, where);
}
A convolve_transposed(const A& x, const A& weight, const ConvTransposeOptions<2>& options,
                      const Location& where) {
  return conv_transpose2d(x, weight, options, where);
}
A convolve_transposed(const A& x, const A& weight, const ConvTransposeOptions<3>& options,
                      const Location& where) {
  return conv_transpose3d(x, weight, options, where);
}

template <class Config>
void check(const char* layer, const Config& config, const Location& where) {
  for (const std::int64_t channels : config.channels)
    detail::require_positive(layer, "a number of channels", channels, where);
  for (std::size_t i = 0; i < config.kernel.size(); ++i) {
    detail::require_positive(layer, "a size of the kernel", config.kernel[i], where);
    detail::require_positive(layer, "a stride", config.stride[i], where);
    detail::require_positive(layer, "a dilation", config.dilation[i], where);
    if (config.padding[i] < 0)
      throw ShapeError("[" + std::string(layer) + "] a padding is " + std::to_string(config.padding[i]) +
                           ", expected 0 or more",
                       where);
  }
  detail::require_positive(layer, "groups", config.groups, where);
  if (config.channels[0] % config.groups != 0 || config.channels[1] % config.groups != 0)
    throw ShapeError("[" + std::string(layer) + "] " + std::to_string(config.groups) +
                         " groups do not divide " + std::to_string(config.channels[0]) + " channels in and " +
                         std::to_string(config.channels[1]) + " out",
                     where);
}

template <std::size_t N>
double numel_of(const std::array<std::int64_t, N>& kernel) {
  double product = 1;
  for (const std::int64_t size : kernel) product *= static_cast<double>(size);
  return product;
}

template <std::size_t N, class Layer, class Config>
Layer make(const Config& config, std::int64_t first, std::int64_t second, const Device& device,
           const Location& where) {
  Shape shape{first, second};
  for (const std::int64_t size : config.kernel) shape.push_back(size);
  Layer layer;
  layer.stride = config.stride;
  layer.padding = config.padding;
  layer.dilation = config.dilation;
  layer.groups = config.groups;
  layer.weight = config.initializer.template parameter<N + 2>(shape, device, where);
  const double bound = 1 / std::sqrt(static_cast<double>(second) * numel_of(config.kernel));
  if (config.bias)
    layer.bias = Tensor<1>(detail::uniform_parameter({config.channels[1]}, bound, device, where));
  return layer;
}

}  // namespace

template <std::size_t N>
Tensor<N + 2> Conv<N>::forward(const Tensor<N + 2>& x, Location where) const {
  detail::require_given("conv", weight.dynamic(), where);
  const A y =
      convolve(x.dynamic(), weight.dynamic(), ConvOptions<N>{stride, padding, dilation, groups}, where);
  return Tensor<N + 2>(with_bias<N>(y, bias, where));
}

template <std::size_t N>
Conv<N> ConvConfig<N>::init(const Device& device, Location where) const {
  check("conv", *this, where);
  return make<N, Conv<N>>(*this, channels[1], channels[0] / groups, device, where);
}

template <std::size_t N>
Tensor<N + 2> ConvTranspose<N>::forward(const Tensor<N + 2>& x, Location where) const {
  detail::require_given("conv_transpose", weight.dynamic(), where);
  const ConvTransposeOptions<N> options{stride, padding, output_padding, dilation, groups};
  const A y = convolve_transposed(x.dynamic(), weight.dynamic(), options, where);
  return Tensor<N + 2>(with_bias<N>(y, bias, where));
}

template <std::size_t N>
ConvTranspose<N> ConvTransposeConfig<N>::init(const Device& device, Location where) const {
  check("conv_transpose", *this, where);
  for (std::size_t i = 0; i < N; ++i)
    if (output_padding[i] < 0 || output_padding[i] >= std::max(stride[i], dilation[i]))
      throw Error("[conv_transpose] an output padding is " + std::to_string(output_padding[i]) +
                      ", expected 0 or more and less than stride or dilation, " +
                      std::to_string(std::max(stride[i], dilation[i])),
                  where);
  auto layer = make<N, ConvTranspose<N>>(*this, channels[0], channels[1] / groups, device, where);
  layer.output_padding = output_padding;
  return layer;
}

template struct Conv<1>;
template struct Conv<2>;
template struct Conv<3>;
template struct ConvConfig<1>;
template struct ConvConfig<2>;
template struct ConvConfig<3>;
template struct ConvTranspose<1>;
template struct ConvTranspose<2>;
template struct ConvTranspose<3>;
template struct ConvTransposeConfig<1>;
template struct ConvTransposeConfig<2>;
template struct ConvTransposeConfig<3>;

}  // namespace sinter::nn
