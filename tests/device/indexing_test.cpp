// x(s(1, 3), all, -1): parts by position and what is assigned to them, against plain loops.
#include <cstdint>
#include <numeric>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

namespace sinter::testing {
namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}

/// 0, 1, .. of shape (3, 4).
Tensor<2> matrix() { return Tensor<2>::from_data(counted(12), {3, 4}, test_device()); }
Tensor<1, Int> places(const std::vector<std::int64_t>& values) {
  return Tensor<1, Int>::from_data(values, {static_cast<std::int64_t>(values.size())}, test_device());
}

using Values = std::vector<float>;
template <std::size_t Rank>
void check(const Tensor<Rank>& found, const Shape& shape, const Values& want) {
  CHECK(found.shape() == shape);
  CHECK(found.template to_vector<float>() == want);
}

}  // namespace

TEST_CASE("parts by position") {
  const Tensor<2> x = matrix();
  check(x(1), {4}, {4, 5, 6, 7});
  check(x(-1), {4}, {8, 9, 10, 11});
  check(x(1, -1), {}, {7});
  check(x(all, 2), {3}, {2, 6, 10});
  check(x(s(0, 2), s(1, 3)), {2, 2}, {1, 2, 5, 6});
  check(x(s(1, 100)), {2, 4}, {4, 5, 6, 7, 8, 9, 10, 11});
  check(x(s(-100, 1), 0), {1}, {0});
  check(x(s(2, 1)), {0, 4}, {});
  check(x(s_from(2, -1), 0), {3}, {8, 4, 0});
  check(x(s(2, -100, -2), 0), {2}, {8, 0});
  check(x(all, s_from(-2)), {3, 2}, {2, 3, 6, 7, 10, 11});
  check(x(newaxis, 0), {1, 4}, {0, 1, 2, 3});
  check(x(0, newaxis, all, newaxis), {1, 4, 1}, {0, 1, 2, 3});
  check(x(ellipsis, 1), {3}, {1, 5, 9});
  check(x(0, ellipsis), {4}, {0, 1, 2, 3});
  check(x(ellipsis, newaxis)(2, 3), {1}, {11});
}

TEST_CASE("positions in a tensor") {
  const Tensor<2> x = matrix();
  check(x(places({2, 0, -1})), {3, 4}, {8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});
  check(x(all, places({3, -4})), {3, 2}, {3, 0, 7, 4, 11, 8});
  check(x(places({1, 2}), 0), {2}, {4, 8});
  check(x(1, places({})), {0}, {});
  const auto square = Tensor<2, Int>::from_data({{0, 1}, {2, 0}}, test_device());
  check(x(square, s(0, 1)), {2, 2, 1}, {0, 4, 8, 0});
  CHECK_THROWS_AS(x(places({3})).to_vector<float>(), ShapeError);
  CHECK_THROWS_AS(x(places({-4})).to_vector<float>(), ShapeError);
}

TEST_CASE("parts are assigned to") {
  Tensor<2> x = matrix();
  x(1) = Tensor<1>::from_data({-1, -2, -3, -4}, test_device());
  x(0, 3) = 50;
  x(s_from(2), s_from(2)) = 7;
  check(x, {3, 4}, {0, 1, 2, 50, -1, -2, -3, -4, 8, 9, 7, 7});
  x(all, 0) += 10;
  x(s(0, 1)) *= 2;
  x(2) -= x(1);
  check(x, {3, 4}, {20, 2, 4, 100, 9, -2, -3, -4, 9, 11, 10, 11});
  x(x > 9) = 0;
  check(x, {3, 4}, {0, 2, 4, 0, 9, -2, -3, -4, 9, 0, 0, 0});
  x(x < 0) = x * -1;
  check(x, {3, 4}, {0, 2, 4, 0, 9, 2, 3, 4, 9, 0, 0, 0});
  x(s_from(-1, -1), 1) = Tensor<1>::from_data({1, 2, 3}, test_device());
  check(x(all, 1), {3}, {3, 2, 1});
}

