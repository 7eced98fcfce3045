// Scans against plain loops in double: sizes around the ends of chunks and tiles, axes, dtypes, special
// numbers, views, gradients.
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/failing_backend.h"
#include "tests/support/test_data.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

enum class How { Sum, Prod, LogSumExp, Max, Min };
constexpr How kAll[] = {How::Sum, How::Prod, How::LogSumExp, How::Max, How::Min};

struct Expected {
  std::vector<double> values;
  std::vector<std::int64_t> indices;
};

/// x of [outer, length, inner].
Expected expected(How how, const std::vector<float>& x, std::int64_t outer, std::int64_t length,
                  std::int64_t inner, ScanOptions options = {}) {
  Expected result;
  result.values.resize(x.size());
  result.indices.resize(x.size());
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      double all = how == How::Prod        ? 1
                   : how == How::LogSumExp ? -std::numeric_limits<double>::infinity()
                                           : 0;
      std::int64_t where = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        const std::int64_t place = options.reverse ? length - 1 - j : j;
        const auto at = static_cast<std::size_t>((o * length + place) * inner + i);
        const double own = static_cast<double>(x[at]), before = all;
        if (how == How::Sum) all += own;
        if (how == How::Prod) all *= own;
        if (how == How::LogSumExp) {
          const double high = std::max(all, own), low = std::min(all, own);
          all = high == low ? high + std::log(2.0) : high + std::log1p(std::exp(low - high));
          if (std::isnan(before) || std::isnan(own)) all = static_cast<double>(kNaN);
        }
        const bool takes =
            j == 0 || std::isnan(own) || (!std::isnan(all) && (how == How::Max ? own >= all : own <= all));
        if ((how == How::Max || how == How::Min) && takes) all = own, where = place;
        result.values[at] = options.exclusive ? before : all;
        result.indices[at] = where;
      }
    }
  return result;
}

struct Found {
  AnyTensor values, indices;
};
Found scanned(How how, const AnyTensor& x, std::int64_t axis, ScanOptions options = {}) {
  switch (how) {
    case How::Sum: return {cumsum(x, axis, options), {}};
    case How::Prod: return {cumprod(x, axis, options), {}};
    case How::LogSumExp: return {logcumsumexp(x, axis, options), {}};
    case How::Max:
    case How::Min: break;
  }
  AnyIndexed found = how == How::Max ? cummax(x, axis, options) : cummin(x, axis, options);
  return {std::move(found.values), std::move(found.indices)};
}

void check(const Found& found, const Expected& want, double tolerance) {
  const std::vector<float> values = values_of(found.values.cast(DType::f32));
  REQUIRE(values.size() == want.values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    CAPTURE(i);
    const double wanted = want.values[i], got = static_cast<double>(values[i]);
    CAPTURE(wanted);
    CAPTURE(got);
    if (std::isnan(wanted) || std::isinf(wanted))
      CHECK((std::isnan(wanted) ? std::isnan(got) : got == wanted));
    else
      CHECK(std::abs(got - wanted) <= tolerance * std::max(1.0, std::abs(wanted)));
  }
  if (found.indices.defined()) CHECK(values_of<std::int64_t>(found.indices) == want.indices);
}

std::vector<float> numbers(std::int64_t count, double low, double high, std::uint64_t seed = 3) {
  TestData data(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(std::round(data.real(low, high) * 16) / 16);
  return values;
}

}  // namespace

