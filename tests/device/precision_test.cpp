// Products and convolutions of f32 by the precision that is asked for: against double precision, within the
// bounds of docs/numerics.md, which hold on devices that compute more exactly too.
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

/// Numbers of all magnitudes around 1, the same each time.
std::vector<float> numbers(std::size_t count, std::uint32_t seed) {
  std::vector<float> values(count);
  for (float& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = (static_cast<float>(seed >> 8) / 8388608.0f - 1.0f) * ((seed >> 3 & 1) != 0 ? 1.0f : 0.125f);
  }
  return values;
}

/// Relative to the sum of the products' magnitudes: what rounding two factors may come to, and adding up.
double bound(MatmulPrecision precision, std::int64_t terms) {
  const double adding = static_cast<double>(terms) * 0x1p-23;
  switch (precision) {
    case MatmulPrecision::Highest: return adding;
    case MatmulPrecision::Tf32x3: return 0x1p-20 + 3 * adding;
    case MatmulPrecision::High: return 2 * 0x1p-11 * 1.01 + adding;
    case MatmulPrecision::Medium: return 2 * 0x1p-8 * 1.01 + adding;
  }
  return 0;
}

struct Sums {
  std::vector<double> exact, magnitude;
  explicit Sums(std::size_t count) : exact(count), magnitude(count) {}
  void add(std::size_t at, float a, float b) {
    exact[at] += static_cast<double>(a) * b;
    magnitude[at] += std::abs(static_cast<double>(a) * b);
  }
};

void compare(const AnyTensor& result, const Sums& sums, MatmulPrecision precision, std::int64_t terms,
             const std::string& what) {
  const std::vector<float> values = values_of(result);
  REQUIRE(values.size() == sums.exact.size());
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double error = std::abs(values[i] - sums.exact[i]);
    worst = std::max(worst, error / (sums.magnitude[i] * bound(precision, terms) + 1e-30));
    if (!std::isfinite(values[i])) worst = INFINITY;
  }
  INFO(what << ", " << name_of(precision));
  CHECK(worst <= 1);
}

constexpr MatmulPrecision kAll[] = {MatmulPrecision::Highest, MatmulPrecision::Tf32x3, MatmulPrecision::High,
                                    MatmulPrecision::Medium};

