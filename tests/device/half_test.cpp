// bf16 and f16: storage, arithmetic, and fusion, which may make results more exact but never different
// otherwise.
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"

using namespace sinter;
using testing::test_device;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const std::array<DType, 2> kHalves = {DType::bf16, DType::f16};

/// The relative error of one rounding.
double step_of(DType half) { return half == DType::bf16 ? 0x1p-8 : 0x1p-11; }

float rounded(DType half, double x) {
  const auto single = static_cast<float>(x);
  return half == DType::bf16 ? static_cast<float>(bfloat16(single)) : static_cast<float>(float16(single));
}

template <std::size_t R>
std::vector<std::uint16_t> bits_of(const Tensor<R>& x) {
  std::vector<std::uint16_t> bits(static_cast<std::size_t>(x.numel()));
  x.dynamic().read_bytes(std::as_writable_bytes(std::span(bits)));
  return bits;
}

template <std::size_t R>
std::vector<float> numbers_of(const Tensor<R>& x) {
  std::vector<float> numbers;
  for (std::uint16_t bits : bits_of(x))
    numbers.push_back(x.dtype() == DType::bf16 ? static_cast<float>(bfloat16::from_bits(bits))
                                               : static_cast<float>(float16::from_bits(bits)));
  return numbers;
}

Tensor<1> of_bits(const std::vector<std::uint16_t>& bits, DType half, const Device& device) {
  return Tensor<1>(AnyTensor::from_bytes(std::as_bytes(std::span(bits)),
                                         Shape{static_cast<std::int64_t>(bits.size())}, half, device));
}

std::vector<std::uint16_t> all_patterns() {
  std::vector<std::uint16_t> bits(65536);
  std::iota(bits.begin(), bits.end(), std::uint16_t{0});
  return bits;
}

bool is_nan(DType half, std::uint16_t bits) {
  return half == DType::bf16 ? (bits & 0x7fff) > 0x7f80 : (bits & 0x7fff) > 0x7c00;
}

/// Numbers of the dtype, in double.
struct Data {
  Data(DType half, const Shape& shape, std::uint64_t seed, const Device& device, double low = -2,
       double high = 2) {
    testing::TestData random(seed);
    std::vector<float> single;
    for (double x : random.reals(static_cast<std::size_t>(shape.numel()), low, high)) {
      single.push_back(rounded(half, x));
      numbers.push_back(single.back());
    }
    any = AnyTensor::from_bytes(std::as_bytes(std::span(single)), shape, DType::f32, device).cast(half);
    any.sync();
  }
  std::vector<double> numbers;
  AnyTensor any;
};

/// Checks values to within `steps` roundings, relative to them and to `scale`.
template <std::size_t R>
void check_close(const Tensor<R>& found, const std::vector<double>& expected, double steps, double scale) {
  const std::vector<float> got = numbers_of(found);
  REQUIRE(got.size() == expected.size());
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i)
    worst = std::max(
        worst, std::abs(got[i] - expected[i]) / (step_of(found.dtype()) * (std::abs(expected[i]) + scale)));
  CHECK(worst <= steps);
}

}  // namespace

TEST_CASE("all numbers go to f32 and back, and f32 is rounded to the nearest") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const std::vector<std::uint16_t> patterns = all_patterns();
    const Tensor<1> x = of_bits(patterns, half, device);
    const Tensor<1> wide = x.to_float();
    const std::vector<float> single = wide.to_vector<float>();
    const std::vector<float> expected = numbers_of(x);
    const std::vector<std::uint16_t> back = bits_of(wide.to_float(half));
    int wrong = 0;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      const bool nan = is_nan(half, patterns[i]);
      // Values that are denormal in f32 may be flushed.
      const bool denormal = half == DType::bf16 && std::abs(expected[i]) < std::numeric_limits<float>::min();
      const bool flushed = denormal && testing::precision_of(device).flushes_denormals;
      if (nan ? !std::isnan(single[i]) : single[i] != expected[i] && !flushed) ++wrong;
      if (nan ? !is_nan(half, back[i]) : back[i] != patterns[i] && !flushed) ++wrong;
    }
    CHECK(wrong == 0);
    // Halfway between two numbers, and the f32 on either side.
    std::vector<float> between;
    for (std::size_t i = 0; i + 1 < patterns.size(); ++i) {
      if (!std::isfinite(expected[i]) || !std::isfinite(expected[i + 1])) continue;
      if (std::abs(expected[i]) < std::numeric_limits<float>::min()) continue;
      const float middle = (expected[i] + (expected[i + 1] - expected[i]) / 2);
      between.insert(between.end(), {std::nextafter(middle, -kInf), middle, std::nextafter(middle, kInf)});
    }
    const auto n = static_cast<std::int64_t>(between.size());
    const std::vector<float> got = numbers_of(Tensor<1>::from_data(between, {n}, device).to_float(half));
    wrong = 0;
    for (std::size_t i = 0; i < between.size(); ++i) wrong += got[i] != rounded(half, between[i]);
    CHECK(wrong == 0);
    const auto edge = half == DType::bf16 ? std::vector<float>{3.38953139e38f, 3.3961775e38f, 3.4028235e38f,
                                                               -3.4e38f,       kInf,          -kInf}
                                          : std::vector<float>{65504, 65519.996f, 65520, -1e6f, kInf, -kInf};
    const std::vector<float> cut = numbers_of(Tensor<1>::from_data(edge, {6}, device).to_float(half));
    CHECK(cut[0] == edge[0]);
    CHECK(cut[2] == kInf);
    CHECK(cut[3] == -kInf);
    CHECK(cut[4] == kInf);
    CHECK(cut[5] == -kInf);
  }
}

