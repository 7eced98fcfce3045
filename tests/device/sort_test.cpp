// Sorts, order statistics and searches against plain loops: sizes around tiles, runs and merges, axes,
// dtypes, special numbers, ties, gradients.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
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

bool stands_before(float a, float b) { return a < b || (std::isnan(b) && !std::isnan(a)); }

/// Positions in order of each sequence of x [outer, length, inner], as [outer, length, inner] again.
std::vector<std::int64_t> order_of(const std::vector<float>& x, std::int64_t outer, std::int64_t length,
                                   std::int64_t inner, bool descending) {
  std::vector<std::int64_t> result(x.size()), order(static_cast<std::size_t>(length));
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < inner; ++i) {
      const auto at = [&](std::int64_t j) { return static_cast<std::size_t>((o * length + j) * inner + i); };
      std::iota(order.begin(), order.end(), std::int64_t{0});
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
        return descending ? stands_before(x[at(b)], x[at(a)]) : stands_before(x[at(a)], x[at(b)]);
      });
      for (std::int64_t j = 0; j < length; ++j) result[at(j)] = order[static_cast<std::size_t>(j)];
    }
  return result;
}

/// Threads of workgroups that work together are switched by this CPU.
bool is_slow(const Device& device) {
  return compiles_slowly(device) || device.description().find("emulated") != std::string::npos;
}

/// Some of them alike.
std::vector<float> numbers(std::int64_t count, std::uint64_t seed = 5) {
  TestData data(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(data.integer(-count / 3 - 1, count / 3 + 1)) / 8;
  return values;
}

/// Equal but for NaN, whose bits do not count.
void check_same(const std::vector<float>& got, const std::vector<float>& want) {
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    if (std::isnan(want[i]))
      CHECK(std::isnan(got[i]));
    else
      CHECK((got[i] == want[i] && std::signbit(got[i]) == std::signbit(want[i])));
  }
}

}  // namespace

TEST_CASE("sorts along every axis, both ways, around the ends of tiles, runs and merges") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t outer, length, inner;
  };
  std::vector<Sizes> all = {{1, 1, 1}, {1, 2, 1}, {3, 17, 1}, {2, 65, 3}, {1, 1025, 1}};
  if (!compiles_slowly(device))
    all.insert(all.end(), {{600, 3, 1},
                           {1, 100, 1},
                           {9, 256, 1},
                           {3, 257, 1},
                           {2, 513, 1},
                           {1, 1023, 2},
                           {2, 1024, 1},
                           {2, 2049, 1},
                           {2, 4096, 1},
                           {1, 4097, 1},
                           {1, 8192, 1},
                           {1, 8193, 1},
                           {3, 2500, 2},
                           {1, 66000, 1}});
  for (const Sizes& s : all)
    for (const bool descending : {false, true}) {
      CAPTURE(s.outer);
      CAPTURE(s.length);
      CAPTURE(s.inner);
      CAPTURE(descending);
      const std::vector<float> x = numbers(s.outer * s.length * s.inner);
      const AnyTensor given = tensor_of(x, {s.outer, s.length, s.inner}, device);
      const std::vector<std::int64_t> want = order_of(x, s.outer, s.length, s.inner, descending);
      const AnyIndexed sorted = sort(given, 1, descending);
      CHECK(values_of<std::int64_t>(sorted.indices) == want);
      CHECK(values_of<std::int64_t>(argsort(given, -2, descending)) == want);
      std::vector<float> values(x.size());
      for (std::size_t at = 0; at < x.size(); ++at) {
        const auto inner = static_cast<std::size_t>(s.inner), length = static_cast<std::size_t>(s.length);
        values[at] =
            x[(at / inner / length * length + static_cast<std::size_t>(want[at])) * inner + at % inner];
      }
      CHECK(values_of(sorted.values) == values);
    }
}

