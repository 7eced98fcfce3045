// Results whose size the data decides, and histograms.
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_data.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Ints = std::vector<std::int64_t>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

AnyTensor ints(const Ints& values, const Device& device) {
  return AnyTensor::from_bytes(std::as_bytes(std::span(values)), {static_cast<std::int64_t>(values.size())},
                               DType::i64, device);
}

std::vector<float> numbers(std::int64_t count, std::int64_t range, std::uint64_t seed) {
  TestData data(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = static_cast<float>(data.integer(0, range));
  return values;
}

}  // namespace

TEST_CASE("coordinates and elements where something is true") {
  const Device device = test_device();
  for (const std::int64_t range : {0, 1, 5, 60})  // none, half, most, nearly all
    for (const std::int64_t rows : {1, 7, compiles_slowly(device) ? 30 : 900}) {
      CAPTURE(range);
      CAPTURE(rows);
      const std::vector<float> x = numbers(rows * 5, range, static_cast<std::uint64_t>(rows));
      const AnyTensor given = tensor_of(x, {rows, 5}, device);
      Ints want;
      std::vector<float> picked;
      for (std::int64_t i = 0; i < rows * 5; ++i)
        if (x[static_cast<std::size_t>(i)] != 0) {
          want.insert(want.end(), {i / 5, i % 5});
          picked.push_back(x[static_cast<std::size_t>(i)] + 1);
        }
      const AnyTensor found = nonzero(given);
      CHECK(found.shape() == Shape{static_cast<std::int64_t>(want.size()) / 2, 2});
      CHECK(values_of<std::int64_t>(found) == want);
      CHECK(values_of(mask_select(AnyTensor::add(given, 1.0), AnyTensor::not_equal(given, 0))) == picked);
    }
  CHECK(values_of<std::int64_t>(argwhere(tensor_of({0, kNaN, -0.0f, 2}, {2, 2}, device))) ==
        Ints{0, 1, 1, 1});
  CHECK(nonzero(AnyTensor::full({}, 3, DType::f32, device)).shape() == Shape{1, 0});
  CHECK(nonzero(AnyTensor::full({}, 0, DType::f32, device)).shape() == Shape{0, 0});
  CHECK(nonzero(AnyTensor::full({0, 4}, 1, DType::f32, device)).shape() == Shape{0, 2});
  const AnyTensor column = AnyTensor::less(0, tensor_of({1, -1}, {2, 1}, device));
  CHECK(values_of(mask_select(tensor_of({1, 2, 3, 4}, {2, 2}, device), column)) == std::vector<float>{1, 2});
  CHECK_THROWS_AS(mask_select(column, tensor_of({1, 2}, {2, 1}, device)), DTypeError);
  CHECK_THROWS_AS(
      mask_select(tensor_of({1, 2}, {2}, device), AnyTensor::full({2, 2}, true, DType::boolean, device)),
      ShapeError);
}

TEST_CASE("the gradient of what was selected") {
  const Device device = test_device().autodiff();
  const AnyTensor x = tensor_of({1, -2, 3, -4, 5}, {5}, device).require_grad();
  const AnyTensor y = mask_select(x, AnyTensor::less(0, x));
  CHECK(values_of(*y.square().sum(0).reshape({}).backward().get(x)) == std::vector<float>{2, 0, 6, 0, 10});
}

TEST_CASE("different elements, where each is among them, and how often") {
  const Device device = test_device();
  for (const std::int64_t range : {0, 3, 500})
    for (const std::int64_t count : {1, 2, 40, compiles_slowly(device) ? 80 : 5000}) {
      CAPTURE(range);
      CAPTURE(count);
      const std::vector<float> x = numbers(count * 2, range, 3);
      std::map<float, std::int64_t> known;
      for (const float value : x) ++known[value];
      std::vector<float> values;
      Ints counts;
      std::map<float, std::int64_t> place;
      for (const auto& [value, number] : known) {
        place[value] = static_cast<std::int64_t>(values.size());
        values.push_back(value);
        counts.push_back(number);
      }
      Ints inverse;
      for (const float value : x) inverse.push_back(place[value]);
      const AnyUnique found = unique(tensor_of(x, {count, 2}, device));
      CHECK(values_of(found.values) == values);
      CHECK(values_of<std::int64_t>(found.counts) == counts);
      CHECK(found.inverse.shape() == Shape{count, 2});
      CHECK(values_of<std::int64_t>(found.inverse) == inverse);
    }
  const AnyUnique none = unique(AnyTensor::full({0, 2}, 1, DType::f32, device));
  CHECK(none.values.shape() == Shape{0});
  CHECK(none.inverse.shape() == Shape{0, 2});
  const AnyUnique with_nan = unique(tensor_of({3, kNaN, 1, kNaN, 1}, {5}, device));  // each for itself
  CHECK(with_nan.values.shape() == Shape{4});
  CHECK(values_of<std::int64_t>(with_nan.counts) == Ints{2, 1, 1, 1});
  CHECK(values_of<std::int64_t>(with_nan.inverse) == Ints{1, 2, 0, 3, 0});
  const auto typed = unique(Tensor<1, Int>::from_data({5, 2, 5}, device));
  CHECK(typed.values.to_vector<std::int64_t>() == Ints{2, 5});
}

TEST_CASE("counts of integers") {
  const Device device = test_device();
  CHECK(values_of<std::int64_t>(bincount(ints({1, 0, 3, 1, 1}, device))) == Ints{1, 3, 0, 1});
  CHECK(values_of<std::int64_t>(bincount(ints({1}, device), 4)) == Ints{0, 1, 0, 0});
  CHECK(values_of<std::int64_t>(bincount(ints({}, device), 2)) == Ints{0, 0});
  CHECK(bincount(ints({}, device)).shape() == Shape{0});
  CHECK(values_of(bincount(ints({1, 0, 1}, device), tensor_of({0.5f, 2, 3}, {3}, device))) ==
        std::vector<float>{2, 3.5f});
  CHECK_THROWS_WITH_AS(bincount(ints({1, -2}, device)),
                       doctest::Contains("[bincount] counts numbers that are 0 or more, not -2"), ShapeError);
  CHECK_THROWS_WITH_AS(bincount(ints({std::int64_t{1} << 40}, device)), doctest::Contains("up to 2147483647"),
                       ShapeError);
  CHECK_THROWS_AS(bincount(tensor_of({1}, {1}, device)), DTypeError);
}

TEST_CASE("histograms: edges, what is outside, NaN") {
  const Device device = test_device();
  const AnyTensor x = tensor_of({0, 0.25f, 0.5f, 0.9f, 1, -0.1f, 1.1f, kNaN, 0.5f}, {3, 3}, device);
  CHECK(values_of(histc(x, 4, 0, 1)) == std::vector<float>{1, 1, 2, 2});
  const AnyHistogram found = histogram(x, 4, 0, 1);
  CHECK(values_of(found.counts) == std::vector<float>{1, 1, 2, 2});
  CHECK(values_of(found.edges) == std::vector<float>{0, 0.25f, 0.5f, 0.75f, 1});
  CHECK(values_of(histc(AnyTensor::full({0}, 1, DType::f32, device), 3, 0, 1)) ==
        std::vector<float>{0, 0, 0});
  CHECK(values_of<std::int32_t>(histc(ints({1, 2, 2, 9}, device).cast(DType::i32), 3, 0, 3)) ==
        std::vector<std::int32_t>{0, 1, 2});
  CHECK_THROWS_AS(histc(x, 0, 0, 1), ShapeError);
  CHECK_THROWS_AS(histogram(x, 4, 1, 1), Error);
}

}  // namespace sinter::testing
