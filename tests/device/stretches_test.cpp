// Reductions over several dims whose last one is no whole vectors, and over long rows that are none: read by
// vectors that begin before a stretch and go on behind it, where numbers lie that must not count.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Case {
  std::int64_t n, channels, length, before, behind;  // elements around each stretch, all NaN
};

/// [n, channels, length], of which stretches lie `before + length + behind` elements apart.
struct Input {
  std::vector<double> numbers;
  AnyTensor tensor;
};

Input input_of(const Case& c, DType dtype, std::uint64_t seed, const Device& device) {
  TestData data(seed);
  const std::int64_t line = c.before + c.length + c.behind, lines = c.n * c.channels;
  std::vector<float> all(static_cast<std::size_t>(lines * line), kNaN);
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::vector<double> own = data.reals(static_cast<std::size_t>(c.length), -2, 3);
    std::transform(own.begin(), own.end(), all.begin() + i * line + c.before,
                   [](double x) { return static_cast<float>(x); });
  }
  const AnyTensor whole = Tensor<3>::from_data(all, {c.n, c.channels, line}, device).dynamic().cast(dtype);
  whole.sync();
  Input input{{}, whole.narrow(2, c.before, c.length)};
  const auto read = input.tensor.cast(DType::f32).to_data();
  for (const float x : read.span<float>()) input.numbers.push_back(x);
  return input;
}

std::vector<double> values_of(const AnyTensor& x) {
  const auto data = x.cast(DType::f32).to_data();
  return {data.span<float>().begin(), data.span<float>().end()};
}

void check_near(const std::vector<double>& found, const std::vector<double>& wanted, double tolerance) {
  REQUIRE(found.size() == wanted.size());
  double scale = 1e-3, worst = 0;
  for (const double x : wanted) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < found.size(); ++i)
    worst = std::isnan(found[i]) ? std::numeric_limits<double>::infinity()
                                 : std::max(worst, std::abs(found[i] - wanted[i]));
  CHECK(worst <= tolerance * scale);
}

/// Of a channel: sums, the greatest, mean and variance, sums of products with another tensor.
struct Wanted {
  std::vector<double> sums, greatest, means, variances, products, normalised;
};

Wanted wanted_of(const Case& c, const std::vector<double>& x, const std::vector<double>& y) {
  Wanted w;
  w.normalised.resize(x.size());
  const double count = static_cast<double>(c.n * c.length);
  const auto place = [&](std::int64_t n, std::int64_t channel, std::int64_t i) {
    return static_cast<std::size_t>((n * c.channels + channel) * c.length + i);
  };
  for (std::int64_t channel = 0; channel < c.channels; ++channel) {
    double sum = 0, greatest = -1e30, squares = 0, products = 0;
    const auto each = [&](const auto& visit) {
      for (std::int64_t n = 0; n < c.n; ++n)
        for (std::int64_t i = 0; i < c.length; ++i) visit(place(n, channel, i));
    };
    each([&](std::size_t at) {
      sum += x[at], products += x[at] * y[at];
      greatest = std::max(greatest, x[at]);
    });
    each([&](std::size_t at) { squares += (x[at] - sum / count) * (x[at] - sum / count); });
    each([&](std::size_t at) {
      w.normalised[at] = (x[at] - sum / count) / std::sqrt(squares / count + 1e-5);
    });
    w.sums.push_back(sum), w.greatest.push_back(greatest), w.means.push_back(sum / count);
    w.variances.push_back(squares / count), w.products.push_back(products);
  }
  return w;
}

// Rows that a group's lanes hold, that are read again, and that several groups share.
const Case kCases[] = {{40, 5, 131, 3, 2},   {90, 3, 49, 0, 0},  {90, 3, 49, 1, 0},   {64, 2, 1025, 0, 0},
                       {64, 2, 1025, 5, 1},  {3, 2, 9001, 0, 0}, {3, 2, 9001, 7, 4},  {700, 2, 17, 2, 1},
                       {1500, 3, 9, 0, 0},   {40, 5, 128, 1, 3}, {1, 2, 70001, 0, 0}, {1, 1, 70001, 3, 0},
                       {40, 160, 133, 0, 0}, {200, 40, 49, 1, 2}};

}  // namespace

TEST_CASE("stretches that begin anywhere: sums, extremes, variances and what follows, of f32 and 16 bits") {
  const Device device = test_device();
  for (const Case& c : kCases)
    for (const DType dtype : {DType::f32, DType::bf16}) {
      INFO(c.n << " x " << c.channels << " x " << c.length << ", " << c.before << " and " << c.behind
               << " around, " << name_of(dtype));
      Case other = c;
      other.before += 1;  // its stretches begin elsewhere
      const Input x = input_of(c, dtype, 1, device), y = input_of(c, dtype, 2, device),
                  apart = input_of(other, dtype, 2, device);
      const Wanted w = wanted_of(c, x.numbers, y.numbers);
      const double tolerance = dtype == DType::f32 ? 2e-6 : 8e-3;
      check_near(values_of(x.tensor.sum({0, 2})), w.sums, tolerance * 4);
      check_near(values_of(x.tensor.max({0, 2})), w.greatest, 0);
      check_near(values_of(AnyTensor::mul(x.tensor, y.tensor).sum({0, 2})), w.products, tolerance * 4);
      check_near(values_of(AnyTensor::mul(x.tensor, apart.tensor).sum({0, 2})), w.products, tolerance * 4);
      const AnyTensor wide = x.tensor.cast(DType::f32), centred = AnyTensor::sub(wide, wide.mean({0, 2}));
      const AnyTensor variance = AnyTensor::mul(centred, centred).mean({0, 2});
      check_near(values_of(variance), w.variances, 1e-5);
      const AnyTensor normalised = AnyTensor::mul(centred, AnyTensor::add(variance, 1e-5).rsqrt());
      check_near(values_of(normalised.cast(dtype)), w.normalised, dtype == DType::f32 ? 1e-5 : 8e-3);
    }
}

TEST_CASE("long rows that begin anywhere: softmaxes, the place of the greatest, sums") {
  const Device device = test_device();
  for (const std::int64_t length : {4097, 33333, 70001})
    for (const DType dtype : {DType::f32, DType::bf16}) {
      INFO(length << " " << name_of(dtype));
      const Case c{3, 1, length, 1, 0};
      const Input x = input_of(c, dtype, 3, device);
      const AnyTensor rows = x.tensor.squeeze(1);
      std::vector<double> softmax, sums;
      std::vector<std::int64_t> places;
      for (std::int64_t r = 0; r < c.n; ++r) {
        const auto begin = x.numbers.begin() + r * length, end = begin + length;
        const auto greatest = std::max_element(begin, end);
        places.push_back(greatest - begin);
        double sum = 0, all = 0;
        for (auto at = begin; at != end; ++at) sum += std::exp(*at - *greatest), all += *at;
        for (auto at = begin; at != end; ++at) softmax.push_back(std::exp(*at - *greatest) / sum);
        sums.push_back(all);
      }
      check_near(values_of(sinter::softmax(rows, 1)), softmax, dtype == DType::f32 ? 1e-5 : 8e-3);
      check_near(values_of(rows.sum(1)), sums, dtype == DType::f32 ? 8e-6 : 8e-3);
      CHECK(rows.argmax(1).to_data().to_vector<std::int64_t>() == places);
    }
}