void check_product(const Device& device, std::int64_t m, std::int64_t k, std::int64_t n, bool transpose_a,
                   bool transpose_b) {
  const auto size = [](std::int64_t a, std::int64_t b) { return static_cast<std::size_t>(a * b); };
  const std::vector<float> a = numbers(size(m, k), 1), b = numbers(size(k, n), 2);
  const auto at = [](std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns, bool t) {
    return static_cast<std::size_t>(t ? column * rows + row : row * columns + column);
  };
  Sums sums(size(m, n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t l = 0; l < k; ++l)
      for (std::int64_t j = 0; j < n; ++j)
        sums.add(size(i, n) + static_cast<std::size_t>(j), a[at(i, l, m, k, transpose_a)],
                 b[at(l, j, k, n, transpose_b)]);
  AnyTensor x = tensor_of(a, transpose_a ? Shape{k, m} : Shape{m, k}, device),
            y = tensor_of(b, transpose_b ? Shape{n, k} : Shape{k, n}, device);
  if (transpose_a) x = x.transpose(0, 1);
  if (transpose_b) y = y.transpose(0, 1);
  for (const MatmulPrecision precision : kAll) {
    const MatmulPrecisionScope scope(precision);
    compare(x.matmul(y), sums, precision, k,
            "product " + std::to_string(m) + " x " + std::to_string(k) + " x " + std::to_string(n) +
                (transpose_a ? ", a transposed" : "") + (transpose_b ? ", b transposed" : ""));
  }
}

struct Image {
  std::int64_t n, c, h, w, o, k;
  Conv2dOptions options;
};

/// The convolution and its gradients, for a loss that weighs each result by a number.
void check_convolution(const Device& device, const Image& i) {
  const auto [sh, sw] = i.options.stride;
  const auto [ph, pw] = i.options.padding;
  const auto [dh, dw] = i.options.dilation;
  const std::int64_t oh = (i.h + 2 * ph - dh * (i.k - 1) - 1) / sh + 1,
                     ow = (i.w + 2 * pw - dw * (i.k - 1) - 1) / sw + 1;
  const auto numel = [](const Shape& shape) { return static_cast<std::size_t>(shape.numel()); };
  const Shape of_x{i.n, i.c, i.h, i.w}, of_weight{i.o, i.c, i.k, i.k}, of_y{i.n, i.o, oh, ow};
  const std::vector<float> x = numbers(numel(of_x), 3), weight = numbers(numel(of_weight), 4),
                           gradient = numbers(numel(of_y), 5);
  Sums y(numel(of_y)), by_x(numel(of_x)), by_weight(numel(of_weight));
  const auto at = [](const Shape& s, std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
    return static_cast<std::size_t>(((a * s[1] + b) * s[2] + c) * s[3] + d);
  };
  for (std::int64_t n = 0; n < i.n; ++n)
    for (std::int64_t o = 0; o < i.o; ++o)
      for (std::int64_t c = 0; c < i.c; ++c)
        for (std::int64_t p = 0; p < oh * ow; ++p)
          for (std::int64_t q = 0; q < i.k * i.k; ++q) {
            const std::int64_t h = p / ow * sh + q / i.k * dh - ph, w = p % ow * sw + q % i.k * dw - pw;
            if (h < 0 || w < 0 || h >= i.h || w >= i.w) continue;
            const std::size_t in = at(of_x, n, c, h, w), by = at(of_weight, o, c, q / i.k, q % i.k),
                              out = at(of_y, n, o, p / ow, p % ow);
            y.add(out, x[in], weight[by]);
            by_x.add(in, gradient[out], weight[by]);
            by_weight.add(by, gradient[out], x[in]);
          }
  const Device tracked = device.autodiff();
  for (const MatmulPrecision precision : kAll) {
    const std::string what = "convolution of " + std::to_string(i.n) + " images, " + std::to_string(i.c) +
                             " to " + std::to_string(i.o) + " channels of " + std::to_string(i.h) + " x " +
                             std::to_string(i.w) + ", kernel " + std::to_string(i.k);
    const AnyTensor image = tensor_of(x, of_x, tracked).require_grad(),
                    kernel = tensor_of(weight, of_weight, tracked).require_grad();
    AnyTensor result;
    {
      const MatmulPrecisionScope scope(precision);
      result = image.conv2d(kernel, i.options);
    }
    const Gradients gradients =
        AnyTensor::mul(result, tensor_of(gradient, of_y, tracked)).sum({0, 1, 2, 3}).backward();
    compare(result, y, precision, i.c * i.k * i.k, what);
    compare(*gradients.get(image), by_x, precision, i.o * i.k * i.k, what + ", gradient of the image");
    compare(*gradients.get(kernel), by_weight, precision, i.n * oh * ow, what + ", gradient of the kernel");
  }
}

}  // namespace

TEST_CASE("products of f32 are as exact as was asked for") {
  const Device device = test_device();
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      check_product(device, 72, 40, 136, transpose_a, transpose_b);
      check_product(device, 33, 57, 21, transpose_a, transpose_b);
    }
  check_product(device, 16, 2000, 24, false, false);  // a sum that workgroups share
  check_product(device, 1, 300, 70, false, true);
  check_product(device, 200, 3, 130, false, false);
}

TEST_CASE("large products of f32 by three of tf32 keep their digits") {
  constexpr std::int64_t kSize = 1200, kRows = 8;  // the first rows and the last ones are compared
  const Device device = test_device();
  if (device.name() == "oracle") return;  // minutes for each product
  const std::vector<float> a = numbers(kSize * kSize, 11), b = numbers(kSize * kSize, 12);
  for (const bool transpose : {false, true}) {
    Sums sums(2 * kRows * kSize);
    for (std::int64_t i = 0; i < 2 * kRows; ++i)
      for (std::int64_t l = 0; l < kSize; ++l)
        for (std::int64_t j = 0; j < kSize; ++j) {
          const std::int64_t row = i < kRows ? i : kSize - 2 * kRows + i;
          sums.add(static_cast<std::size_t>(i * kSize + j),
                   a[static_cast<std::size_t>(transpose ? l * kSize + row : row * kSize + l)],
                   b[static_cast<std::size_t>(transpose ? j * kSize + l : l * kSize + j)]);
        }
    AnyTensor x = tensor_of(a, {kSize, kSize}, device), y = tensor_of(b, {kSize, kSize}, device);
    if (transpose) x = x.transpose(0, 1), y = y.transpose(0, 1);
    const MatmulPrecisionScope scope(MatmulPrecision::Tf32x3);
    const AnyTensor product = x.matmul(y);
    const std::vector<AnyTensor> both{product.narrow(0, 0, kRows), product.narrow(0, kSize - kRows, kRows)};
    const AnyTensor ends = AnyTensor::cat(both, 0);
    compare(ends, sums, MatmulPrecision::Tf32x3, kSize, transpose ? "transposed" : "as it lies");
  }
}

