// Complex numbers as users write them: made, read, printed, indexed, differentiated, kept in models and
// records. Values and gradients of their functions are compared with PyTorch's by cases_test.
#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <sinter/nn.h>
#include <sinter/record.h>
#include <sinter/sinter.h>

#include "tests/support/messages.h"
#include "tests/support/test_device.h"

namespace sinter::testing {
namespace {

using C = std::complex<float>;

std::vector<C> four() { return {{1, 2}, {3, -4}, {0, 0.5f}, {-1, 0}}; }
Complex<2> table() { return Complex<2>::from_data(four(), {2, 2}, test_device()); }

struct Rotation {
  Complex<1> by;
  Complex<1> forward(const Complex<1>& x) const { return x * by; }
};

}  // namespace

TEST_CASE("numbers go in and come out") {
  const Complex<2> x = table();
  CHECK(x.to_vector<C>() == four());
  CHECK(x.shape() == Shape({2, 2}));
  CHECK(x.dims() == std::array<std::int64_t, 2>{2, 2});
  CHECK(x.dtype() == DType::f32);
  CHECK(C(x(0, 1).item()) == C(3, -4));
  CHECK(x(1).to_vector<C>() == std::vector<C>{{0, 0.5f}, {-1, 0}});
  CHECK(x(s_from(-1, -1), all).to_vector<C>() == std::vector<C>{{0, 0.5f}, {-1, 0}, {1, 2}, {3, -4}});
  CHECK(x.dynamic()(all, 1).to_vector<C>() == std::vector<C>{{3, -4}, {-1, 0}});
  const Complex<0> unit = Complex<0>::full({}, C(0, 1), test_device());
  CHECK(unit.item() == ComplexNumber(0, 1));
  CHECK(Complex<1>::zeros({0}, test_device()).to_vector<C>().empty());
  CHECK(view_as_complex(view_as_real(x)).to_vector<C>() == four());
  if (has_dtype(test_device(), DType::f64)) {
    const std::vector<std::complex<double>> wide{{1e300, -0.1}};
    CHECK(Complex<1>::from_data(wide, {1}, test_device()).item() == ComplexNumber(1e300, -0.1));
  }
}

TEST_CASE("operands are complex, real or numbers, on either side") {
  const Complex<2> x = table();
  const auto first = [](const Complex<2>& y) { return C(y(0, 0).item()); };
  CHECK(first(x + 1) == C(2, 2));
  CHECK(first(1.5 - x) == C(0.5, -2));
  CHECK(first(x * C(0, 1)) == C(-2, 1));
  CHECK(first(C(0, 2) + x) == C(1, 4));
  CHECK(first(x * x.real) == C(1, 2));
  CHECK(first(x.imag - x) == C(1, -2));
  CHECK(first(x / 2) == C(0.5, 1));
  CHECK(first(5 / x) == C(1, -2));
  CHECK(first(-x) == C(-1, -2));
  Complex<2> y = x;
  y += x;
  y *= C(0, 1);
  y -= 1;
  y /= x.real + 1;
  CHECK(first(y) == C(-2.5, 1));
  CHECK(first(x) == C(1, 2));
  CHECK((x == conj(conj(x))).all().item());
  CHECK((x != x.real).to_vector<bool>() == std::vector<bool>{true, true, true, false});
}

TEST_CASE("quotients of numbers whose squares overflow or vanish") {
  const std::vector<C> far{{3e30f, 4e30f}, {3e-30f, -4e-30f}};
  const Complex<1> x = Complex<1>::from_data(far, {2}, test_device());
  const std::vector<C> ones = (x / x).to_vector<C>();
  for (const C& one : ones) CHECK(std::abs(one - C(1, 0)) < 1e-6f);
  CHECK(std::abs(abs(x)(0).item() / 5e30 - 1) < 1e-6);
  const C by_nothing =
      C((Complex<1>::ones({1}, test_device()) / Complex<1>::zeros({1}, test_device())).item());
  CHECK_FALSE(std::isfinite(by_nothing.real()));
}

TEST_CASE("shapes broadcast, views and parts put together") {
  const Complex<2> x = table();
  const Complex<2> row = x(s(0, 1), all);
  CHECK((x + row).to_vector<C>()[2] == C(1, 2.5f));
  // What is real makes the imaginary part larger too.
  const Complex<2> grown = row + Tensor<2>::ones({3, 2}, test_device());
  CHECK(grown.imag.shape() == Shape({3, 2}));
  CHECK(grown.to_vector<C>()[4] == C(2, 2));
  CHECK(x.reshape({4}).to_vector<C>() == four());
  CHECK(x.t().to_vector<C>() == std::vector<C>{{1, 2}, {0, 0.5f}, {3, -4}, {-1, 0}});
  CHECK(x.permute({1, 0}).to_vector<C>() == x.t().to_vector<C>());
  CHECK(cat({x, x}, 1).shape() == Shape({2, 4}));
  CHECK(stack({x, x}, 0).shape() == Shape({2, 2, 2}));
  CHECK(x.expand({3, 2, 2}).shape() == Shape({3, 2, 2}));
  CHECK(x.sum(0, drop).to_vector<C>() == std::vector<C>{{1, 2.5f}, {2, -4}});
  CHECK(C(x.mean().item()) == C(0.75f, -0.375f));
  CHECK(x.matmul(x).to_vector<C>()[0] == C(-1, 5.5f));
}

TEST_CASE("mistakes are told in one line, which is the caller's") {
  const Complex<2> x = table();
  const auto says = [](const auto& action, std::string_view part) {
    const std::string message = message_of(action);
    CAPTURE(message);
    CHECK(contains(message, part));
    CHECK(contains(message, "complex_test.cpp"));
  };
  says(
      [&] {
        x + Complex<2>::zeros({3, 2}, test_device());
      },
      "[add] shapes do not broadcast: (2, 2) and (3, 2)");
  says([&] { x* Tensor<2>::zeros({3, 2}, test_device()); }, "(3, 2)");
  says(
      [&] {
        complex(x.real, Tensor<2>::zeros({1, 2}, test_device()));
      },
      "[complex] a real part of shape (2, 2) and an imaginary part of shape (1, 2)");
  says([&] { view_as_complex(Tensor<1>::zeros({3}, test_device())); }, "(3)");
  says([&] { x.item(); }, "(2, 2)");
  says([&] { x(2); }, "(2, 2)");
  says([&] { Complex<1>::from_data(four(), {3}, test_device()); }, "3");
}

TEST_CASE("printed as NumPy prints them") {
  std::ostringstream out;
  out << table();
  CHECK(out.str() ==
        "[[ 1.+2.j   3.-4.j ]\n [ 0.+0.5j -1.+0.j ]]\n(2, 2) complex f32 " + test_device().name());
  std::ostringstream large;
  large << Complex<1>::full({2000}, C(1, -1), test_device());
  CHECK(large.str() ==
        "[1.-1.j 1.-1.j 1.-1.j ... 1.-1.j 1.-1.j 1.-1.j] (2000) complex f32 " + test_device().name());
  CHECK(to_string(AnyComplex()) == "(empty tensor)");
}

TEST_CASE("gradients have both parts; the steepest descent of |x^2 - c| finds a root") {
  const Device device = test_device().autodiff();
  ComplexNumber root(1, 1);
  const C c(-3, 4);  // the root is 1 + 2i
  Complex<0> x = Complex<0>::full({}, root, device);
  for (int step = 0; step < 60; ++step) {
    x = x.detach().require_grad();
    const Gradients gradients = square(abs(x * x - c)).backward();
    x = Complex<0>{x.real - *gradients.get(x.real) * 0.01, x.imag - *gradients.get(x.imag) * 0.01};
  }
  root = x.inner().item();
  CHECK(std::abs(C(root) - C(1, 2)) < 1e-4f);
}

TEST_CASE("roots of large and small numbers, and their gradients on the cut") {
  const std::vector<C> x{{3e38f, 0}, {3e38f, 3e38f}, {-3e38f, -1}, {1e-36f, 0},
                         {-4, 0},    {3, -4},        {0, 0},       {0, 2e-36f}};
  const auto n = static_cast<std::int64_t>(x.size());
  const std::vector<C> found = sqrt(Complex<1>::from_data(x, {n}, test_device())).to_vector<C>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    CAPTURE(i);
    const std::complex<double> want = std::sqrt(std::complex<double>(x[i]));
    CHECK(std::abs(std::complex<double>(found[i]) - want) <= 1e-6 * std::abs(want));
  }
  // PyTorch's: on the negative real axis the root's real part grows with the imaginary part.
  const std::vector<C> points{{-4, 0}, {4, 0}, {-4, -1e-6f}, {3, -4}};
  const Complex<1> z = Complex<1>::from_data(points, {4}, test_device().autodiff());
  const Complex<1> at{z.real.require_grad(), z.imag.require_grad()};
  const Complex<1> root = sqrt(at);
  const Gradients of_real = root.real.sum().backward();
  const std::vector<float> real_by_imag = of_real.get(at.imag)->to_vector<float>(),
                           real_by_real = of_real.get(at.real)->to_vector<float>();
  const float want_by_imag[] = {0.25f, 0, -0.25f, -0.1f}, want_by_real[] = {0, 0.25f, 0, 0.2f};
  for (std::size_t i = 0; i < 4; ++i) {
    CAPTURE(i);
    CHECK(real_by_imag[i] == doctest::Approx(want_by_imag[i]).epsilon(1e-5));
    CHECK(std::abs(real_by_real[i] - want_by_real[i]) < 1e-6f);
  }
}

