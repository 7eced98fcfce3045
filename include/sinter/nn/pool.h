// Pooling over the last one, two or three dimensions: the mean, the maximum or a norm of each window.
//
// With `ceil_mode` the number of windows is rounded up, so that the last one may reach over the end of the
// padded input, as long as it begins before the end of the input itself; what it finds behind the padding
// counts for nothing. So does a single one that is larger than the padded input by less than a stride.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor max_unpool(const AnyTensor& values, const AnyTensor& indices,
                                std::span<const std::int64_t> output, Location where);
}  // namespace detail

/// The mean of each window.
struct SINTER_API AvgPool2d {
  std::array<std::int64_t, 2> kernel;  // {height, width}
  /// Defaults to the kernel's size: adjacent windows.
  std::optional<std::array<std::int64_t, 2>> stride = std::nullopt;
  /// Zeros on both sides, at most half the kernel.
  std::array<std::int64_t, 2> padding{0, 0};
  /// Divide by the size of the whole window; false: by the number of its elements inside the image.
  bool count_include_pad = true;
  bool ceil_mode = false;

  /// (n, c, h, w) -> (n, c, oh, ow) with oh = (h + 2 padding - kernel) / stride + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

/// As AvgPool2d, over the last dimension.
struct SINTER_API AvgPool1d {
  std::int64_t kernel;
  std::optional<std::int64_t> stride = std::nullopt;
  std::int64_t padding = 0;
  bool count_include_pad = true;
  bool ceil_mode = false;

  /// (n, c, length) -> (n, c, (length + 2 padding - kernel) / stride + 1)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
};

/// What forward_with_indices() of a maximum pool gives: the maxima, and where they stand, i64, counted row by
/// row over the dimensions behind the channels of the input. Of equal ones the first of the window.
template <std::size_t Rank>
struct PooledWithIndices {
  Tensor<Rank> values;
  Tensor<Rank, Int> indices;
};

/// The largest element of each window; NaN if there is one.
struct SINTER_API MaxPool2d {
  std::array<std::int64_t, 2> kernel;  // {height, width}
  /// Defaults to the kernel's size: adjacent windows.
  std::optional<std::array<std::int64_t, 2>> stride = std::nullopt;
  /// Elements on both sides that are never the largest, at most half the kernel.
  std::array<std::int64_t, 2> padding{0, 0};
  /// Distance of the elements of a window.
  std::array<std::int64_t, 2> dilation{1, 1};
  bool ceil_mode = false;

  /// (n, c, h, w) -> (n, c, oh, ow) with oh = (h + 2 padding - dilation (kernel - 1) - 1) / stride + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand: for MaxUnpool.
  PooledWithIndices<4> forward_with_indices(const Tensor<4>& x, Location where = Location::current()) const;
};

/// As MaxPool2d, over the last dimension.
struct SINTER_API MaxPool1d {
  std::int64_t kernel;
  std::optional<std::int64_t> stride = std::nullopt;
  std::int64_t padding = 0, dilation = 1;
  bool ceil_mode = false;

  /// (n, c, length) -> (n, c, (length + 2 padding - dilation (kernel - 1) - 1) / stride + 1)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand: for MaxUnpool.
  PooledWithIndices<3> forward_with_indices(const Tensor<3>& x, Location where = Location::current()) const;
};

/// Averages to a given size: output i is the mean of the elements floor(i h / oh) to ceil((i + 1) h / oh).
/// Where the sizes divide, this is a view and one mean; otherwise the input is read oh + ow times.
struct SINTER_API AdaptiveAvgPool2d {
  std::array<std::int64_t, 2> output;  // {height, width}

  /// (n, c, h, w) -> (n, c, output height, output width)
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

struct SINTER_API AdaptiveAvgPool1d {
  std::int64_t output;
  /// (n, c, length) -> (n, c, output)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
};

/// The maximum of the same windows.
struct SINTER_API AdaptiveMaxPool2d {
  std::array<std::int64_t, 2> output;  // {height, width}
  /// (n, c, h, w) -> (n, c, output height, output width)
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand, the first of equal ones.
  PooledWithIndices<4> forward_with_indices(const Tensor<4>& x, Location where = Location::current()) const;
};

struct SINTER_API AdaptiveMaxPool1d {
  std::int64_t output;
  /// (n, c, length) -> (n, c, output)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand, the first of equal ones.
  PooledWithIndices<3> forward_with_indices(const Tensor<3>& x, Location where = Location::current()) const;
};

/// As AvgPool2d, over the last three dimensions.
struct SINTER_API AvgPool3d {
  std::array<std::int64_t, 3> kernel;  // {depth, height, width}
  std::optional<std::array<std::int64_t, 3>> stride = std::nullopt;
  std::array<std::int64_t, 3> padding{0, 0, 0};
  bool count_include_pad = true;
  bool ceil_mode = false;

