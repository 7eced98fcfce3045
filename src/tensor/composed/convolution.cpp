// Convolutions over one and three dimensions, and transposed ones; windows as columns by views.
#include <algorithm>
#include <string>
#include <vector>

#include <sinter/functions/convolution.h>

#include "src/base/size_arithmetic.h"
#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;

void check_rank(std::string_view name, const AnyTensor& x, std::size_t rank, const char* what,
                const Location& where) {
  const Shape& shape = tensor::value_of(name, x, where).shape;
  if (shape.rank() != rank)
    throw ShapeError("[" + std::string(name) + "] " + what + " has " + std::to_string(rank) +
                         " axes, not shape " + to_string(shape),
                     where);
}

template <std::size_t N>
void check_least(std::string_view name, const char* what, const std::array<std::int64_t, N>& values,
                 std::int64_t least, const Location& where) {
  for (const std::int64_t value : values)
    if (value < least)
      throw ShapeError("[" + std::string(name) + "] " + what + " is " + std::to_string(least) +
                           " or more, not " + std::to_string(value),
                       where);
}

/// A transposed convolution's size; throws where nothing would be left.
std::int64_t transposed_size(std::string_view name, std::int64_t size, std::int64_t kernel,
                             std::int64_t stride, std::int64_t padding, std::int64_t further,
                             std::int64_t dilation, const Location& where) {
  const std::string begin = "[" + std::string(name) + "] ";
  if (further >= std::max(stride, dilation))
    throw ShapeError(
        begin + "an output_padding is less than the stride or the dilation, not " + std::to_string(further),
        where);
  const base::SizeArithmetic sizes(name, where);
  const std::int64_t whole =
      sizes.sum(sizes.product(size - 1, stride), sizes.product(dilation, kernel - 1)) + 1;
  const std::int64_t result = whole - 2 * padding + further;
  if (size < 1 || result < 1)
    throw ShapeError(begin + "nothing is left of " + std::to_string(size) + " elements and a kernel of " +
                         std::to_string(kernel) + " with a padding of " + std::to_string(padding),
                     where);
  return result;
}

template <std::size_t N>
void check_transposed(std::string_view name, const AnyTensor& x, const AnyTensor& weight,
                      const ConvTransposeOptions<N>& options, const Location& where) {
  check_rank(name, x, N + 2, "the input", where);
  check_rank(name, weight, N + 2, "the weight", where);
  if (!tensor::autocasts()) tensor::check_same_dtype(name, x.dtype(), weight.dtype(), where);
  tensor::check_float(name, x.dtype(), where);
  check_least(name, "a stride", options.stride, 1, where);
  check_least(name, "a padding", options.padding, 0, where);
  check_least(name, "an output_padding", options.output_padding, 0, where);
  check_least(name, "a dilation", options.dilation, 1, where);
  const Shape& kernel = weight.shape();
  if (std::any_of(kernel.begin() + 2, kernel.end(), [](std::int64_t size) { return size < 1; }))
    throw ShapeError("[" + std::string(name) + "] weight " + to_string(kernel) + " has an empty kernel",
                     where);
  if (options.groups < 1 || x.shape()[1] % options.groups != 0 || x.shape()[1] != weight.shape()[0])
    throw ShapeError("[" + std::string(name) + "] input " + to_string(x.shape()) + ", weight " +
                         to_string(weight.shape()) + " and " + std::to_string(options.groups) +
                         " group(s) do not fit",
                     where);
}

/// What messages call a transposed convolution over two or three dims.
template <std::size_t N>
constexpr const char* kTransposed = N == 2 ? "conv_transpose2d" : "conv_transpose3d";

/// The ints of a convolution's op: stride, padding and dilation along each dim, groups.
template <class Options>
std::vector<std::int64_t> attributes_of(const Options& options) {
  std::vector<std::int64_t> all;
  for (const auto& numbers : {options.stride, options.padding, options.dilation})
    all.insert(all.end(), numbers.begin(), numbers.end());
  all.push_back(options.groups);
  return all;
}

/// Windows of `kernel` elements, `dilation` apart, of the axes from 2 on of an image.
AnyTensor dilated_windows(const AnyTensor& x, const WindowOptions& o, const Location& where) {
  A windows = x;
  std::vector<Range> ranges(4, all);
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t reach = o.dilation[i] * (o.kernel[i] - 1) + 1;
    windows = windows.windows(static_cast<std::int64_t>(i) + 2, reach, o.stride[i], where);
    ranges.push_back({std::nullopt, std::nullopt, o.dilation[i]});
  }
  return windows.slice(ranges, where);
}

void check_windows(std::string_view name, const WindowOptions& o, const Location& where) {
  check_least(name, "a size of the kernel", o.kernel, 1, where);
  check_least(name, "a stride", o.stride, 1, where);
  check_least(name, "a padding", o.padding, 0, where);
  check_least(name, "a dilation", o.dilation, 1, where);
}

