// Composed functions, against C's and against values computed by hand.
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/sinter.h>

#include "tests/support/test_device.h"
#include "tests/support/values.h"

using namespace sinter;
using namespace sinter::testing;

namespace {

using A = AnyTensor;
constexpr float kInfinity = std::numeric_limits<float>::infinity(),
                kNaN = std::numeric_limits<float>::quiet_NaN();

/// Within `units` in the last place of f32; infinite or NaN where `want` is.
void check_units(const A& found, const std::vector<double>& want, double units) {
  const std::vector<float> got = values_of(found);
  REQUIRE(got.size() == want.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    CAPTURE(got[i]);
    CAPTURE(want[i]);
    const auto rounded = static_cast<float>(want[i]);
    if (std::isnan(rounded)) {
      CHECK(std::isnan(got[i]));
    } else if (std::isinf(rounded)) {
      CHECK(got[i] == rounded);
    } else {
      int exponent = 0;
      std::frexp(rounded, &exponent);
      CHECK(std::abs(got[i] - want[i]) <= units * std::ldexp(1.0, std::max(exponent - 24, -126)));
    }
  }
}

template <class F>
std::vector<double> each(const std::vector<float>& x, F f) {
  std::vector<double> y;
  for (float v : x) y.push_back(f(static_cast<double>(v)));
  return y;
}

A vector(const std::vector<float>& x) {
  return tensor_of(x, {static_cast<std::int64_t>(x.size())}, test_device());
}

}  // namespace

TEST_CASE("powers and logarithms of other bases") {
  std::vector<float> x{0,     -0.0f, 1,   -1,     0.5f,    10,     100, 1000, 8,         1024,       3.7f,
                       -3.7f, 88,    -88, 126.5f, -126.5f, 127.9f, 128, -140, kInfinity, -kInfinity, kNaN};
  for (int i = 0; i < 300; ++i) x.push_back(0.41f * static_cast<float>(i) - 60);
  check_units(vector(x).exp2(), each(x, [](double v) { return std::exp2(v); }), 6);
  check_units(vector(x).log2(), each(x, [](double v) { return std::log2(v); }), 6);
  check_units(vector(x).log10(), each(x, [](double v) { return std::log10(v); }), 6);
}

TEST_CASE("which numbers are finite") {
  const A x = vector({0, 1, kInfinity, -kInfinity, kNaN, 3e38f, -1e-40f});
  check_close(x.is_inf().cast(DType::f32), {0, 0, 1, 1, 0, 0, 0});
  check_close(x.is_finite().cast(DType::f32), {1, 1, 0, 0, 0, 1, 1});
}

TEST_CASE("fmod has the sign of the dividend") {
  const std::vector<float> a{7, -7, 7, -7, 0, 5.5f, -5.5f, 1e9f, 3, kInfinity, kNaN, 3, -0.3f};
  const std::vector<float> b{3, 3, -3, -3, 4, 1.25f, 1.25f, 7, kInfinity, 3, 1, 0, -kInfinity};
  std::vector<double> want;
  for (std::size_t i = 0; i < a.size(); ++i) want.push_back(std::fmod(double{a[i]}, double{b[i]}));
  check_units(A::fmod(vector(a), vector(b)), want, 1);
  check_units(A::fmod(vector(a), -3), each(a, [](double v) { return std::fmod(v, -3); }), 1);
  check_units(A::fmod(-20, vector(b)), each(b, [](double v) { return std::fmod(-20, v); }), 1);
  const std::vector<std::int32_t> m{7, -7, 7, -7, 5, -2147483647 - 1, -2147483647 - 1},
      n{3, 3, -3, -3, 0, -1, 10};
  const auto ints = [](const std::vector<std::int32_t>& v) {
    return A::from_bytes(std::as_bytes(std::span(v)), {static_cast<std::int64_t>(v.size())}, DType::i32,
                         test_device());
  };
  CHECK(values_of<std::int32_t>(A::fmod(ints(m), ints(n))) ==
        std::vector<std::int32_t>{1, -1, 1, -1, 5, 0, -8});
}

TEST_CASE("hypot neither overflows nor divides by zero") {
  const std::vector<float> a{3, 0, 0, -5, 1e30f, 1e-30f, kInfinity, kInfinity, 2, kNaN, 1};
  const std::vector<float> b{4, 0, -2, 12, -1e30f, 1e-30f, 1, -kInfinity, 2, 1, 1e-10f};
  std::vector<double> want;
  for (std::size_t i = 0; i < a.size(); ++i) want.push_back(std::hypot(double{a[i]}, double{b[i]}));
  check_units(A::hypot(vector(a), vector(b)), want, 4);
  check_units(A::hypot(vector(a), 2), each(a, [](double v) { return std::hypot(v, 2); }), 4);
}