TEST_CASE("what only moves elements keeps their bits, NaN and all") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const std::vector<std::uint16_t> patterns = all_patterns();
    const Tensor<2> x = of_bits(patterns, half, device).reshape({256, 256});
    auto at = [&](std::int64_t i, std::int64_t j) { return patterns[static_cast<std::size_t>(i * 256 + j)]; };
    int wrong = 0;
    auto check = [&](const Tensor<2>& y, auto expected) {
      const std::vector<std::uint16_t> got = bits_of(y);
      const std::int64_t columns = y.shape()[1];
      for (std::int64_t i = 0; i < y.numel(); ++i)
        wrong += got[static_cast<std::size_t>(i)] != expected(i / columns, i % columns);
    };
    check(x.transpose(0, 1), [&](auto i, auto j) { return at(j, i); });
    check(Tensor<2>::cat({x, x.flip({1})}, 0),
          [&](auto i, auto j) { return i < 256 ? at(i, j) : at(i - 256, 255 - j); });
    check(x.narrow(1, 3, 7), [&](auto i, auto j) { return at(i, j + 3); });
    const auto odd = Tensor<1, Int>::arange(0, 256, device).unsqueeze(0) % 2 == 1;
    check(where(odd, x, x.transpose(0, 1)), [&](auto i, auto j) { return j % 2 ? at(i, j) : at(j, i); });
    check(where(odd, x, 1.0), [&](auto i, auto j) {
      return j % 2 ? at(i, j) : half == DType::bf16 ? bfloat16(1.0f).bits() : float16(1.0f).bits();
    });
    check(x.index_select(0, Tensor<1, Int>::arange(255, -1, -1, device)),
          [&](auto i, auto j) { return at(255 - i, j); });
    check(x.slice_assign({sinter::s(3, 9)}, x.narrow(0, 100, 6)),
          [&](auto i, auto j) { return i >= 3 && i < 9 ? at(i + 97, j) : at(i, j); });
    CHECK(wrong == 0);
  }
}

TEST_CASE("facts, reading, printing, errors") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data({1, 2.5, -0.1}, device, DType::bf16);
  CHECK(x.dtype() == DType::bf16);
  CHECK(x.to_vector<bfloat16>()[1] == 2.5f);
  CHECK(x.narrow(0, 2, 1).sum().item() == static_cast<float>(bfloat16(-0.1f)));
  CHECK_THROWS_AS(x.to_vector<float>(), DTypeError);
  CHECK((x + x.to_float()).dtype() == DType::f32);
  CHECK((x + x.to_float(DType::f16)).dtype() == DType::f32);
  std::ostringstream text;
  text << Tensor<1>::from_data({1, 2.5}, device, DType::f16);
  CHECK(text.str() == "[1.  2.5] (2) f16 " + device.name());
  CHECK((x * 2.0).dtype() == DType::bf16);
  CHECK((x > 1.0).to_vector<bool>() == std::vector<bool>{false, true, false});
  CHECK((x == 0.1).to_vector<bool>() == std::vector<bool>{false, false, false});
  CHECK((-x == 0.1).to_vector<bool>() == std::vector<bool>{false, false, true});
  CHECK(x.to_int().to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 0});
  const auto y = Tensor<1>::from_data(std::vector<float16>{float16(3.0f), float16(-7.0f)}, {2}, device);
  CHECK(y.dtype() == DType::f16);
  CHECK(y.sum().item() == -4);
  CHECK(y.rand_like().dtype() == DType::f16);
}