TEST_CASE("positions in a tensor are assigned to") {
  Tensor<2> x = matrix();
  x(places({2, -3})) = Tensor<2>::from_data({{1, 2, 3, 4}, {5, 6, 7, 8}}, test_device());
  check(x, {3, 4}, {5, 6, 7, 8, 4, 5, 6, 7, 1, 2, 3, 4});
  x(places({1, 1}), s(1, 3)) = Tensor<2>::from_data({{0, 1}, {10, 11}}, test_device());
  check(x(1), {4}, {4, 10, 11, 7});
  x(0, places({3, 0})) = 9;
  check(x(0), {4}, {9, 6, 7, 9});
  x(places({0, 2}), 1) += 100;
  check(x(all, 1), {3}, {106, 10, 102});
  const auto square = Tensor<2, Int>::from_data({{0, 1}, {2, 3}}, test_device());
  x(-1, square) = Tensor<2>::from_data({{1, 2}, {3, 4}}, test_device());
  check(x(2), {4}, {1, 2, 3, 4});
  x(places({})) = 1;
  CHECK(x.shape() == Shape{3, 4});
}

TEST_CASE("elements where a mask is true") {
  const Tensor<2> x = matrix();
  check(x(x > 8), {3}, {9, 10, 11});
  Tensor<2> y = x;
  const Tensor<1> small = y(y < 2);
  check(small, {2}, {0, 1});
  check(x(x > 100), {0}, {});
}

TEST_CASE("a part with a name is a tensor of its own") {
  Tensor<2> x = matrix();
  auto row = x(0);
  row = x(1);
  check(row, {4}, {4, 5, 6, 7});
  check(x, {3, 4}, counted(12));
  Tensor<1> other = x(2);
  other += 1;
  check(x(2), {4}, {8, 9, 10, 11});
  check(other, {4}, {9, 10, 11, 12});
  x(0) = x(2);
  check(x(0), {4}, {8, 9, 10, 11});
}

TEST_CASE("gradients of parts") {
  const Tensor<2> x = matrix().to_device(test_device().autodiff()).require_grad();
  const auto y = x(1, all) * 3 + x(all, 0)(newaxis, 2) * 5;
  check(y.sum().backward().get(x).value(), {3, 4}, {0, 0, 0, 0, 3, 3, 3, 3, 20, 0, 0, 0});
  Tensor<2> changed = x * 2;
  changed(0) = 1;
  changed(s_from(1), 1) += x(0, 1);
  check(changed.sum().backward().get(x).value(), {3, 4}, {0, 2, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2});
}

TEST_CASE("assignments with an operator") {
  Tensor<1> x = Tensor<1>::from_data({1, 2, 3}, test_device());
  x += x;
  x -= 1;
  x *= Tensor<1>::from_data({2, 0.5, 3}, test_device());
  x /= 2;
  check(x, {3}, {1, 0.75, 7.5});
  x %= 2;
  check(x, {3}, {1, 0.75, 1.5});
  Tensor<1, Bool> mask = x > 1;
  mask |= x < 0.8;
  mask &= x != 1.5;
  CHECK(mask.to_vector<bool>() == std::vector<bool>{false, true, false});
}

TEST_CASE("reductions without their axes") {
  const Tensor<2> x = matrix();
  check(x.sum(1, drop), {3}, {6, 22, 38});
  check(x.max(-2, drop), {4}, {8, 9, 10, 11});
  check(x.mean({0, 1}, drop), {}, {5.5});
  CHECK(x.argmax(1, drop).to_vector<std::int64_t>() == std::vector<std::int64_t>{3, 3, 3});
  CHECK((x > 3).any(1, drop).to_vector<bool>() == std::vector<bool>{false, true, true});
  CHECK((x > 3).any().item());
  CHECK_FALSE((x > 3).all().item());
}

TEST_CASE("wrong indices are told with their values") {
  const Tensor<2> x = matrix();
  CHECK_THROWS_WITH_AS(x(3), doctest::Contains("[index] position 3 is outside of axis 0 of shape (3, 4)"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(
      x(0, -5), doctest::Contains("[index] position -5 is outside of axis 1 of shape (3, 4)"), ShapeError);
  CHECK_THROWS_WITH_AS(x(s(0, 1, 0)), doctest::Contains("the step of axis 0 of shape (3, 4) is 0"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(x(places({0}), places({0})), doctest::Contains("at most one index is a tensor"),
                       ShapeError);
  CHECK_THROWS_WITH_AS(x(3), doctest::Contains("indexing_test.cpp"), ShapeError);
  Tensor<2> y = x;
  CHECK_THROWS_WITH_AS(y(0) = Tensor<1>::from_data({1, 2}, test_device()),
                       doctest::Contains("a value of shape (2) does not fit the part (4) of shape (3, 4)"),
                       ShapeError);
  check(y, {3, 4}, counted(12));
  const std::vector<Index> many{0, 0, 0};
  CHECK_THROWS_WITH_AS(index(x.dynamic(), many), doctest::Contains("3 indices for shape (3, 4)"), ShapeError);
}

}  // namespace sinter::testing
