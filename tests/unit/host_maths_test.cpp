// The host's f32 functions against double precision, over the whole range of floats.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/runtime/host/elementwise.h"
#include "src/runtime/host/random.h"

using sinter::DType;
using sinter::Op;
namespace host = sinter::runtime::host;

namespace {

/// Every 4999th float, both signs, and the special ones.
const std::vector<float>& samples() {
  static const std::vector<float> values = [] {
    std::vector<float> result{0.0f, -0.0f, 1.0f,    -1.0f, INFINITY, -INFINITY,
                              NAN,  88.8f, -104.0f, 0.5f,  1e-45f};
    for (std::uint64_t bits = 0; bits < 0x7f800000u; bits += 4999) {
      for (std::uint32_t sign : {0u, 0x80000000u}) {
        const std::uint32_t word = static_cast<std::uint32_t>(bits) | sign;
        float value;
        std::memcpy(&value, &word, 4);
        result.push_back(value);
      }
    }
    // The stretch where most functions bend, more densely.
    for (int i = -200000; i <= 200000; ++i) result.push_back(static_cast<float>(i) * 1e-4f);
    // Next to the zeros of sine and cosine.
    for (int i = 1; i <= 5000; ++i)
      for (double sign : {1.0, -1.0}) result.push_back(static_cast<float>(sign * i * 1.5707963267948966));
    return result;
  }();
  return values;
}

/// Distance in units of the last place of `want`; denormal results count as if they had the smallest
/// exponent.
double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  if (std::isinf(rounded)) {
    if (got == rounded) return 0;
    return std::isinf(want) ? INFINITY : std::abs(got) > 3.4e38f ? 1 : INFINITY;
  }
  int exponent = 0;
  std::frexp(want, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - 24, -149));
  return std::abs(static_cast<double>(got) - want) / unit;
}

template <class F>
void check_unary(Op op, double bound, F&& reference) {
  const auto& x = samples();
  std::vector<float> y(x.size());
  const auto& forms =
      host::block_functions().elementwise[static_cast<std::size_t>(op)][static_cast<std::size_t>(DType::f32)];
  forms[static_cast<std::size_t>(host::Form::VV)](y.data(), x.data(), nullptr, nullptr, x.size());
  double worst = 0;
  float at = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(y[i], reference(static_cast<double>(x[i])));
    if (!(error <= worst)) worst = error, at = x[i];
  }
  INFO(std::string(sinter::name_of(op)) << ": " << worst << " ulp at " << at);
  CHECK(worst <= bound);
  MESSAGE(std::string(sinter::name_of(op)) << ": at most " << worst << " ulp, at " << at);
}

}  // namespace

TEST_CASE("functions of one operand are within 4 ulp") {
  check_unary(Op::Exp, 4, [](double x) { return std::exp(x); });
  check_unary(Op::Expm1, 4, [](double x) { return std::expm1(x); });
  check_unary(Op::Log, 4, [](double x) { return std::log(x); });
  check_unary(Op::Log1p, 4, [](double x) { return std::log1p(x); });
  check_unary(Op::Sin, 4, [](double x) { return std::sin(x); });
  check_unary(Op::Cos, 4, [](double x) { return std::cos(x); });
  check_unary(Op::Tanh, 4, [](double x) { return std::tanh(x); });
  check_unary(Op::Sigmoid, 4, [](double x) { return 1 / (1 + std::exp(-x)); });
  check_unary(Op::Erf, 4, [](double x) { return std::erf(x); });
  check_unary(Op::Sqrt, 0.5, [](double x) { return std::sqrt(x); });
  check_unary(Op::Rsqrt, 2, [](double x) { return 1 / std::sqrt(x); });
  check_unary(Op::Recip, 0.5, [](double x) { return 1 / x; });
  check_unary(Op::Round, 0, [](double x) { return std::nearbyint(x); });
  check_unary(Op::Trunc, 0, [](double x) { return std::trunc(x); });
}

