// Depthwise convolutions and their gradients beside sums in whole numbers, which are exact, whatever order
// they are added up in.
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
namespace {

struct Case {
  std::int64_t images, channels, height, width;
  std::int64_t each = 1;  // channels of the result for one of the image
  std::array<std::int64_t, 2> kernel{3, 3}, stride{1, 1}, padding{1, 1}, dilation{1, 1};

  std::int64_t size(std::size_t d) const {
    const std::int64_t whole = (d == 0 ? height : width) + 2 * padding[d];
    return (whole - dilation[d] * (kernel[d] - 1) - 1) / stride[d] + 1;
  }
};

std::string name_of(const Case& c) {
  std::string name;
  for (const std::int64_t number :
       {c.images, c.channels, c.height, c.width, c.each, c.kernel[0], c.kernel[1], c.stride[0], c.stride[1],
        c.padding[0], c.padding[1], c.dilation[0], c.dilation[1]})
    name += (name.empty() ? "" : " ") + std::to_string(number);
  return name;
}

/// -2 to 2.
std::vector<float> numbers(std::int64_t count, std::uint32_t seed) {
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>((seed >> 16) % 5) - 2.0f;
  }
  return values;
}

struct Found {
  std::vector<float> y, by_x, by_weight;
};

/// By the definition. `gradient`: of y.
Found expected(const Case& c, const std::vector<float>& x, const std::vector<float>& weight,
               const std::vector<float>& gradient) {
  const std::int64_t oh = c.size(0), ow = c.size(1), outputs = c.channels * c.each;
  const auto empty = [](std::int64_t count) { return std::vector<float>(static_cast<std::size_t>(count)); };
  Found found{empty(c.images * outputs * oh * ow), empty(static_cast<std::int64_t>(x.size())),
              empty(static_cast<std::int64_t>(weight.size()))};
  for (std::int64_t n = 0; n < c.images; ++n)
    for (std::int64_t o = 0; o < outputs; ++o)
      for (std::int64_t h = 0; h < oh; ++h)
        for (std::int64_t w = 0; w < ow; ++w)
          for (std::int64_t r = 0; r < c.kernel[0]; ++r)
            for (std::int64_t s = 0; s < c.kernel[1]; ++s) {
              const std::int64_t ih = h * c.stride[0] + r * c.dilation[0] - c.padding[0],
                                 iw = w * c.stride[1] + s * c.dilation[1] - c.padding[1];
              if (ih < 0 || ih >= c.height || iw < 0 || iw >= c.width) continue;
              const auto at =
                  static_cast<std::size_t>(((n * c.channels + o / c.each) * c.height + ih) * c.width + iw);
              const auto of_weight = static_cast<std::size_t>((o * c.kernel[0] + r) * c.kernel[1] + s);
              const auto of_y = static_cast<std::size_t>(((n * outputs + o) * oh + h) * ow + w);
              found.y[of_y] += x[at] * weight[of_weight];
              found.by_x[at] += gradient[of_y] * weight[of_weight];
              found.by_weight[of_weight] += gradient[of_y] * x[at];
            }
  return found;
}

enum class Lies { InOrder, ChannelsLast, Computed };

/// A leaf (n, c, h, w) that lies as it is said to.
AnyTensor image(const std::vector<float>& values, const Shape& shape, Lies lies, DType dtype,
                const Device& device) {
  AnyTensor x = tensor_of(values, shape, device).cast(dtype);
  if (lies == Lies::ChannelsLast) {
    x = x.permute({0, 2, 3, 1});
    x = AnyTensor::add(x, 0);
    x.sync();
    x = x.permute({0, 3, 1, 2});
  }
  return x.detach().require_grad();
}

