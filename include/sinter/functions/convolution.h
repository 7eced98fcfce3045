// Convolutions of one and three dimensions, transposed convolutions, and windows of images as columns.
// conv2d is a method of tensors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// Cross-correlations: x (n, c_in, ..sizes), weight (c_out, c_in / groups, ..kernel) -> (n, c_out, ..out)
/// with out = (size + 2 padding - dilation (kernel - 1) - 1) / stride + 1, rounded down.
SINTER_API AnyTensor conv1d(const AnyTensor& x, const AnyTensor& weight, const ConvOptions<1>& options = {},
                            Location where = Location::current());
inline AnyTensor conv2d(const AnyTensor& x, const AnyTensor& weight, const ConvOptions<2>& options = {},
                        Location where = Location::current()) {
  return x.conv2d(weight, options, where);
}
SINTER_API AnyTensor conv3d(const AnyTensor& x, const AnyTensor& weight, const ConvOptions<3>& options = {},
                            Location where = Location::current());
/// The gradients of convolutions with respect to their inputs, as functions of their own: x (n, c_in,
/// ..sizes), weight (c_in, c_out / groups, ..kernel) -> (n, c_out, ..out) with
/// out = (size - 1) stride - 2 padding + dilation (kernel - 1) + output_padding + 1.
SINTER_API AnyTensor conv_transpose1d(const AnyTensor& x, const AnyTensor& weight,
                                      const ConvTransposeOptions<1>& options = {},
                                      Location where = Location::current());
SINTER_API AnyTensor conv_transpose2d(const AnyTensor& x, const AnyTensor& weight,
                                      const ConvTransposeOptions<2>& options = {},
                                      Location where = Location::current());
SINTER_API AnyTensor conv_transpose3d(const AnyTensor& x, const AnyTensor& weight,
                                      const ConvTransposeOptions<3>& options = {},
                                      Location where = Location::current());

/// The windows of images as columns: (n, c, h, w) -> (n, c * kernel, windows).
SINTER_API AnyTensor unfold(const AnyTensor& x, const WindowOptions& options,
                            Location where = Location::current());
/// The sum of columns at the places of their windows in images of {height, width}: the gradient of unfold.
SINTER_API AnyTensor fold(const AnyTensor& x, const std::array<std::int64_t, 2>& sizes,
                          const WindowOptions& options, Location where = Location::current());

/// (.., c * factor^2, h, w) -> (.., c, h * factor, w * factor) (Shi et al., "Real-time single image and video
/// super-resolution using an efficient sub-pixel convolutional neural network", 2016), and its inverse.
SINTER_API AnyTensor pixel_shuffle(const AnyTensor& x, std::int64_t factor,
                                   Location where = Location::current());
SINTER_API AnyTensor pixel_unshuffle(const AnyTensor& x, std::int64_t factor,
                                     Location where = Location::current());

// The same functions with the rank in the type.
SINTER_API Tensor<3> conv1d(const Tensor<3>& x, const Tensor<3>& weight, const ConvOptions<1>& options = {},
                            Location where = Location::current());
SINTER_API Tensor<4> conv2d(const Tensor<4>& x, const Tensor<4>& weight, const Conv2dOptions& options = {},
                            Location where = Location::current());
SINTER_API Tensor<5> conv3d(const Tensor<5>& x, const Tensor<5>& weight, const ConvOptions<3>& options = {},
                            Location where = Location::current());
SINTER_API Tensor<3> conv_transpose1d(const Tensor<3>& x, const Tensor<3>& weight,
                                      const ConvTransposeOptions<1>& options = {},
                                      Location where = Location::current());
SINTER_API Tensor<4> conv_transpose2d(const Tensor<4>& x, const Tensor<4>& weight,
                                      const ConvTransposeOptions<2>& options = {},
                                      Location where = Location::current());
SINTER_API Tensor<5> conv_transpose3d(const Tensor<5>& x, const Tensor<5>& weight,
                                      const ConvTransposeOptions<3>& options = {},
                                      Location where = Location::current());
SINTER_API Tensor<3> unfold(const Tensor<4>& x, const WindowOptions& options,
                            Location where = Location::current());
SINTER_API Tensor<4> fold(const Tensor<3>& x, const std::array<std::int64_t, 2>& sizes,
                          const WindowOptions& options, Location where = Location::current());
template <std::size_t Rank>
requires(Rank >= 3) Tensor<Rank> pixel_shuffle(const Tensor<Rank>& x, std::int64_t factor,
                                               Location where = Location::current()) {
  return {detail::trusted, pixel_shuffle(x.dynamic(), factor, where)};
}
template <std::size_t Rank>
requires(Rank >= 3) Tensor<Rank> pixel_unshuffle(const Tensor<Rank>& x, std::int64_t factor,
                                                 Location where = Location::current()) {
  return {detail::trusted, pixel_unshuffle(x.dynamic(), factor, where)};
}

}  // namespace sinter
