// Typed tensors: creation, elementwise operations, operators, reading, printing. Runs on Device::best().
#include <cmath>
#include <limits>
#include <sstream>

#include <doctest/doctest.h>

#include <sinter/functions/activation.h>
#include <sinter/print.h>

using namespace sinter;

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;
using Bools = std::vector<bool>;

const float kNan = std::numeric_limits<float>::quiet_NaN();
const float kInf = std::numeric_limits<float>::infinity();

Device device() { return Device::best(); }

template <std::size_t Rank>
Floats values(const Tensor<Rank>& x) {
  return x.template to_vector<float>();
}
template <std::size_t Rank>
Ints values(const Tensor<Rank, Int>& x) {
  return x.template to_vector<std::int64_t>();
}
template <std::size_t Rank>
Bools values(const Tensor<Rank, Bool>& x) {
  return x.template to_vector<bool>();
}

template <std::size_t Rank>
void check_near(const Tensor<Rank>& x, const Floats& expected, double tolerance = 1e-5) {
  const Floats got = values(x);
  REQUIRE(got.size() == expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    CAPTURE(i);
    if (std::isnan(expected[i]))
      CHECK(std::isnan(got[i]));
    else if (std::isinf(expected[i]))
      CHECK(got[i] == expected[i]);
    else
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(tolerance));
  }
}

template <std::size_t Rank, class Kind>
std::string printed(const Tensor<Rank, Kind>& x) {
  return to_string(x.dynamic(), {.facts = false});
}

}  // namespace

TEST_CASE("creation") {
  CHECK(values(Tensor<2>::zeros({2, 2}, device())) == Floats{0, 0, 0, 0});
  CHECK(values(Tensor<1>::ones(3, device())) == Floats{1, 1, 1});
  CHECK(values(Tensor<1, Int>::full({2}, -7, device())) == Ints{-7, -7});
  CHECK(values(Tensor<1, Bool>::full({2}, true, device())) == Bools{true, true});
  CHECK(values(Tensor<2>::from_data({{1, 2.5}, {3, 4}}, device())) == Floats{1, 2.5, 3, 4});
  CHECK(values(Tensor<1, Bool>::from_data({true, false}, device())) == Bools{true, false});
  CHECK(Tensor<0>::from_data(3.5, device()).item() == 3.5);
  CHECK(values(Tensor<2>::from_data(Floats{1, 2, 3, 4, 5, 6}, {2, 3}, device())) == Floats{1, 2, 3, 4, 5, 6});
  CHECK(values(Tensor<1, Int>::arange(2, 9, 3, device())) == Ints{2, 5, 8});
  CHECK(values(Tensor<1, Int>::arange(3, 0, -1, device())) == Ints{3, 2, 1});
  CHECK(values(Tensor<1, Int>::arange(3, 3, device())).empty());
  const auto x = Tensor<2>::ones({2, 1}, device());
  CHECK(values(x.full_like(4)) == Floats{4, 4});
  CHECK(values(x.zeros_like()) == Floats{0, 0});
  CHECK(x.rand_like().shape() == Shape{2, 1});
  CHECK(Tensor<2>::from_data({{1, 2}, {3, 4}}, device()).shape() == Shape{2, 2});
}

TEST_CASE("an int tensor has the dtype asked for") {
  const auto x = Tensor<1, Int>::from_data({1, -2}, device(), DType::i32);
  CHECK(x.dtype() == DType::i32);
  CHECK(x.to_vector<std::int32_t>() == std::vector<std::int32_t>{1, -2});
  CHECK((x + 1).to_vector<std::int32_t>() == std::vector<std::int32_t>{2, -1});
  const auto bytes = Tensor<1, Int>::from_data(std::vector<std::uint8_t>{0, 255}, {2}, device());
  CHECK(bytes.dtype() == DType::u8);
  check_near(bytes.to_float() / 255.0, {0, 1});
}