TEST_CASE("every scan along every axis, around the ends of chunks and tiles") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t outer, length, inner;
  };
  // On GPUs: a lane has up to 15 elements, or 7, a team of eight lanes 120 or 56, a workgroup 3840 or 1792;
  // four tiles are gone over by one, more are chunks, but for 512 sequences. From 8 columns on, lanes go over
  // 32 elements or more.
  std::vector<Sizes> all = {{1, 1, 1},   {70, 2, 1},   {2, 31, 1},   {3, 33, 2},  {5, 2, 70},
                            {3, 121, 1}, {1, 1025, 1}, {1, 3841, 1}, {1, 1025, 8}};
  if (!compiles_slowly(device))
    all.insert(all.end(), {{9, 15, 1},
                           {9, 16, 1},
                           {40, 57, 1},
                           {40, 120, 1},
                           {1, 1024, 2},
                           {2, 1500, 1},
                           {2, 1792, 1},
                           {1, 3840, 1},
                           {2, 7168, 1},
                           {1, 7169, 7},
                           {2, 15360, 1},
                           {1, 15361, 1},
                           {2, 33, 9},
                           {1, 70001, 3},
                           {3, 32769, 1},
                           {130, 1793, 4},
                           {4, 2000, 8},
                           {1, 3, 131072},
                           {1, 100, 20000}});
  for (const Sizes& s : all)
    for (const How how : kAll)
      for (const bool reverse : {false, true}) {
        CAPTURE(s.outer);
        CAPTURE(s.length);
        CAPTURE(s.inner);
        CAPTURE(static_cast<int>(how));
        const std::int64_t count = s.outer * s.length * s.inner;
        std::vector<float> x = numbers(count, -2, 2);
        if (how == How::Prod)
          for (std::size_t i = 0; i < x.size(); ++i) {
            const std::int64_t place = static_cast<std::int64_t>(i) / s.inner % s.length;
            x[i] = place % 3 == 0 ? 2 : place % 3 == 1 ? -0.5f : 1;
          }
        const AnyTensor given = tensor_of(x, {s.outer, s.length, s.inner}, device);
        const ScanOptions options{.reverse = reverse};
        check(scanned(how, given, 1, options), expected(how, x, s.outer, s.length, s.inner, options), 2e-5);
        if (how == How::Sum) {
          const ScanOptions exclusive{.reverse = reverse, .exclusive = true};
          check(scanned(how, given, -2, exclusive), expected(how, x, s.outer, s.length, s.inner, exclusive),
                2e-5);
        }
      }
}

TEST_CASE("scans of every dtype") {
  const Device device = test_device();
  const std::vector<float> x = {3, -2, 5, 0, 1, -7, 2, 4, 4, -1};
  for (const DType dtype :
       {DType::f32, DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64, DType::i8}) {
    if (!has_dtype(device, dtype)) continue;
    if (compiles_slowly(device) && (dtype == DType::f16 || dtype == DType::bf16)) continue;
    CAPTURE(name_of(dtype));
    const AnyTensor given = tensor_of(x, {2, 5}, device).cast(dtype);
    for (const How how : kAll) {
      if (how == How::LogSumExp && !is_float(dtype)) continue;
      CAPTURE(static_cast<int>(how));
      const Found found = scanned(how, given, 1);
      const bool accumulates = how == How::Sum || how == How::Prod;
      CHECK(found.values.dtype() == (accumulates && is_int(dtype) ? DType::i64 : dtype));
      check(found, expected(how, x, 2, 5, 1), is_half(dtype) ? 1e-2 : 1e-5);
    }
  }
  const AnyTensor mask = AnyTensor::less(0, tensor_of(x, {10}, device));
  CHECK(cumsum(mask, 0).dtype() == DType::i64);
  CHECK(values_of<std::int64_t>(cumsum(mask, 0)) == std::vector<std::int64_t>{1, 1, 2, 2, 3, 3, 4, 5, 6, 6});
  CHECK(values_of<std::int64_t>(cumsum(AnyTensor::full({3}, 200, DType::u8, device), 0)) ==
        std::vector<std::int64_t>{200, 400, 600});
}

