// The 8-bit floats: storage, arithmetic in f32, and what f8_e4m3 does without an infinity.
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"
#include "tests/support/test_data.h"
#include "tests/support/test_device.h"

using namespace sinter;
using testing::test_device;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

const std::array<DType, 2> kF8 = {DType::f8_e4m3, DType::f8_e5m2};

float number_of(DType dtype, std::uint8_t bits) {
  return dtype == DType::f8_e4m3 ? static_cast<float>(float8_e4m3::from_bits(bits))
                                 : static_cast<float>(float8_e5m2::from_bits(bits));
}
float rounded(DType dtype, float x) {
  return dtype == DType::f8_e4m3 ? static_cast<float>(float8_e4m3(x)) : static_cast<float>(float8_e5m2(x));
}
bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : a == b && std::signbit(a) == std::signbit(b);
}

template <std::size_t R>
std::vector<std::uint8_t> bits_of(const Tensor<R>& x) {
  std::vector<std::uint8_t> bits(static_cast<std::size_t>(x.numel()));
  x.dynamic().read_bytes(std::as_writable_bytes(std::span(bits)));
  return bits;
}

template <std::size_t R>
std::vector<float> numbers_of(const Tensor<R>& x) {
  std::vector<float> numbers;
  for (std::uint8_t bits : bits_of(x)) numbers.push_back(number_of(x.dtype(), bits));
  return numbers;
}

std::vector<std::uint8_t> all_codes() {
  std::vector<std::uint8_t> bits(256);
  std::iota(bits.begin(), bits.end(), std::uint8_t{0});
  return bits;
}

Tensor<1> of_bits(const std::vector<std::uint8_t>& bits, DType dtype, const Device& device) {
  return Tensor<1>(AnyTensor::from_bytes(std::as_bytes(std::span(bits)),
                                         Shape{static_cast<std::int64_t>(bits.size())}, dtype, device));
}

/// Numbers of the dtype.
struct Data {
  Data(DType dtype, const Shape& shape, std::uint64_t seed, const Device& device) {
    testing::TestData random(seed);
    for (double x : random.reals(static_cast<std::size_t>(shape.numel()), -2, 2))
      numbers.push_back(rounded(dtype, static_cast<float>(x)));
    any = AnyTensor::from_bytes(std::as_bytes(std::span(numbers)), shape, DType::f32, device).cast(dtype);
    any.sync();
  }
  std::vector<float> numbers;
  AnyTensor any;
};

}  // namespace

TEST_CASE("all codes go to f32 and back, and f32 is rounded to the nearest, as on the host") {
  const Device device = test_device();
  for (DType dtype : kF8) {
    CAPTURE(name_of(dtype));
    const std::vector<std::uint8_t> codes = all_codes();
    const Tensor<1> x = of_bits(codes, dtype, device);
    const std::vector<float> single = x.to_float().to_vector<float>();
    int wrong = 0;
    for (std::size_t i = 0; i < codes.size(); ++i) wrong += !same(single[i], number_of(dtype, codes[i]));
    CHECK(wrong == 0);
    wrong = 0;
    const std::vector<std::uint8_t> back = bits_of(x.to_float().to_float(dtype));
    for (std::size_t i = 0; i < codes.size(); ++i)
      wrong += std::isnan(single[i]) ? !std::isnan(number_of(dtype, back[i])) : back[i] != codes[i];
    CHECK(wrong == 0);
    // Each number, half-way to the next, and the f32 on either side of that; the ends; what is no number.
    std::vector<float> numbers = {464,  464.00003f, 480,    61439.996f, 61440,
                                  1e9f, kInf,       1e-30f, 0x1p-10f,   0x1p-17f};
    for (std::size_t i = 0; i + 1 < codes.size(); ++i) {
      if (!std::isfinite(single[i]) || !std::isfinite(single[i + 1])) continue;
      const float middle = (single[i] + single[i + 1]) / 2;
      numbers.insert(numbers.end(), {middle, std::nextafter(middle, kInf), std::nextafter(middle, -kInf)});
    }
    for (std::size_t i = 0, count = numbers.size(); i < count; ++i) numbers.push_back(-numbers[i]);
    numbers.push_back(NAN);
    const auto n = static_cast<std::int64_t>(numbers.size());
    const Tensor<1> wide = Tensor<1>::from_data(numbers, {n}, device);
    // Whole vectors, and single elements.
    const std::vector<float> got = numbers_of(wide.to_float(dtype)),
                             some = numbers_of(wide.narrow(0, 1, n - 1).to_float(dtype));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      CAPTURE(numbers[i]);
      const float expected = rounded(dtype, numbers[i]);
      CHECK(same(got[i], expected));
      if (i > 0) CHECK(same(some[i - 1], expected));
    }
  }
}