TEST_CASE("random numbers lie where they should and repeat with the seed") {
  device().seed(7);
  const Floats u = values(Tensor<1>::uniform({20000}, -1, 3, device()));
  const Floats n = values(Tensor<1>::normal({20000}, 2, 0.5, device()));
  double sum = 0, sum_n = 0, squares = 0;
  for (float x : u) {
    CHECK_FALSE(x < -1);
    CHECK(x < 3);
    sum += x;
  }
  for (float x : n) {
    sum_n += x;
    squares += (x - 2) * (x - 2);
  }
  CHECK(sum / 20000 == doctest::Approx(1).epsilon(0.03));
  CHECK(sum_n / 20000 == doctest::Approx(2).epsilon(0.01));
  CHECK(squares / 20000 == doctest::Approx(0.25).epsilon(0.05));
  device().seed(7);
  CHECK(values(Tensor<1>::uniform({20000}, -1, 3, device())) == u);
  CHECK(values(Tensor<1>::uniform({20000}, -1, 3, device())) != u);
}

TEST_CASE("a uniform number never reaches its upper bound") {
  // Numbers close to 1 would round up to 16777218 here.
  const Floats u = values(Tensor<1>::uniform({50000}, 16777216, 16777218, device()));
  for (float x : u) REQUIRE(x < 16777218);
}

TEST_CASE("uniform numbers of a range that is wider than f32") {
  const Floats u = values(Tensor<1>::uniform({20000}, -3e38, 3e38, device()));
  double sum = 0, below = 0;
  for (float x : u) {
    REQUIRE(x >= -3e38f);
    REQUIRE(x < 3e38f);
    sum += x / 3e38;
    below += x < -1.5e38;
  }
  CHECK(std::abs(sum / 20000) < 0.02);
  CHECK(below / 20000 == doctest::Approx(0.25).epsilon(0.05));
  CHECK_THROWS_WITH_AS(Tensor<1>::uniform({2}, 0, HUGE_VAL, device()),
                       doctest::Contains("[uniform] the range from 0.000000 to inf is beyond"), Error);
  CHECK_THROWS_AS(Tensor<1>::uniform({2}, -1e39, 0, device()), Error);
}

TEST_CASE("operators take tensors, scalars of rank 0 and numbers on either side") {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}}, device());
  const auto y = Tensor<2>::from_data({{10, 20}}, device());
  const auto two = Tensor<0>::full({}, 2, device());
  CHECK(values(x + y) == Floats{11, 22, 13, 24});
  CHECK(values(y - x) == Floats{9, 18, 7, 16});
  CHECK(values(x * 2) == Floats{2, 4, 6, 8});
  CHECK(values(2 - x) == Floats{1, 0, -1, -2});
  check_near(12.0 / x, {12, 6, 4, 3});
  CHECK(values(x * two) == Floats{2, 4, 6, 8});
  check_near(two / x, {2, 1, 2.f / 3, 0.5});
  CHECK(values(-x) == Floats{-1, -2, -3, -4});
  CHECK(values(x % 3) == Floats{1, 2, 0, 1});
  CHECK(values(-x % 3) == Floats{2, 1, 0, 2});
  CHECK((two * two).item() == 4);
  CHECK(values(x == 2) == Bools{false, true, false, false});
  CHECK(values(x != 2) == Bools{true, false, true, true});
  CHECK(values(2 < x) == Bools{false, false, true, true});
  CHECK(values(x >= two) == Bools{false, true, true, true});
  CHECK(values(x <= y) == Bools{true, true, true, true});
  CHECK(values(x > 1 && !(x == 4)) == Bools{false, true, true, false});
  CHECK(values(x < 2 || x > 3) == Bools{true, false, false, true});
  CHECK(values((x < 3) ^ (x > 1)) == Bools{true, false, true, true});
}