TEST_CASE("numbers between 0 and 1 never become 1") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const Tensor<1> u = Tensor<1>::zeros({1 << 14}, device, half).rand_like();
    float most = 0;
    for (float x : numbers_of(u)) most = std::max(most, x);
    CHECK(most < 1);
    CHECK(most > 0.99);
  }
}

TEST_CASE("sums are f32 sums") {
  const Device device = test_device();
  const Tensor<2> ones = Tensor<2>::ones({3, 10000}, device, DType::bf16);
  const Tensor<2> sum = ones.sum(1);
  for (float x : numbers_of(sum)) CHECK(x == rounded(DType::bf16, 10000));
  CHECK(ones.sum().item() == rounded(DType::bf16, 30000));
  for (float x : numbers_of(ones.mean(1))) CHECK(std::abs(x - 1) <= 0x1p-7);
}

TEST_CASE("what is made of sums that leave the range of f16 does not") {
  const Device device = test_device();
  constexpr std::int64_t kCount = 1000, kMany = 70000;
  for (const DType half : kHalves) {
    CAPTURE(name_of(half));
    // 200 and 400 in turn: sums of 3e5, and of 1e8.
    const Tensor<2> turns = Tensor<1>::arange(0, kCount, 1, device).reshape<2>({kCount / 2, 2}) % 2.f;
    const Tensor<1> x = (turns * 200.f + 200.f).reshape<1>({kCount}).cast(half);
    const double step = step_of(half);
    const auto is_near = [&](const Tensor<1>& found, double expected) {
      CHECK(found.dtype() == half);
      CHECK(numbers_of(found)[0] == doctest::Approx(expected).epsilon(1.01 * step));
    };
    is_near(x.mean(0), 300);
    is_near(x.var(0), 1e4 * kCount / (kCount - 1));
    is_near(x.std(0), 100 * std::sqrt(kCount / (kCount - 1.0)));
    is_near(norm(x, 2, 0), 1e4);
    is_near(norm(x, 3, 0), std::cbrt(kCount * (8e6 + 64e6) / 2));
    is_near(logsumexp(Tensor<1>::zeros({kMany}, device).cast(half), 0), std::log(kMany));
    const auto ends = [&](const Tensor<2>& normal, double first, double second) {
      const std::vector<float> found = numbers_of(normal);
      CHECK(found[0] == doctest::Approx(first).epsilon(1.01 * step));
      CHECK(found[1] == doctest::Approx(second).epsilon(1.01 * step));
    };
    const Tensor<2> row = x.reshape<2>({1, kCount});
    ends(nn::LayerNormConfig{.d_model = kCount, .affine = false}.init(device).forward(row), -1, 1);
    ends(nn::RmsNormConfig{.d_model = kCount, .affine = false}.init(device).forward(row),
         200 / std::sqrt(1e5), 400 / std::sqrt(1e5));
    // With a weight and a bias: one rounding, of what is in f32 until then.
    nn::LayerNorm layer = nn::LayerNormConfig{.d_model = kCount}.init(device);
    layer.weight = Tensor<1>::full({kCount}, 3.3f, device).cast(half);
    layer.bias = Tensor<1>::full({kCount}, -2.f, device).cast(half);
    const double weight = numbers_of(Tensor<1>(*layer.weight))[0];
    ends(layer.forward(row), -weight - 2, weight - 2);
    is_near(nanmean(x, 0), 300);
  }
}