TEST_CASE("what only moves 8-bit floats keeps their bits, NaN and all") {
  const Device device = test_device();
  for (DType dtype : kF8) {
    const std::vector<std::uint8_t> codes = all_codes();
    const Tensor<2> x = of_bits(codes, dtype, device).reshape({16, 16});
    auto at = [&](std::int64_t i, std::int64_t j) { return codes[static_cast<std::size_t>(i * 16 + j)]; };
    int wrong = 0;
    auto check = [&](const Tensor<2>& y, auto expected) {
      const std::vector<std::uint8_t> got = bits_of(y);
      const std::int64_t columns = y.shape()[1];
      for (std::int64_t i = 0; i < y.numel(); ++i)
        wrong += got[static_cast<std::size_t>(i)] != expected(i / columns, i % columns);
    };
    check(x.transpose(0, 1), [&](auto i, auto j) { return at(j, i); });
    check(Tensor<2>::cat({x, x.flip({1})}, 0),
          [&](auto i, auto j) { return i < 16 ? at(i, j) : at(i - 16, 15 - j); });
    check(x.narrow(1, 3, 7), [&](auto i, auto j) { return at(i, j + 3); });
    const auto odd = Tensor<1, Int>::arange(0, 16, device).unsqueeze(0) % 2 == 1;
    check(where(odd, x, x.transpose(0, 1)), [&](auto i, auto j) { return j % 2 ? at(i, j) : at(j, i); });
    const std::uint8_t one = dtype == DType::f8_e4m3 ? float8_e4m3(1.0f).bits() : float8_e5m2(1.0f).bits();
    check(where(odd, x, 1.0), [&](auto i, auto j) { return j % 2 ? at(i, j) : one; });
    check(x.index_select(0, Tensor<1, Int>::arange(15, -1, -1, device)),
          [&](auto i, auto j) { return at(15 - i, j); });
    check(x.slice_assign({sinter::s(3, 9)}, x.narrow(0, 10, 6)),
          [&](auto i, auto j) { return i >= 3 && i < 9 ? at(i + 7, j) : at(i, j); });
    CHECK(wrong == 0);
  }
}

TEST_CASE("8-bit floats: facts, reading, printing, errors") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data({1, 2.5, -0.1}, device, DType::f8_e4m3);
  CHECK(x.dtype() == DType::f8_e4m3);
  CHECK(x.to_vector<float8_e4m3>()[1] == 2.5f);
  CHECK(x.narrow(0, 2, 1).item() == static_cast<float>(float8_e4m3(-0.1f)));
  CHECK_THROWS_AS(x.to_vector<float>(), DTypeError);
  CHECK_THROWS_AS(x.to_vector<float8_e5m2>(), DTypeError);
  CHECK((x + x.to_float()).dtype() == DType::f32);
  CHECK((x + x.to_float(DType::bf16)).dtype() == DType::bf16);
  CHECK((x + x.to_float(DType::f8_e5m2)).dtype() == DType::f32);
  CHECK((x * 2.0).dtype() == DType::f8_e4m3);
  std::ostringstream text;
  text << Tensor<1>::from_data({1, 2.5}, device, DType::f8_e5m2);
  CHECK(text.str() == "[1.  2.5] (2) f8_e5m2 " + device.name());
  CHECK(x.to_int().to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 2, 0});
  CHECK((-x == 0.1).to_vector<bool>() == std::vector<bool>{false, false, true});
  const auto y =
      Tensor<1>::from_data(std::vector<float8_e5m2>{float8_e5m2(3.0f), float8_e5m2(-7.0f)}, {2}, device);
  CHECK(y.dtype() == DType::f8_e5m2);
  CHECK(y.sum().item() == -4);
  CHECK_THROWS_WITH_AS(Autocast(DType::f8_e4m3), doctest::Contains("takes bf16 or f16, not f8_e4m3"),
                       DTypeError);
  for (DType dtype : kF8) {
    float most = 0;
    for (float u : numbers_of(Tensor<1>::zeros({1 << 12}, device, dtype).rand_like()))
      most = std::max(most, u);
    CHECK(most < 1);
    CHECK(most > 0.85);
  }
}

