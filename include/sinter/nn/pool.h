// Average pooling over the last two dimensions of images.
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

/// Averages to a given size: output i is the mean of the elements floor(i h / oh) to ceil((i + 1) h / oh).
/// Where the sizes divide, this is a view and one mean; otherwise the input is read oh + ow times.
struct SINTER_API AdaptiveAvgPool2d {
  std::array<std::int64_t, 2> output;  // {height, width}

  /// (n, c, h, w) -> (n, c, output height, output width)
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

}  // namespace sinter::nn
