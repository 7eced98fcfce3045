// Operations that are not generated but hand-written for each device: matrix products and convolutions.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include <sinter/dtype.h>

#include "src/trace/op.h"

namespace sinter::ir {

/// c[batch, m, n] = sum over k of a[batch, m, k] * b[batch, k, n]. Strides in elements; c is row-major
/// without gaps. No stride is negative, and for each operand either the row or the column stride is 1, unless
/// that size is 1 (planner's promises).
struct MatMulOp {
  DType dtype = DType::f32;  // f32, f64
  std::int64_t batch = 1, m = 0, n = 0, k = 0;
  std::int64_t a_batch = 0, a_row = 0, a_column = 0;  // strides of a along batch, m, k
  std::int64_t b_batch = 0, b_row = 0, b_column = 0;  // strides of b along batch, k, n
  friend bool operator==(const MatMulOp&, const MatMulOp&) = default;
};

/// Two-dimensional cross-correlation and its two gradients; all tensors without gaps, weights OIHW, images
/// NCHW or with their channels last (n, h, w, c), which only devices are asked for that said so
/// (DeviceTraits::channels_last).
///   Forward         x [n, c_in, h, w],  weight [c_out, c_in / groups, kh, kw] -> y [n, c_out, oh, ow]
///   BackwardInput   grad of y, weight -> grad of x
///   BackwardWeight  x, grad of y      -> grad of weight
/// with oh = (h + 2 * padding - dilation * (kh - 1) - 1) / stride + 1, rounded down; likewise ow.
struct Conv2dOp {
  enum class Direction : std::uint8_t { Forward, BackwardInput, BackwardWeight };
  Direction direction = Direction::Forward;
  DType dtype = DType::f32;  // f32, f64
  std::int64_t n = 0, c_in = 0, h = 0, w = 0;
  std::int64_t c_out = 0, kh = 0, kw = 0, oh = 0, ow = 0;
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  bool x_last = false, y_last = false;  // channels last: x or its gradient; y or its gradient
  friend bool operator==(const Conv2dOp&, const Conv2dOp&) = default;
};

/// An op with its sizes. Inputs and output in the order the op's comment names them.
using LibraryOp = std::variant<MatMulOp, Conv2dOp>;

}  // namespace sinter::ir
