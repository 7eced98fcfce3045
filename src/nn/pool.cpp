// Pooling, composed of views and reductions: needs no gradient rule of its own.
#include <limits>
#include <string>

#include <sinter/nn/pool.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

using A = AnyTensor;
using Pair = std::array<std::int64_t, 2>;

constexpr double kLowest = -std::numeric_limits<double>::infinity();

/// (n, c, oh, ow, kernel height, kernel width)
A windows_of(const A& x, const Pair& kernel, const Pair& stride, const Pair& padding, const Pair& dilation,
             double around, const Location& where) {
  A padded = x;
  if (padding[0] != 0 || padding[1] != 0) {
    Dims sizes{0, 0, padding[0], padding[1]};
    padded = x.pad(sizes, sizes, around, where);
  }
  Pair reach;
  for (std::size_t i : {0u, 1u}) reach[i] = dilation[i] * (kernel[i] - 1) + 1;
  A windows = padded.windows(2, reach[0], stride[0], where).windows(3, reach[1], stride[1], where);
  if (dilation != Pair{1, 1}) {
    const std::array<Range, 6> ranges{Range{},
                                      Range{},
                                      Range{},
                                      Range{},
                                      Range{0, std::nullopt, dilation[0]},
                                      Range{0, std::nullopt, dilation[1]}};
    windows = windows.slice(ranges, where);
  }
  return windows;
}

void check(const char* layer, const Shape& shape, const Pair& kernel, const Pair& stride, const Pair& padding,
           const Pair& dilation, const Location& where) {
  for (std::size_t i : {0u, 1u}) {
    detail::require_positive(layer, "a size of the kernel", kernel[i], where);
    detail::require_positive(layer, "a stride", stride[i], where);
    detail::require_positive(layer, "a dilation", dilation[i], where);
    if (padding[i] < 0 || padding[i] > kernel[i] / 2)
      throw ShapeError("[" + std::string(layer) + "] a padding is " + std::to_string(padding[i]) +
                           ", expected 0 to half of the kernel's " + std::to_string(kernel[i]),
                       where);
    const std::int64_t reach = dilation[i] * (kernel[i] - 1) + 1;
    if (shape[i + 2] < reach - 2 * padding[i])
      throw ShapeError("[" + std::string(layer) + "] a window of " + std::to_string(reach) +
                           " does not fit in the " + std::to_string(shape[i + 2]) +
                           " elements of the input " + to_string(shape) + " with a padding of " +
                           std::to_string(padding[i]),
                       where);
  }
}

/// Adaptive pooling along one dimension whose size does not divide: for each output a mask selects the
/// elements of its window.
A pool_unevenly(const A& x, std::int64_t axis, std::int64_t output, bool largest, const Location& where) {
  std::int64_t input = x.shape()[static_cast<std::size_t>(axis)];
  Device device = x.device().inner();
  A at = A::arange(0, output, 1, device, where).reshape({output, 1}, where);
  A begin = A::div(A::mul(at, input, where), output, where);
  // ceil(a / b) = (a + b - 1) / b
  A end = A::div(A::add(A::mul(at, input, where), input + output - 1, where), output, where);
  A place = A::arange(0, input, 1, device, where).reshape({1, input}, where);
  A inside = A::logical_and(A::greater_equal(place, begin, where), A::less(place, end, where), where);
  A count = A::sub(end, begin, where).cast(x.dtype(), where);

  // The mask is (output, input); trailing dimensions of size 1 align both with `axis`.
  Dims mask_shape{output, input}, count_shape{output, 1};
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.rank(); ++i) {
    mask_shape.push_back(1);
    count_shape.push_back(1);
  }
  A spread = x.unsqueeze(axis, where);
  A chosen = A::where(inside.reshape(mask_shape, where), spread, largest ? kLowest : 0.0, where);
  A pooled = largest ? chosen.max(axis + 1, where)
                     : A::div(chosen.sum(axis + 1, where), count.reshape(count_shape, where), where);
  return pooled.squeeze(axis + 1, where);
}

A adaptive_pool(const char* layer, const A& x, const Pair& output, bool largest, const Location& where) {
  const Shape& in = x.shape();
  for (std::size_t i : {0u, 1u}) {
    detail::require_positive(layer, "a size of the output", output[i], where);
    detail::require_positive(layer, "a size of the image", in[i + 2], where);
  }
  if (in[2] % output[0] == 0 && in[3] % output[1] == 0) {
    A blocks = x.reshape({in[0], in[1], output[0], in[2] / output[0], output[1], in[3] / output[1]}, where);
    return (largest ? blocks.max({3, 5}, where) : blocks.mean({3, 5}, where)).squeeze({3, 5}, where);
  }
  return pool_unevenly(pool_unevenly(x, 2, output[0], largest, where), 3, output[1], largest, where);
}

/// A layer over one dimension is one over images of height 1.
template <class Layer>
Tensor<3> as_image(const Layer& layer, const Tensor<3>& x, const Location& where) {
  return Tensor<3>(
      layer.forward(Tensor<4>(x.dynamic().unsqueeze(2, where)), where).dynamic().squeeze(2, where));
}

std::optional<Pair> wide(const std::optional<std::int64_t>& stride) {
  return stride ? std::optional<Pair>(Pair{1, *stride}) : std::nullopt;
}

}  // namespace

Tensor<4> AvgPool2d::forward(const Tensor<4>& x, Location where) const {
  const Pair step = stride.value_or(kernel);
  check("avg_pool2d", x.shape(), kernel, step, padding, {1, 1}, where);
  const Axes inside{4, 5};
  A sum = windows_of(x.dynamic(), kernel, step, padding, {1, 1}, 0, where).sum(inside, where);
  A mean;
  if (count_include_pad) {
    mean = A::mul(sum, 1.0 / static_cast<double>(kernel[0] * kernel[1]), where);
  } else {
    Shape image{1, 1, x.shape()[2], x.shape()[3]};
    A ones = A::full(image, 1.0, x.dtype(), x.device().inner(), where);
    mean = A::div(sum, windows_of(ones, kernel, step, padding, {1, 1}, 0, where).sum(inside, where), where);
  }
  return Tensor<4>(mean.squeeze(inside, where));
}

Tensor<4> MaxPool2d::forward(const Tensor<4>& x, Location where) const {
  const Pair step = stride.value_or(kernel);
  check("max_pool2d", x.shape(), kernel, step, padding, dilation, where);
  const Axes inside{4, 5};
  const A windows = windows_of(x.dynamic(), kernel, step, padding, dilation, kLowest, where);
  return Tensor<4>(windows.max(inside, where).squeeze(inside, where));
}

Tensor<3> AvgPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AvgPool2d{{1, kernel}, wide(stride), {0, padding}, count_include_pad}, x, where);
}

Tensor<3> MaxPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(MaxPool2d{{1, kernel}, wide(stride), {0, padding}, {1, dilation}}, x, where);
}

Tensor<4> AdaptiveAvgPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(adaptive_pool("adaptive_avg_pool2d", x.dynamic(), output, false, where));
}

Tensor<4> AdaptiveMaxPool2d::forward(const Tensor<4>& x, Location where) const {
  return Tensor<4>(adaptive_pool("adaptive_max_pool2d", x.dynamic(), output, true, where));
}

Tensor<3> AdaptiveAvgPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AdaptiveAvgPool2d{{1, output}}, x, where);
}

Tensor<3> AdaptiveMaxPool1d::forward(const Tensor<3>& x, Location where) const {
  return as_image(AdaptiveMaxPool2d{{1, output}}, x, where);
}

}  // namespace sinter::nn