TEST_CASE("integers: quotients truncate, remainders have the divisor's sign, bits combine") {
  const auto x = Tensor<1, Int>::from_data({7, -7, 6, 5}, device());
  CHECK(values(x / 2) == Ints{3, -3, 3, 2});
  CHECK(values(x / 0) == Ints{0, 0, 0, 0});
  CHECK(values(x % 4) == Ints{3, 1, 2, 1});
  CHECK(values(x % -4) == Ints{-1, -3, -2, -3});
  CHECK(values(x & 6) == Ints{6, 0, 6, 4});
  CHECK(values(x | 1) == Ints{7, -7, 7, 5});
  CHECK(values(x ^ x) == Ints{0, 0, 0, 0});
  CHECK(values(~x) == Ints{-8, 6, -7, -6});
  CHECK(values(x.abs()) == Ints{7, 7, 6, 5});
  CHECK(values(x.sign()) == Ints{1, -1, 1, 1});
  CHECK(values(maximum(x, 6)) == Ints{7, 6, 6, 6});
  CHECK(values(x.square()) == Ints{49, 49, 36, 25});
  // Values that neither a double nor 32 bits can represent.
  CHECK(values(Tensor<1, Int>::full({1}, 9007199254740993, device()) + 2) == Ints{9007199254740995});
}

TEST_CASE("integers: bits move") {
  const auto x = Tensor<1, Int>::from_data({1, -8, 5}, device());
  CHECK(values(x << 2) == Ints{4, -32, 20});
  CHECK(values(x >> 1) == Ints{0, -4, 2});
  CHECK(values(x << 64) == Ints{0, 0, 0});
  CHECK(values(x >> 64) == Ints{0, -1, 0});
  CHECK(values(x >> -1) == Ints{0, -1, 0});
  CHECK(values(1 << Tensor<1, Int>::from_data({0, 40, 63}, device())) ==
        Ints{1, std::int64_t{1} << 40, std::numeric_limits<std::int64_t>::min()});
  CHECK(values(x.fmod(3)) == Ints{1, -2, 2});
}