TEST_CASE("numbers that f8_e4m3 lacks are compared as they are, and stand around no image") {
  const Device device = test_device();
  const auto x = Tensor<1>::from_data({-448, 1, 448}, device, DType::f8_e4m3);
  using Truth = std::vector<bool>;
  CHECK((x < 1000).to_vector<bool>() == Truth{true, true, true});
  CHECK((x > -1e30).to_vector<bool>() == Truth{true, true, true});
  CHECK((1000 > x).to_vector<bool>() == Truth{true, true, true});
  CHECK((x == 1000).to_vector<bool>() == Truth{false, false, false});
  CHECK((x == 448).to_vector<bool>() == Truth{false, false, true});
  CHECK(x.is_finite().to_vector<bool>() == Truth{true, true, true});
  const Tensor<1> twice = x * 2;
  twice.sync();
  CHECK(twice.is_nan().to_vector<bool>() == Truth{true, false, true});
  CHECK(where(x > 0, x, -kInf).is_nan().to_vector<bool>() == Truth{true, false, false});
  const Tensor<4> image = Tensor<4>::full({1, 1, 3, 3}, -448, device).to_float(DType::f8_e4m3);
  for (float most : numbers_of(nn::MaxPool2d{.kernel = {3, 3}, .padding = {1, 1}}.forward(image)))
    CHECK(most == -448);
  const auto both = nn::MaxPool2d{.kernel = {3, 3}, .padding = {1, 1}}.forward_with_indices(image);
  CHECK(both.values.dtype() == DType::f8_e4m3);
  CHECK(both.indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{0});
  for (float most : numbers_of(nn::AdaptiveMaxPool2d{.output = {2, 2}}.forward(image))) CHECK(most == -448);
}

TEST_CASE("8-bit floats are computed in f32 and rounded where they are stored") {
  const Device device = test_device();
  for (DType dtype : kF8) {
    const Data x(dtype, {5, 203}, 1, device), y(dtype, {5, 203}, 2, device);
    const std::vector<float> sum = numbers_of(Tensor<2>(x.any) + Tensor<2>(y.any) * 0.3);
    const double step = dtype == DType::f8_e4m3 ? 0x1p-4 : 0x1p-3;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      const double exact = x.numbers[i] + 0.3 * y.numbers[i], third = std::abs(0.3 * y.numbers[i]);
      CHECK(std::abs(sum[i] - exact) <= step * (std::abs(exact) + 1.2 * third) + 0x1p-9);
    }
    // Sums are f32 sums, maxima exact.
    const Tensor<2> ones = Tensor<2>::ones({3, 300}, device, dtype);
    for (float total : numbers_of(ones.sum(1))) CHECK(total == rounded(dtype, 300));
    for (float mean : (ones.to_float().mean(1)).to_vector<float>()) CHECK(mean == 1);
    const std::vector<float> most = numbers_of(Tensor<2>(x.any).max(1));
    for (std::size_t i = 0; i < most.size(); ++i)
      CHECK(most[i] == *std::max_element(x.numbers.begin() + static_cast<std::ptrdiff_t>(203 * i),
                                         x.numbers.begin() + static_cast<std::ptrdiff_t>(203 * (i + 1))));
    const auto sorted = numbers_of(Tensor<2>(x.any).sort(1).values);
    for (std::size_t i = 1; i < 203; ++i) CHECK(sorted[i - 1] <= sorted[i]);
    // A cast rounds, also between two operations of a kernel.
    const auto given = Tensor<1>::from_data({1.01, 3.14159, -0.3, 400.7}, device);
    const std::vector<float> cast = (given.to_float(dtype).to_float() * 1.0).to_vector<float>(),
                             plain = given.to_vector<float>();
    for (std::size_t i = 0; i < cast.size(); ++i) CHECK(cast[i] == rounded(dtype, plain[i]));
  }
}