TEST_CASE("long scans of 64-bit numbers") {
  const Device device = test_device();
  // Tiles of 1792 numbers, 768 where positions go with them.
  for (const std::int64_t length : {769, 3073, 7169}) {
    const std::vector<float> x = numbers(2 * length, -2, 2);
    for (const DType dtype : {DType::f64, DType::i64}) {
      if (!has_dtype(device, dtype)) continue;
      CAPTURE(length);
      CAPTURE(name_of(dtype));
      const bool integers = dtype == DType::i64;
      std::vector<float> given(x);
      if (integers)
        for (float& value : given) value *= 16;
      const AnyTensor y = tensor_of(given, {2, length}, device).cast(dtype);
      for (const How how : {How::Sum, How::Max, How::LogSumExp})
        for (const bool reverse : {false, true}) {
          if (integers && how == How::LogSumExp) continue;
          if (compiles_slowly(device) && (reverse || how == How::LogSumExp)) continue;
          CAPTURE(static_cast<int>(how));
          const ScanOptions options{.reverse = reverse};
          check(scanned(how, y, 1, options), expected(how, given, 2, length, 1, options), 1e-6);
        }
    }
  }
  // More than 32 bits of each word of a number count.
  if (!has_dtype(device, DType::i64)) return;
  const std::int64_t step = (std::int64_t{1} << 40) + 1;
  const std::vector<std::int64_t> sums =
      values_of<std::int64_t>(cumsum(AnyTensor::full({8000}, step, DType::i64, device), 0));
  for (std::size_t i = 0; i < sums.size(); ++i) CHECK(sums[i] == static_cast<std::int64_t>(i + 1) * step);
}

TEST_CASE("few long sequences, of several groups of tiles") {
  const Device device = test_device();
  if (compiles_slowly(device)) return;
  // On CUDA, 128 tiles of 1792 elements or 768 are a group; half a million elements and more have larger
  // tiles.
  struct Sizes {
    std::int64_t outer, length, inner;
  };
  for (const Sizes& s :
       {Sizes{1, 300'001, 1}, Sizes{2, 98'305, 1}, Sizes{1, 229'376, 1}, Sizes{1, 229'377, 2}})
    for (const How how : {How::Sum, How::Max})
      for (const bool reverse : {false, true}) {
        CAPTURE(s.length);
        CAPTURE(static_cast<int>(how));
        const std::vector<float> x = numbers(s.outer * s.length * s.inner, -2, 2);
        const ScanOptions options{.reverse = reverse, .exclusive = reverse && how == How::Sum};
        check(scanned(how, tensor_of(x, {s.outer, s.length, s.inner}, device), 1, options),
              expected(how, x, s.outer, s.length, s.inner, options), 2e-5);
      }
  for (const std::int64_t length : {std::int64_t{1} << 21, (std::int64_t{1} << 22) + 5}) {
    const std::vector<std::int64_t> sums =
        values_of<std::int64_t>(cumsum(AnyTensor::full({length}, 1, DType::f32, device), 0).cast(DType::i64));
    std::int64_t wrong = 0;
    for (std::size_t i = 0; i < sums.size(); ++i) wrong += sums[i] != static_cast<std::int64_t>(i + 1);
    CHECK(wrong == 0);
  }
}

TEST_CASE("across lanes enough to fill a device, each goes over all") {
  const Device device = test_device();
  const std::int64_t length = 40, lanes = 1 << 17;
  std::vector<float> want;
  for (std::int64_t row = 0; row < length; ++row)
    want.insert(want.end(), static_cast<std::size_t>(lanes), static_cast<float>(row + 1));
  CHECK(values_of(cumsum(AnyTensor::full({length, lanes}, 1, DType::f32, device), 0)) == want);
}

TEST_CASE("16-bit floats are added in f32") {
  const Device device = test_device();
  if (!has_dtype(device, DType::bf16)) return;
  const AnyTensor ones = AnyTensor::full({1000}, 1, DType::bf16, device);
  CHECK(values_of(cumsum(ones, 0).cast(DType::f32)).back() == 1000);  // in bf16 it stays at 256
}