TEST_CASE("the sign of a zero says on which side of the cut an angle lies") {
  const A y = vector({0, -0.0f, 0, -0.0f, 1, -1}), x = vector({-1, -1, -0.0f, 0, -0.0f, 0});
  const double pi = std::acos(-1);
  check_units(A::atan2(y, x), {pi, -pi, pi, 0, pi / 2, -pi / 2}, 1);
}

TEST_CASE("one_hot and triangles") {
  const std::vector<std::int64_t> classes{2, 0, 3, -1};
  const A index = A::from_bytes(std::as_bytes(std::span(classes)), {2, 2}, DType::i64, test_device());
  const A hot = index.one_hot(3);
  CHECK(hot.shape() == Shape{2, 2, 3});
  CHECK(values_of<std::int64_t>(hot) == std::vector<std::int64_t>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(index.cast(DType::i32).one_hot(3).dtype() == DType::i32);
  const A y = vector({1, 2, 3, 4, 5, 6}).reshape({2, 3});
  check_close(y.tril(), {1, 0, 0, 4, 5, 0});
  check_close(y.tril(1), {1, 2, 0, 4, 5, 6});
  check_close(y.tril(-1), {0, 0, 0, 4, 0, 0});
  check_close(y.triu(), {1, 2, 3, 0, 5, 6});
  check_close(y.triu(1), {0, 2, 3, 0, 0, 6});
  check_close(y.triu(-5), {1, 2, 3, 4, 5, 6});
  check_close(A::tril_mask(2, 3, 0, test_device()).cast(DType::f32), {1, 0, 0, 1, 1, 0});
  check_close(A::triu_mask(2, 3, 1, test_device()).cast(DType::f32), {0, 1, 1, 0, 0, 1});
  check_close(vector({kNaN, kNaN, kNaN, 1}).reshape({2, 2}).triu(1).tril(), {0, 0, 0, 0});
}

TEST_CASE("masks, variance and deviation") {
  const A x = vector({1, 2, 4, 8, -3, 0}).reshape({2, 3}), mask = A::less(x, 2);
  check_close(x.mask_fill(mask, -1), {-1, 2, 4, 8, -1, -1});
  check_close(x.mask_where(mask, A::mul(x, 10)), {10, 2, 4, 8, -30, 0});
  check_close(x.var(1), {7.0f / 3, 97.0f / 3});
  check_close(x.var(1, 0), {14.0f / 9, 194.0f / 9});
  check_close(x.std({0, 1}), {std::sqrt(14.0f)});
  CHECK(std::isnan(values_of(vector({3}).var(0))[0]));
}

TEST_CASE("a line tells what is in a tensor") {
  const Device device = test_device();
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const std::string where = " " + device.name();
  CHECK(describe(Tensor<2>::from_data({{1, 2}, {3, 4}}, device)) ==
        "(2, 2) f32" + where + ": from 1 to 4, mean 2.5, deviation 1.29099");
  CHECK(describe(Tensor<1>::from_data({nan, 1, inf, 3, -inf}, device)) ==
        "(5) f32" + where + ": from 1 to 3, mean 2, deviation 1.41421; 1 nan, 2 infinite");
  CHECK(describe(Tensor<1>::from_data({nan}, device)) ==
        "(1) f32" + where + ": nothing finite; 1 nan, 0 infinite");
  CHECK(describe(Tensor<1>::zeros({0}, device)) == "(0) f32" + where + ": no elements");
  CHECK(describe(Tensor<1>::from_data({1, 2, 4}, device) > 1.5) ==
        "(3) bool" + where + ": from 0 to 1, mean 0.666667, deviation 0.57735");
  CHECK(describe(Tensor<0>::full({}, 3, device).cast(DType::bf16)) ==
        "() bf16" + where + ": from 3 to 3, mean 3");
}

TEST_CASE("sums of masks count, and a difference can be printed") {
  const auto x = Tensor<2>::from_data({{1, -2, 3}, {-4, -5, 6}}, test_device());
  const Tensor<0, Int> count = (x > 0).sum();
  CHECK(count.item() == 3);
  CHECK((x > 0).sum(1, drop).to_vector<std::int64_t>() == std::vector<std::int64_t>{2, 1});
  CHECK(sum(x > 0, 0).to_vector<std::int64_t>() == std::vector<std::int64_t>{1, 0, 2});
  CHECK((x > -9).prod().item() == 1);
  std::ostringstream out;
  out << all_close(x, x) << ", " << all_close(x, x + 1);
  CHECK(out.str() == "close, 6 of 6 elements differ, most at (0, 0): 1 and 2");
}
