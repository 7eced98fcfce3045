// Tangent, inverse trigonometric and hyperbolic functions of f32, by the formulas of
// src/runtime/host/maths/trigonometry-inl.h.
#include <limits>
#include <numbers>

#include "jit/emit/llvm/formulas.h"
#include "src/base/polynomials.h"

namespace sinter::emit {
namespace {

using V = std::string;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

V exp(LlvmReals& f, const V& x) { return llvm_maths_of(f, Op::Exp, x); }
V log(LlvmReals& f, const V& x) { return llvm_maths_of(f, Op::Log, x); }
V log1p(LlvmReals& f, const V& x) { return llvm_maths_of(f, Op::Log1p, x); }

/// The arc tangent of t in [0, 1]; beyond tan(pi / 8) the angle is counted from pi / 4.
V arc(LlvmReals& f, const V& t) {
  const V one = f.number(1), steep = f.compare("ogt", t, f.number(0.414213562f));
  const V u = f.select(steep, f.div(f.sub(t, one), f.add(t, one)), t);
  const V z = f.mul(u, u), p = f.horner(z, base::kAtanPolynomial);
  const V y = f.fma(f.mul(z, p), u, u);
  return f.select(steep, f.add(y, f.number(std::numbers::pi_v<float> / 4)), y);
}

/// The other leg of the triangle with hypotenuse 1; NaN beyond.
V other_leg(LlvmReals& f, const V& a) {
  const V one = f.number(1);
  return f.sqrt(f.mul(f.sub(one, a), f.add(one, a)));
}

/// exp(x) / 2 for x > 88, where exp(x) itself may overflow.
V half_exp_large(LlvmReals& f, const V& x) {
  const V e = exp(f, f.mul(x, f.number(0.5)));
  return f.mul(f.mul(e, f.number(0.5)), e);
}

/// log(2 x), for x so large that its square would not fit.
V log_of_double(LlvmReals& f, const V& x) { return f.add(log(f, x), f.number(std::numbers::ln2_v<float>)); }

}  // namespace

std::string llvm_tan(LlvmReals& f, const V& x) {
  return f.div(llvm_maths_of(f, Op::Sin, x), llvm_maths_of(f, Op::Cos, x));
}

std::string llvm_atan2(LlvmReals& f, const V& a, const V& b) {
  const V x = f.abs(b), y = f.abs(a), zero = f.number(0);
  const V over = f.compare("ogt", y, x);
  const V high = f.select(over, y, x), low = f.select(over, x, y);
  // 0 / 0 and infinity / infinity
  const V even = f.select(f.compare("oeq", high, zero), zero, f.number(1));
  const V ratio = f.select(f.compare("oeq", x, y), even, f.div(low, high));
  V angle = arc(f, ratio);
  angle = f.select(over, f.sub(f.number(std::numbers::pi_v<float> / 2), angle), angle);
  angle = f.select(f.sign_is_set(b), f.sub(f.number(std::numbers::pi_v<float>), angle), angle);
  return f.select(f.compare("uno", a, b), f.add(a, b), f.copy_sign(angle, a));
}
std::string llvm_atan(LlvmReals& f, const V& x) { return llvm_atan2(f, x, f.number(1)); }
std::string llvm_asin(LlvmReals& f, const V& x) { return llvm_atan2(f, x, other_leg(f, x)); }
std::string llvm_acos(LlvmReals& f, const V& x) { return llvm_atan2(f, other_leg(f, x), x); }

std::string llvm_sinh(LlvmReals& f, const V& a) {
  const V x = f.abs(a), half = f.number(0.5);
  const V t = llvm_maths_of(f, Op::Expm1, f.at_most(88, x));
  const V y = f.mul(half, f.add(t, f.div(t, f.add(t, f.number(1)))));
  const V whole = f.select(f.compare("ogt", x, f.number(88)), half_exp_large(f, x), y);
  return f.copy_sign(whole, a);
}

std::string llvm_cosh(LlvmReals& f, const V& a) {
  const V x = f.abs(a), half = f.number(0.5), e = exp(f, f.at_most(88, x));
  const V y = f.fma(half, e, f.div(half, e));
  return f.select(f.compare("ogt", x, f.number(88)), half_exp_large(f, x), y);
}

std::string llvm_asinh(LlvmReals& f, const V& a) {
  const V x = f.abs(a), one = f.number(1), small = f.at_most(1e9, x);
  const V root = f.sqrt(f.fma(small, small, one));
  const V t = f.add(small, f.div(f.mul(small, small), f.add(one, root)));
  const V y = f.select(f.compare("ogt", x, f.number(1e9)), log_of_double(f, x), log1p(f, t));
  return f.copy_sign(y, a);
}

std::string llvm_acosh(LlvmReals& f, const V& a) {
  const V one = f.number(1), t = f.sub(f.at_most(1e9, a), one);
  const V small = log1p(f, f.add(t, f.sqrt(f.mul(t, f.add(t, f.number(2))))));
  const V y = f.select(f.compare("ogt", a, f.number(1e9)), log_of_double(f, a), small);
  // A comparison with NaN is false.
  return f.select(f.compare("oge", a, one), y, f.number(kNaN));
}

std::string llvm_atanh(LlvmReals& f, const V& a) {
  const V x = f.abs(a), one = f.number(1);
  const V t = f.div(f.add(x, x), f.sub(one, x));
  const V y = f.mul(f.number(0.5), log1p(f, t));
  return f.select(f.compare("ole", x, one), f.copy_sign(y, a), f.number(kNaN));
}

}  // namespace sinter::emit
