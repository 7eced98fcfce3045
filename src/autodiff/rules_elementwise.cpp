// Gradient rules of elementwise ops. Operands have the result's shape: broadcasting is an op of its own
// (Expand).
//
// y is the result, g its gradient. Formulas with y instead of x reuse the result of the forward pass.
#include <numbers>

#include "src/autodiff/rule.h"

namespace sinter::autodiff {

namespace {

Term floor(const Term& x) {
  return x.with([](const AnyTensor& t, const Location& where) { return t.floor(where); });
}

/// Gradient of operand `i` of maximum or minimum; `wins` is true where only that operand is selected. Equal
/// tensors share the gradient. An operand equal to a number gets none: the derivative of relu at 0 is 0. What
/// users compute with `maximum` and a number has the number as a tensor.
Term extreme(const Step& s, std::size_t i, const Term& wins) {
  const Term g = s.gradient();
  if (s.is_scalar(1 - i)) return choose(wins, g, 0.0);
  return choose(wins, g, choose(equal(s.operand(0), s.operand(1)), g * 0.5, 0.0));
}

/// b * a^(b - 1), and 0 for b = 0 whatever a is.
Term pow_base(const Step& s) {
  const Term g = s.gradient(), a = s.operand(0), b = s.operand(1);
  if (s.differentiable() && !b.is_scalar()) {
    // 0^0 alone is left out, before its power is taken: its own gradient would be infinite, times 0.
    const Term none(AnyTensor::logical_and(equal(a, 0.0).tensor(), equal(b, 0.0).tensor(), s.where()),
                    s.where());
    return g * (b * pow(choose(none, 1.0, a), b - 1.0));
  }
  if (!b.is_scalar()) return g * choose(equal(b, 0.0), 0.0, b * pow(a, b - 1.0));
  return b.number() == 0 ? Term::zero() : g * (b * pow(a, b - 1.0));
}

/// y log a, and 0 where a = 0: y stays 0 there for all b > 0.
Term pow_exponent(const Step& s) {
  const Term g = s.gradient(), a = s.operand(0), y = s.result();
  if (a.is_scalar()) return a.number() == 0 ? Term::zero() : g * (y * log(a));
  const Term at_zero = equal(a, 0.0);
  // Nothing infinite is computed and then left out: its own gradient would be infinite, times 0.
  const Term base = s.differentiable() ? choose(at_zero, 1.0, a) : a;
  return g * choose(at_zero, 0.0, y * log(base));
}

Term zero(const Step&) { return Term::zero(); }

Term square_of_radius(const Step& s) { return square(s.operand(0)) + square(s.operand(1)); }

constexpr double kTwoOverSqrtPi = 2 * std::numbers::inv_sqrtpi;
constexpr double kOneOverSqrtTwoPi = std::numbers::inv_sqrtpi / std::numbers::sqrt2;

constexpr Rule kTable[] = {
    {Op::Neg, {{{[](const Step& s) { return -s.gradient(); }}}}},
    {Op::Abs,
     {{{[](const Step& s) {
          return s.gradient() *
                 s.operand(0).with([](const AnyTensor& t, const Location& w) { return t.sign(w); });
        },
        kFirst}}}},
    {Op::Exp, {{{[](const Step& s) { return s.gradient() * s.result(); }, kResult}}}},
    {Op::Log, {{{[](const Step& s) { return s.gradient() / s.operand(0); }, kFirst}}}},
    {Op::Log1p, {{{[](const Step& s) { return s.gradient() / (s.operand(0) + 1.0); }, kFirst}}}},
    {Op::Expm1, {{{[](const Step& s) { return s.gradient() * (s.result() + 1.0); }, kResult}}}},
    {Op::Sqrt, {{{[](const Step& s) { return s.gradient() * 0.5 / s.result(); }, kResult}}}},
    {Op::Rsqrt,
     {{{[](const Step& s) {
          const Term y = s.result();
          return s.gradient() * -0.5 * (y * y * y);
        },
        kResult}}}},
    {Op::Recip, {{{[](const Step& s) { return -s.gradient() * square(s.result()); }, kResult}}}},
    {Op::Sin,
     {{{[](const Step& s) {
          return s.gradient() *
                 s.operand(0).with([](const AnyTensor& t, const Location& w) { return t.cos(w); });
        },
        kFirst}}}},
    {Op::Cos,
     {{{[](const Step& s) {
          return -s.gradient() *
                 s.operand(0).with([](const AnyTensor& t, const Location& w) { return t.sin(w); });
        },
        kFirst}}}},
    {Op::Tan, {{{[](const Step& s) { return s.gradient() * (square(s.result()) + 1.0); }, kResult}}}},
    {Op::Asin, {{{[](const Step& s) { return s.gradient() * rsqrt(1.0 - square(s.operand(0))); }, kFirst}}}},
    {Op::Acos, {{{[](const Step& s) { return -s.gradient() * rsqrt(1.0 - square(s.operand(0))); }, kFirst}}}},
    {Op::Atan, {{{[](const Step& s) { return s.gradient() / (square(s.operand(0)) + 1.0); }, kFirst}}}},
    {Op::Sinh,
     {{{[](const Step& s) {
          return s.gradient() *
                 s.operand(0).with([](const AnyTensor& t, const Location& w) { return t.cosh(w); });
        },
        kFirst}}}},
    {Op::Cosh,
     {{{[](const Step& s) {
          return s.gradient() *
                 s.operand(0).with([](const AnyTensor& t, const Location& w) { return t.sinh(w); });
        },
        kFirst}}}},
    {Op::Asinh, {{{[](const Step& s) { return s.gradient() * rsqrt(square(s.operand(0)) + 1.0); }, kFirst}}}},
    {Op::Acosh,
     {{{[](const Step& s) {
          const Term x = s.operand(0);
          return s.gradient() * rsqrt((x - 1.0) * (x + 1.0));
        },
        kFirst}}}},
    {Op::Atanh, {{{[](const Step& s) { return s.gradient() / (1.0 - square(s.operand(0))); }, kFirst}}}},
    {Op::Tanh, {{{[](const Step& s) { return s.gradient() * (1.0 - square(s.result())); }, kResult}}}},
    {Op::Sigmoid,
     {{{[](const Step& s) {
          const Term y = s.result();
          return s.gradient() * (y * (1.0 - y));
        },
        kResult}}}},
    {Op::Erf,
     {{{[](const Step& s) { return s.gradient() * (exp(-square(s.operand(0))) * kTwoOverSqrtPi); },
        kFirst}}}},
    {Op::Ndtr,
     {{{[](const Step& s) { return s.gradient() * (exp(square(s.operand(0)) * -0.5) * kOneOverSqrtTwoPi); },
        kFirst}}}},

    // Step functions: constant wherever a derivative exists.
    {Op::Floor, {{{zero}}}},
    {Op::Ceil, {{{zero}}}},
    {Op::Round, {{{zero}}}},
    {Op::Trunc, {{{zero}}}},
    {Op::Sign, {{{zero}}}},
    {Op::IsNan, {}},
    {Op::Not, {}},

    // Only casts between floats have gradients.
    {Op::Cast, {{{[](const Step& s) {
       return s.gradient().with(
           [&](const AnyTensor& t, const Location& w) { return t.cast(s.dtype_of(0), w); });
     }}}}},

    {Op::Add, {{{[](const Step& s) { return s.gradient(); }}, {[](const Step& s) { return s.gradient(); }}}}},
    {Op::Sub,
     {{{[](const Step& s) { return s.gradient(); }}, {[](const Step& s) { return -s.gradient(); }}}}},
    {Op::Mul,
     {{{[](const Step& s) {
          // A square: one product instead of the product rule's two and a sum.
          return (s.is_of_one_tensor() ? s.gradient() * 2.0 : s.gradient()) * s.operand(1);
        },
        kSecond},
       {[](const Step& s) { return s.is_of_one_tensor() ? Term() : s.gradient() * s.operand(0); }, kFirst}}}},
    {Op::Div,
     {{{[](const Step& s) { return s.gradient() / s.operand(1); }, kSecond},
       {[](const Step& s) { return -s.gradient() * (s.result() / s.operand(1)); }, kSecond | kResult}}}},
    {Op::Remainder,  // a - floor(a / b) b
     {{{[](const Step& s) { return s.gradient(); }},
       {[](const Step& s) { return -s.gradient() * floor(s.operand(0) / s.operand(1)); },
        kFirst | kSecond}}}},
    {Op::Pow, {{{pow_base, kFirst | kSecond}, {pow_exponent, kFirst | kResult}}}},
    {Op::Atan2,
     {{{[](const Step& s) { return s.gradient() * (s.operand(1) / square_of_radius(s)); }, kFirst | kSecond},
       {[](const Step& s) { return -s.gradient() * (s.operand(0) / square_of_radius(s)); },
        kFirst | kSecond}}}},
    {Op::Maximum,
     {{{[](const Step& s) { return extreme(s, 0, less(s.operand(1), s.operand(0))); }, kFirst | kSecond},
       {[](const Step& s) { return extreme(s, 1, less(s.operand(0), s.operand(1))); }, kFirst | kSecond}}}},
    {Op::Minimum,
     {{{[](const Step& s) { return extreme(s, 0, less(s.operand(0), s.operand(1))); }, kFirst | kSecond},
       {[](const Step& s) { return extreme(s, 1, less(s.operand(1), s.operand(0))); }, kFirst | kSecond}}}},
    {Op::Equal, {}},
    {Op::NotEqual, {}},
    {Op::Less, {}},
    {Op::LessEqual, {}},
    {Op::And, {}},
    {Op::Or, {}},
    {Op::Xor, {}},
    {Op::ShiftLeft, {}},
    {Op::ShiftRight, {}},
    {Op::Where,
     {{{},
       {[](const Step& s) { return choose(s.operand(0), s.gradient(), 0.0); }, kFirst},
       {[](const Step& s) { return choose(s.operand(0), 0.0, s.gradient()); }, kFirst}}}},
};

}  // namespace

const std::span<const Rule> kElementwiseRules = kTable;

}  // namespace sinter::autodiff