TEST_CASE("rows whose sums leave the range of f16: softmax, losses, distances and pools") {
  const Device device = test_device();
  constexpr std::int64_t kMany = 70000, kCount = 1000;
  for (const DType half : kHalves) {
    CAPTURE(name_of(half));
    const auto is_near = [&](const auto& found, double expected, double roundings = 1) {
      CHECK(found.dtype() == half);
      // Below the normal numbers of f16 a step is 2^-24.
      const double slack = std::max(std::abs(expected) * roundings * 1.01 * step_of(half), 0x1p-24);
      CHECK(std::abs(numbers_of(found)[0] - expected) <= slack);
    };
    const Tensor<2> equal = Tensor<2>::zeros({1, kMany}, device).cast(half);
    const double part = 1.0 / kMany, logarithm = std::log(kMany);
    is_near(softmax(equal, 1), part);
    is_near(softmin(equal, 1), part);
    is_near(log_softmax(equal, 1), -logarithm);
    is_near(quiet_softmax(equal, 1), 1.0 / (kMany + 1));
    const auto target = Tensor<1, Int>::zeros({1}, device);
    is_near(nn::cross_entropy(equal, target), logarithm);
    is_near(nn::cross_entropy(equal, target, {.label_smoothing = 0.5}), logarithm);
    const Tensor<2> level = Tensor<2>::full({1, kCount}, 300.f, device).cast(half);
    is_near(cosine_similarity(level, level, 1), 1);
    is_near(nn::PairwiseDistance{}.forward(level, -level), 600 * std::sqrt(kCount), 2);
    const Tensor<2> low = Tensor<2>::full({kMany, 1}, -1.f, device).cast(half);
    is_near(nn::huber<nn::Reduction::batch_mean>(low, low + 2.f), 1.5);
    const Tensor<4> image = Tensor<4>::full({1, 1, 20, 50}, 300.f, device).cast(half);
    is_near(nn::AvgPool2d{.kernel = {20, 50}}.forward(image), 300);
    is_near(nn::AdaptiveAvgPool2d{.output = {3, 1}}.forward(image), 300);
    is_near(nn::LpPool2d{.p = 2, .kernel = {20, 50}}.forward(image), 300 * std::sqrt(kCount));

    const Tensor<2> x = Tensor<2>::zeros({1, kMany}, device.autodiff(), half).require_grad();
    is_near(*(log_softmax(x, 1).narrow(1, 0, 1) * 16.0).sum().backward().get(x), 16 * (1 - part));
  }
}

TEST_CASE("programs are as exact as their roundings") {
  const Device device = test_device();
  const std::int64_t rows = 5, columns = testing::compiles_slowly(device) ? 200 : 1028, n = rows * columns;
  for (DType half : kHalves) {
    const Data x(half, {rows, columns}, 1, device), a(half, {1, columns}, 2, device),
        b(half, {1, columns}, 3, device);
    const Tensor<2> tx(x.any), ta(a.any), tb(b.any);
    std::vector<double> gelu_of, softmax_of, norm_of;
    for (std::int64_t i = 0; i < rows; ++i) {
      double most = -1e9, sum = 0, mean = 0, square = 0;
      for (std::int64_t j = 0; j < columns; ++j) most = std::max(most, x.numbers[i * columns + j]);
      for (std::int64_t j = 0; j < columns; ++j) {
        const double v = x.numbers[i * columns + j];
        sum += std::exp(v - most);
        mean += v / static_cast<double>(columns);
      }
      for (std::int64_t j = 0; j < columns; ++j)
        square += std::pow(x.numbers[i * columns + j] - mean, 2) / static_cast<double>(columns);
      for (std::int64_t j = 0; j < columns; ++j) {
        const double v = x.numbers[i * columns + j];
        gelu_of.push_back(v * (std::erf(v * std::sqrt(0.5)) + 1) * 0.5);
        softmax_of.push_back(std::exp(v - most) / sum);
        norm_of.push_back((v - mean) / std::sqrt(square + 1e-5) * a.numbers[j] + b.numbers[j]);
      }
    }
    const char* unfused = std::getenv("SINTER_FUSION");
    const bool rounds_once = !(unfused && std::string(unfused) == "0");
    REQUIRE(static_cast<std::int64_t>(gelu_of.size()) == n);
    check_close(tx * ((tx * 0.70710678118654752).erf() + 1.0) * 0.5, gelu_of, rounds_once ? 1.01 : 32, 1e-3);
    check_close(softmax(tx, 1), softmax_of, rounds_once ? 1.01 : 12, 1e-4);
    const Tensor<2> centred = tx - tx.mean(1);
    check_close(centred * ((centred * centred).mean(1) + 1e-5).rsqrt() * ta + tb, norm_of,
                rounds_once ? 1.01 : 16, 1);
  }
}