TEST_CASE("NaN, infinities and zeros with a sign, as PyTorch has them") {
  const Device device = test_device();
  const std::vector<float> x = {1, kNaN, 3, 2, kNaN, 5, -0.0f, 0.0f, -0.0f, -kInfinity, kInfinity, 1};
  const AnyTensor given = tensor_of(x, {2, 6}, device);
  for (const How how : {How::Max, How::Min, How::LogSumExp})
    check(scanned(how, given, 1), expected(how, x, 2, 6, 1), 1e-5);
  // torch.cummax(x, 1), of version 1.13
  CHECK(values_of<std::int64_t>(cummax(given, 1).indices) ==
        std::vector<std::int64_t>{0, 1, 1, 1, 4, 4, 0, 1, 2, 2, 4, 4});
  CHECK(values_of<std::int64_t>(cummin(given, 1).indices) ==
        std::vector<std::int64_t>{0, 1, 1, 1, 4, 4, 0, 1, 2, 3, 3, 3});
  const std::vector<float> low(5, -kInfinity);
  CHECK(values_of(logcumsumexp(tensor_of(low, {5}, device), 0)) == low);
  CHECK(values_of(logcumsumexp(tensor_of({1000, 1000}, {2}, device), 0))[1] ==
        doctest::Approx(1000 + std::log(2.0)));
}

TEST_CASE("views are read where they lie, between elementwise work") {
  const Device device = test_device();
  const std::vector<float> x = numbers(6 * 40, -2, 2);
  const AnyTensor given = tensor_of(x, {6, 40}, device);
  std::vector<float> transposed;
  for (std::size_t c = 0; c < 40; ++c)
    for (std::size_t r = 0; r < 6; ++r) transposed.push_back(x[r * 40 + c]);
  check({cumsum(given.transpose(0, 1), 0), {}}, expected(How::Sum, transposed, 1, 40, 6), 1e-5);
  check({cumsum(given.transpose(0, 1), 1), {}}, expected(How::Sum, transposed, 40, 6, 1), 1e-5);
  std::vector<float> part;
  for (std::size_t r = 1; r < 5; ++r)
    for (std::size_t c = 3; c < 33; c += 2) part.push_back(2 * x[r * 40 + c]);
  const Range ranges[] = {{1, 5}, {3, 33, 2}};
  const AnyTensor doubled = AnyTensor::mul(given, 2.0).slice(ranges);
  Expected want = expected(How::Sum, part, 4, 15, 1);
  for (double& value : want.values) value -= 1;
  check({AnyTensor::sub(cumsum(doubled, 1), 1.0), {}}, want, 1e-5);
  check(
      {cumsum(given.narrow(0, 2, 1).expand({6, 40}), 0), {}},
      [&] {
        std::vector<float> repeated;
        for (std::size_t r = 0; r < 6; ++r) repeated.insert(repeated.end(), x.begin() + 80, x.begin() + 120);
        return expected(How::Sum, repeated, 1, 6, 40);
      }(),
      1e-5);
  check(
      {cumsum(given.flip(1), 1), {}},
      [&] {
        std::vector<float> flipped;
        for (std::size_t r = 0; r < 6; ++r)
          for (std::size_t c = 40; c-- > 0;) flipped.push_back(x[r * 40 + c]);
        return expected(How::Sum, flipped, 6, 40, 1);
      }(),
      1e-5);
}

TEST_CASE("nothing, one element, rank 0 and rank 8") {
  const Device device = test_device();
  const AnyTensor empty = AnyTensor::full({3, 0}, 1, DType::f32, device);
  CHECK(cumsum(empty, 1).shape() == Shape{3, 0});
  CHECK(cummax(empty, 0).indices.shape() == Shape{3, 0});
  CHECK(cummax(empty, 0).indices.dtype() == DType::i64);
  const AnyTensor one = AnyTensor::full({}, 7, DType::f32, device);
  CHECK(values_of(cumsum(one, 0)) == std::vector<float>{7});
  CHECK(cumsum(one, -1).shape() == Shape{});
  CHECK(values_of<std::int64_t>(cummin(one, 0).indices) == std::vector<std::int64_t>{0});
  const std::vector<float> x = numbers(256, -2, 2);
  const AnyTensor eight = tensor_of(x, {2, 2, 2, 2, 2, 2, 2, 2}, device);
  for (const std::int64_t axis : {0, 3, 7}) {
    const std::int64_t outer = std::int64_t{1} << axis;
    check({cumsum(eight, axis), {}}, expected(How::Sum, x, outer, 2, 128 / outer), 1e-5);
  }
}

