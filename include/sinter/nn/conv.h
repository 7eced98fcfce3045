// Convolutions and transposed convolutions over one, two and three dimensions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sinter/detail/api.h>
#include <sinter/device.h>
#include <sinter/nn/init.h>
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
  /// Of the weight.
  Initializer initializer = init::lecun_uniform();

  /// Weight, unless told otherwise, and bias uniform in +-1 / sqrt(c_in / groups * kernel height * kernel
  /// width), as PyTorch does: K. He et al., "Delving deep into rectifiers", 2015, with a = sqrt 5. Throws
  /// ShapeError when a size is not positive or the groups do not divide the channels.
  Conv2d init(const Device& device, Location where = Location::current()) const;
};

/// `value` N times.
template <std::size_t N>
constexpr std::array<std::int64_t, N> filled(std::int64_t value) {
  std::array<std::int64_t, N> all{};
  for (std::int64_t& one : all) one = value;
  return all;
}

/// The padding with which a convolution of stride 1 gives what has its input's size: dilation (kernel - 1) /
/// 2 on both sides. Throws ShapeError where that is no integer, as for even kernels.
template <std::size_t N>
std::array<std::int64_t, N> same_padding(const std::array<std::int64_t, N>& kernel,
                                         const std::array<std::int64_t, N>& dilation = filled<N>(1),
                                         Location where = Location::current()) {
  std::array<std::int64_t, N> padding{};
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t both = dilation[i] * (kernel[i] - 1);
    if (both < 0 || both % 2 != 0)
      throw ShapeError("[same_padding] a kernel of " + std::to_string(kernel[i]) + " with dilation " +
                           std::to_string(dilation[i]) + " has no middle",
                       where);
    padding[i] = both / 2;
  }
  return padding;
}

/// As Conv2d, over the last N dimensions.
template <std::size_t N>
struct SINTER_API Conv {
  Tensor<N + 2> weight;           // (c_out, c_in / groups, kernel ..)
  std::optional<Tensor<1>> bias;  // (c_out)
  std::array<std::int64_t, N> stride = filled<N>(1), padding = filled<N>(0), dilation = filled<N>(1);
  std::int64_t groups = 1;

  /// (n, c_in, ..) -> (n, c_out, ..)
  Tensor<N + 2> forward(const Tensor<N + 2>& x, Location where = Location::current()) const;
};

template <std::size_t N>
struct SINTER_API ConvConfig {
  std::array<std::int64_t, 2> channels;  // {in, out}
  std::array<std::int64_t, N> kernel;
  std::array<std::int64_t, N> stride = filled<N>(1), padding = filled<N>(0), dilation = filled<N>(1);
  std::int64_t groups = 1;
  bool bias = true;
  Initializer initializer = init::lecun_uniform();

  /// As Conv2dConfig.
  Conv<N> init(const Device& device, Location where = Location::current()) const;
};

/// What a convolution of the same settings does to its input's gradient, in the dimensions of that: the input
/// with stride - 1 zeros between its elements, and then a convolution with the kernel reversed.
template <std::size_t N>
struct SINTER_API ConvTranspose {
  Tensor<N + 2> weight;           // (c_in, c_out / groups, kernel ..)
  std::optional<Tensor<1>> bias;  // (c_out)
  std::array<std::int64_t, N> stride = filled<N>(1), padding = filled<N>(0), dilation = filled<N>(1);
  /// Makes the output larger at its end: several input sizes of a strided convolution give one output size.
  std::array<std::int64_t, N> output_padding = filled<N>(0);
  std::int64_t groups = 1;

  /// (n, c_in, ..) -> (n, c_out, ..) with sizes (i - 1) stride - 2 padding + dilation (kernel - 1) +
  /// output_padding + 1.
  Tensor<N + 2> forward(const Tensor<N + 2>& x, Location where = Location::current()) const;
};

template <std::size_t N>
struct SINTER_API ConvTransposeConfig {
  std::array<std::int64_t, 2> channels;  // {in, out}
  std::array<std::int64_t, N> kernel;
  std::array<std::int64_t, N> stride = filled<N>(1), padding = filled<N>(0), dilation = filled<N>(1);
  std::array<std::int64_t, N> output_padding = filled<N>(0);
  std::int64_t groups = 1;
  bool bias = true;
  Initializer initializer = init::lecun_uniform();

  /// As Conv2dConfig, with c_out / groups in the place of c_in / groups, as PyTorch does. Throws Error when
  /// an output padding is not less than stride or dilation.
  ConvTranspose<N> init(const Device& device, Location where = Location::current()) const;
};

using Conv1d = Conv<1>;
using Conv3d = Conv<3>;
using Conv1dConfig = ConvConfig<1>;
using Conv3dConfig = ConvConfig<3>;
using ConvTranspose1d = ConvTranspose<1>;
using ConvTranspose2d = ConvTranspose<2>;
using ConvTranspose3d = ConvTranspose<3>;
using ConvTranspose1dConfig = ConvTransposeConfig<1>;
using ConvTranspose2dConfig = ConvTransposeConfig<2>;
using ConvTranspose3dConfig = ConvTransposeConfig<3>;

}  // namespace sinter::nn
