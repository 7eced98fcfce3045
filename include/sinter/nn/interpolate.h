// Images and sequences in another size.
#pragma once

#include <array>
#include <cstdint>

#include <sinter/functions/image.h>
#include <sinter/tensor.h>

namespace sinter::nn {

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

}  // namespace sinter::nn