/// Images (.., channels, height, width).
struct Images {
  Shape shape;
  std::int64_t count, channels, height, width;

  /// The shape with other last axes.
  Shape with(std::int64_t c, std::int64_t h, std::int64_t w) const {
    Shape sizes = shape;
    const std::size_t rank = shape.rank();
    sizes[rank - 3] = c;
    sizes[rank - 2] = h;
    sizes[rank - 1] = w;
    return sizes;
  }
};
Images images_of(std::string_view name, const AnyTensor& x, const Location& where) {
  const Shape& shape = tensor::value_of(name, x, where).shape;
  const std::size_t rank = shape.rank();
  if (rank < 3)
    throw ShapeError("[" + std::string(name) + "] takes images (.., channels, height, width), not shape " +
                         to_string(shape),
                     where);
  std::int64_t count = 1;
  for (std::size_t i = 0; i + 3 < rank; ++i) count *= shape[i];
  return {shape, count, shape[rank - 3], shape[rank - 2], shape[rank - 1]};
}

}  // namespace

AnyTensor conv1d(const AnyTensor& x, const AnyTensor& weight, const ConvOptions<1>& options, Location where) {
  check_rank("conv1d", x, 3, "the input", where);
  check_rank("conv1d", weight, 3, "the weight", where);
  const Conv2dOptions flat{.stride = {1, options.stride[0]},
                           .padding = {0, options.padding[0]},
                           .dilation = {1, options.dilation[0]},
                           .groups = options.groups};
  return x.unsqueeze(2, where).conv2d(weight.unsqueeze(2, where), flat, where).squeeze(2, where);
}

AnyTensor conv3d(const AnyTensor& x, const AnyTensor& weight, const ConvOptions<3>& options, Location where) {
  if (tensor::autocasts()) {
    const A cast_x = tensor::autocast_factor(x, where), cast_weight = tensor::autocast_factor(weight, where);
    const Autocast cast_already(std::nullopt);
    return conv3d(cast_x, cast_weight, options, where);
  }
  return tensor::convolve(Op::Conv3d, x, weight, attributes_of(options), Shape{}, where);
}

namespace {

/// A convolution's gradient of its input, over two or three dims.
template <std::size_t N>
A transposed(const A& x, const A& weight, const ConvTransposeOptions<N>& options, const Location& where);

/// An output_padding of a stride or more is less than the dilation. No convolution has the result as its
/// input then: it would have more outputs. So all that x gives is computed, and the result cut out of it.
template <std::size_t N>
A transposed_beyond_a_stride(const A& x, const A& weight, const ConvTransposeOptions<N>& options,
                             const Location& where) {
  ConvTransposeOptions<N> all = options;
  all.padding = all.output_padding = {};
  Dims before = Dims::filled(N + 2, 0), after = before;
  std::vector<Range> cut(2);
  for (std::size_t i = 0; i < N; ++i) {
    const std::int64_t size = x.shape()[i + 2], kernel = weight.shape()[i + 2], padding = options.padding[i];
    const auto size_of = [&](std::int64_t around, std::int64_t further) {
      return transposed_size(kTransposed<N>, size, kernel, options.stride[i], around, further,
                             options.dilation[i], where);
    };
    const std::int64_t end = padding + size_of(padding, options.output_padding[i]);
    after[i + 2] = std::max<std::int64_t>(end - size_of(0, 0), 0);
    cut.push_back(Range{padding, end});
  }
  return transposed(x, weight, all, where).pad(before, after, 0, where).slice(cut, where);
}

template <std::size_t N>
A transposed(const A& x, const A& weight, const ConvTransposeOptions<N>& options, const Location& where) {
  if (tensor::autocasts()) {
    const A cast_x = tensor::autocast_factor(x, where), cast_weight = tensor::autocast_factor(weight, where);
    const Autocast cast_already(std::nullopt);
    return transposed(cast_x, cast_weight, options, where);
  }
  check_transposed(kTransposed<N>, x, weight, options, where);
  for (std::size_t i = 0; i < N; ++i)
    if (options.output_padding[i] >= options.stride[i])
      return transposed_beyond_a_stride(x, weight, options, where);
  const Shape &in = x.shape(), &kernel = weight.shape();
  Shape out{in[0], kernel[1] * options.groups};
  for (std::size_t i = 0; i < N; ++i)
    out.push_back(transposed_size(kTransposed<N>, in[i + 2], kernel[i + 2], options.stride[i],
                                  options.padding[i], options.output_padding[i], options.dilation[i], where));
  return tensor::convolve(N == 2 ? Op::Conv2dBackwardInput : Op::Conv3dBackwardInput, x, weight,
                          attributes_of(options), out, where);
}

}  // namespace

AnyTensor conv_transpose1d(const AnyTensor& x, const AnyTensor& weight,
                           const ConvTransposeOptions<1>& options, Location where) {
  check_transposed("conv_transpose1d", x, weight, options, where);
  const ConvTransposeOptions<2> flat{.stride = {1, options.stride[0]},
                                     .padding = {0, options.padding[0]},
                                     .output_padding = {0, options.output_padding[0]},
                                     .dilation = {1, options.dilation[0]},
                                     .groups = options.groups};
  return conv_transpose2d(x.unsqueeze(2, where), weight.unsqueeze(2, where), flat, where).squeeze(2, where);
}