Found computed(const Case& c, Lies lies, DType dtype, const std::vector<float>& of_x,
               const std::vector<float>& of_weight, const std::vector<float>& of_gradient) {
  const Device device = test_device().autodiff();
  const AnyTensor x = image(of_x, {c.images, c.channels, c.height, c.width}, lies, dtype, device);
  const AnyTensor weight = tensor_of(of_weight, {c.channels * c.each, 1, c.kernel[0], c.kernel[1]}, device)
                               .cast(dtype)
                               .detach()
                               .require_grad();
  // Of what is computed it is not known how it lies.
  const AnyTensor given = lies == Lies::Computed ? AnyTensor::mul(AnyTensor::sub(x, 1), 1) : x;
  const AnyTensor shifted = lies == Lies::Computed ? AnyTensor::add(given, 1) : given;
  const AnyTensor y = shifted.conv2d(
      weight, {.stride = c.stride, .padding = c.padding, .dilation = c.dilation, .groups = c.channels});
  const AnyTensor product = AnyTensor::mul(y, tensor_of(of_gradient, y.shape(), device).cast(dtype));
  const Gradients gradients = product.cast(DType::f32).sum(product.all_axes()).reshape({}).backward();
  const auto values = [](const AnyTensor& of) { return values_of(of.cast(DType::f32)); };
  return {values(y), values(*gradients.get(x)), values(*gradients.get(weight))};
}

void check(const std::vector<Case>& cases, const std::vector<DType>& dtypes) {
  for (const Case& c : cases) {
    INFO(name_of(c));
    const std::vector<float> x = numbers(c.images * c.channels * c.height * c.width, 1),
                             weight = numbers(c.channels * c.each * c.kernel[0] * c.kernel[1], 2),
                             gradient = numbers(c.images * c.channels * c.each * c.size(0) * c.size(1), 3);
    const Found exact = expected(c, x, weight, gradient);
    for (const DType dtype : dtypes)
      for (const Lies lies : {Lies::InOrder, Lies::ChannelsLast, Lies::Computed}) {
        INFO(std::string(sinter::name_of(dtype)));
        INFO(static_cast<int>(lies));
        const auto rounded = [&](std::vector<float> values) {
          for (float& value : values)
            value = dtype == DType::bf16  ? static_cast<float>(bfloat16(value))
                    : dtype == DType::f16 ? static_cast<float>(float16(value))
                                          : value;
          return values;
        };
        const Found found = computed(c, lies, dtype, x, weight, gradient);
        CHECK(found.y == rounded(exact.y));
        CHECK(found.by_x == rounded(exact.by_x));
        CHECK(found.by_weight == rounded(exact.by_weight));
      }
  }
}

}  // namespace

TEST_CASE("depthwise convolutions of channels in vectors, and of others") {
  check(
      {{2, 8, 5, 6}, {1, 16, 7, 4}, {2, 24, 3, 3}, {3, 3, 6, 5}, {1, 12, 4, 9}, {2, 13, 6, 4}, {2, 2, 1, 7}},
      {DType::f32, DType::bf16, DType::f16});
}

TEST_CASE(
    "depthwise convolutions with strides, dilation, and frames that are wider than the kernel reaches") {
  check({{2, 8, 8, 7, 1, {3, 3}, {2, 2}},
         {1, 8, 9, 6, 1, {3, 3}, {1, 1}, {2, 2}, {2, 2}},
         {2, 8, 7, 7, 1, {3, 3}, {2, 3}, {2, 1}, {2, 1}},
         {1, 16, 4, 5, 1, {3, 2}, {1, 2}, {4, 3}},
         {2, 8, 6, 6, 1, {1, 1}, {2, 2}, {0, 0}},
         {2, 8, 6, 5, 1, {2, 2}, {2, 2}, {0, 0}},
         {1, 4, 5, 5, 1, {3, 3}, {3, 3}, {0, 0}}},
        {DType::f32, DType::bf16});
}