TEST_CASE("tensors are put together and taken apart") {
  const auto x = Tensor<2>::from_data({{1, 2}, {3, 4}}, device());
  CHECK(values(Tensor<2>::cat({x, x + 4.0}, 1)) == Floats{1, 2, 5, 6, 3, 4, 7, 8});
  const Tensor<3> stacked = Tensor<2>::stack({x, -x}, 0);
  CHECK(values(stacked) == Floats{1, 2, 3, 4, -1, -2, -3, -4});
  CHECK(values(Tensor<2>::cat(x.split(1, 0), 1)) == Floats{1, 2, 3, 4});
  CHECK(values(x.split({0, 2}, 1)[1]) == Floats{1, 2, 3, 4});
  CHECK(values(x.chunk(2, 1)[1]) == Floats{2, 4});
  CHECK(values(x.slice_assign({s_from(1)}, Tensor<2>::from_data({{9}}, device()))) == Floats{1, 2, 9, 9});
  CHECK(values(x.slice_fill({all, s(0, 1)}, 0)) == Floats{0, 2, 0, 4});
  CHECK(values(x.repeat({1, 2})) == Floats{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK(values(x.roll(1, 0)) == Floats{3, 4, 1, 2});
  CHECK(values(stacked.movedim(0, 2)) == Floats{1, -1, 2, -2, 3, -3, 4, -4});
  CHECK(values(x.mask_fill(x > 2.0, 0)) == Floats{1, 2, 0, 0});
  CHECK(values(x.mask_where(x > 2.0, -x)) == Floats{1, 2, -3, -4});
  CHECK(values(x.tril()) == Floats{1, 0, 3, 4});
  CHECK(values(Tensor<2, Bool>::triu_mask({2, 2}, device())) == Bools{true, true, false, true});
  CHECK(values(Tensor<1, Int>::from_data({1, 0}, device()).one_hot(2)) == Ints{0, 1, 1, 0});
  check_near(x.std(1), {std::sqrt(0.5f), std::sqrt(0.5f)});
}

TEST_CASE("elementwise functions agree with the C library") {
  const Floats in{-2.5, -1, -0.5, 0.25, 0.5, 1, 1.5, 2.5};
  const auto x = Tensor<1>::from_data(in, {8}, device());
  const auto check = [&](const std::string& name, const Tensor<1>& got, double (*reference)(double)) {
    CAPTURE(name);
    Floats expected;
    for (float v : in) expected.push_back(static_cast<float>(reference(v)));
    check_near(got, expected);
  };
  check("exp", x.exp(), [](double v) { return std::exp(v); });
  check("log", x.log(), [](double v) { return std::log(v); });
  check("log1p", x.log1p(), [](double v) { return std::log1p(v); });
  check("expm1", x.expm1(), [](double v) { return std::expm1(v); });
  check("sqrt", x.sqrt(), [](double v) { return std::sqrt(v); });
  check("rsqrt", x.rsqrt(), [](double v) { return 1 / std::sqrt(v); });
  check("recip", x.recip(), [](double v) { return 1 / v; });
  check("sin", x.sin(), [](double v) { return std::sin(v); });
  check("cos", x.cos(), [](double v) { return std::cos(v); });
  check("tanh", x.tanh(), [](double v) { return std::tanh(v); });
  check("sigmoid", x.sigmoid(), [](double v) { return 1 / (1 + std::exp(-v)); });
  check("erf", x.erf(), [](double v) { return std::erf(v); });
  check("floor", x.floor(), [](double v) { return std::floor(v); });
  check("ceil", x.ceil(), [](double v) { return std::ceil(v); });
  check("round", x.round(), [](double v) { return std::nearbyint(v); });
  check("trunc", x.trunc(), [](double v) { return std::trunc(v); });
  check("abs", x.abs(), [](double v) { return std::abs(v); });
  check("sign", x.sign(), [](double v) { return v > 0 ? 1.0 : -1.0; });
  check("square", x.square(), [](double v) { return v * v; });
  check("pow", x.abs().pow(1.5), [](double v) { return std::pow(std::abs(v), 1.5); });
  check("pow of 2", pow(2, x), [](double v) { return std::exp2(v); });
}

TEST_CASE("NaN and infinity") {
  const auto x = Tensor<1>::from_data({kNan, -1, kInf, 2}, device());
  CHECK(values(x.is_nan()) == Bools{true, false, false, false});
  check_near(maximum(x, 0), {kNan, 0, kInf, 2});
  check_near(minimum(x, 0), {kNan, -1, 0, 0});
  check_near(relu(x), {kNan, 0, kInf, 2});
  CHECK(values(x == x) == Bools{false, true, true, true});
  CHECK(values(x != x) == Bools{true, false, false, false});
  CHECK(std::isnan(x.max().item()));
  CHECK(std::isnan(x.min().item()));
  CHECK(values(x.argmax(0)) == Ints{0});
  CHECK(values(x.argmin(0)) == Ints{0});
}

TEST_CASE("select, clamp, casts") {
  const auto x = Tensor<1>::from_data({-1.5, 0.5, 2.9}, device());
  CHECK(values(where(x > 0, x, 0)) == Floats{0, 0.5, 2.9f});
  CHECK(values(where(x > 0, 1, x)) == Floats{-1.5, 1, 1});
  CHECK(values(where(x > 0, x, -x)) == Floats{1.5, 0.5, 2.9f});
  CHECK(values(where(x > 0, x, Tensor<0>::full({}, 9, device()))) == Floats{9, 0.5, 2.9f});
  CHECK(values(x.clamp(-1, 1)) == Floats{-1, 0.5, 1});
  CHECK(values(x.to_int()) == Ints{-1, 0, 2});
  CHECK(values(x.to_bool()) == Bools{true, true, true});
  CHECK(values((x > 0).to_float()) == Floats{0, 1, 1});
  CHECK(values((x > 0).to_int()) == Ints{0, 1, 1});
  CHECK(values(Tensor<1>::from_data({kNan, kInf, -3e20}, device()).to_int(DType::i32).to_int()) ==
        Ints{0, 2147483647, -2147483648});
}

TEST_CASE("activations agree with their formulas") {
  const Floats in{-30, -2, -0.5, 0, 0.5, 2, 30, 100};
  const auto x = Tensor<1>::from_data(in, {8}, device());
  const auto check = [&](const std::string& name, const Tensor<1>& got, auto reference) {
    CAPTURE(name);
    Floats expected;
    for (float v : in) expected.push_back(static_cast<float>(reference(double{v})));
    check_near(got, expected);
  };
  check("relu", relu(x), [](double v) { return std::max(v, 0.0); });
  check("leaky_relu", leaky_relu(x, 0.1), [](double v) { return v > 0 ? v : 0.1 * v; });
  check("ndtr", x.ndtr(), [](double v) { return std::erfc(v * -0.70710678118654752) / 2; });
  check("gelu", gelu(x), [](double v) { return 0.5 * v * (1 + std::erf(v / std::sqrt(2.0))); });
  check("gelu_tanh", gelu_tanh(x), [](double v) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (v + 0.044715 * v * v * v)));
  });
  check("silu", silu(x), [](double v) { return v / (1 + std::exp(-v)); });
  check("softplus", softplus(x), [](double v) { return v > 30 ? v : std::log1p(std::exp(v)); });
  const auto rows = Tensor<2>::from_data({{0, std::log(3.0)}, {1000, 1000}}, device());
  check_near(softmax(rows, 1), {0.25, 0.75, 0.5, 0.5});
  check_near(log_softmax(rows, -1), {std::log(0.25f), std::log(0.75f), std::log(0.5f), std::log(0.5f)});
}

