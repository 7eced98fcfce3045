// Convolutions in groups of several channels, and their gradients: which groups are multiplied side by side
// follows from how many channels they have.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/convolutions.h"

namespace sinter::testing {

TEST_CASE("groups that fill lines side by side") {
  const std::vector<ConvolutionCase> cases{
      {2, 64, 5, 6, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 8},     // all of them are one product
      {2, 128, 5, 4, 128, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 32},  // two products of 16 groups
      {1, 128, 4, 6, 256, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},  // more channels of the result
      {2, 256, 3, 5, 128, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 16},  // fewer
      {2, 128, 4, 4, 128, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},   // each is a line
      {1, 64, 1, 1, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 8},     // of one pixel
      {0, 64, 5, 6, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 8},     // of none
  };
  check(cases);
  check_halves(cases);
}

TEST_CASE("groups with strides, dilation and other kernels") {
  const std::vector<ConvolutionCase> cases{
      {2, 128, 7, 8, 128, {3, 3}, {2, 2}, {1, 1}, {1, 1}, 16},
      {1, 128, 9, 7, 64, {3, 3}, {1, 1}, {2, 2}, {2, 2}, 8},
      {2, 128, 6, 5, 128, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 4},
      {2, 128, 6, 5, 128, {1, 1}, {2, 2}, {0, 0}, {1, 1}, 16},
      {1, 128, 7, 9, 128, {1, 3}, {1, 1}, {0, 1}, {1, 1}, 32},
      {1, 128, 8, 8, 128, {5, 4}, {2, 3}, {2, 1}, {1, 1}, 8},
  };
  check(cases);
  check_halves(cases);
}

TEST_CASE("groups that fill no lines") {
  const std::vector<ConvolutionCase> cases{
      {2, 6, 5, 6, 4, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 2},
      {1, 21, 5, 5, 35, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 7},
      {2, 30, 6, 5, 20, {3, 3}, {2, 1}, {1, 1}, {1, 1}, 5},
      {1, 96, 5, 4, 72, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 12},
      {1, 144, 4, 5, 144, {3, 3}, {1, 1}, {1, 1}, {1, 1}, 3},
      {2, 100, 3, 4, 50, {1, 1}, {1, 1}, {0, 0}, {1, 1}, 2},
  };
  check(cases);
  check_halves(cases);
}

TEST_CASE("groups of an image that is one pixel, or line, many times, which no tiles compute") {
  const auto results = [](const Device& plain, DType dtype, const Dims& own, const Dims& shown,
                          const Dims& kernel) {
    const Device device = plain.autodiff();
    const MatmulPrecisionScope scope(MatmulPrecision::High);
    const AnyTensor pixel = numbers(Shape(own), device, 1), x = pixel.cast(dtype).detach().require_grad(),
                    weight = numbers(Shape(kernel), device, 2).cast(dtype).detach().require_grad();
    const AnyTensor y = x.expand(shown).conv2d(weight, {.groups = 8}),
                    scale = numbers({1, y.shape()[1], 1, 1}, device, 3).cast(dtype);
    // The gradient of y is one pixel, too.
    const AnyTensor loss = AnyTensor::mul(y, scale).cast(DType::f32);
    const Gradients gradients = loss.sum(loss.all_axes()).reshape({}).backward();
    std::vector<std::vector<float>> values;
    for (const AnyTensor& of : {y, *gradients.get(x), *gradients.get(weight)})
      values.push_back(values_of(of.cast(DType::f32)));
    return values;
  };
  for (const DType dtype : {DType::f32, DType::f16})
    for (const auto& [own, shown, kernel] : {
             std::tuple<Dims, Dims, Dims>{{1, 64, 1, 1}, {2, 64, 3, 4}, {64, 8, 3, 3}},
             {{1, 64, 1, 1}, {1, 64, 3, 3}, {64, 8, 2, 2}},
             {{1, 64, 1, 5}, {1, 64, 3, 5}, {64, 8, 3, 5}},
             {{1, 64, 3, 4}, {1, 64, 3, 4}, {64, 8, 1, 1}},
             {{2, 64, 3, 4}, {2, 64, 3, 4}, {64, 8, 1, 1}},
         }) {
      INFO(sinter::name_of(dtype));
      CAPTURE(to_string(Shape(shown)));
      check_same(results(test_device(), dtype, own, shown, kernel),
                 results(Device::host(), dtype, own, shown, kernel));
    }
  const auto finite = [](const Device& device) {
    std::vector<float> pixel(64, 1.0f);
    pixel[21] = INFINITY;
    const AnyTensor x = tensor_of(pixel, {1, 64, 1, 1}, device).cast(DType::bf16).expand({2, 64, 3, 4}),
                    weight = numbers({64, 8, 2, 2}, device, 2).cast(DType::bf16);
    std::vector<bool> is_finite;
    for (const float value : values_of(x.conv2d(weight, {.groups = 8}).cast(DType::f32)))
      is_finite.push_back(std::isfinite(value));
    return is_finite;
  };
  CHECK(finite(test_device()) == finite(Device::host()));
}

TEST_CASE("an infinite element reaches the results of its group, and no others") {
  // Groups side by side meet weights of 0: a product would make the others' results NaN.
  const auto finite = [](const Device& plain, DType dtype, MatmulPrecision precision, std::int64_t stride,
                         std::int64_t channels) {
    const std::int64_t groups = channels == 64 ? 8 : 2;
    const auto with_infinity = [&](const Shape& shape, const Device& device) {
      std::vector<float> values(static_cast<std::size_t>(shape.numel()), 1.0f);
      values[values.size() / 3] = INFINITY;
      return tensor_of(values, shape, device).cast(dtype).detach();
    };
    const Device device = plain.autodiff();
    const MatmulPrecisionScope scope(precision);
    const AnyTensor x = with_infinity({2, channels, 6, 5}, device).require_grad(),
                    weight =
                        numbers({channels, channels / groups, 2 * stride, 2 * stride}, device, 1).cast(dtype);
    const AnyTensor y = x.conv2d(weight, {.stride = {stride, stride}, .padding = {1, 1}, .groups = groups});
    const AnyTensor product = AnyTensor::mul(y, with_infinity(y.shape(), device));
    const Gradients gradients = product.cast(DType::f32).sum(product.all_axes()).reshape({}).backward();
    std::vector<bool> is_finite;
    for (const AnyTensor& of : {y, *gradients.get(x)})
      for (const float value : values_of(of.cast(DType::f32))) is_finite.push_back(std::isfinite(value));
    return is_finite;
  };
  for (const std::int64_t stride : {1, 2})
    for (const DType dtype : {DType::bf16, DType::f32})
      for (const MatmulPrecision precision :
           {MatmulPrecision::Highest, MatmulPrecision::High, MatmulPrecision::Medium}) {
        INFO(sinter::name_of(dtype));
        INFO(sinter::name_of(precision));
        CAPTURE(stride);
        for (const std::int64_t channels : {64, 6}) {
          const std::vector<bool> expected =
              finite(Device::host(), dtype, MatmulPrecision::Highest, stride, channels);
          CHECK(finite(test_device(), dtype, precision, stride, channels) == expected);
          CHECK(std::count(expected.begin(), expected.end(), false) >= 8);
        }
      }
}

}  // namespace sinter::testing
