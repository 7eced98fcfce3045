// Pooling over the last one or two dimensions: the mean or the maximum of each window.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// The mean of each window.
struct SINTER_API AvgPool2d {
  std::array<std::int64_t, 2> kernel;  // {height, width}
  /// Defaults to the kernel's size: adjacent windows.
  std::optional<std::array<std::int64_t, 2>> stride = std::nullopt;
  /// Zeros on both sides, at most half the kernel.
  std::array<std::int64_t, 2> padding{0, 0};
  /// Divide by the size of the whole window; false: by the number of its elements inside the image.
  bool count_include_pad = true;

  /// (n, c, h, w) -> (n, c, oh, ow) with oh = (h + 2 padding - kernel) / stride + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

/// As AvgPool2d, over the last dimension.
struct SINTER_API AvgPool1d {
  std::int64_t kernel;
  std::optional<std::int64_t> stride = std::nullopt;
  std::int64_t padding = 0;
  bool count_include_pad = true;

  /// (n, c, length) -> (n, c, (length + 2 padding - kernel) / stride + 1)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
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

  /// (n, c, h, w) -> (n, c, oh, ow) with oh = (h + 2 padding - dilation (kernel - 1) - 1) / stride + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

/// As MaxPool2d, over the last dimension.
struct SINTER_API MaxPool1d {
  std::int64_t kernel;
  std::optional<std::int64_t> stride = std::nullopt;
  std::int64_t padding = 0, dilation = 1;

  /// (n, c, length) -> (n, c, (length + 2 padding - dilation (kernel - 1) - 1) / stride + 1)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
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
};

struct SINTER_API AdaptiveMaxPool1d {
  std::int64_t output;
  /// (n, c, length) -> (n, c, output)
  Tensor<3> forward(const Tensor<3>& x, Location where = Location::current()) const;
};

}  // namespace sinter::nn
