// The tensor without a rank in its type reads as the one with it: operators, parts by position, reductions.
#include <cstdint>
#include <numeric>
#include <sstream>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/messages.h"
#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

using Floats = std::vector<float>;
using Integers = std::vector<std::int64_t>;

/// 0, 1, .. of shape (2, 3).
AnyTensor counted() { return Tensor<2>::from_data({{0, 1, 2}, {3, 4, 5}}, test_device()).dynamic(); }

Floats floats(const AnyTensor& x) {
  const TensorData data = x.to_data();
  const auto elements = data.span<float>();
  return {elements.begin(), elements.end()};
}
std::vector<bool> truths(const AnyTensor& x) {
  const TensorData data = x.to_data();
  const auto elements = data.span<bool>();
  return {elements.begin(), elements.end()};
}
Integers integers(const std::vector<std::int64_t>& values, const std::vector<std::int64_t>& powers) {
  const auto base =
      Tensor<1, Int>::from_data(values, {static_cast<std::int64_t>(values.size())}, test_device());
  const auto power =
      Tensor<1, Int>::from_data(powers, {static_cast<std::int64_t>(powers.size())}, test_device());
  return base.pow(power).to_vector<std::int64_t>();
}

}  // namespace

TEST_CASE("logic and assignment of a tensor without a rank") {
  const AnyTensor x = counted();
  CHECK(truths((x > 1 && x < 4) || x == 5) == std::vector<bool>{false, false, true, true, false, true});
  CHECK(truths(!(x > 1)) == std::vector<bool>{true, true, false, false, false, false});
  AnyTensor y = x;
  y += 1;
  y *= x;
  CHECK(floats(y) == Floats{0, 2, 6, 12, 20, 30});
  y -= x;
  y /= 2;
  y %= 4;
  CHECK(floats(y) == Floats{0, 0.5, 2, 0.5, 0, 0.5});
  AnyTensor bits = AnyTensor::arange(0, 4, 1, test_device());
  bits |= bits << 1;
  CHECK(Tensor<1, Int>(bits >> 1).to_vector<std::int64_t>() == Integers{0, 1, 3, 3});
}

TEST_CASE("parts of a tensor without a rank") {
  const AnyTensor x = counted();
  CHECK(floats(x(1)) == Floats{3, 4, 5});
  CHECK(x(all, newaxis, -1).shape() == Shape{2, 1});
  CHECK(floats(x(ellipsis, s(2, 0, -1))) == Floats{2, 1, 5, 4});
  CHECK(floats(x(x > 3)) == Floats{4, 5});
  CHECK_THROWS_AS(x(2), ShapeError);
  CHECK_THROWS_AS(x(0, 0, 0), ShapeError);
  const auto places = Tensor<1, Int>::from_data({2, -3}, test_device());
  AnyTensor y = x;
  CHECK(floats(y(0, places)) == Floats{2, 0});
  y(0, all) = 7;
  y(1, s(0, 2)) += y(1, s(1, 3));
  CHECK(floats(y) == Floats{7, 7, 7, 7, 9, 5});
  CHECK(floats(x) == Floats{0, 1, 2, 3, 4, 5});
  y(y > 6) = x;
  CHECK(floats(y) == Floats{0, 1, 2, 3, 4, 5});
  y(all, places) = x(all, s(0, 2));
  CHECK(floats(y) == Floats{1, 1, 0, 4, 4, 3});
  y(0) = y(1);
  CHECK(floats(y) == Floats{4, 4, 3, 4, 4, 3});
  // A part with a name is a tensor like others.
  auto row = y(0);
  row += 1;
  auto typed = Tensor<2>(x);
  auto last = typed(-1);
  last *= 2;
  CHECK(floats(row) == Floats{5, 5, 4});
  CHECK(last.to_vector<float>() == Floats{6, 8, 10});
  CHECK(floats(y) == Floats{4, 4, 3, 4, 4, 3});
  CHECK(typed(1, 0).item() == 3);
  CHECK(message_of([&] { x(0, x > 1); }).starts_with("[index] a mask is an index by itself"));
}

TEST_CASE("what a mask selects changes by operators, too") {
  auto x = Tensor<2>(counted());
  x(x > 3) *= 10;
  x(x < 2) -= 1;
  CHECK(x.to_vector<float>() == Floats{-1, 0, 2, 3, 40, 50});
  std::ostringstream text;
  text << x(x > 10);
  CHECK(text.str().starts_with("[40. 50.] (2) f32"));
}