  /// (n, c, d, h, w) -> (n, c, od, oh, ow)
  Tensor<5> forward(const Tensor<5>& x, Location where = Location::current()) const;
};

/// As MaxPool2d, over the last three dimensions.
struct SINTER_API MaxPool3d {
  std::array<std::int64_t, 3> kernel;  // {depth, height, width}
  std::optional<std::array<std::int64_t, 3>> stride = std::nullopt;
  std::array<std::int64_t, 3> padding{0, 0, 0}, dilation{1, 1, 1};
  bool ceil_mode = false;

  /// (n, c, d, h, w) -> (n, c, od, oh, ow)
  Tensor<5> forward(const Tensor<5>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand: for MaxUnpool.
  PooledWithIndices<5> forward_with_indices(const Tensor<5>& x, Location where = Location::current()) const;
};

/// As AdaptiveAvgPool2d and AdaptiveMaxPool2d, over the last three dimensions.
struct SINTER_API AdaptiveAvgPool3d {
  std::array<std::int64_t, 3> output;  // {depth, height, width}
  /// (n, c, d, h, w) -> (n, c, output ..)
  Tensor<5> forward(const Tensor<5>& x, Location where = Location::current()) const;
};

struct SINTER_API AdaptiveMaxPool3d {
  std::array<std::int64_t, 3> output;  // {depth, height, width}
  /// (n, c, d, h, w) -> (n, c, output ..)
  Tensor<5> forward(const Tensor<5>& x, Location where = Location::current()) const;
  /// The same, and where the maxima stand, the first of equal ones.
  PooledWithIndices<5> forward_with_indices(const Tensor<5>& x, Location where = Location::current()) const;
};

/// (sum of x^p)^(1/p) over each window, with no padding; where the sum is 0, so is the gradient. NaN where
/// the sum is negative, which it can be for an odd p. Throws Error when p is not positive.
struct SINTER_API LpPool2d {
  double p;
  std::array<std::int64_t, 2> kernel;  // {height, width}
  /// Defaults to the kernel's size: adjacent windows.
  std::optional<std::array<std::int64_t, 2>> stride = std::nullopt;
  /// The sum of a window that reaches over the end counts as a whole one: times kernel / elements, as in
  /// PyTorch.
  bool ceil_mode = false;

  /// (n, c, h, w) -> (n, c, oh, ow) with oh = (h - kernel) / stride + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

/// As LpPool2d, over the last dimension.
struct SINTER_API LpPool1d {
  double p;
  std::int64_t kernel;
  std::optional<std::int64_t> stride = std::nullopt;
  bool ceil_mode = false;

  /// (n, c, length) -> (n, c, (length - kernel) / stride + 1)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
};

/// Puts maxima back where they stood, and 0 elsewhere: the inverse of forward_with_indices(), as far as there
/// is one. PyTorch's MaxUnpool1d, 2d and 3d.
template <std::size_t N>
struct MaxUnpool {
  std::array<std::int64_t, N> output;  // the sizes behind the channels

  /// Both (n, c, ..) -> (n, c, output ..). Of several values for one place the last one counts. Throws
  /// ShapeError when the shapes differ or, when the result is read, where an index is none of the output.
  Tensor<N + 2> forward(const Tensor<N + 2>& values, const Tensor<N + 2, Int>& indices,
                        Location where = Location::current()) const {
    return Tensor<N + 2>(detail::max_unpool(values.dynamic(), indices.dynamic(), output, where));
  }
};

using MaxUnpool1d = MaxUnpool<1>;
using MaxUnpool2d = MaxUnpool<2>;
using MaxUnpool3d = MaxUnpool<3>;

}  // namespace sinter::nn