TEST_CASE("typed scans, and arguments that do not fit") {
  const Device device = test_device();
  const Tensor<2> x = Tensor<2>::from_data({{1, 2, 3}, {4, 5, 6}}, device);
  CHECK(cumsum(x, 1).to_vector<float>() == std::vector<float>{1, 3, 6, 4, 9, 15});
  CHECK(cumprod(x, 0).to_vector<float>() == std::vector<float>{1, 2, 3, 4, 10, 18});
  const auto [values, indices] = cummax(-x, 1);
  CHECK(indices.to_vector<std::int64_t>() == std::vector<std::int64_t>(6, 0));
  CHECK(values.to_vector<float>() == std::vector<float>{-1, -1, -1, -4, -4, -4});
  const Tensor<2, Int> counted = cumsum(x > 2.0, 1);
  CHECK(counted.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 0, 1, 1, 2, 3});
  CHECK_THROWS_WITH_AS(cumsum(x, 2), doctest::Contains("scan_test.cpp"), ShapeError);
  CHECK_THROWS_AS(logcumsumexp(AnyTensor::full({3}, 1, DType::i32, device), 0), DTypeError);
  CHECK_THROWS_AS(cummax(AnyTensor::full({3}, true, DType::boolean, device), 0), DTypeError);
  CHECK_THROWS_WITH_AS(cumprod(x, 0, {.exclusive = true}), doctest::Contains("only sums can be exclusive"),
                       Error);
  CHECK_THROWS_AS(cumsum(AnyTensor(), 0), Error);
}

TEST_CASE("an axis that is too long is told before anything is computed") {
  const Device null = Device::null();
  const AnyTensor x = AnyTensor::full({(std::int64_t{1} << 31) + 5}, 1, DType::i32, null);
  CHECK_THROWS_WITH_AS(cumsum(x, 0), doctest::Contains("is longer than the 2147483647 that can be scanned"),
                       ShapeError);
}

TEST_CASE("the same bits twice, and in a second thread") {
  const Device device = test_device();
  const std::int64_t count = compiles_slowly(device) ? 3000 : 100000;
  TestData data(9);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = static_cast<float>(data.real(-1, 1));
  const auto run = [&] { return values_of(cumsum(tensor_of(x, {count}, device), 0)); };
  const std::vector<float> first = run();
  check_close(
      first,
      [&] {
        std::vector<float> want;
        double sum = 0;
        for (const float value : x) want.push_back(static_cast<float>(sum += static_cast<double>(value)));
        return want;
      }(),
      1e-4);
  std::vector<float> other;
  std::thread thread([&] { other = run(); });
  CHECK(run() == first);
  thread.join();
  CHECK(other == first);
  if (compiles_slowly(device)) return;
  // On CUDA, more tiles than run at a time, in several groups.
  TestData more(10);
  std::vector<float> y(std::size_t{1} << 21);
  for (float& value : y) value = static_cast<float>(more.real(-1, 1));
  const AnyTensor given = tensor_of(y, {1 << 21}, device);
  const std::vector<float> sums = values_of(cumsum(given, 0));
  for (int k = 0; k < 3; ++k) CHECK((values_of(cumsum(given, 0)) == sums));
}

