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

A leaf(const std::vector<float>& x) {
  return tensor_of(x, {static_cast<std::int64_t>(x.size())}, test_device().autodiff()).require_grad();
}

/// The gradient of the sum of f(x).
template <class F>
A slope(const std::vector<float>& x, F f) {
  const A leaf_x = leaf(x);
  return *f(leaf_x).sum().backward().get(leaf_x);
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

TEST_CASE("floats divided and rounded down, as PyTorch does") {
  const std::vector<float> a{1,    -1, 1,  -1, kInfinity, -kInfinity, kInfinity, 0,     1, -1, 0,
                             kNaN, 5,  -5, 5,  -5,        -0.0f,      0.5f,      -0.5f, 3, 1},
      b{0.1f, kInfinity, -kInfinity, -kInfinity, 2,  2, kInfinity, 0, 0,    0,        -3,
        1,    2,         2,          -2,         -2, 3, 1,         1, kNaN, kInfinity};
  const std::vector<double> want{9,    -1, -1, 0,  kNaN, kNaN, kNaN, kNaN, kInfinity, -kInfinity, -0.0,
                                 kNaN, 2,  -3, -3, 2,    -0.0, 0,    -1,   kNaN,      0};
  const A found = floor_divide(vector(a), vector(b));
  check_units(found, want, 0);
  const std::vector<float> numbers = values_of(found);
  CHECK(std::signbit(numbers[10]));
  CHECK(std::signbit(numbers[16]));
  CHECK_FALSE(std::signbit(numbers[17]));
  for (std::size_t i = 0; i < a.size(); ++i) {
    CAPTURE(i);
    check_units(floor_divide(vector({a[i]}), b[i]), {want[i]}, 0);
  }
  // With the remainder it makes up the dividend.
  const A x = vector({1, 2.3f, -7.1f, 1e6f, -0.3f, 6}), y = vector({0.1f, 0.1f, 0.7f, 0.3f, 0.1f, -0.6f});
  check_close(A::add(A::mul(floor_divide(x, y), y), A::remainder(x, y)), values_of(x), 1e-6);
  check_close(slope({1, -2.5f}, [](const A& v) { return floor_divide(v, 2); }), {0, 0});
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

TEST_CASE("limits that are NaN make NaN, as PyTorch's do") {
  const A x = vector({1, 5, kNaN, -kInfinity});
  check_units(x.clamp_min(kNaN), {kNaN, kNaN, kNaN, kNaN}, 0);
  check_units(x.clamp_max(kNaN), {kNaN, kNaN, kNaN, kNaN}, 0);
  check_units(x.clamp(2, kNaN), {kNaN, kNaN, kNaN, kNaN}, 0);
  check_units(x.clamp(kNaN, 2), {kNaN, kNaN, kNaN, kNaN}, 0);
  check_units(clamp(x, vector({2, kNaN, 0, -3}), vector({3, 9, 1, kNaN})), {2, kNaN, kNaN, kNaN}, 0);
  check_close(slope({1, 2, 3},
                    [](const A& y) {
                      return clamp(y, vector({2, 2, 2}), vector({3, 3, 3}));
                    }),
              {0, 1, 1});
  check_close(slope({1, 2, 3}, [](const A& low) { return vector({2, 2, 2}).clamp_min(low); }), {0, 0, 1});
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

TEST_CASE("gradients in corners") {
  const auto is_nan = [](const A& x) { return std::isnan(values_of(x)[0]); };
  check_close(slope({2, 2, 2}, [](const A& x) { return x.std(); }), {0, 0, 0});
  check_close(slope({2, 4}, [](const A& x) { return x.std(); }), {-0.70710678f, 0.70710678f});
  check_close(slope({5, 5}, [](const A& x) { return std_mean(x, 0).first; }), {0, 0});

  check_close(slope({0, 0, 0, 0.5f},
                    [](const A& x) {
                      return xlogy(x, vector({2, 0, -1, 2}));
                    }),
              {std::log(2.0f), 0, 0, std::log(2.0f)});
  check_close(slope({2, 4, 0.5f}, [](const A& x) { return xlogy(vector({0, 1, 2}), x); }), {0, 0.25f, 4});
  check_close(xlogy(vector({0, 0, 0, 0}), vector({0, -1, kInfinity, 0.5f})), {0, 0, 0, 0});
  CHECK(is_nan(xlogy(vector({0}), vector({kNaN}))));

  // Where both are infinite with one sign, PyTorch has NaN.
  const std::vector<float> first{kInfinity, -kInfinity, 0, kInfinity, 0},
      second{0, 0, kInfinity, -kInfinity, 0};
  check_units(logaddexp(vector(first), vector(second)), {kInfinity, 0, kInfinity, kInfinity, std::log(2.0)},
              1);
  check_close(slope(first, [&](const A& x) { return logaddexp(x, vector(second)); }), {1, 0, 0, 1, 0.5f});
  check_close(slope(second, [&](const A& x) { return logaddexp(vector(first), x); }), {0, 1, 1, 0, 0.5f});
  check_units(logaddexp(vector({kInfinity, -kInfinity}), vector({kInfinity, -kInfinity})),
              {kInfinity, -kInfinity}, 0);
  CHECK(is_nan(slope({kInfinity}, [](const A& x) { return logaddexp(x, vector({kInfinity})); })));

  check_close(slope({2, 1, 3}, [](const A& x) { return A::maximum(x, 2); }), {0.5f, 0, 1});
  check_close(slope({2, 1, 3}, [](const A& x) { return A::minimum(2, x); }), {0.5f, 1, 0});
  check_close(slope({2, 1}, [](const A& x) { return A::maximum(x, vector({2, 2})); }), {0.5f, 0});
  check_close(slope({0, 1, -1}, [](const A& x) { return relu(x); }), {0, 1, 0});
  check_close(slope({0, 6, 3}, [](const A& x) { return relu6(x); }), {0, 0, 1});
  check_close(slope({-1, 1, 2}, [](const A& x) { return clamp(x, -1, 1); }), {1, 1, 0});
  check_close(slope({0, 50, -50}, [](const A& x) { return softplus(x); }), {0.5f, 1, 0});
  CHECK(is_nan(slope({kNaN}, [](const A& x) { return softplus(x); })));
  CHECK(is_nan(slope({kNaN}, [](const A& x) { return log_sigmoid(x); })));
}

TEST_CASE("integers are close by their exact distance") {
  const std::int64_t large = std::int64_t{1} << 53, least = std::numeric_limits<std::int64_t>::min(),
                     greatest = std::numeric_limits<std::int64_t>::max();
  const Device device = test_device();
  const auto close = [&](const std::vector<std::int64_t>& a, const std::vector<std::int64_t>& b,
                         double relative, double absolute) {
    return is_close(Tensor<1, Int>::from_data(a, {static_cast<std::int64_t>(a.size())}, device),
                    Tensor<1, Int>::from_data(b, {static_cast<std::int64_t>(b.size())}, device), relative,
                    absolute)
        .to_vector<bool>();
  };
  if (!has_dtype(device, DType::f64)) return;
  CHECK(close({large, large, least, least, -5}, {large + 1, large, greatest, least, -4}, 0, 0) ==
        std::vector<bool>{false, true, false, true, false});
  CHECK(close({large, least, 7, -5}, {large + 1, greatest, 5, -4}, 0, 1) ==
        std::vector<bool>{true, false, false, true});
  CHECK(close({99, 90}, {100, 100}, 0.05, 0) == std::vector<bool>{true, false});
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
