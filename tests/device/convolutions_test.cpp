// Convolutions and their gradients over a grid of shapes, in each precision that f32 may be multiplied in.
#include "tests/support/convolutions.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

namespace sinter::testing {

TEST_CASE("convolutions of images whose channels are whole lines") {
  check({
      {2, 64, 6, 7, 64},
      {1, 64, 8, 8, 128},
      {3, 128, 5, 4, 64},
      {1, 32, 9, 5, 96},
      {2, 64, 1, 1, 64},
      {2, 64, 1, 9, 64},
      {2, 64, 9, 1, 64},
  });
}

TEST_CASE("convolutions with strides, dilation, and frames that are wider than the kernel reaches") {
  check({
      {2, 64, 8, 8, 64, {3, 3}, {2, 2}},
      {2, 64, 7, 9, 64, {3, 3}, {2, 3}},
      {1, 64, 9, 8, 64, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
      {2, 64, 8, 6, 64, {3, 3}, {2, 2}, {2, 2}, {2, 2}},
      {1, 64, 5, 6, 64, {3, 3}, {1, 1}, {4, 3}},
      {1, 64, 6, 5, 64, {3, 2}, {2, 1}, {5, 0}},
      {1, 64, 6, 7, 64, {2, 3}, {1, 1}, {3, 4}, {2, 1}},
      {2, 64, 6, 6, 64, {1, 1}, {2, 2}, {0, 0}},
      {2, 64, 5, 7, 64, {1, 1}, {1, 1}, {0, 0}},
      {2, 64, 5, 7, 64, {1, 1}, {2, 1}, {1, 1}},
  });
}

TEST_CASE("convolutions with kernels along one dim, and over all of the image") {
  check({
      {2, 64, 7, 6, 64, {1, 3}, {1, 1}, {0, 1}},
      {2, 64, 7, 6, 64, {3, 1}, {1, 1}, {1, 0}},
      {2, 64, 7, 6, 64, {3, 1}, {2, 1}, {1, 0}},
      {2, 64, 7, 6, 64, {1, 3}, {1, 1}, {0, 0}},
      {2, 64, 7, 6, 64, {3, 1}, {1, 1}, {0, 0}},
      {3, 64, 4, 5, 64, {4, 5}, {1, 1}, {0, 0}},
      {3, 64, 4, 2, 64, {4, 2}, {1, 1}, {1, 0}},
      {5, 64, 2, 2, 64, {2, 2}, {1, 1}, {0, 0}},
      {1, 64, 12, 12, 64, {7, 5}, {1, 1}, {3, 2}},
  });
}

TEST_CASE("convolutions with other numbers of channels") {
  check({
      {2, 3, 8, 7, 64},
      {2, 8, 6, 6, 24},
      {1, 72, 5, 5, 40},
      {2, 64, 5, 6, 10},
      {2, 10, 5, 6, 64},
      {1, 5, 7, 7, 3, {3, 3}, {2, 2}},
      {2, 32, 5, 6, 33, {3, 3}, {2, 1}, {1, 2}},
      {2, 96, 5, 6, 24, {3, 3}, {2, 2}},
      {1, 61, 6, 5, 48},
      {2, 24, 7, 5, 61, {3, 2}, {1, 1}, {2, 0}, {1, 2}},
      {1, 16, 6, 6, 80, {5, 5}, {1, 1}, {0, 3}},
      {2, 8, 3, 4, 6, {3, 1}, {1, 1}, {0, 0}},  // lines of half a piece
      {2, 8, 3, 12, 4, {2, 1}, {1, 1}, {0, 0}},
  });
}

TEST_CASE("convolutions of images of few channels, whose pixels are less than lanes load at once") {
  const std::vector<ConvolutionCase> cases{
      {2, 3, 15, 14, 64, {7, 7}, {2, 2}, {3, 3}},
      {1, 3, 9, 17, 24, {3, 3}, {1, 1}, {1, 1}},
      {2, 1, 12, 13, 16, {5, 5}, {1, 1}, {2, 2}},
      {1, 2, 11, 16, 32, {3, 5}, {1, 4}, {0, 2}},
      {2, 5, 6, 7, 40, {3, 3}, {3, 2}, {1, 0}},
      {1, 3, 8, 9, 64, {3, 4}, {2, 2}, {2, 1}, {2, 2}},
      {1, 4, 8, 8, 8, {3, 3}},
      {1, 7, 6, 9, 12, {2, 3}, {1, 1}, {0, 1}},
  };
  check(cases);
  check_halves(cases);
}

TEST_CASE("an infinite pixel reaches the results whose windows have it, and no others") {
  const auto check = [](DType dtype, std::int64_t channels) {
    INFO(sinter::name_of(dtype));
    CAPTURE(channels);
    const auto finite = [&](const Device& device) {
      std::vector<float> pixels(static_cast<std::size_t>(channels) * 12 * 13, 1.0f);
      pixels[12 * 13 + 5 * 13 + 7] = INFINITY;
      const AnyTensor x = tensor_of(pixels, {1, channels, 12, 13}, device).cast(dtype),
                      weight = numbers({16, channels, 3, 3}, device, 1).cast(dtype);
      const MatmulPrecisionScope scope(MatmulPrecision::Medium);
      std::vector<bool> is_finite;
      for (const float y : values_of(x.conv2d(weight, {.padding = {1, 1}}).cast(DType::f32)))
        is_finite.push_back(std::isfinite(y));
      return is_finite;
    };
    const std::vector<bool> expected = finite(Device::host());
    CHECK(finite(test_device()) == expected);
    CHECK(std::count(expected.begin(), expected.end(), false) > 16);
  };
  // Pixels that are filled with zeros, and lines that are.
  for (const DType dtype : {DType::f32, DType::bf16})
    for (const std::int64_t channels : {3, 24, 61}) check(dtype, channels);
}

TEST_CASE("convolutions one after the other, with what stands between them") {
  const auto found = [](const Device& plain, MatmulPrecision precision) {
    const Device device = plain.autodiff();
    const AnyTensor x = numbers({2, 3, 8, 6}, device, 1).require_grad(),
                    first = numbers({64, 3, 3, 3}, device, 2).require_grad(),
                    second = numbers({64, 64, 3, 3}, device, 3).require_grad(),
                    third = numbers({64, 64, 1, 1}, device, 4).require_grad(),
                    bias = numbers({1, 64, 1, 1}, device, 5).require_grad();
    const MatmulPrecisionScope scope(precision);
    // Cut to few bits again, so that all is exact.
    const auto few = [](const AnyTensor& y) { return AnyTensor::minimum(AnyTensor::maximum(y, -2.0), 2.0); };
    const AnyTensor y = few(x.conv2d(first, {.padding = {1, 1}}));
    const AnyTensor z = few(AnyTensor::add(y.conv2d(second, {.padding = {1, 1}}), bias));
    const AnyTensor smaller = few(AnyTensor::add(z, y)).conv2d(third, {.stride = {2, 2}});
    const AnyTensor pooled = smaller.sum({2, 3});
    const AnyTensor loss = AnyTensor::mul(pooled, numbers(pooled.shape(), device, 6));
    const Gradients gradients = loss.sum(loss.all_axes()).reshape({}).backward();
    std::vector<std::vector<float>> values{values_of(smaller), values_of(pooled)};
    for (const AnyTensor& leaf : {x, first, second, third, bias})
      values.push_back(values_of(*gradients.get(leaf)));
    return values;
  };
  const auto expected = found(Device::host(), MatmulPrecision::Highest);
  // Gradients are no small numbers: those that bf16 has no digits for are left to tf32.
  const auto exact = found(test_device(), MatmulPrecision::Highest);
  CHECK(exact == expected);
  for (const MatmulPrecision precision : {MatmulPrecision::High, MatmulPrecision::Medium}) {
    INFO(sinter::name_of(precision));
    const auto values = found(test_device(), precision);
    CHECK(values[0] == expected[0]);
    CHECK(values[1] == expected[1]);
    for (std::size_t k = 2; k < values.size(); ++k) check_near(values[k], expected[k]);
  }
}

}  // namespace sinter::testing