AnyTensor conv_transpose2d(const AnyTensor& x, const AnyTensor& weight,
                           const ConvTransposeOptions<2>& options, Location where) {
  return transposed(x, weight, options, where);
}

AnyTensor conv_transpose3d(const AnyTensor& x, const AnyTensor& weight,
                           const ConvTransposeOptions<3>& options, Location where) {
  return transposed(x, weight, options, where);
}

AnyTensor unfold(const AnyTensor& x, const WindowOptions& options, Location where) {
  check_rank("unfold", x, 4, "the input", where);
  check_windows("unfold", options, where);
  const Dims around{0, 0, options.padding[0], options.padding[1]};
  const A windows = dilated_windows(x.pad(around, around, 0, where), options, where);
  const Shape& w = windows.shape();  // n, c, oh, ow, kh, kw
  return windows.permute({0, 1, 4, 5, 2, 3}, where).reshape({w[0], w[1] * w[4] * w[5], w[2] * w[3]}, where);
}

AnyTensor fold(const AnyTensor& x, const std::array<std::int64_t, 2>& sizes, const WindowOptions& options,
               Location where) {
  check_rank("fold", x, 3, "the input", where);
  check_windows("fold", options, where);
  std::array<std::int64_t, 2> padded{}, count{};
  bool fits = true;
  for (std::size_t i = 0; i < 2; ++i) {
    padded[i] = sizes[i] + 2 * options.padding[i];
    const std::int64_t rest = padded[i] - options.dilation[i] * (options.kernel[i] - 1) - 1;
    fits = fits && rest >= 0;
    count[i] = rest / options.stride[i] + 1;
  }
  const Shape& shape = x.shape();
  const std::int64_t kernel = options.kernel[0] * options.kernel[1];
  if (!fits || shape[1] % kernel != 0 || shape[2] != count[0] * count[1])
    throw ShapeError("[fold] columns of shape " + to_string(shape) + " are not those of images of " +
                         std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " with a kernel of " +
                         std::to_string(options.kernel[0]) + " x " + std::to_string(options.kernel[1]),
                     where);
  const std::int64_t channels = shape[1] / kernel;
  const A parts =
      x.reshape({shape[0], channels, options.kernel[0], options.kernel[1], count[0], count[1]}, where);
  A sum;
  for (std::int64_t i = 0; i < options.kernel[0]; ++i)
    for (std::int64_t j = 0; j < options.kernel[1]; ++j) {
      const A part = parts.narrow(2, i, 1, where).narrow(3, j, 1, where).squeeze({2, 3}, where);
      const A placed = part.place({shape[0], channels, padded[0], padded[1]},
                                  {0, 0, i * options.dilation[0], j * options.dilation[1]},
                                  {1, 1, options.stride[0], options.stride[1]}, 0, where);
      sum = sum.defined() ? A::add(sum, placed, where) : placed;
    }
  return sum.narrow(2, options.padding[0], sizes[0], where).narrow(3, options.padding[1], sizes[1], where);
}

AnyTensor pixel_shuffle(const AnyTensor& x, std::int64_t factor, Location where) {
  const Images s = images_of("pixel_shuffle", x, where);
  const base::SizeArithmetic sizes("pixel_shuffle", where);
  if (factor < 1 || s.channels % sizes.product(factor, factor) != 0)
    throw ShapeError("[pixel_shuffle] the " + std::to_string(s.channels) + " channels of shape " +
                         to_string(x.shape()) + " are no multiple of " + std::to_string(factor) + " squared",
                     where);
  const std::int64_t channels = s.channels / (factor * factor);
  return x.reshape({s.count, channels, factor, factor, s.height, s.width}, where)
      .permute({0, 1, 4, 2, 5, 3}, where)
      .reshape(s.with(channels, sizes.product(s.height, factor), sizes.product(s.width, factor)), where);
}

AnyTensor pixel_unshuffle(const AnyTensor& x, std::int64_t factor, Location where) {
  const Images s = images_of("pixel_unshuffle", x, where);
  const base::SizeArithmetic sizes("pixel_unshuffle", where);
  if (factor < 1 || s.height % factor != 0 || s.width % factor != 0)
    throw ShapeError("[pixel_unshuffle] shape " + to_string(x.shape()) + " has no squares of " +
                         std::to_string(factor) + " x " + std::to_string(factor),
                     where);
  return x.reshape({s.count, s.channels, s.height / factor, factor, s.width / factor, factor}, where)
      .permute({0, 1, 3, 5, 2, 4}, where)
      .reshape(s.with(sizes.product(sizes.product(s.channels, factor), factor), s.height / factor,
                      s.width / factor),
               where);
}

}  // namespace sinter
