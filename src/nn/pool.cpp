// Average pooling, composed of views and reductions: needs no gradient rule of its own.
#include <string>

#include <sinter/nn/pool.h>

#include "src/nn/init.h"

namespace sinter::nn {
namespace {

AnyTensor windows_of(const AnyTensor& x, const std::array<std::int64_t, 2>& kernel,
                     const std::array<std::int64_t, 2>& stride, const std::array<std::int64_t, 2>& padding,
                     const Location& where) {
  AnyTensor padded = x;
  if (padding[0] != 0 || padding[1] != 0) {
    Dims around{0, 0, padding[0], padding[1]};
    padded = x.pad(around, around, 0.0, where);
  }
  return padded.windows(2, kernel[0], stride[0], where).windows(3, kernel[1], stride[1], where);
}

// Adaptive pooling along one dimension whose size does not divide: for each output a mask selects the
// elements of its window.
AnyTensor pool_unevenly(const AnyTensor& x, std::int64_t axis, std::int64_t output, const Location& where) {
  std::int64_t input = x.shape()[static_cast<std::size_t>(axis)];
  Device device = x.device().inner();
  AnyTensor at = AnyTensor::arange(0, output, 1, device, where).reshape({output, 1}, where);
  AnyTensor begin = AnyTensor::div(AnyTensor::mul(at, input, where), output, where);
  // ceil(a / b) = (a + b - 1) / b
  AnyTensor end = AnyTensor::div(AnyTensor::add(AnyTensor::mul(at, input, where), input + output - 1, where),
                                 output, where);
  AnyTensor place = AnyTensor::arange(0, input, 1, device, where).reshape({1, input}, where);
  AnyTensor inside = AnyTensor::logical_and(AnyTensor::greater_equal(place, begin, where),
                                            AnyTensor::less(place, end, where), where);
  AnyTensor count = AnyTensor::sub(end, begin, where).cast(x.dtype(), where);

  // The mask is (output, input); trailing dimensions of size 1 align both with `axis`.
  Dims mask_shape{output, input}, count_shape{output, 1};
  for (std::size_t i = static_cast<std::size_t>(axis) + 1; i < x.rank(); ++i) {
    mask_shape.push_back(1);
    count_shape.push_back(1);
  }
  AnyTensor spread = x.unsqueeze(axis, where);
  AnyTensor chosen = AnyTensor::where(inside.reshape(mask_shape, where), spread, 0.0, where);
  AnyTensor mean = AnyTensor::div(chosen.sum(axis + 1, where), count.reshape(count_shape, where), where);
  return mean.squeeze(axis + 1, where);
}

}  // namespace

Tensor<4> AvgPool2d::forward(const Tensor<4>& x, Location where) const {
  std::array<std::int64_t, 2> step = stride.value_or(kernel);
  for (int i : {0, 1}) {
    detail::require_positive("avg_pool2d", "a size of the kernel", kernel[i], where);
    detail::require_positive("avg_pool2d", "a stride", step[i], where);
    if (padding[i] < 0 || padding[i] > kernel[i] / 2)
      throw ShapeError("[avg_pool2d] a padding is " + std::to_string(padding[i]) +
                           ", expected 0 to half of the kernel's " + std::to_string(kernel[i]),
                       where);
    if (x.shape()[i + 2] < kernel[i] - 2 * padding[i])
      throw ShapeError("[avg_pool2d] a window of " + std::to_string(kernel[i]) + " does not fit in the " +
                           std::to_string(x.shape()[i + 2]) + " elements of the input " +
                           to_string(x.shape()) + " with a padding of " + std::to_string(padding[i]),
                       where);
  }
  const Axes inside{4, 5};
  AnyTensor sum = windows_of(x.any(), kernel, step, padding, where).sum(inside, where);
  AnyTensor mean;
  if (count_include_pad) {
    mean = AnyTensor::mul(sum, 1.0 / static_cast<double>(kernel[0] * kernel[1]), where);
  } else {
    Shape image{1, 1, x.shape()[2], x.shape()[3]};
    AnyTensor ones = AnyTensor::full(image, 1.0, x.any().dtype(), x.device().inner(), where);
    mean = AnyTensor::div(sum, windows_of(ones, kernel, step, padding, where).sum(inside, where), where);
  }
  return Tensor<4>(mean.squeeze(inside, where));
}

Tensor<4> AdaptiveAvgPool2d::forward(const Tensor<4>& x, Location where) const {
  const Shape& in = x.shape();
  for (int i : {0, 1}) {
    detail::require_positive("adaptive_avg_pool2d", "a size of the output", output[i], where);
    detail::require_positive("adaptive_avg_pool2d", "a size of the image", in[i + 2], where);
  }
  if (in[2] % output[0] == 0 && in[3] % output[1] == 0) {
    AnyTensor blocks =
        x.any().reshape({in[0], in[1], output[0], in[2] / output[0], output[1], in[3] / output[1]}, where);
    return Tensor<4>(blocks.mean({3, 5}, where).squeeze({3, 5}, where));
  }
  return Tensor<4>(pool_unevenly(pool_unevenly(x.any(), 2, output[0], where), 3, output[1], where));
}

}  // namespace sinter::nn
