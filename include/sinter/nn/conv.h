// Two-dimensional convolution.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/tensor.h>

namespace sinter::nn {

struct SINTER_API Conv2d {
  Tensor<4> weight;               // (c_out, c_in / groups, kernel height, kernel width)
  std::optional<Tensor<1>> bias;  // (c_out)
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;

  /// (n, c_in, h, w) -> (n, c_out, oh, ow) with oh = (h + 2 padding - dilation (kernel - 1) - 1) / stride
  /// + 1.
  Tensor<4> forward(const Tensor<4>& x, Location where = Location::current()) const;
};

struct SINTER_API Conv2dConfig {
  std::array<std::int64_t, 2> channels;  // {in, out}
  std::array<std::int64_t, 2> kernel;    // {height, width}
  std::array<std::int64_t, 2> stride{1, 1};
  std::array<std::int64_t, 2> padding{0, 0};  // zeros on both sides of {height, width}
  std::array<std::int64_t, 2> dilation{1, 1};
  std::int64_t groups = 1;
  bool bias = true;

  /// Weight and bias uniform in +-1 / sqrt(c_in / groups * kernel height * kernel width), as PyTorch does: K.
  /// He et al., "Delving deep into rectifiers", 2015, with a = sqrt 5. Throws ShapeError when a size is not
  /// positive or the groups do not divide the channels.
  Conv2d init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
