// Convolutions over depth, height and width, and their gradients, beside sums in double precision: values are
// small whole numbers, so that every result is exact, whatever order it is added up in.
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/convolutions.h"

namespace sinter::testing {
namespace {

struct VolumeCase {
  Shape x, weight;
  ConvOptions<3> options = {};
};

std::string name_of(const VolumeCase& c) {
  const auto numbers = [](const std::array<std::int64_t, 3>& of) { return to_string(Dims(of)); };
  return to_string(c.x) + " by " + to_string(c.weight) + ", stride " + numbers(c.options.stride) +
         ", padding " + numbers(c.options.padding) + ", dilation " + numbers(c.options.dilation) +
         ", groups " + std::to_string(c.options.groups);
}

std::vector<std::vector<float>> results(const VolumeCase& c, MatmulPrecision precision, DType dtype) {
  const auto convolve = [&](const AnyTensor& x, const AnyTensor& w) { return x.conv3d(w, c.options); };
  return results_of(c.x, c.weight, convolve, test_device(), precision, dtype);
}

/// The same by loops.
std::vector<std::vector<float>> expected(const VolumeCase& c) {
  const auto values = [](const Shape& shape, std::uint32_t seed) {
    return values_of(numbers(shape, Device::host(), seed));
  };
  const Shape &x = c.x, &w = c.weight;
  Shape y{x[0], w[0]};
  for (std::size_t d = 0; d < 3; ++d)
    y.push_back((x[2 + d] + 2 * c.options.padding[d] - c.options.dilation[d] * (w[2 + d] - 1) - 1) /
                    c.options.stride[d] +
                1);
  const auto place = [](const Shape& shape, const std::array<std::int64_t, 5>& at) {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < 5; ++d) place = place * shape[d] + at[d];
    return static_cast<std::size_t>(place);
  };
  const std::vector<float> of_x = values(x, 1), of_w = values(w, 2), of_y = values(y, 3);
  std::vector<double> result(of_y.size()), dx(of_x.size()), dw(of_w.size());
  const std::int64_t per_group = w[0] / c.options.groups;
  std::array<std::int64_t, 5> at{}, in{}, tap{};
  for (std::size_t i = 0; i < of_y.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    for (std::size_t d = 5; d-- > 0; rest /= y[d]) at[d] = rest % y[d];
    for (std::int64_t t = 0; t < w[1] * w[2] * w[3] * w[4]; ++t) {
      std::int64_t left = t;
      for (std::size_t d = 5; d-- > 1; left /= w[d]) tap[d] = left % w[d];
      tap[0] = at[1];
      in = {at[0], at[1] / per_group * w[1] + tap[1], 0, 0, 0};
      bool is_inside = true;
      for (std::size_t d = 0; d < 3; ++d) {
        in[2 + d] =
            at[2 + d] * c.options.stride[d] + tap[2 + d] * c.options.dilation[d] - c.options.padding[d];
        is_inside = is_inside && in[2 + d] >= 0 && in[2 + d] < x[2 + d];
      }
      if (!is_inside) continue;
      const std::size_t of_in = place(x, in), of_tap = place(w, tap);
      result[i] += double{of_x[of_in]} * of_w[of_tap];
      dx[of_in] += double{of_y[i]} * of_w[of_tap];
      dw[of_tap] += double{of_y[i]} * of_x[of_in];
    }
  }
  const auto floats = [](const std::vector<double>& of) { return std::vector<float>(of.begin(), of.end()); };
  return {floats(result), floats(dx), floats(dw)};
}

void check(const std::vector<VolumeCase>& cases) {
  for (const VolumeCase& c : cases) {
    INFO(name_of(c));
    const auto sums = expected(c);
    for (const MatmulPrecision precision :
         {MatmulPrecision::Highest, MatmulPrecision::High, MatmulPrecision::Medium}) {
      INFO(sinter::name_of(precision));
      check_same(results(c, precision, DType::f32), sums);
    }
    // Rounded once, wherever sums were made.
    auto rounded = sums;
    for (std::vector<float>& part : rounded)
      if (!part.empty())
        part = values_of(tensor_of(part, {static_cast<std::int64_t>(part.size())}, Device::host())
                             .cast(DType::bf16)
                             .cast(DType::f32));
    INFO("bf16");
    check_same(results(c, MatmulPrecision::Highest, DType::bf16), rounded);
  }
}

}  // namespace

