// Convolution whose kernel reads the image at points that are part of its input.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/init.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// X. Zhu et al., "Deformable ConvNets v2", CVPR 2019, as torchvision's deform_conv2d: element (i, j) of the
/// kernel reads the image at its usual place plus an offset, between pixels bilinearly, 0 outside, and times
/// the mask, if any.
struct SINTER_API DeformConv2d {
  Tensor<4> weight;               // (c_out, c_in / groups, kernel height, kernel width)
  std::optional<Tensor<1>> bias;  // (c_out)
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1;
  /// Channels are split among so many fields of offsets.
  std::int64_t offset_groups = 1;

  /// x (n, c_in, h, w), offset (n, 2 offset_groups kernel, oh, ow) with the channels of a point one behind
  /// the other, first down, then right; mask (n, offset_groups kernel, oh, ow) -> (n, c_out, oh, ow), sizes
  /// as Conv2d's. Differentiable in all of them.
  Tensor<4> forward(const Tensor<4>& x, const Tensor<4>& offset,
                    const std::optional<Tensor<4>>& mask = std::nullopt,
                    Location where = Location::current()) const;
};

struct SINTER_API DeformConv2dConfig {
  std::array<std::int64_t, 2> channels;  // {in, out}
  std::array<std::int64_t, 2> kernel;    // {height, width}
  std::array<std::int64_t, 2> stride{1, 1}, padding{0, 0}, dilation{1, 1};
  std::int64_t groups = 1, offset_groups = 1;
  bool bias = true;
  /// Of the weight.
  Initializer initializer = init::lecun_uniform();

  /// As Conv2dConfig. Throws ShapeError too when the offset groups do not divide the channels in.
  DeformConv2d init(const Device& device, Location where = Location::current()) const;
};

}  // namespace sinter::nn
