// Convolutions over two and three dimensions, and their gradients.
#pragma once

#include <array>

#include "jit/library/library_op.h"

namespace sinter::library {

/// Two-dimensional cross-correlation and its two gradients; all tensors without gaps, weights OIHW, images
/// NCHW or with their channels last (n, h, w, c), which only devices are asked for that said so
/// (DeviceTraits::channels_last).
///   Forward         x [n, c_in, h, w],  weight [c_out, c_in / groups, kh, kw] -> y [n, c_out, oh, ow]
///   BackwardInput   grad of y, weight -> grad of x
///   BackwardWeight  x, grad of y      -> grad of weight
/// with oh = (h + 2 * padding - dilation * (kh - 1) - 1) / stride + 1, rounded down; likewise ow.
struct Conv2dOp final : ProductOp {
  enum class Direction : std::uint8_t { Forward, BackwardInput, BackwardWeight };
  Direction direction = Direction::Forward;
  std::int64_t n = 0, c_in = 0, h = 0, w = 0;
  std::int64_t c_out = 0, kh = 0, kw = 0, oh = 0, ow = 0;
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  MatmulPrecision precision = MatmulPrecision::Highest;
  bool x_last = false, y_last = false;  // channels last: x or its gradient; y or its gradient

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// The kind of each direction. Attributes: stride, padding, dilation (height, width each), groups; then for
/// the gradients height and width of the result.
const Kind& conv2d(Conv2dOp::Direction direction);
/// The same over depth, height and width. No device has a program for it: the planner writes it as a
/// contraction or by planes.
const Kind& conv3d(Conv2dOp::Direction direction);

}  // namespace sinter::library