TEST_CASE("volumes of channels that fill lines") {
  check({
      {{2, 64, 4, 5, 3}, {64, 64, 3, 3, 3}, {.padding = {1, 1, 1}}},
      {{1, 64, 5, 4, 6}, {64, 64, 2, 3, 1}, {.padding = {0, 1, 0}}},
      {{1, 128, 3, 4, 5}, {64, 128, 3, 2, 3}, {.padding = {2, 0, 1}}},
      {{2, 64, 3, 3, 4}, {96, 64, 1, 3, 3}, {.padding = {0, 1, 1}}},
      {{1, 64, 1, 4, 4}, {64, 64, 1, 1, 1}},
      {{1, 64, 1, 4, 4}, {64, 64, 3, 3, 3}, {.padding = {1, 1, 1}}},
  });
}

TEST_CASE("volumes with strides and dilation") {
  check({
      {{1, 64, 6, 5, 7}, {64, 64, 3, 3, 3}, {.stride = {2, 2, 2}, .padding = {1, 1, 1}}},
      {{2, 64, 5, 4, 6}, {64, 64, 2, 2, 2}, {.stride = {2, 2, 2}}},
      {{1, 64, 4, 6, 5}, {64, 64, 3, 3, 3}, {.stride = {1, 2, 1}, .padding = {1, 1, 1}}},
      {{1, 64, 6, 5, 6}, {64, 64, 2, 3, 2}, {.padding = {1, 2, 0}, .dilation = {2, 2, 3}}},
      {{1, 64, 7, 5, 5},
       {64, 64, 3, 1, 2},
       {.stride = {3, 1, 2}, .padding = {2, 0, 1}, .dilation = {2, 1, 1}}},
      {{1, 64, 5, 5, 4}, {64, 64, 1, 1, 1}, {.stride = {2, 2, 2}}},
  });
}

TEST_CASE("volumes of channels that fill no lines, and in groups") {
  check({
      {{2, 3, 4, 5, 6}, {8, 3, 3, 3, 3}, {.padding = {1, 1, 1}}},
      {{1, 5, 3, 4, 3}, {7, 5, 2, 3, 3}, {.padding = {1, 0, 1}}},
      {{1, 40, 3, 4, 4}, {24, 40, 3, 3, 3}, {.padding = {1, 1, 1}}},
      {{1, 64, 3, 4, 3}, {64, 8, 3, 3, 3}, {.padding = {1, 1, 1}, .groups = 8}},
      {{1, 12, 4, 3, 4}, {8, 6, 2, 2, 2}, {.stride = {2, 1, 2}, .padding = {1, 1, 0}, .groups = 2}},
      {{2, 6, 4, 4, 3}, {6, 1, 3, 3, 3}, {.padding = {1, 1, 1}, .groups = 6}},
      {{1, 8, 3, 2, 4}, {6, 8, 3, 2, 1}},  // few rows of a product, along lines of half a piece
      {{0, 64, 4, 5, 3}, {64, 64, 3, 3, 3}, {.padding = {1, 1, 1}}},
  });
}

TEST_CASE("steps of volumes that no tensor map has room for") {
  check({
      {{1, 64, 20, 3, 3}, {64, 64, 2, 3, 3}, {.padding = {0, 1, 1}, .dilation = {17, 1, 1}}},
      {{1, 64, 3, 2, 3}, {64, 64, 2, 2, 3}, {.padding = {18, 0, 1}, .dilation = {9, 1, 1}}},
      {{1, 64, 19, 2, 2}, {64, 64, 2, 2, 2}, {.stride = {9, 1, 1}}},
  });
}