TEST_CASE("trigonometric and hyperbolic functions are within 4 ulp") {
  check_unary(Op::Tan, 4, [](double x) { return std::tan(x); });
  check_unary(Op::Asin, 4, [](double x) { return std::asin(x); });
  check_unary(Op::Acos, 4, [](double x) { return std::acos(x); });
  check_unary(Op::Atan, 4, [](double x) { return std::atan(x); });
  check_unary(Op::Sinh, 4, [](double x) { return std::sinh(x); });
  check_unary(Op::Cosh, 4, [](double x) { return std::cosh(x); });
  check_unary(Op::Asinh, 4, [](double x) { return std::asinh(x); });
  check_unary(Op::Acosh, 4, [](double x) { return std::acosh(x); });
  check_unary(Op::Atanh, 4, [](double x) { return std::atanh(x); });
}

TEST_CASE("pow is within 4 ulp") {
  std::vector<float> x, y;
  for (int i = 1; i < 2000; ++i)
    for (float exponent : {2.0f, 0.5f, -1.5f, 3.3f, 17.0f, -20.0f, 0.0f}) {
      x.push_back(static_cast<float>(i) * 0.013f);
      y.push_back(exponent);
    }
  for (float base : {0.0f, -0.0f, 1.0f, -2.0f, -3.5f, INFINITY, -INFINITY, NAN})
    for (float exponent : {0.0f, 1.0f, -1.0f, 3.0f, 0.5f, INFINITY, -INFINITY, NAN}) {
      x.push_back(base);
      y.push_back(exponent);
    }
  std::vector<float> z(x.size());
  const auto& forms = host::block_functions().elementwise[static_cast<std::size_t>(Op::Pow)][0];
  forms[0](z.data(), x.data(), y.data(), nullptr, x.size());
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(z[i], std::pow(static_cast<double>(x[i]), static_cast<double>(y[i])));
    if (!(error <= worst)) worst = error;
  }
  CHECK(worst <= 4);
}

TEST_CASE("a block of any length gives the same values, and touches nothing behind it") {
  const auto& table = host::block_functions();
  std::vector<float> x(200);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.37f - 30.0f;
  std::vector<float> whole(x.size());
  const auto tanh = table.elementwise[static_cast<std::size_t>(Op::Tanh)][0][0];
  tanh(whole.data(), x.data(), nullptr, nullptr, x.size());
  for (std::size_t n = 0; n < 80; ++n) {
    std::vector<float> y(n + 8, 7.0f);
    tanh(y.data(), x.data(), nullptr, nullptr, n);
    for (std::size_t i = 0; i < n; ++i) CHECK(y[i] == whole[i]);
    for (std::size_t i = n; i < y.size(); ++i) CHECK(y[i] == 7.0f);
  }
}

TEST_CASE("a random number depends on its index only") {
  for (bool normal : {false, true}) {
    const host::RandomKey key{0x123456789abcdefu, 77};
    std::vector<float> all(5000), part(5000);
    const std::uint64_t first = 0xfffffff0u * 4ull;  // counters that pass 2^32
    host::random_block(all.data(), first, all.size(), key, normal);
    for (std::size_t begin : {1, 2, 3, 17, 100}) {
      host::random_block(part.data(), first + begin, 333, key, normal);
      for (std::size_t i = 0; i < 333; ++i) CHECK(part[i] == all[begin + i]);
    }
    std::vector<std::uint64_t> elements;
    for (std::size_t i = 0; i < 333; ++i) elements.push_back(first + i * i % 5000);
    host::random_elements(part.data(), elements.data(), elements.size(), key, normal);
    for (std::size_t i = 0; i < 333; ++i) CHECK(part[i] == all[i * i % 5000]);
    double sum = 0, squares = 0;
    for (float value : all) sum += value, squares += double{value} * value;
    CHECK(sum / 5000 == doctest::Approx(normal ? 0 : 0.5).epsilon(0.05));
    CHECK(squares / 5000 == doctest::Approx(normal ? 1 : 1.0 / 3).epsilon(0.06));
  }
}

TEST_CASE("random numbers of a block that starts before the first element are right from there on") {
  for (bool normal : {false, true})
    for (std::uint64_t before : {1, 2, 3, 5, 100}) {
      const host::RandomKey key{5, 6};
      std::vector<float> all(300), part(300 + before);
      host::random_block(all.data(), 0, all.size(), key, normal);
      host::random_block(part.data(), 0 - before, part.size(), key, normal);
      for (std::size_t i = 0; i < all.size(); ++i) CHECK(part[before + i] == all[i]);
    }
}