TEST_CASE("whether numbers are equal does not depend on what is stored") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const Data x(half, {64, 40}, 4, device), y(half, {64, 40}, 5, device);
    // The maximum is in memory; the values compared with it are computed again.
    const auto product = [&] { return Tensor<2>(x.any) * Tensor<2>(y.any); };
    const Tensor<2> most = product().max(1);
    most.sync();
    for (float found : numbers_of((product() == most).to_float(half).sum(1))) CHECK(found >= 1);
    const auto at = product().argmax(1).to_vector<std::int64_t>();
    const std::vector<float> all = numbers_of(product()), best = numbers_of(most);
    for (std::size_t i = 0; i < at.size(); ++i) {
      REQUIRE(at[i] >= 0);
      REQUIRE(at[i] < 40);
      CHECK(all[i * 40 + static_cast<std::size_t>(at[i])] == best[i]);
    }
  }
}

TEST_CASE("a cast rounds, also between two operations of a kernel") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const auto x = Tensor<1>::from_data({1.001, 3.14159, -0.3, 1000.7}, device);
    const std::vector<float> got = (x.to_float(half).to_float() * 1.0).to_vector<float>(),
                             given = x.to_vector<float>();
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == rounded(half, given[i]));
  }
}

TEST_CASE("products are computed in f32") {
  const Device device = test_device();
  for (DType half : kHalves) {
    const Data a(half, {9, 70}, 6, device), b(half, {11, 70}, 7, device);
    std::vector<double> expected;
    for (int i = 0; i < 9; ++i)
      for (int j = 0; j < 11; ++j) {
        double sum = 0;
        for (int k = 0; k < 70; ++k) sum += a.numbers[i * 70 + k] * b.numbers[j * 70 + k];
        expected.push_back(sum + 1);
      }
    const Tensor<2> c = Tensor<2>(a.any).matmul(Tensor<2>(b.any).transpose(0, 1)) + 1.0;
    CHECK(c.dtype() == half);
    check_close(c, expected, 2.1, 8);
    const Data x(half, {1, 2, 5, 5}, 8, device), w(half, {3, 2, 3, 3}, 9, device);
    expected.clear();
    for (int o = 0; o < 3; ++o)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) {
          double sum = 0;
          for (int q = 0; q < 2; ++q)
            for (int k = 0; k < 9; ++k)
              sum += x.numbers[q * 25 + (i + k / 3) * 5 + j + k % 3] * w.numbers[(o * 2 + q) * 9 + k];
          expected.push_back(sum);
        }
    check_close(Tensor<4>(x.any).conv2d(Tensor<4>(w.any)), expected, 1.1, 4);
  }
}

TEST_CASE("gradients have the dtype of what they are of") {
  const Device device = test_device().autodiff();
  for (DType half : kHalves) {
    const Data given(half, {6, 50}, 10, device);
    const Tensor<2> x = Tensor<2>(given.any).require_grad();
    const Tensor<2> gradient = *(x * 2.0).max(1).sum().backward().get(x);
    CHECK(gradient.dtype() == half);
    for (float sum : numbers_of(gradient.sum(1))) CHECK(std::abs(sum - 2) < 0.02);
    const Tensor<2> y = Tensor<2>(given.any).require_grad();
    const Tensor<2> slope = *(y.to_float() * y.to_float()).sum().backward().get(y);
    std::vector<double> expected;
    for (double v : given.numbers) expected.push_back(2 * v);
    check_close(slope, expected, 1.01, 0);
  }
}

namespace {
struct Net {
  nn::Linear hidden, out;
  Tensor<2> forward(const Tensor<2>& x) const { return out.forward(gelu(hidden.forward(x))); }
};
}  // namespace

TEST_CASE("modules learn in bf16") {
  const Device device = test_device().autodiff();
  device.seed(1);
  Net model{nn::LinearConfig{.d_in = 8, .d_out = 16}.init(device),
            nn::LinearConfig{.d_in = 16, .d_out = 3}.init(device)};
  visit_parameters(model, [](const std::string&, auto& parameter) {
    parameter = parameter.detach().cast(DType::bf16).require_grad();
  });
  const Tensor<2> x = Tensor<2>::randn({24, 8}, device).cast(DType::bf16);
  const Tensor<1, Int> y = Tensor<1, Int>::arange(0, 24, device) % 3;
  auto adam = optim::AdamConfig{}.init();
  std::vector<double> losses;
  for (int i = 0; i < 25; ++i) {
    const auto loss = nn::cross_entropy(model.forward(x), y);
    auto gradients = loss.backward();
    losses.push_back(loss.item());
    adam.step(0.02, model, std::move(gradients));
  }
  CHECK(model.hidden.weight.dtype() == DType::bf16);
  CHECK(losses.back() < 0.6 * losses.front());
  CHECK(std::isfinite(losses.back()));
}