TEST_CASE("by digits: ties, special numbers, several sequences, strided ones, and parts") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t outer, length, inner, keep;
  };
  // Around the ends of tiles of 3840 keys; all keys of a tile, or most, have one digit in common. Sequences
  // that a workgroup sorts in its memory, several or one.
  std::vector<Sizes> all = {{1, 69121, 1, 0}, {7, 300, 3, 290}, {3, 1000, 1, 900}};
  if (!is_slow(device))
    all.insert(all.end(), {{1, 69120, 1, 0}, {18, 4097, 1, 0}, {3, 11000, 2, 0}, {2, 40000, 1, 39000}});
  for (const Sizes& s : all)
    for (const bool descending : {false, true}) {
      CAPTURE(s.length);
      CAPTURE(descending);
      std::vector<float> x = numbers(s.outer * s.length * s.inner, 11);
      for (std::size_t at = 0; at < x.size(); at += 97) x[at] = at % 2 ? kNaN : -kInfinity;
      for (std::size_t at = 5; at < x.size(); at += 31) x[at] = at % 2 ? 0.0f : -0.0f;
      const AnyTensor given = tensor_of(x, {s.outer, s.length, s.inner}, device);
      std::vector<std::int64_t> want = order_of(x, s.outer, s.length, s.inner, descending);
      const std::int64_t keep = s.keep == 0 ? s.length : s.keep;
      const AnyIndexed found = s.keep == 0 ? sort(given, 1, descending) : topk(given, keep, 1, descending);
      std::vector<std::int64_t> kept;
      std::vector<float> values;
      for (std::int64_t o = 0; o < s.outer; ++o)
        for (std::int64_t i = 0; i < keep * s.inner; ++i) {
          kept.push_back(want[static_cast<std::size_t>(o * s.length * s.inner + i)]);
          values.push_back(x[static_cast<std::size_t>((o * s.length + kept.back()) * s.inner + i % s.inner)]);
        }
      CHECK(values_of<std::int64_t>(found.indices) == kept);
      check_same(values_of(found.values), values);
      if (s.keep == 0) CHECK(values_of<std::int64_t>(argsort(given, 1, descending)) == want);
    }
}