TEST_CASE("products of 8-bit floats are computed in f32") {
  const Device device = test_device();
  for (DType left : kF8)
    for (DType right : kF8) {
      CAPTURE(name_of(left));
      CAPTURE(name_of(right));
      const Data a(left, {9, 70}, 6, device), b(right, {11, 70}, 7, device);
      const Tensor<2> x(a.any), y(b.any);
      const std::vector<float> wide = x.to_float().matmul(y.to_float().transpose(0, 1)).to_vector<float>();
      const std::vector<float> half = x.to_float(DType::bf16)
                                          .matmul(y.to_float(DType::bf16).transpose(0, 1))
                                          .to_float()
                                          .to_vector<float>();
      for (std::size_t i = 0; i < wide.size(); ++i) {
        double sum = 0, size = 0;
        for (std::size_t k = 0; k < 70; ++k) {
          const double term = double{a.numbers[i / 11 * 70 + k]} * b.numbers[i % 11 * 70 + k];
          sum += term;
          size += std::abs(term);
        }
        CHECK(std::abs(wide[i] - sum) <= 1e-6 * size);
        CHECK(std::abs(half[i] - sum) <= 0x1p-8 * std::abs(sum) + 1e-6 * size);
      }
      if (left != right) {
        CHECK_THROWS_WITH_AS(x.matmul(y.transpose(0, 1)), doctest::Contains("cast one of them"), DTypeError);
      } else {
        const Tensor<2> own = x.matmul(y.transpose(0, 1));
        CHECK(own.dtype() == left);
        const std::vector<float> stored = numbers_of(own);
        for (std::size_t i = 0; i < stored.size(); ++i) CHECK(same(stored[i], rounded(left, wide[i])));
      }
    }
}

TEST_CASE("products of 8-bit floats are within the bounds of their precision") {
  const Device device = test_device();
  const std::int64_t longest = testing::compiles_slowly(device) ? 300 : 4096;
  for (const auto& [precision, least, of_k] :
       {std::tuple{MatmulPrecision::Highest, 0.0, 0x1p-23}, std::tuple{MatmulPrecision::Tf32x3, 0.0, 0x1p-23},
        std::tuple{MatmulPrecision::High, 0x1p-6, 0x1p-23},
        std::tuple{MatmulPrecision::Medium, 0.0, 0x1p-13}})
    for (const auto& [left, right] : {std::pair{kF8[0], kF8[0]}, std::pair{kF8[1], kF8[0]}})
      // Rows of whole vectors and others, along the sum and across it.
      for (const std::int64_t k : {std::int64_t{128}, std::int64_t{200}, longest})
        for (const bool transposed : {true, false}) {
          const MatmulPrecisionScope scope(precision);
          const std::int64_t m = 65, n = 48;
          const Data a(left, {m, k}, 11, device),
              b(right, transposed ? Shape{n, k} : Shape{k, n}, 12, device);
          const Tensor<2> y = Tensor<2>(b.any).to_float();
          const std::vector<float> found =
              Tensor<2>(a.any).to_float().matmul(transposed ? y.transpose(0, 1) : y).to_vector<float>();
          double worst = 0;
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              double sum = 0, size = 0;
              for (std::int64_t p = 0; p < k; ++p) {
                const double term = double{a.numbers[static_cast<std::size_t>(i * k + p)]} *
                                    b.numbers[static_cast<std::size_t>(transposed ? j * k + p : p * n + j)];
                sum += term;
                size += std::abs(term);
              }
              worst = std::max(worst, std::abs(found[static_cast<std::size_t>(i * n + j)] - sum) / size);
            }
          INFO(name_of(precision) << ", k " << k << ": off by " << worst);
          CHECK(worst <= least + static_cast<double>(k) * of_k);
        }
}

