// Layers as functions of their parameters.
#include <sinter/functions/layers.h>

namespace sinter {

AnyTensor linear(const AnyTensor& x, const AnyTensor& weight, Location where) {
  return nn::detail::linear(x, weight, nullptr, where);
}
AnyTensor linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor& bias, Location where) {
  return nn::detail::linear(x, weight, &bias, where);
}
AnyTensor embedding(const AnyTensor& index, const AnyTensor& weight, Location where) {
  return nn::detail::embedding(index, weight, where);
}

Tensor<3> max_pool1d(const Tensor<3>& x, const nn::MaxPool1d& options, Location where) {
  return options.forward(x, where);
}
Tensor<4> max_pool2d(const Tensor<4>& x, const nn::MaxPool2d& options, Location where) {
  return options.forward(x, where);
}
Tensor<5> max_pool3d(const Tensor<5>& x, const nn::MaxPool3d& options, Location where) {
  return options.forward(x, where);
}
Tensor<3> avg_pool1d(const Tensor<3>& x, const nn::AvgPool1d& options, Location where) {
  return options.forward(x, where);
}
Tensor<4> avg_pool2d(const Tensor<4>& x, const nn::AvgPool2d& options, Location where) {
  return options.forward(x, where);
}
Tensor<5> avg_pool3d(const Tensor<5>& x, const nn::AvgPool3d& options, Location where) {
  return options.forward(x, where);
}
nn::PooledWithIndices<3> max_pool1d_with_indices(const Tensor<3>& x, const nn::MaxPool1d& options,
                                                 Location where) {
  return options.forward_with_indices(x, where);
}
nn::PooledWithIndices<4> max_pool2d_with_indices(const Tensor<4>& x, const nn::MaxPool2d& options,
                                                 Location where) {
  return options.forward_with_indices(x, where);
}
nn::PooledWithIndices<5> max_pool3d_with_indices(const Tensor<5>& x, const nn::MaxPool3d& options,
                                                 Location where) {
  return options.forward_with_indices(x, where);
}
nn::PooledWithIndices<3> adaptive_max_pool1d_with_indices(const Tensor<3>& x,
                                                          const nn::AdaptiveMaxPool1d& options,
                                                          Location where) {
  return options.forward_with_indices(x, where);
}
nn::PooledWithIndices<4> adaptive_max_pool2d_with_indices(const Tensor<4>& x,
                                                          const nn::AdaptiveMaxPool2d& options,
                                                          Location where) {
  return options.forward_with_indices(x, where);
}
nn::PooledWithIndices<5> adaptive_max_pool3d_with_indices(const Tensor<5>& x,
                                                          const nn::AdaptiveMaxPool3d& options,
                                                          Location where) {
  return options.forward_with_indices(x, where);
}
Tensor<4> deform_conv2d(const Tensor<4>& x, const Tensor<4>& offset, const Tensor<4>& weight,
                        const DeformConvOptions& options, Location where) {
  return nn::DeformConv2d{weight,           options.bias,   options.stride,       options.padding,
                          options.dilation, options.groups, options.offset_groups}
      .forward(x, offset, options.mask, where);
}
Tensor<3> adaptive_avg_pool1d(const Tensor<3>& x, const nn::AdaptiveAvgPool1d& options, Location where) {
  return options.forward(x, where);
}
Tensor<4> adaptive_avg_pool2d(const Tensor<4>& x, const nn::AdaptiveAvgPool2d& options, Location where) {
  return options.forward(x, where);
}
Tensor<5> adaptive_avg_pool3d(const Tensor<5>& x, const nn::AdaptiveAvgPool3d& options, Location where) {
  return options.forward(x, where);
}
Tensor<3> adaptive_max_pool1d(const Tensor<3>& x, const nn::AdaptiveMaxPool1d& options, Location where) {
  return options.forward(x, where);
}
Tensor<4> adaptive_max_pool2d(const Tensor<4>& x, const nn::AdaptiveMaxPool2d& options, Location where) {
  return options.forward(x, where);
}
Tensor<5> adaptive_max_pool3d(const Tensor<5>& x, const nn::AdaptiveMaxPool3d& options, Location where) {
  return options.forward(x, where);
}

}  // namespace sinter