TEST_CASE("products of f32 with few rows or columns are as exact as was asked for") {
  const Device device = test_device();
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true}) {
      check_product(device, 1, 65, 129, transpose_a, transpose_b);
      check_product(device, 131, 67, 1, transpose_a, transpose_b);
      check_product(device, 2, 7, 40, transpose_a, transpose_b);
      check_product(device, 70, 33, 3, transpose_a, transpose_b);
      check_product(device, 3, 200, 300, transpose_a, transpose_b);
      check_product(device, 1, 1, 5, transpose_a, transpose_b);
      check_product(device, 1, 900, 1, transpose_a, transpose_b);
    }
}

TEST_CASE("convolutions of f32 and their gradients are as exact as was asked for") {
  const Device device = test_device();
  check_convolution(device, {2, 8, 9, 11, 16, 3, {{1, 1}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {3, 3, 12, 12, 5, 3, {{2, 2}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {2, 4, 13, 10, 8, 3, {{1, 2}, {2, 0}, {2, 1}, 1}});
  check_convolution(device, {2, 12, 8, 8, 20, 1, {{1, 1}, {0, 0}, {1, 1}, 1}});
  check_convolution(device,
                    {1, 2, 5, 5, 3, 1, {{2, 2}, {1, 1}, {1, 1}, 1}});  // padding beyond the kernel's reach
  check_convolution(device, {2, 4, 9, 9, 8, 1, {{2, 2}, {0, 0}, {1, 1}, 1}});
  check_convolution(device, {1, 4, 12, 10, 8, 3, {{3, 2}, {4, 0}, {1, 1}, 1}});
  check_convolution(device, {1, 4, 12, 11, 4, 2, {{3, 1}, {0, 3}, {1, 1}, 1}});
  check_convolution(device, {1, 1, 7, 7, 1, 7, {{1, 1}, {0, 0}, {1, 1}, 1}});
}

// Large enough that the host divides them into parts, of images, of channels and of both, the last ones
// smaller, and that Winograd's algorithm pays where it may be used.
TEST_CASE("convolutions in parts are as exact as was asked for") {
  const Device device = test_device();
  if (device.name() != "host") return;
  check_convolution(device, {5, 64, 12, 11, 80, 3, {{1, 1}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {6, 32, 13, 9, 48, 3, {{1, 1}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {3, 48, 18, 7, 36, 3, {{1, 1}, {0, 1}, {1, 1}, 1}});
  check_convolution(device, {1, 144, 5, 6, 136, 3, {{1, 1}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {7, 144, 3, 3, 112, 3, {{1, 1}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {6, 80, 9, 8, 72, 3, {{2, 2}, {1, 1}, {1, 1}, 1}});
  check_convolution(device, {9, 96, 10, 7, 104, 1, {{2, 1}, {0, 0}, {1, 1}, 1}});
}

TEST_CASE("an infinity stays within the reach of the kernel unless factors may be rounded") {
  const Device device = test_device();
  const std::int64_t channels = 32, size = 20;
  std::vector<float> image(static_cast<std::size_t>(channels * size * size), 1);
  image[static_cast<std::size_t>(9 * size + 9)] = INFINITY;  // of channel 0
  const AnyTensor x = tensor_of(image, {1, channels, size, size}, device),
                  weight = AnyTensor::full({channels, channels, 3, 3}, 1, DType::f32, device);
  const std::vector<float> y = values_of(x.conv2d(weight, {.padding = {1, 1}}));
  std::int64_t infinite = 0;
  for (const float value : y) infinite += !std::isfinite(value);
  CHECK(infinite == 9 * channels);
}

}  // namespace sinter::testing
