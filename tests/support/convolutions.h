// Convolutions and their gradients on the test device beside the host's: values are small whole numbers, so
// that every result is exact, whatever order it is added up in.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {

struct ConvolutionCase {
  std::int64_t images, channels, height, width, outputs;
  std::array<std::int64_t, 2> kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};
  std::int64_t groups = 1;
};

inline std::string name_of(const ConvolutionCase& c) {
  const auto pair = [](const std::array<std::int64_t, 2>& of) {
    return std::to_string(of[0]) + "x" + std::to_string(of[1]);
  };
  return std::to_string(c.images) + " images of " + std::to_string(c.channels) + " x " +
         std::to_string(c.height) + " x " + std::to_string(c.width) + " to " + std::to_string(c.outputs) +
         ", kernel " + pair(c.kernel) + ", stride " + pair(c.stride) + ", padding " + pair(c.padding) +
         ", dilation " + pair(c.dilation) + (c.groups > 1 ? ", groups " + std::to_string(c.groups) : "");
}

/// -2 to 2.
inline AnyTensor numbers(const Shape& shape, const Device& device, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 16) / 65536.0f * 5.0f;
    value = static_cast<float>(static_cast<int>(value)) - 2.0f;
  }
  return tensor_of(values, shape, device);
}

/// What `convolve` makes of x and a weight, and the gradients of these.
template <class F>
std::vector<std::vector<float>> results_of(const Shape& of_x, const Shape& of_weight, F convolve,
                                           const Device& plain, MatmulPrecision precision, DType dtype) {
  const Device device = plain.autodiff();
  const auto leaf = [&](const Shape& shape, std::uint32_t seed) {
    return numbers(shape, device, seed).cast(dtype).detach().require_grad();
  };
  const AnyTensor x = leaf(of_x, 1), weight = leaf(of_weight, 2);
  const MatmulPrecisionScope scope(precision);
  const AnyTensor y = convolve(x, weight);
  const AnyTensor product = AnyTensor::mul(y, numbers(y.shape(), device, 3).cast(dtype));
  const Gradients gradients = product.sum(product.all_axes()).reshape({}).backward();
  const auto values = [](const AnyTensor& of) { return values_of(of.cast(DType::f32)); };
  return {values(y), values(*gradients.get(x)), values(*gradients.get(weight))};
}

inline std::vector<std::vector<float>> results(const ConvolutionCase& c, const Device& plain,
                                               MatmulPrecision precision, DType dtype = DType::f32) {
  const auto convolve = [&](const AnyTensor& x, const AnyTensor& weight) {
    return x.conv2d(weight,
                    {.stride = c.stride, .padding = c.padding, .dilation = c.dilation, .groups = c.groups});
  };
  return results_of({c.images, c.channels, c.height, c.width},
                    {c.outputs, c.channels / c.groups, c.kernel[0], c.kernel[1]}, convolve, plain, precision,
                    dtype);
}

/// Within what rounding factors to bf16 comes to, of the largest value.
inline void check_near(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  float largest = 0, worst = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(expected[i]));
    worst = std::max(worst, std::isfinite(found[i]) ? std::abs(found[i] - expected[i]) : INFINITY);
  }
  CHECK(worst <= 0.02f * largest);
}

inline void check_same(const std::vector<std::vector<float>>& found,
                       const std::vector<std::vector<float>>& expected) {
  for (std::size_t k = 0; k < found.size(); ++k) {
    INFO(std::string(k == 0 ? "result" : k == 1 ? "gradient of the image" : "gradient of the weight"));
    CHECK(found[k] == expected[k]);
  }
}

/// In each precision that f32 may be multiplied in.
inline void check(const std::vector<ConvolutionCase>& cases) {
  for (const ConvolutionCase& c : cases) {
    INFO(name_of(c));
    const auto expected = results(c, Device::host(), MatmulPrecision::Highest);
    for (const MatmulPrecision precision :
         {MatmulPrecision::Highest, MatmulPrecision::High, MatmulPrecision::Medium}) {
      INFO(sinter::name_of(precision));
      check_same(results(c, test_device(), precision), expected);
    }
  }
}

inline void check_halves(const std::vector<ConvolutionCase>& cases) {
  for (const ConvolutionCase& c : cases)
    for (const DType dtype : {DType::bf16, DType::f16}) {
      INFO(name_of(c));
      INFO(sinter::name_of(dtype));
      check_same(results(c, test_device(), MatmulPrecision::Highest, dtype),
                 results(c, Device::host(), MatmulPrecision::Highest, dtype));
    }
}

}  // namespace sinter::testing