TEST_CASE("printing") {
  CHECK(printed(Tensor<2>::from_data({{1, 2.5}, {-3, 4}}, device())) == "[[ 1.   2.5]\n [-3.   4. ]]");
  CHECK(printed(Tensor<1, Int>::from_data({1, -20, 3}, device())) == "[  1 -20   3]");
  CHECK(printed(Tensor<1, Bool>::from_data({true, false}, device())) == "[ true false]");
  CHECK(printed(Tensor<0>::from_data(0.1f, device())) == "0.1");
  CHECK(printed(Tensor<1>::from_data({1e-10, 1}, device())) == "[1e-10 1e+00]");
  CHECK(printed(Tensor<1>::from_data({kNan, 1}, device())) == "[nan  1.]");
  CHECK(printed(Tensor<1>::zeros({0}, device())) == "[]");
  CHECK(printed(Tensor<1, Int>::arange(0, 2000, device())) == "[   0    1    2 ... 1997 1998 1999]");
  CHECK(printed(Tensor<3, Int>::full({2, 1, 1}, 5, device())) == "[[[5]]\n\n [[5]]]");

  const auto x = Tensor<1, Int>::arange(0, 1000000, device()).reshape({1000, 2, 500});
  CHECK(to_string(x.dynamic(), {.edge = 1, .facts = false}) ==
        "[[[     0 ...    499]\n  [   500 ...    999]]\n\n ...\n\n [[999000 ... 999499]\n  [999500 ... "
        "999999]]]");
  const auto third = Tensor<1>::from_data({1.0f / 3}, device());
  CHECK(to_string(third.dynamic(), {.precision = 2, .facts = false}) == "[0.33]");
  const auto tens = Tensor<1>::from_data({10.5, 100.2, 30}, device());
  CHECK(to_string(tens.dynamic(), {.precision = 0, .facts = false}) == "[ 10. 100.  30.]");
  std::ostringstream out;
  out << third;
  CHECK(out.str() == "[0.33333334] (1) f32 " + device().name());
  set_print_options({.precision = 3, .facts = false});
  CHECK(to_string(third.dynamic()) == "[0.333]");
  set_print_options({});
  CHECK_THROWS_WITH_AS(set_print_options({.edge = 0}), doctest::Contains("edge 0"), Error);
}

TEST_CASE("devices") {
  const auto x = Tensor<1>::ones({2}, device());
  CHECK_FALSE(x.device().is_autodiff());
  CHECK(x.to_device(device().autodiff()).device() == device().autodiff());
  const auto there = x.to_device(Device::host());
  CHECK(there.device() == Device::host());
  CHECK(values(there) == Floats{1, 1});
}

TEST_CASE("sizes one by one") {
  const auto [rows, columns] = Tensor<2>::zeros({3, 0}, device()).dims();
  CHECK((rows == 3 && columns == 0));
  CHECK(Tensor<0>::full({}, 1, device()).dims().empty());
  CHECK_THROWS_AS(Tensor<2>().dims(), Error);
}
