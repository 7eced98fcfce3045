// Maths over vectors, by the formulas and polynomials of the host's block functions
// (src/runtime/host/maths/maths-inl.h).
#include "jit/emit/llvm/maths.h"

#include <cmath>
#include <functional>
#include <limits>

#include "jit/emit/llvm/emit.h"
#include "jit/emit/llvm/formulas.h"
#include "jit/emit/llvm/reals.h"
#include "src/base/polynomials.h"

namespace sinter::emit {
namespace {

using V = std::string;

// Exponentials are templates over the element type, float or double, which is that of `f`.

/// x as a whole multiple n of a unit and the rest: x + 1.5 * 2^23 (f64: 2^52) has n in its low bits, and with
/// `bias` added, n + bias. Cheaper than rounding and converting, and a NaN passes through the rest.
struct Split {
  V bits;   // the low bits of these are n + bias
  V whole;  // n
};
template <class T>
Split split(LlvmReals& f, const V& x, double per_unit, int bias) {
  const V shift = f.number(base::Exponentials<T>::kShift + bias);
  const V sum = f.fma(x, f.number(per_unit), shift);
  return {f.to_bits(sum), f.sub(sum, shift)};
}

/// x - n `unit`, the unit in two parts.
template <class T>
V rest(LlvmReals& f, const V& x, const V& n, const T (&parts)[2]) {
  const V minus = f.neg(n);
  return f.fma(minus, f.number(static_cast<double>(parts[1])),
               f.fma(minus, f.number(static_cast<double>(parts[0])), x));
}

/// 2^k where the low bits are k + the exponent's bias.
template <class T>
V power_of_two(LlvmReals& f, const V& bits) {
  return f.to_bits_of_real(f.shift_left(bits, base::Exponentials<T>::kMantissa));
}

/// exp(r) for |r| <= ln 2 / 2.
template <class T>
V exp_core(LlvmReals& f, const V& r) {
  return f.fma(f.fma(f.horner(r, base::Exponentials<T>::kExp), r, f.number(1)), r, f.number(1));
}

template <class T>
V exp(LlvmReals& f, const V& a) {
  using E = base::Exponentials<T>;
  const V x = f.at_least(E::kExpLeast, f.at_most(E::kExpMost, a));
  const Split n = split<T>(f, x, base::kLog2E, 2 * E::kBias);
  const V p = exp_core<T>(f, rest(f, x, n.whole, E::kLn2));
  // Two factors, which share n: 2^n itself may lie outside of the normal numbers.
  const V half = f.shift_right(n.bits, 1);
  return f.mul(f.mul(p, power_of_two<T>(f, half)), power_of_two<T>(f, f.sub_int(n.bits, half)));
}

template <class T>
V expm1(LlvmReals& f, const V& a) {
  using E = base::Exponentials<T>;
  const V x = f.at_least(E::kExpm1Least, f.at_most(E::kExpm1Most, a));
  const Split n = split<T>(f, x, base::kLog2E, E::kBias);
  const V r = rest(f, x, n.whole, E::kLn2);
  const V p = f.fma(f.horner(r, E::kExpm1), f.mul(r, r), r), s = power_of_two<T>(f, n.bits);
  const V small = f.fma(s, p, f.sub(s, f.number(1)));
  const V y = f.select(f.compare("ogt", a, f.number(E::kExpm1Most)), llvm_maths_of(f, Op::Exp, a), small);
  // Tiny numbers and -0 are their own result, and so is NaN.
  return f.select(f.compare("ult", f.abs(a), f.number(1e-30f)), a, y);
}

/// tanh(x) = t / (t + 1) with t = (exp(2x) - 1) / 2: no cancellation near 0, and x itself where it is tiny.
template <class T>
V tanh(LlvmReals& f, const V& a) {
  using E = base::Exponentials<T>;
  const V x = f.at_most(E::kTanhMost, f.abs(a));
  const Split n = split<T>(f, x, 2 * base::kLog2E, E::kBias);
  const V r = rest(f, x, n.whole, E::kHalfLn2);
  const V p = f.fma(f.horner(r, E::kTanh), f.mul(r, r), r), s = power_of_two<T>(f, n.bits);
  const V t = f.fma(s, p, f.fma(s, f.number(0.5), f.number(-0.5)));
  return f.copy_sign(f.div(t, f.add(t, f.number(1))), a);
}

/// 1 / (1 + exp(-x)), both parts of the fraction so small that no exponential overflows before the result is
/// 0.
template <class T>
V sigmoid(LlvmReals& f, const V& a) {
  using E = base::Exponentials<T>;
  const V x = f.at_least(E::kSigmoidLeast, f.at_most(E::kSigmoidMost, f.neg(a)));
  const Split n = split<T>(f, x, base::kLog2E, E::kBias - E::kSigmoidScale);
  const V p = exp_core<T>(f, rest(f, x, n.whole, E::kLn2));
  const V unit = f.number(std::ldexp(1.0, -E::kSigmoidScale));
  return f.div(unit, f.fma(power_of_two<T>(f, n.bits), p, unit));
}

/// erf(x) = 1 - 2^(-x h(x)) for x >= 0, where h(x) = -log2(erfc(x)) / x is smooth.
V erf(LlvmReals& f, const V& a) {
  const V x = f.at_most(4, f.abs(a));
  const V t = f.mul(x, f.horner(x, base::kErfPolynomial));
  const V shift = f.number(base::Exponentials<float>::kShift + 127), sum = f.sub(shift, t);
  const V r = f.add(t, f.sub(sum, shift));
  const V p = f.mul(r, f.horner(r, base::kExp2Polynomial)), s = power_of_two<float>(f, f.to_bits(sum));
  return f.copy_sign(f.fma(s, p, f.sub(f.number(1), s)), a);
}

/// The distribution function of the standard normal distribution, as the interpreter has it.
V ndtr(LlvmReals& f, const V& a) {
  const V c = f.abs(a), one = f.number(1);
  const V t = f.at_most(127, f.fma(c, f.horner(c, base::kNdtrPolynomial), one));
  const V shift = f.number(base::Exponentials<float>::kShift + 127), sum = f.sub(shift, t);
  const V r = f.add(t, f.sub(sum, shift));
  const V p = f.mul(r, f.horner(r, base::kExp2Polynomial)), s = power_of_two<float>(f, f.to_bits(sum));
  const V below = f.fma(f.neg(s), p, s);
  return f.select(f.compare("olt", a, f.number(0)), below, f.sub(one, below));
}

/// y, but for arguments that are no positive numbers.
V log_of_special(LlvmReals& f, const V& a, V y) {
  const double infinity = std::numeric_limits<double>::infinity();
  y = f.select(f.compare("oeq", a, f.number(0)), f.number(-infinity), y);
  y = f.select(f.compare("olt", a, f.number(0)), f.number(std::numeric_limits<double>::quiet_NaN()), y);
  return f.select(f.compare("ueq", a, f.number(infinity)), a, y);
}

V log(LlvmReals& f, const V& a) {
  const V denormal = f.compare("olt", a, f.number(std::numeric_limits<float>::min()));
  const V x = f.select(denormal, f.mul(a, f.number(8388608.0f)), a);
  // Subtracting the bits of sqrt(1/2) puts the mantissa into [sqrt(1/2), sqrt(2)).
  const V bits = f.sub_int(f.to_bits(x), f.integer(0x3f3504f3));
  const V m = f.to_bits_of_real(f.add_int(f.and_int(bits, f.integer(0x007fffff)), f.integer(0x3f3504f3)));
  const V n = f.sub(f.to_real(f.shift_right(bits, 23)), f.select(denormal, f.number(23), f.number(0)));
  const V r = f.sub(m, f.number(1));
  const V p = f.horner(r, base::kLogPolynomial), r2 = f.mul(r, r);
  // n ln 2 + r - r^2 / 2 + r^3 p, small parts first.
  V y = f.fma(f.mul(r2, r), p, f.mul(n, f.number(-2.12194440e-4f)));
  y = f.fma(f.number(-0.5f), r2, y);
  y = f.fma(n, f.number(0.693359375f), f.add(r, y));
  return log_of_special(f, a, y);
}

/// ln m = f - f^2 / 2 + s (f^2 / 2 + s^2 p(s^2)) with f = m - 1, s = f / (2 + f), of which the last part is
/// small.
V log64(LlvmReals& f, const V& a) {
  const V denormal = f.compare("olt", a, f.number(std::numeric_limits<double>::min()));
  const V x = f.select(denormal, f.mul(a, f.number(0x1p54)), a);
  const LlvmLogarithm parts = llvm_split_exponent(f, x);
  const V n = f.sub(parts.exponent, f.select(denormal, f.number(54), f.number(0)));
  const V r = f.sub(parts.mantissa, f.number(1)), s = f.div(r, f.add(r, f.number(2))), z = f.mul(s, s);
  const V half_square = f.mul(f.mul(r, f.number(0.5)), r);
  const V p = f.fma(z, f.horner(z, base::kLog64Polynomial), half_square);
  const V small = f.fma(n, f.number(base::Exponentials<double>::kLn2[1]), f.mul(s, p));
  const V y = f.sub(r, f.sub(half_square, small));
  return log_of_special(f, a, f.fma(n, f.number(base::Exponentials<double>::kLn2[0]), y));
}

/// ln(u) x / (u - 1) with u = 1 + x: the rounding of u cancels.
V log1p(LlvmReals& f, const V& a) {
  const V u = f.add(a, f.number(1)), v = f.sub(u, f.number(1));
  const V y = f.mul(llvm_maths_of(f, Op::Log, u), f.div(a, v));
  const V whole = f.select(f.compare("olt", u, f.number(std::numeric_limits<double>::infinity())), y, u);
  return f.select(f.compare("oeq", v, f.number(0)), a, whole);
}

/// sin(x + shift pi/2). Where the reduction would lose digits, beyond 8000, the block function takes over.
V sin(LlvmReals& f, const V& a, int shift) {
  LlvmWriter& w = f.writer();
  // Lanes that are too large take part as zeros until they are replaced.
  const V small = f.compare("olt", f.abs(a), f.number(8000));
  const V x = f.select(small, a, f.number(0));
  const Split q = split<float>(f, x, base::kQuadrantsPerUnit, shift);
  const V minus = f.neg(q.whole);
  V r = x;
  for (float part : base::kHalfPi) r = f.fma(minus, f.number(static_cast<double>(part)), r);
  V y = f.sin_of_quadrant(r, q.bits);
  if (shift == 0) y = f.select(f.compare("oeq", a, f.number(0)), a, y);  // sums of zeros lose their sign
  const V all = w.intrinsic("llvm.vector.reduce.and.v" + std::to_string(w.lanes()) + "i1", "i1",
                            {{w.vector_of("i1"), small}});
  const V type = w.vector_of("float");
  return w.either(
      w.value("xor i1 " + all + ", true"), type,
      [&] {
        const std::size_t bytes = static_cast<std::size_t>(w.lanes()) * sizeof(float);
        const V in = w.local(bytes), out = w.local(bytes);
        w.store(type, a, w.cast_pointer("i8", type, in), 64);
        llvm_call_function(w, "%functions", llvm_function(shift == 0 ? Op::Sin : Op::Cos, DType::f32), out,
                           in, "null", "null", w.lanes());
        // Each lane's value depends on that lane only.
        return f.select(small, y, w.load(type, w.cast_pointer("i8", type, out), 64));
      },
      y);
}

struct Entry {
  using Formula = std::function<V(LlvmReals&, const V&, const V&)>;
  Op op;
  const char* name;
  Formula f32, f64;  // empty where there is none
  bool calls_back = false;
  bool is_short = false;
};

template <V (*formula)(LlvmReals&, const V&)>
V of_one(LlvmReals& f, const V& x, const V&) {
  return formula(f, x);
}
const Entry kFunctions[] = {
    {Op::Exp, "sn_exp", of_one<exp<float>>, of_one<exp<double>>, false, true},
    {Op::Expm1, "sn_expm1", of_one<expm1<float>>, of_one<expm1<double>>, false, true},
    {Op::Tanh, "sn_tanh", of_one<tanh<float>>, of_one<tanh<double>>, false, true},
    {Op::Sigmoid, "sn_sigmoid", of_one<sigmoid<float>>, of_one<sigmoid<double>>, false, true},
    {Op::Log, "sn_log", of_one<log>, of_one<log64>, false, true},
    {Op::Log1p, "sn_log1p", of_one<log1p>, of_one<log1p>},
    {Op::Erf, "sn_erf", of_one<erf>, {}, false, true},
    {Op::Ndtr, "sn_ndtr", of_one<ndtr>, {}, false, true},
    {Op::Sin, "sn_sin", [](LlvmReals& f, const V& x, const V&) { return sin(f, x, 0); }, {}, true},
    {Op::Cos, "sn_cos", [](LlvmReals& f, const V& x, const V&) { return sin(f, x, 1); }, {}, true},
    {Op::Tan, "sn_tan", of_one<llvm_tan>, {}, true},
    {Op::Asin, "sn_asin", of_one<llvm_asin>, {}},
    {Op::Acos, "sn_acos", of_one<llvm_acos>, {}},
    {Op::Atan, "sn_atan", of_one<llvm_atan>, {}},
    {Op::Sinh, "sn_sinh", of_one<llvm_sinh>, {}},
    {Op::Cosh, "sn_cosh", of_one<llvm_cosh>, {}},
    {Op::Asinh, "sn_asinh", of_one<llvm_asinh>, {}},
    {Op::Acosh, "sn_acosh", of_one<llvm_acosh>, {}},
    {Op::Atanh, "sn_atanh", of_one<llvm_atanh>, {}},
    {Op::Atan2, "sn_atan2", llvm_atan2, {}},
    {Op::Pow, "sn_pow", llvm_pow, {}},
};

/// Null where the op has no formula for this dtype.
const Entry* find(Op op, DType dtype) {
  for (const Entry& entry : kFunctions)
    if (entry.op == op && ((dtype == DType::f32 && entry.f32) || (dtype == DType::f64 && entry.f64)))
      return &entry;
  return nullptr;
}

}  // namespace

bool has_llvm_maths(Op op, DType dtype) { return find(op, dtype) != nullptr; }

std::string llvm_maths(LlvmWriter& w, Op op, DType dtype, const std::vector<std::string>& operands,
                       bool hot) {
  const Entry& entry = *find(op, dtype);
  if (hot && entry.is_short && dtype == DType::f32) {
    LlvmReals reals(w, dtype);
    return entry.f32(reals, operands[0], "");
  }
  const bool two = operands.size() == 2;
  const std::string type = w.type(dtype, true);
  const std::string name = std::string(entry.name) + "_" + w.suffix(dtype, true);
  const std::string table = ", " + w.pointer_to(w.pointer_to("i8")) + " %functions";
  if (!w.module().functions.contains(name)) {
    w.module().functions[name];  // is on its way
    LlvmWriter inner(w.module(), w.lanes());
    LlvmReals reals(inner, dtype);
    const std::string result = (dtype == DType::f32 ? entry.f32 : entry.f64)(reals, "%x", "%y");
    inner.line("ret " + type + " " + result);
    w.module().functions[name] =
        inner.function("define internal " + type + " @" + name + "(" + type + " %x" +
                       (two ? ", " + type + " %y" : "") + (entry.calls_back ? table : "") + ") #0");
  }
  return w.value("call " + type + " @" + name + "(" + type + " " + operands[0] +
                 (two ? ", " + type + " " + operands[1] : "") + (entry.calls_back ? table : "") + ")");
}

std::string llvm_maths_of(LlvmReals& f, Op op, const std::string& x) {
  return llvm_maths(f.writer(), op, f.dtype(), {x});
}

void llvm_call_function(LlvmWriter& w, const std::string& functions, std::size_t index,
                        const std::string& out, const std::string& a, const std::string& b,
                        const std::string& c, std::int64_t count) {
  const std::string bytes = w.pointer_to("i8");
  const std::string slot = w.element(bytes, functions, std::to_string(index));
  std::string function = w.load(bytes, slot, 8);
  const std::string signature = "void (" + bytes + ", " + bytes + ", " + bytes + ", " + bytes + ", i64)";
  if (w.module().typed_pointers) function = w.value("bitcast i8* " + function + " to " + signature + "*");
  w.line("call void " + function + "(" + bytes + " " + out + ", " + bytes + " " + a + ", " + bytes + " " + b +
         ", " + bytes + " " + c + ", i64 " + std::to_string(count) + ")");
}

}  // namespace sinter::emit