TEST_CASE("hyperbolic functions near the largest numbers and beyond, as C's") {
  const std::vector<C> x{{100, 0},   {-100, 0},  {200, 0},          {89.2f, 0.5f}, {-89.2f, 3},
                         {0.5f, -2}, {1e-6f, 1}, {100, 1.5707964f}, {-100, -2},    {3, 0.25f}};
  const auto n = static_cast<std::int64_t>(x.size());
  const Complex<1> z = Complex<1>::from_data(x, {n}, test_device());
  const auto check = [&](const Complex<1>& got, auto f) {
    const std::vector<C> found = got.to_vector<C>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(i);
      const std::complex<double> wide = f(std::complex<double>(x[i]));
      for (const auto& [part, want] : {std::pair(found[i].real(), static_cast<float>(wide.real())),
                                       std::pair(found[i].imag(), static_cast<float>(wide.imag()))}) {
        if (std::isinf(want) || want == 0)
          CHECK(part == want);
        else  // the sine of a number near pi is as exact as that number
          CHECK(part == doctest::Approx(want).epsilon(2e-4));
      }
    }
  };
  check(sinh(z), [](auto w) { return std::sinh(w); });
  check(cosh(z), [](auto w) { return std::cosh(w); });
  const Complex<1> turned{z.imag, z.real};
  const auto swapped = [](auto w) { return std::complex<double>(w.imag(), w.real()); };
  check(sin(turned), [&](auto w) { return std::sin(swapped(w)); });
  check(cos(turned), [&](auto w) { return std::cos(swapped(w)); });

  const Tensor<1> real = Tensor<1>::from_data({89.2f, 0.5f}, test_device().autodiff()).require_grad();
  const Complex<1> y = cosh(Complex<1>{real, real * 0.0 + 0.5});
  const std::vector<float> slope = y.real.sum().backward().get(real)->to_vector<float>();
  CHECK(slope[0] == doctest::Approx(std::sinh(89.2f - 1) * std::exp(1.0) * std::cos(0.5)).epsilon(1e-4));
  CHECK(slope[1] == doctest::Approx(std::sinh(0.5) * std::cos(0.5)).epsilon(1e-5));
}

TEST_CASE("fields of a model, its parameters and its record") {
  const Device device = test_device().autodiff();
  Rotation model{Complex<1>::full({3}, C(0, 1), device).require_grad()};
  const record::Record saved = record::to_record(model);
  REQUIRE(saved.entries().size() == 2);
  CHECK(saved.find("by.real") != nullptr);
  CHECK(saved.find("by.imag") != nullptr);
  Rotation other{Complex<1>::zeros({3}, device).require_grad()};
  record::load_record(other, saved);
  CHECK(other.by.to_vector<C>() == std::vector<C>(3, C(0, 1)));
  CHECK(other.forward(other.by).to_vector<C>() == std::vector<C>(3, C(-1, 0)));
}

}  // namespace sinter::testing