TEST_CASE("gradients against differences") {
  const Device device = test_device().autodiff();
  const std::vector<float> plain = {0.5f, -1.25f, 2, 0.75f, -0.5f, 1.5f, 1.25f, 0.25f, -2, 1};
  std::vector<float> one_zero = plain, zeros = plain;
  one_zero[3] = 0;
  zeros[2] = zeros[3] = zeros[9] = 0;
  std::vector<float> weights = {1, -2, 0.5f, 3, -1, 2, 0.25f, -0.5f, 1.5f, -1};
  for (const How how : kAll)
    for (const std::vector<float>& x : {plain, one_zero, zeros})
      for (const ScanOptions options :
           {ScanOptions{}, ScanOptions{.reverse = true}, ScanOptions{.exclusive = true}}) {
        if (options.exclusive && how != How::Sum) continue;
        CAPTURE(static_cast<int>(how));
        CAPTURE(options.reverse);
        // An extreme's gradient goes to one of several equal elements, where differences see none.
        if ((how == How::Max || how == How::Min) && x != plain) continue;
        const AnyTensor leaf = tensor_of(x, {2, 5}, device).require_grad();
        const AnyTensor loss =
            AnyTensor::mul(scanned(how, leaf, 1, options).values, tensor_of(weights, {2, 5}, device))
                .sum({0, 1})
                .reshape({});
        const std::vector<float> got = values_of(*loss.backward().get(leaf));
        const auto value = [&](std::size_t at, double by) {
          std::vector<float> moved = x;
          moved[at] += static_cast<float>(by);
          const std::vector<double> y = expected(how, moved, 2, 5, 1, options).values;
          double sum = 0;
          for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * static_cast<double>(weights[i]);
          return sum;
        };
        for (std::size_t i = 0; i < x.size(); ++i) {
          CAPTURE(i);
          const double want = (value(i, 0x1p-8) - value(i, -0x1p-8)) * 0x1p7;
          CHECK(static_cast<double>(got[i]) == doctest::Approx(want).epsilon(1e-3));
        }
      }
}

TEST_CASE("gradients of gradients of sums") {
  const Device device = test_device().autodiff();
  const AnyTensor x = tensor_of({1, 2, 3}, {3}, device).require_grad();
  const AnyTensor y = cumsum(x.square(), 0);
  CHECK(values_of(*AnyTensor::mul(y, y).sum(0).reshape({}).backward().get(x)) ==
        std::vector<float>{2 * 2 * (1 + 5 + 14), 2 * 4 * (5 + 14), 2 * 6 * 14});
}

TEST_CASE("a scan that fails at any allocation or launch loses nothing") {
  FailingDevice failing;
  const Device& device = failing.device;
  const std::vector<float> x = numbers(5000, -2, 2);
  const Expected want = expected(How::Sum, x, 1, 5000, 1);
  int failures = 0;
  for (int* fails : {&failing.backend->fail_at, &failing.backend->fail_launch_at})
    for (int k = 0; k < 6; ++k) {
      const AnyTensor given = tensor_of(x, {5000}, device);
      device.sync();
      *fails = k;
      try {
        check({cumsum(AnyTensor::mul(given, 1.0), 0), {}}, want, 1e-5);
      } catch (const DeviceError&) {
        ++failures;
      }
      *fails = -1;
      CHECK(values_of(given) == x);
      check({cumsum(given, 0), {}}, want, 1e-5);
    }
  CHECK(failures >= 2);
}

TEST_CASE("positions are compared as the whole numbers that they are") {
  // Mesa 22.3 finds that 64 bits made of 32 are greater than 0, whatever they are.
  const Device device = test_device();
  const Tensor<2> x = Tensor<2>::from_data({{1}, {-2}, {3}, {0}, {5}, {-1}}, device);
  const Tensor<1> sorted = Tensor<1>::from_data({0, 2, 4}, device);
  using Signs = std::vector<std::int64_t>;
  CHECK(x.cummin(1).indices.sign().to_vector<std::int64_t>() == Signs(6, 0));
  CHECK(sorted.searchsorted(x).sign().to_vector<std::int64_t>() == Signs{1, 0, 1, 0, 1, 0});
}

TEST_CASE("a scan is one launch, which reads views in place") {
  const Device null = Device::null();
  const AnyTensor x = AnyTensor::full({30, 40}, 1, DType::f32, null);
  const auto launches = [&](const std::function<AnyTensor()>& program) {
    x.sync();
    null.sync();
    const std::uint64_t before = null.statistics().launches;
    program().sync();
    return null.statistics().launches - before;
  };
  if (const char* fusion = std::getenv("SINTER_FUSION"); fusion && std::string(fusion) == "0") return;
  CHECK(launches([&] { return cumsum(x, 0); }) == 1);
  CHECK(launches([&] { return cumsum(x.transpose(0, 1), 0); }) == 1);
  CHECK(launches([&] { return AnyTensor::mul(cumsum(AnyTensor::add(x, 1.0), 1), 2.0); }) == 3);
}

}  // namespace sinter::testing