TEST_CASE("reductions of everything, and without their axes, of a tensor without a rank") {
  const AnyTensor x = counted();
  CHECK(floats(x.sum()) == Floats{15});
  CHECK(x.sum().shape() == Shape{});
  CHECK(x.mean({0, 1}, drop).shape() == Shape{});
  CHECK(floats(max(x, 0, drop)) == Floats{3, 4, 5});
  CHECK(floats(sum(x)) == Floats{15});
  CHECK(truths(any(x > 4)) == std::vector<bool>{true});
  CHECK(truths((x > 4).all()) == std::vector<bool>{false});
  CHECK(floats(x.var()) == Floats{3.5});
  CHECK(Tensor<0, Int>(x.argmax()).item() == 5);
  CHECK(Tensor<2>(x).argmin().item() == 0);
  CHECK(argmax(Tensor<2>(x) * -1.0).item() == 0);
  CHECK(floats(cat({x, x}, 0)(-1)) == Floats{3, 4, 5});
  CHECK(stack({x, x}, 0).shape() == Shape{2, 2, 3});
  CHECK_THROWS_AS(AnyTensor().sum(), Error);
}

TEST_CASE("unbind") {
  const auto rows = Tensor<2>(counted()).unbind();
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].to_vector<float>() == Floats{3, 4, 5});
  CHECK(floats(unbind(counted(), -1).at(2)) == Floats{2, 5});
  CHECK_THROWS_AS(counted().unbind(2), ShapeError);
}

TEST_CASE("powers of integers") {
  const auto x = Tensor<1, Int>::from_data({-3, 0, 2, 7}, test_device());
  CHECK(x.pow(3).to_vector<std::int64_t>() == Integers{-27, 0, 8, 343});
  CHECK(pow(x, 2).to_vector<std::int64_t>() == Integers{9, 0, 4, 49});
  CHECK(x.pow(0).to_vector<std::int64_t>() == Integers{1, 1, 1, 1});
  CHECK_THROWS_AS(x.pow(-1), Error);
  // PyTorch's values: products wrap around, and negative powers are those of 1 and -1 alone.
  CHECK(integers({-3, 2, 3, 2, 7, 1, -1, -1, 5, 0}, {5, 62, 41, 64, 0, -4, -3, -2, -1, 0}) ==
        Integers{-243, std::int64_t{1} << 62, -420491770248316829, 0, 1, 1, -1, 1, 0, 1});
  const auto bytes = Tensor<1, Int>::from_data({3, 200}, test_device(), DType::u8);
  CHECK(bytes.pow(6).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{217, 0});
}

TEST_CASE("subscripts of shapes are checked") {
  const Shape shape{2, 3};
  CHECK(shape[-1] == 3);
  CHECK_THROWS_AS(shape[2], ShapeError);
  CHECK(message_of([&] { return shape[-3]; }) == "[shape] subscript -3 is outside of (2, 3)");
}

TEST_CASE("layers as functions of their parameters") {
  const Device device = test_device();
  const auto x = Tensor<2>(counted());
  const auto w = Tensor<2>::from_data({{1, 0, 1}, {0, 2, 0}}, device);
  const auto b = Tensor<1>::from_data({1, -1}, device);
  CHECK(linear(x, w).to_vector<float>() == Floats{2, 2, 8, 8});
  CHECK(linear(x, w, b).to_vector<float>() == Floats{3, 1, 9, 7});
  CHECK(floats(linear(x.dynamic(), w.dynamic())) == Floats{2, 2, 8, 8});
  CHECK(embedding(Tensor<1, Int>::from_data({1, 0}, device), x).to_vector<float>() ==
        Floats{3, 4, 5, 0, 1, 2});
  const auto zero = Tensor<1>::zeros({3}, device), one = Tensor<1>::ones({3}, device);
  CHECK(all_close(batch_norm(x, zero, one, one * 2.0, one, 0), x * 2.0 + 1.0));
  CHECK(all_close(layer_norm(x, std::nullopt, std::nullopt, 0)(1), layer_norm(x, one, zero, 0)(0)));
  CHECK(all_close(rms_norm(x, std::nullopt, 0)(1, 0), Tensor<0>::full({}, 3 / std::sqrt(50.0 / 3), device)));
  const auto image = x.reshape({1, 1, 2, 3});
  CHECK(max_pool2d(image, {.kernel = {2, 2}, .stride = {{1, 1}}}).to_vector<float>() == Floats{4, 5});
  CHECK(avg_pool2d(image, {.kernel = {2, 3}}).item() == 2.5);
  CHECK(adaptive_avg_pool2d(image, {{1, 3}}).to_vector<float>() == Floats{1.5, 2.5, 3.5});
}

}  // namespace sinter::testing
