// Random choices: right shares, no repetition where none is allowed, the same with the same seed.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Ints = std::vector<std::int64_t>;

/// Shares within five standard deviations.
void check_shares(const Ints& drawn, const std::vector<double>& shares) {
  std::vector<double> counts(shares.size(), 0);
  for (const std::int64_t index : drawn) {
    REQUIRE(index >= 0);
    REQUIRE(index < static_cast<std::int64_t>(shares.size()));
    ++counts[static_cast<std::size_t>(index)];
  }
  const auto n = static_cast<double>(drawn.size());
  for (std::size_t i = 0; i < shares.size(); ++i) {
    CAPTURE(i);
    CHECK(std::abs(counts[i] - n * shares[i]) <= 5 * std::sqrt(n * shares[i] * (1 - shares[i])));
  }
}

}  // namespace

TEST_CASE("choices have the shares of their weights") {
  const Device device = test_device();
  device.seed(7);
  const std::vector<float> weights = {1, 0, 3, 4, 0, 2};
  const std::vector<double> shares = {0.1, 0, 0.3, 0.4, 0, 0.2};
  const std::int64_t draws = compiles_slowly(device) ? 500 : 4000;
  const AnyTensor given = tensor_of(weights, {6}, device);
  check_shares(values_of<std::int64_t>(multinomial(given, draws, true)), shares);
  const AnyTensor rows = given.reshape({1, 6}).expand({draws, 6});
  check_shares(values_of<std::int64_t>(categorical(rows.log(), 1)), shares);
  // A constant that all logits share changes nothing, however large; beside an infinite one nothing is drawn.
  const AnyTensor far = AnyTensor::full({draws, 4}, 1e7, DType::f32, device);
  check_shares(values_of<std::int64_t>(categorical(far, 1)), std::vector<double>(4, 0.25));
  const AnyTensor one = tensor_of({0, INFINITY, -INFINITY}, {1, 3}, device).expand({50, 3});
  CHECK(values_of<std::int64_t>(categorical(one, 1)) == Ints(50, 1));
  check_shares(values_of<std::int64_t>(multinomial(rows, 1).reshape({draws})), shares);
  check_shares(values_of<std::int64_t>(multinomial(rows, 2, true).narrow(1, 1, 1).reshape({draws})), shares);
}

TEST_CASE("without replacement nothing comes twice, and what has no weight comes last") {
  const Device device = test_device();
  const AnyTensor weights = tensor_of({1, 0, 3, 4, 0, 2}, {1, 6}, device).expand({50, 6});
  const Ints drawn = values_of<std::int64_t>(multinomial(weights, 6));
  for (std::size_t r = 0; r < 50; ++r) {
    std::set<std::int64_t> first(drawn.begin() + static_cast<std::ptrdiff_t>(6 * r),
                                 drawn.begin() + static_cast<std::ptrdiff_t>(6 * r + 4));
    CHECK(first == std::set<std::int64_t>{0, 2, 3, 5});
  }
}

TEST_CASE("random orders") {
  const Device device = test_device();
  for (const std::int64_t n : {1, 2, 33, compiles_slowly(device) ? 200 : 3000}) {
    Ints drawn = values_of<std::int64_t>(randperm(n, device));
    Ints sorted = drawn, want(static_cast<std::size_t>(n));
    std::sort(sorted.begin(), sorted.end());
    std::iota(want.begin(), want.end(), std::int64_t{0});
    CHECK(sorted == want);
    if (n > 30) CHECK(drawn != want);
  }
  CHECK(randperm(0, device).shape() == Shape{0});
  // Each order of three comes as often.
  device.seed(3);
  std::vector<std::int64_t> seen(27, 0);
  const int rounds = compiles_slowly(device) ? 120 : 600;
  for (int i = 0; i < rounds; ++i) {
    const Ints p = values_of<std::int64_t>(randperm(3, device));
    ++seen[static_cast<std::size_t>(p[0] * 9 + p[1] * 3 + p[2])];
  }
  for (const int order : {5, 7, 11, 15, 19, 21}) CHECK(seen[static_cast<std::size_t>(order)] > rounds / 14);
  const AnyTensor x = tensor_of({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2}, device);
  const std::vector<float> rows = values_of(shuffle(x));
  float sum = 0;
  for (std::size_t r = 0; r < 4; ++r) {
    CHECK(rows[2 * r + 1] == rows[2 * r] + 1);  // rows stay whole
    sum += rows[2 * r];
  }
  CHECK(sum == 16);
}

TEST_CASE("the same seed, the same choices") {
  const Device device = test_device();
  const AnyTensor weights = tensor_of({1, 2, 3, 4, 5}, {5}, device);
  const auto draw = [&] {
    device.seed(11);
    Ints all = values_of<std::int64_t>(multinomial(weights, 5));
    const Ints more = values_of<std::int64_t>(randperm(20, device));
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  CHECK(draw() == draw());
}

TEST_CASE("arguments that do not fit") {
  const Device device = test_device();
  const AnyTensor weights = tensor_of({1, 2, 3}, {3}, device);
  CHECK_THROWS_WITH_AS(multinomial(weights, 4),
                       doctest::Contains("4 of 3 cannot be drawn without replacement"), ShapeError);
  CHECK(multinomial(weights, 0).shape() == Shape{0});
  CHECK_THROWS_AS(multinomial(weights.cast(DType::i32), 1), DTypeError);
  CHECK_THROWS_AS(multinomial(weights.reshape({1, 1, 3}), 1), ShapeError);
  CHECK_THROWS_AS(categorical(weights, 1), ShapeError);
  CHECK_THROWS_AS(randperm(-1, device), ShapeError);
}

}  // namespace sinter::testing