TEST_CASE("products of small whole numbers are exact in 8 bits, whatever adds them up") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t m, n, k;
  };
  std::vector<Sizes> all = {{70, 33, 300}};
  const ir::DeviceTraits& traits = device.core().traits();
  // Several tiles, tiles with an end, one tile for several workgroups.
  if (traits.description == "emulated GPU")
    all.insert(all.end(), {{130, 200, 144}, {64, 64, 1040}});
  else if (traits.tensor_cores.any() && traits.tensor_cores.has_groups)
    all.insert(all.end(), {{512, 768, 256}, {1000, 1096, 520}, {128, 256, 4096}, {300, 264, 1008}});
  for (const MatmulPrecision precision :
       {MatmulPrecision::Highest, MatmulPrecision::High, MatmulPrecision::Medium})
    for (const auto& [left, right] : {std::pair{kF8[0], kF8[0]}, std::pair{kF8[0], kF8[1]},
                                      std::pair{kF8[1], kF8[0]}, std::pair{kF8[1], kF8[1]}})
      for (const auto& [m, n, k] : all)
        for (const bool transposed : {true, false}) {
          CAPTURE(name_of(precision));
          CAPTURE(name_of(left));
          CAPTURE(name_of(right));
          CAPTURE(m);
          CAPTURE(k);
          CAPTURE(transposed);
          const MatmulPrecisionScope scope(precision);
          // Of -1, 0 and 1, with whose sums no unit runs out of digits.
          const auto numbers = [&](std::int64_t count, std::uint64_t seed) {
            testing::TestData random(seed);
            std::vector<float> values(static_cast<std::size_t>(count));
            for (float& value : values) value = static_cast<float>(random.integer(-1, 1));
            return values;
          };
          const std::vector<float> a = numbers(m * k, 1), b = numbers(n * k, 2);
          const auto tensor = [&](const std::vector<float>& values, std::int64_t rows, std::int64_t columns) {
            return Tensor<2>::from_data(values, {rows, columns}, device);
          };
          const Tensor<2> x = tensor(a, m, k).to_float(left);
          Tensor<2> y = tensor(b, n, k);
          y = (transposed ? y : y.transpose(0, 1)).to_float(right);
          x.sync();
          y.sync();
          const Tensor<2> wide = y.to_float();
          const std::vector<float> found =
              x.to_float().matmul(transposed ? wide.transpose(0, 1) : wide).to_vector<float>();
          std::int64_t wrong = 0;
          for (std::int64_t i = 0; i < m; ++i)
            for (std::int64_t j = 0; j < n; ++j) {
              float sum = 0;
              for (std::int64_t at = 0; at < k; ++at)
                sum += a[static_cast<std::size_t>(i * k + at)] * b[static_cast<std::size_t>(j * k + at)];
              wrong += found[static_cast<std::size_t>(i * n + j)] != sum;
            }
          CHECK(wrong == 0);
        }
}

TEST_CASE("under Autocast products take 8-bit floats as its dtype, and what runs wide as f32") {
  const Device device = test_device();
  const Data given(DType::f8_e4m3, {4, 5}, 15, device);
  const Tensor<2> x(given.any);
  const Autocast mixed;
  CHECK(x.matmul(Tensor<2>::ones({5, 3}, device)).dtype() == DType::bf16);
  CHECK(x.exp().dtype() == DType::f32);
  CHECK(relu(x).dtype() == DType::f8_e4m3);
}

TEST_CASE("attention over 8-bit floats has scores of more bits") {
  const Device device = test_device();
  for (DType dtype : kF8) {
    // Scores of 64 * 16 * 16, more than f8_e4m3 has.
    const Tensor<4> q = Tensor<4>::full({1, 2, 5, 64}, 16, device).to_float(dtype);
    const Data k(dtype, {1, 2, 7, 64}, 13, device), v(dtype, {1, 2, 7, 8}, 14, device);
    const Tensor<4> keys(k.any), values(v.any), large = (keys.to_float() * 8).to_float(dtype);
    const Tensor<4> found = nn::scaled_dot_product_attention(q, large, values);
    CHECK(found.dtype() == dtype);
    const auto wide = [](const Tensor<4>& x) { return x.to_float(DType::bf16); };
    const std::vector<float> expected = nn::scaled_dot_product_attention(wide(q), wide(large), wide(values))
                                            .to_float(dtype)
                                            .to_float()
                                            .to_vector<float>();
    const std::vector<float> got = numbers_of(found);
    for (std::size_t i = 0; i < got.size(); ++i) CHECK(same(got[i], expected[i]));
  }
}

TEST_CASE("gradients of 8-bit floats have their dtype, and are rounded once") {
  const Device device = test_device().autodiff();
  for (DType dtype : kF8) {
    const Data given(dtype, {6, 50}, 10, device);
    const Tensor<2> x = Tensor<2>(given.any).require_grad();
    const Tensor<2> slope = *(x.to_float() * x.to_float()).sum().backward().get(x);
    CHECK(slope.dtype() == dtype);
    const std::vector<float> found = numbers_of(slope);
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == rounded(dtype, 2 * given.numbers[i]));
  }
}