TEST_CASE("by digits, of many tiles") {
  const Device device = test_device();
  if (compiles_slowly(device)) return;
  // From 256 tiles of 7680 keys on, 3840 of 64 bits, 64 or more to a sequence, workgroups of CUDA wait for
  // others.
  struct Sizes {
    DType dtype;
    std::int64_t outer, length, inner, keep;
  };
  std::vector<Sizes> all = {{DType::f32, 4, 483'841, 1, 0}, {DType::i8, 2, 976'000, 1, 970'001}};
  if (!is_slow(device))
    all.insert(all.end(), {{DType::f32, 1, 1'958'401, 2, 0},
                           {DType::bf16, 1, 7'000'001, 1, 0},
                           {DType::f16, 3, 700'001, 1, 400'000},
                           {DType::f64, 1, 1'000'003, 1, 0},
                           {DType::i64, 2, 500'000, 1, 0}});
  for (const Sizes& s : all)
    for (const bool descending : {false, true}) {
      if (!has_dtype(device, s.dtype) || (is_slow(device) && descending != is_float(s.dtype))) continue;
      CAPTURE(s.length);
      CAPTURE(descending);
      CAPTURE(name_of(s.dtype));
      TestData data(7);
      std::vector<float> x(static_cast<std::size_t>(s.outer * s.length * s.inner));
      const bool wide = s.dtype == DType::f32 || size_of(s.dtype) == 8;
      const std::int64_t most = wide ? 1'000'000 : 120;  // exact in each
      for (float& value : x) value = static_cast<float>(data.integer(-most, most));
      if (is_float(s.dtype))
        for (std::size_t at = 0; at < x.size(); at += 97) x[at] = at % 2 ? kNaN : -kInfinity;
      const AnyTensor given = tensor_of(x, {s.outer, s.length, s.inner}, device).cast(s.dtype);
      const std::int64_t keep = s.keep == 0 ? s.length : s.keep;
      const AnyIndexed found = s.keep == 0 ? sort(given, 1, descending) : topk(given, keep, 1, descending);
      const std::vector<std::int64_t> want = order_of(x, s.outer, s.length, s.inner, descending),
                                      got = values_of<std::int64_t>(found.indices);
      const std::vector<float> values = values_of(found.values.cast(DType::f32));
      REQUIRE(got.size() == static_cast<std::size_t>(s.outer * keep * s.inner));
      std::int64_t wrong = 0, wrong_values = 0;
      for (std::size_t at = 0; at < got.size(); ++at) {
        const auto row = static_cast<std::int64_t>(at) / (keep * s.inner),
                   column = static_cast<std::int64_t>(at) % (keep * s.inner);
        const std::int64_t from = want[static_cast<std::size_t>(row * s.length * s.inner + column)];
        const float value = x[static_cast<std::size_t>((row * s.length + from) * s.inner + column % s.inner)];
        wrong += got[at] != from;
        wrong_values += values[at] != value && !(std::isnan(value) && std::isnan(values[at]));
      }
      CHECK(wrong == 0);
      CHECK(wrong_values == 0);
    }
}

TEST_CASE("sequences of every dtype, by as many digits as their numbers have") {
  const Device device = test_device();
  if (compiles_slowly(device)) return;
  const std::int64_t count = is_slow(device) ? 700 : 70000;
  TestData data(3);
  std::vector<float> x(static_cast<std::size_t>(count));
  for (float& value : x) value = static_cast<float>(data.integer(-127, 127));
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64, DType::i8,
                            DType::i16, DType::u8, DType::u16, DType::u32, DType::u64, DType::boolean}) {
    if (!has_dtype(device, dtype)) continue;
    const bool is_signed = is_float(dtype) || dtype == DType::i8 || dtype == DType::i16 ||
                           dtype == DType::i32 || dtype == DType::i64;
    // Far apart where the dtype allows it, so that each digit counts.
    const double factor = dtype == DType::boolean                       ? 1
                          : size_of(dtype) == 1 || dtype == DType::bf16 ? 1
                          : dtype == DType::f16                         ? 0.25
                          : size_of(dtype) == 2                         ? 257
                          : dtype == DType::f32 || dtype == DType::i32  ? 16843009
                          : dtype == DType::u32                         ? 16843009
                                                                        : 16843009.0 * 4294967296.0;
    for (const bool descending : {false, true}) {
      CAPTURE(name_of(dtype));
      CAPTURE(descending);
      std::vector<float> numbers(x);
      if (!is_signed)
        for (float& value : numbers) value = dtype == DType::boolean ? value > 0 : value + 128;
      AnyTensor given = tensor_of(numbers, {count}, device);
      if (dtype == DType::boolean)
        given = AnyTensor::less(0, given);
      else if (is_float(dtype))
        given = AnyTensor::mul(given, factor).cast(dtype);
      else
        given = AnyTensor::mul(given.cast(size_of(dtype) == 8 ? dtype : DType::i64),
                               static_cast<std::int64_t>(factor))
                    .cast(dtype);
      const std::vector<std::int64_t> want = order_of(numbers, 1, count, 1, descending);
      const AnyIndexed sorted = sort(given, 0, descending);
      CHECK(values_of<std::int64_t>(sorted.indices) == want);
      CHECK(sorted.values.dtype() == dtype);
      const AnyTensor same = AnyTensor::equal(sorted.values, given.gather(0, sorted.indices));
      CHECK(values_of<std::int64_t>(same.cast(DType::i64).sum(0)) == std::vector<std::int64_t>{count});
    }
  }
}

TEST_CASE("the largest and the smallest of many and of few") {
  const Device device = test_device();
  struct Sizes {
    std::int64_t rows, length, k;
  };
  std::vector<Sizes> all = {{2, 10, 3}, {1, 129, 5}, {3, 300, 1}};
  if (!compiles_slowly(device))
    all.insert(
        all.end(),
        {{4, 5000, 50}, {2, 128, 128}, {1, 3000, 256}, {1, 3000, 257}, {2, 1500, 1499}, {1, 40000, 7}});
  for (const Sizes& s : all)
    for (const bool largest : {false, true}) {
      CAPTURE(s.length);
      CAPTURE(s.k);
      CAPTURE(largest);
      const std::vector<float> x = numbers(s.rows * s.length);
      const std::vector<std::int64_t> order = order_of(x, s.rows, s.length, 1, largest);
      std::vector<std::int64_t> want;
      std::vector<float> values;
      for (std::int64_t r = 0; r < s.rows; ++r)
        for (std::int64_t j = 0; j < s.k; ++j) {
          want.push_back(order[static_cast<std::size_t>(r * s.length + j)]);
          values.push_back(x[static_cast<std::size_t>(r * s.length + want.back())]);
        }
      const AnyIndexed found = topk(tensor_of(x, {s.rows, s.length}, device), s.k, 1, largest);
      CHECK(values_of<std::int64_t>(found.indices) == want);
      CHECK(values_of(found.values) == values);
    }
}

TEST_CASE("NaN, infinities and zeros with a sign, as PyTorch has them") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({0, -0.0f, kNaN, 1, -kInfinity, kNaN, -0.0f, kInfinity}, {8}, device);
  const AnyIndexed up = sort(x), down = sort(x, 0, true);
  CHECK(values_of<std::int64_t>(up.indices) == std::vector<std::int64_t>{4, 0, 1, 6, 3, 7, 2, 5});
  CHECK(values_of<std::int64_t>(down.indices) == std::vector<std::int64_t>{2, 5, 7, 3, 0, 1, 6, 4});
  check_same(values_of(up.values), {-kInfinity, 0, -0.0f, -0.0f, 1, kInfinity, kNaN, kNaN});
  CHECK(values_of<std::int64_t>(topk(x, 3).indices) == std::vector<std::int64_t>{2, 5, 7});
  const AnyTensor y = tensor_of({3, kNaN, 1, kNaN, 2}, {5}, device);
  CHECK(values_of<std::int64_t>(kthvalue(y, 4).indices) == std::vector<std::int64_t>{1});
  CHECK(values_of<std::int64_t>(median(y, 0).indices) == std::vector<std::int64_t>{1});
  check_same(values_of(median(y, 0).values), {kNaN});
  check_same(values_of(quantile(y, 0.5, 0)), {kNaN});
  const AnyIndexed most = max_with_indices(y, 0), least = min_with_indices(y, 0);
  CHECK(values_of<std::int64_t>(most.indices) == std::vector<std::int64_t>{1});
  CHECK(values_of<std::int64_t>(least.indices) == std::vector<std::int64_t>{1});
  check_same(values_of(most.values), {kNaN});
}

TEST_CASE("every dtype") {
  const Device device = test_device();
  const std::vector<float> x = {3, -2, 5, 0, 1, -7, 2, 4, 4, -1};
  for (const DType dtype : {DType::f64, DType::bf16, DType::f16, DType::i32, DType::i64}) {
    if (!has_dtype(device, dtype)) continue;
    if (compiles_slowly(device) && (dtype == DType::f16 || dtype == DType::bf16)) continue;
    CAPTURE(name_of(dtype));
    const AnyTensor given = tensor_of(x, {2, 5}, device).cast(dtype);
    for (const bool descending : {false, true}) {
      const AnyIndexed sorted = sort(given, 1, descending);
      CHECK(sorted.values.dtype() == dtype);
      CHECK(values_of<std::int64_t>(sorted.indices) == order_of(x, 2, 5, 1, descending));
    }
    CHECK(values_of(median(given, 1).values.cast(DType::f32)) == std::vector<float>{1, 2});
  }
  const AnyTensor mask = AnyTensor::less(0, tensor_of(x, {10}, device));
  CHECK(values_of<std::int64_t>(argsort(mask)) == std::vector<std::int64_t>{1, 3, 5, 9, 0, 2, 4, 6, 7, 8});
  CHECK(sort(mask).values.dtype() == DType::boolean);
  if (has_dtype(device, DType::i64)) {
    const std::int64_t ends[] = {std::numeric_limits<std::int64_t>::max(), 0,
                                 std::numeric_limits<std::int64_t>::min(), -1};
    const AnyTensor far = AnyTensor::from_bytes(std::as_bytes(std::span(ends)), {4}, DType::i64, device);
    CHECK(values_of<std::int64_t>(argsort(far)) == std::vector<std::int64_t>{2, 3, 1, 0});
    CHECK(values_of<std::int64_t>(argsort(far, 0, true)) == std::vector<std::int64_t>{0, 1, 3, 2});
  }
}

TEST_CASE("views, between elementwise work") {
  const Device device = test_device();
  const std::vector<float> x = numbers(60);
  const AnyTensor given = tensor_of(x, {6, 10}, device);
  std::vector<float> transposed, doubled;
  for (std::size_t c = 0; c < 10; ++c)
    for (std::size_t r = 0; r < 6; ++r) transposed.push_back(x[r * 10 + c]);
  for (std::size_t r = 1; r < 4; ++r)
    for (std::size_t c = 0; c < 10; c += 3) doubled.push_back(-2 * x[r * 10 + c]);
  CHECK(values_of<std::int64_t>(argsort(given.transpose(0, 1), 1)) == order_of(transposed, 10, 6, 1, false));
  CHECK(values_of<std::int64_t>(argsort(given.transpose(0, 1), 0)) == order_of(transposed, 1, 10, 6, false));
  const Range ranges[] = {{1, 4}, {{}, {}, 3}};
  CHECK(values_of<std::int64_t>(argsort(AnyTensor::mul(given, -2.0).slice(ranges), 1)) ==
        order_of(doubled, 3, 4, 1, false));
}

TEST_CASE("medians, quantiles and k-th elements") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({3, 1, 2, 4, 8, 8, 5, 6}, {2, 4}, device);
  CHECK(values_of(median(x, 1).values) == std::vector<float>{2, 6});
  CHECK(values_of<std::int64_t>(median(x, 1).indices) == std::vector<std::int64_t>{2, 3});
  CHECK(median(x, 0).values.shape() == Shape{1, 4});
  CHECK(values_of(median(x)) == std::vector<float>{4});
  CHECK(median(x).shape() == Shape{});
  CHECK(values_of(kthvalue(x, 3, 1).values) == std::vector<float>{3, 8});
  check_close(quantile(x, 0.4, 1), {2.2f, 6.4f});
  CHECK(values_of(quantile(x, 1, 1)) == std::vector<float>{4, 8});
  CHECK(values_of(quantile(tensor_of({-kInfinity, kInfinity, kInfinity}, {3}, device), 0.75, 0)) ==
        std::vector<float>{kInfinity});
  CHECK(values_of(quantile(tensor_of({1, -kInfinity, 2}, {3}, device), 0.25, 0)) ==
        std::vector<float>{-kInfinity});
  CHECK(values_of(max_with_indices(x, 1).values) == std::vector<float>{4, 8});
  CHECK(values_of<std::int64_t>(min_with_indices(x, -1).indices) == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("places in sorted rows") {
  const Device device = test_device();
  const AnyTensor sorted = tensor_of({1, 2, 2, 5, 0, 3, kNaN, kNaN}, {2, 4}, device);
  const AnyTensor values = tensor_of({2, 0, 9, kNaN, 4, -1}, {2, 3}, device);
  CHECK(values_of<std::int64_t>(searchsorted(sorted, values)) == std::vector<std::int64_t>{1, 0, 4, 2, 2, 0});
  CHECK(values_of<std::int64_t>(searchsorted(sorted, values, true)) ==
        std::vector<std::int64_t>{3, 0, 4, 4, 2, 0});
  const AnyTensor edges = tensor_of({-1, 0, 0, 1}, {4}, device);
  CHECK(values_of<std::int64_t>(bucketize(tensor_of({-0.0f, 0.5f, -kInfinity, 1}, {2, 2}, device), edges)) ==
        std::vector<std::int64_t>{1, 3, 0, 3});
  const std::int64_t count = compiles_slowly(device) ? 40 : 5000;
  std::vector<float> many = numbers(count, 8), asked = numbers(777, 9);
  std::sort(many.begin(), many.end());
  for (const bool right : {false, true}) {
    std::vector<std::int64_t> want;
    for (const float value : asked)
      want.push_back((right ? std::upper_bound(many.begin(), many.end(), value)
                            : std::lower_bound(many.begin(), many.end(), value)) -
                     many.begin());
    CHECK(values_of<std::int64_t>(searchsorted(tensor_of(many, {count}, device),
                                               tensor_of(asked, {777}, device), right)) == want);
  }
  CHECK(searchsorted(tensor_of({}, {0}, device), edges).shape() == Shape{4});
  CHECK_THROWS_AS(searchsorted(sorted, edges), ShapeError);
  CHECK_THROWS_AS(searchsorted(edges, edges.cast(DType::i32)), DTypeError);
}

TEST_CASE("nothing, one element, rank 0 and rank 8") {
  const Device device = test_device();
  const AnyTensor empty = AnyTensor::full({3, 0}, 1, DType::f32, device);
  CHECK(sort(empty, 1).values.shape() == Shape{3, 0});
  CHECK(sort(empty, 0).indices.dtype() == DType::i64);
  CHECK(topk(empty, 2, 0).values.shape() == Shape{2, 0});
  CHECK(topk(tensor_of({1, 2}, {2}, device), 0).values.shape() == Shape{0});
  const AnyTensor one = AnyTensor::full({}, 7, DType::f32, device);
  CHECK(values_of(sort(one).values) == std::vector<float>{7});
  CHECK(sort(one).indices.shape() == Shape{});
  CHECK(values_of(median(one)) == std::vector<float>{7});
  const std::vector<float> x = numbers(256);
  CHECK(values_of<std::int64_t>(argsort(tensor_of(x, {2, 2, 2, 2, 2, 2, 2, 2}, device), 3)) ==
        order_of(x, 8, 2, 16, false));
  CHECK_THROWS_WITH_AS(median(empty, 1), doctest::Contains("[median] axis 1 of shape (3, 0) has no element"),
                       ShapeError);
}

TEST_CASE("typed forms, and arguments that do not fit") {
  const Device device = test_device();
  const Tensor<2> x = Tensor<2>::from_data({{3, 1, 2}, {4, 6, 5}}, device);
  const auto [values, indices] = sort(x, 1, true);
  CHECK(values.to_vector<float>() == std::vector<float>{3, 2, 1, 6, 5, 4});
  CHECK(indices.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 2, 1, 1, 2, 0});
  CHECK(topk(x, 2).values.to_vector<float>() == std::vector<float>{3, 2, 6, 5});
  CHECK(median(x).item() == 3);
  CHECK_THROWS_WITH_AS(topk(x, 4), doctest::Contains("[topk] there are no 4 elements along axis 1"),
                       ShapeError);
  CHECK_THROWS_AS(topk(x, -1), ShapeError);
  CHECK_THROWS_AS(kthvalue(x, 0), ShapeError);
  CHECK_THROWS_AS(quantile(x, 1.5, 0), Error);
  CHECK_THROWS_WITH_AS(sort(x, 2), doctest::Contains("sort_test.cpp"), ShapeError);
  CHECK_THROWS_AS(sort(AnyTensor()), Error);
  const Device null = Device::null();
  CHECK_THROWS_WITH_AS(sort(AnyTensor::full({(std::int64_t{1} << 31) + 5}, 1, DType::i32, null)),
                       doctest::Contains("is longer than the 2147483647 that can be sorted"), ShapeError);
}

TEST_CASE("gradients go to the elements that values came from") {
  const Device device = test_device().autodiff();
  const std::vector<float> x = {3, 1, 2, 4, 6, 5};
  const auto gradient = [&](const std::function<AnyTensor(const AnyTensor&)>& f) {
    const AnyTensor leaf = tensor_of(x, {2, 3}, device).require_grad();
    const AnyTensor y = f(leaf);
    std::vector<float> weights(static_cast<std::size_t>(y.numel()));
    std::iota(weights.begin(), weights.end(), 1.0f);
    return values_of(*AnyTensor::mul(y, tensor_of(weights, y.shape(), device))
                          .sum(y.all_axes())
                          .reshape({})
                          .backward()
                          .get(leaf));
  };
  CHECK(gradient([](const AnyTensor& t) { return sort(t, 1).values; }) ==
        std::vector<float>{3, 1, 2, 4, 6, 5});
  CHECK(gradient([](const AnyTensor& t) { return sort(t, 0).values; }) ==
        std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(gradient([](const AnyTensor& t) { return topk(t, 2, 1).values; }) ==
        std::vector<float>{1, 0, 2, 0, 3, 4});
  CHECK(gradient([](const AnyTensor& t) { return median(t, 1).values; }) ==
        std::vector<float>{0, 0, 1, 0, 0, 2});
  CHECK(gradient([](const AnyTensor& t) { return quantile(t, 0.25, 1); }) ==
        std::vector<float>{0, 0.5f, 0.5f, 1, 0, 1});
  CHECK(gradient([](const AnyTensor& t) { return max_with_indices(t, 0).values; }) ==
        std::vector<float>{0, 0, 0, 1, 2, 3});

  // What equals the median shares its gradient, and quantiles between equal elements have that of both.
  const auto of_ties = [&](const std::vector<float>& ties, const auto& f) {
    const AnyTensor leaf = tensor_of(ties, {static_cast<std::int64_t>(ties.size())}, device).require_grad();
    return values_of(*f(leaf).sum().backward().get(leaf));
  };
  const auto middle = [](const AnyTensor& t) { return median(t); };
  CHECK(of_ties({4, 2, 1, 2, 2, 2}, middle) == std::vector<float>{0, 0.25f, 0, 0.25f, 0.25f, 0.25f});
  CHECK(of_ties({1, kNaN, 2, kNaN}, middle) == std::vector<float>{0, 0.5f, 0, 0.5f});
  CHECK(of_ties({3, 1, 2, 2, 0}, [](const AnyTensor& t) { return quantile(t, 0.5625, 0); }) ==
        std::vector<float>{0, 0, 0.75f, 0.25f, 0});
}

TEST_CASE("the same bits twice, and in a second thread; failures lose nothing") {
  FailingDevice failing;
  const Device& device = failing.device;
  const std::int64_t count = compiles_slowly(device) ? 1500 : 20000;
  const std::vector<float> x = numbers(count);
  const std::vector<std::int64_t> want = order_of(x, 1, count, 1, false);
  std::vector<std::int64_t> other;
  std::thread thread([&] { other = values_of<std::int64_t>(argsort(tensor_of(x, {count}, device))); });
  CHECK(values_of<std::int64_t>(argsort(tensor_of(x, {count}, device))) == want);
  thread.join();
  CHECK(other == want);
  int failures = 0;
  for (int* fails : {&failing.backend->fail_at, &failing.backend->fail_launch_at})
    for (int k = 0; k < 5; ++k) {
      const AnyTensor given = tensor_of(x, {count}, device);
      device.sync();
      *fails = k;
      try {
        const std::vector<std::int64_t> got =
            values_of<std::int64_t>(sort(AnyTensor::mul(given, 1.0)).indices);
        CHECK(got == want);
      } catch (const DeviceError&) {
        ++failures;
      }
      *fails = -1;
      CHECK(values_of(given) == x);
      CHECK(values_of<std::int64_t>(argsort(given)) == want);
    }
  CHECK(failures >= 2);
}

}  // namespace sinter::testing
