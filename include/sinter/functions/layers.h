// Layers as functions of their parameters: linear(x, weight, bias) is what nn::Linear does. A model holds
// layers; these are for code that has its parameters elsewhere.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/nn/attention.h>
#include <sinter/nn/deform_conv.h>
#include <sinter/nn/dropout.h>
#include <sinter/nn/embedding.h>
#include <sinter/nn/linear.h>
#include <sinter/nn/norm.h>
#include <sinter/nn/pool.h>
#include <sinter/tensor.h>

namespace sinter {

/// x W^T + b: x (.., d_in), weight (d_out, d_in), bias (d_out) -> (.., d_out).
SINTER_API AnyTensor linear(const AnyTensor& x, const AnyTensor& weight,
                            Location where = Location::current());
SINTER_API AnyTensor linear(const AnyTensor& x, const AnyTensor& weight, const AnyTensor& bias,
                            Location where = Location::current());
template <std::size_t R>
requires(R >= 1) Tensor<R> linear(const Tensor<R>& x, const Tensor<2>& weight,
                                  Location where = Location::current()) {
  return {detail::trusted, linear(x.dynamic(), weight.dynamic(), where)};
}
template <std::size_t R>
requires(R >= 1) Tensor<R> linear(const Tensor<R>& x, const Tensor<2>& weight, const Tensor<1>& bias,
                                  Location where = Location::current()) {
  return {detail::trusted, linear(x.dynamic(), weight.dynamic(), bias.dynamic(), where)};
}
/// weight[index[..]]: index (..), weight (n, d) -> (.., d).
SINTER_API AnyTensor embedding(const AnyTensor& index, const AnyTensor& weight,
                               Location where = Location::current());
template <std::size_t R>
requires(R < kMaxRank) Tensor<R + 1> embedding(const Tensor<R, Int>& index, const Tensor<2>& weight,
                                               Location where = Location::current()) {
  return {detail::trusted, embedding(index.dynamic(), weight.dynamic(), where)};
}

// ---- normalization: over the last axis, or for each channel of (n, channels, ..); see nn/norm.h
template <std::size_t R>
requires(R >= 1) Tensor<R> layer_norm(const Tensor<R>& x,
                                      const std::optional<Tensor<1>>& weight = std::nullopt,
                                      const std::optional<Tensor<1>>& bias = std::nullopt,
                                      double epsilon = 1e-5, Location where = Location::current()) {
  return nn::LayerNorm{weight, bias, epsilon}.forward(x, where);
}
template <std::size_t R>
requires(R >= 1) Tensor<R> rms_norm(const Tensor<R>& x, const std::optional<Tensor<1>>& weight = std::nullopt,
                                    double epsilon = 1e-5, Location where = Location::current()) {
  return nn::RmsNorm{weight, epsilon}.forward(x, where);
}
template <std::size_t R>
requires(R >= 2) Tensor<R> group_norm(const Tensor<R>& x, std::int64_t groups,
                                      const std::optional<Tensor<1>>& weight = std::nullopt,
                                      const std::optional<Tensor<1>>& bias = std::nullopt,
                                      double epsilon = 1e-5, Location where = Location::current()) {
  return nn::GroupNorm{groups, weight, bias, epsilon}.forward(x, where);
}
template <std::size_t R>
requires(R >= 3) Tensor<R> instance_norm(const Tensor<R>& x,
                                         const std::optional<Tensor<1>>& weight = std::nullopt,
                                         const std::optional<Tensor<1>>& bias = std::nullopt,
                                         double epsilon = 1e-5, Location where = Location::current()) {
  return nn::InstanceNorm{weight, bias, epsilon}.forward(x, where);
}
/// By the given mean and variance of each channel, as in inference.
template <std::size_t R>
requires(R >= 2) Tensor<R> batch_norm(const Tensor<R>& x, const Tensor<1>& mean, const Tensor<1>& variance,
                                      const std::optional<Tensor<1>>& weight = std::nullopt,
                                      const std::optional<Tensor<1>>& bias = std::nullopt,
                                      double epsilon = 1e-5, Location where = Location::current()) {
  return nn::BatchNorm{weight, bias, Buffer<1>(mean), Buffer<1>(variance), epsilon, 0.1, Training(false)}
      .forward(x, where);
}

// ---- pools: max_pool2d(x, {.kernel = {2, 2}}); see nn/pool.h
SINTER_API Tensor<3> max_pool1d(const Tensor<3>& x, const nn::MaxPool1d& options,
                                Location where = Location::current());
SINTER_API Tensor<4> max_pool2d(const Tensor<4>& x, const nn::MaxPool2d& options,
                                Location where = Location::current());
SINTER_API Tensor<5> max_pool3d(const Tensor<5>& x, const nn::MaxPool3d& options,
                                Location where = Location::current());
SINTER_API Tensor<3> avg_pool1d(const Tensor<3>& x, const nn::AvgPool1d& options,
                                Location where = Location::current());
SINTER_API Tensor<4> avg_pool2d(const Tensor<4>& x, const nn::AvgPool2d& options,
                                Location where = Location::current());
SINTER_API Tensor<5> avg_pool3d(const Tensor<5>& x, const nn::AvgPool3d& options,
                                Location where = Location::current());
// The same maxima, and where they stand: for nn::MaxUnpool2d.
SINTER_API nn::PooledWithIndices<3> max_pool1d_with_indices(const Tensor<3>& x, const nn::MaxPool1d& options,
                                                            Location where = Location::current());
SINTER_API nn::PooledWithIndices<4> max_pool2d_with_indices(const Tensor<4>& x, const nn::MaxPool2d& options,
                                                            Location where = Location::current());
SINTER_API nn::PooledWithIndices<5> max_pool3d_with_indices(const Tensor<5>& x, const nn::MaxPool3d& options,
                                                            Location where = Location::current());
// These take the size of the result: adaptive_avg_pool2d(x, {{1, 1}}).
SINTER_API Tensor<3> adaptive_avg_pool1d(const Tensor<3>& x, const nn::AdaptiveAvgPool1d& options,
                                         Location where = Location::current());
SINTER_API Tensor<4> adaptive_avg_pool2d(const Tensor<4>& x, const nn::AdaptiveAvgPool2d& options,
                                         Location where = Location::current());
SINTER_API Tensor<5> adaptive_avg_pool3d(const Tensor<5>& x, const nn::AdaptiveAvgPool3d& options,
                                         Location where = Location::current());
SINTER_API Tensor<3> adaptive_max_pool1d(const Tensor<3>& x, const nn::AdaptiveMaxPool1d& options,
                                         Location where = Location::current());
SINTER_API Tensor<4> adaptive_max_pool2d(const Tensor<4>& x, const nn::AdaptiveMaxPool2d& options,
                                         Location where = Location::current());
SINTER_API Tensor<5> adaptive_max_pool3d(const Tensor<5>& x, const nn::AdaptiveMaxPool3d& options,
                                         Location where = Location::current());
SINTER_API nn::PooledWithIndices<3> adaptive_max_pool1d_with_indices(const Tensor<3>& x,
                                                                     const nn::AdaptiveMaxPool1d& options,
                                                                     Location where = Location::current());
SINTER_API nn::PooledWithIndices<4> adaptive_max_pool2d_with_indices(const Tensor<4>& x,
                                                                     const nn::AdaptiveMaxPool2d& options,
                                                                     Location where = Location::current());
SINTER_API nn::PooledWithIndices<5> adaptive_max_pool3d_with_indices(const Tensor<5>& x,
                                                                     const nn::AdaptiveMaxPool3d& options,
                                                                     Location where = Location::current());

// ---- deformable convolution; see nn/deform_conv.h
struct DeformConvOptions {
  std::optional<Tensor<4>> mask = std::nullopt;
  std::optional<Tensor<1>> bias = std::nullopt;
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1, offset_groups = 1;
};
SINTER_API Tensor<4> deform_conv2d(const Tensor<4>& x, const Tensor<4>& offset, const Tensor<4>& weight,
                                   const DeformConvOptions& options = {},
                                   Location where = Location::current());

using nn::scaled_dot_product_attention;

}  // namespace sinter
