// Sequences, images and volumes in another size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/functions/image.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor upsample(const AnyTensor& x, std::int64_t factor, Interpolation mode, bool align_corners,
                              Location where);
}  // namespace detail

/// Along the last axis. As Interpolate2d.
struct Interpolate1d {
  std::int64_t output;
  Interpolation mode = Interpolation::Nearest;
  bool align_corners = false;

  /// (n, c, length) -> (n, c, output)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const {
    return interpolate(x, {output}, mode, align_corners, where);
  }
};

/// Along the last two axes: see sinter::interpolate.
struct Interpolate2d {
  std::array<std::int64_t, 2> output;  // {height, width}
  Interpolation mode = Interpolation::Nearest;
  bool align_corners = false;

  /// (n, c, h, w) -> (n, c, output height, output width). Throws ShapeError when a size is 0.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const {
    return interpolate(x, {output[0], output[1]}, mode, align_corners, where);
  }
};

/// Along the last three axes: see sinter::interpolate.
struct Interpolate3d {
  std::array<std::int64_t, 3> output;  // {depth, height, width}
  Interpolation mode = Interpolation::Nearest;
  bool align_corners = false;

  /// (n, c, d, h, w) -> (n, c, output ..). Throws ShapeError when a size is 0.
  Tensor<5> forward(const Tensor<5>& x, Location where = Location::current()) const {
    return interpolate(x, {output[0], output[1], output[2]}, mode, align_corners, where);
  }
};

/// So many times larger along each axis behind the channels: PyTorch's Upsample with a scale_factor.
struct Upsample {
  std::int64_t factor;
  Interpolation mode = Interpolation::Nearest;
  bool align_corners = false;

  /// (n, c, ..) -> (n, c, factor ..). Throws Error when the factor is not positive, ShapeError when a size is
  /// 0.
  template <std::size_t R>
  requires(R >= 3) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return Tensor<R>(detail::upsample(x.dynamic(), factor, mode, align_corners, where)); }
};

}  // namespace sinter::nn