TEST_CASE("a kernel whose planes meet the frame") {
  check({
      {{1, 4, 1, 3, 3}, {8, 4, 1, 1, 1}, {.stride = {3, 1, 1}, .padding = {1, 0, 0}}},  // all of them
      {{1, 4, 2, 3, 3}, {8, 4, 5, 2, 2}, {.padding = {4, 0, 0}}},
      {{1, 2, 1, 2, 2}, {2, 2, 3, 1, 1}, {.padding = {1 << 20, 0, 0}, .dilation = {1 << 20, 1, 1}}},
      {{1, 4, 3, 3, 3}, {8, 4, 2, 2, 2}, {.stride = {7, 1, 1}, .padding = {6, 1, 1}, .dilation = {5, 1, 1}}},
  });
  // What is infinite there is no part of a sum on devices without tensor cores.
  const Device device = Device::host();
  const AnyTensor x = AnyTensor::full({1, 1, 2, 2, 2}, 1, DType::f32, device);
  std::vector<float> weights(3, 1.0f);
  weights[0] = INFINITY;
  const AnyTensor w = tensor_of(weights, {1, 1, 3, 1, 1}, device);
  CHECK(values_of(x.conv3d(w, {.padding = {1, 0, 0}})) ==
        std::vector<float>{2, 2, 2, 2, INFINITY, INFINITY, INFINITY, INFINITY});
}

TEST_CASE("a transposed volume is the gradient of one") {
  const Device device = test_device();
  const AnyTensor x = numbers({2, 8, 3, 4, 3}, device, 1), w = numbers({8, 4, 3, 2, 3}, device, 2);
  const AnyTensor y = conv_transpose3d(
      x, w, {.stride = {2, 1, 2}, .padding = {1, 0, 1}, .output_padding = {1, 0, 0}, .dilation = {1, 2, 1}});
  CHECK(y.shape() == Shape{2, 4, 6, 6, 5});
  // The sum of y * z is that of x * conv3d(z).
  const AnyTensor z = numbers(y.shape(), device, 3);
  const AnyTensor other = z.conv3d(w, {.stride = {2, 1, 2}, .padding = {1, 0, 1}, .dilation = {1, 2, 1}});
  const auto sum = [](const AnyTensor& a, const AnyTensor& b) {
    const AnyTensor product = AnyTensor::mul(a, b);
    return values_of(product.sum(product.all_axes()).reshape({}))[0];
  };
  CHECK(sum(y, z) == sum(x, other));
  // An output_padding beyond the stride.
  CHECK(conv_transpose3d(x, w, {.output_padding = {1, 0, 0}, .dilation = {2, 1, 1}}).shape() ==
        Shape{2, 4, 8, 5, 5});
}

TEST_CASE("what is no convolution of volumes") {
  const Device device = test_device();
  const AnyTensor x = numbers({1, 4, 3, 3, 3}, device, 1), w = numbers({2, 4, 2, 4, 2}, device, 2);
  CHECK_THROWS_WITH_AS(x.conv3d(w),
                       doctest::Contains("[conv3d] weight (2, 4, 2, 4, 2) reaches over 4 elements, input (1, "
                                         "4, 3, 3, 3) has 3 with padding"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(x.conv3d(w, {.groups = 2}), doctest::Contains("[conv3d] input (1, 4, 3, 3, 3) has 4"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(x.conv3d(w, {.stride = {0, 1, 1}, .padding = {1, 1, 1}}),
                       doctest::Contains("[conv3d] stride and dilation are one or more"), ShapeError);
  CHECK_THROWS_WITH_AS(x.reshape({4, 3, 3, 3}).conv3d(w), doctest::Contains("have five axes"), ShapeError);
  CHECK_THROWS_AS(x.conv3d(w.cast(DType::f64), {.padding = {1, 1, 1}}), DTypeError);
  CHECK_THROWS_WITH_AS(conv_transpose3d(x, w.narrow(2, 0, 0)),
                       doctest::Contains("[conv_transpose3d] weight (2, 4, 0, 4, 2) has an empty kernel"),
                       ShapeError);
}

}  // namespace sinter::testing