TEST_CASE("depthwise convolutions of large kernels, and of several channels for one of the image") {
  check({{1, 8, 9, 8, 1, {7, 7}, {1, 1}, {3, 3}},
         {1, 8, 9, 11, 1, {9, 9}, {1, 1}, {4, 4}},  // more points than are written out
         {2, 8, 6, 7, 1, {5, 5}, {2, 2}, {2, 2}},
         {2, 8, 1, 12, 1, {1, 7}, {1, 1}, {0, 3}},
         {1, 4, 2, 40, 1, {1, 31}, {1, 1}, {0, 15}},  // of a long line no sum shares what it loads
         {1, 4, 4, 21, 1, {3, 18}, {1, 1}, {1, 9}},
         {1, 3, 20, 19, 1, {19, 18}, {1, 1}, {9, 8}},
         {2, 8, 5, 6, 2},
         {1, 3, 5, 6, 4, {3, 3}, {2, 2}}},
        {DType::f32, DType::bf16});
}

TEST_CASE("a pixel that is no number reaches the results whose windows have it, and no others") {
  for (const Lies lies : {Lies::InOrder, Lies::ChannelsLast}) {
    std::vector<float> values(8 * 6 * 6, 1);
    values[2 * 36 + 2 * 6 + 3] = INFINITY;
    const Device device = test_device().autodiff();
    const AnyTensor x = image(values, {1, 8, 6, 6}, lies, DType::f32, device);
    const AnyTensor weight = AnyTensor::full({8, 1, 3, 3}, 1, DType::f32, device);
    const std::vector<float> y = values_of(x.conv2d(weight, {.padding = {1, 1}, .groups = 8}));
    for (std::size_t i = 0; i < y.size(); ++i) {
      const std::size_t channel = i / 36, row = i % 36 / 6, column = i % 6;
      const bool sees = channel == 2 && row >= 1 && row <= 3 && column >= 2 && column <= 4;
      CHECK(std::isinf(y[i]) == sees);
      CHECK(!std::isnan(y[i]));
    }
  }
}

TEST_CASE("depthwise convolutions between others, with what stands around them") {
  const Device device = test_device().autodiff();
  for (const DType dtype : {DType::f32, DType::bf16}) {
    const auto leaf = [&](const Shape& shape, std::uint32_t seed, const Device& on) {
      return tensor_of(numbers(shape.numel(), seed), shape, on).cast(dtype).detach().require_grad();
    };
    const auto step = [&](const Device& on) {
      const AnyTensor x = leaf({2, 16, 6, 5}, 1, on), first = leaf({32, 16, 1, 1}, 2, on),
                      depthwise = leaf({32, 1, 3, 3}, 3, on), last = leaf({8, 32, 1, 1}, 4, on);
      const MatmulPrecisionScope scope(MatmulPrecision::Highest);
      const AnyTensor a = relu(x.conv2d(first, {}));
      const AnyTensor b = relu(a.conv2d(depthwise, {.padding = {1, 1}, .groups = 32}));
      const AnyTensor y = b.conv2d(last, {});
      const Gradients gradients = y.cast(DType::f32).sum(y.all_axes()).reshape({}).backward();
      std::vector<std::vector<float>> found;
      for (const AnyTensor& each :
           {y, *gradients.get(x), *gradients.get(first), *gradients.get(depthwise), *gradients.get(last)})
        found.push_back(values_of(each.cast(DType::f32)));
      return found;
    };
    const auto found = step(device), exact = step(Device::host().autodiff());
    for (std::size_t i = 0; i < found.size(); ++i) {
      float largest = 1, worst = 0;
      for (std::size_t k = 0; k < found[i].size(); ++k) {
        largest = std::max(largest, std::abs(exact[i][k]));
        worst = std::max(worst, std::abs(found[i][k] - exact[i][k]));
      }
      // Of whole numbers; 16 bits round each result.
      CHECK(worst <= (dtype == DType::f32 ? 0.0f : 0.02f * largest));
    }
  }
}

}  // namespace sinter::testing
