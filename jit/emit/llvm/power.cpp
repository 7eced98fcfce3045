// x^y of f32 through f64, by the formula of src/runtime/host/maths/power-inl.h, which says why.
#include <limits>

#include "jit/emit/llvm/formulas.h"
#include "src/base/polynomials.h"

namespace sinter::emit {
namespace {

using V = std::string;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// log2(x) of x >= 0 that is normal in f64.
V log2(LlvmReals& d, const V& x) {
  const auto [m, n] = llvm_split_exponent(d, x);
  const V one = d.number(1), s = d.div(d.sub(m, one), d.add(m, one));
  return d.fma(s, d.horner(d.mul(s, s), base::kLog2Polynomial), n);
}

/// 2^x for |x| <= 200.
V exp2(LlvmReals& d, const V& x) {
  const V shift = d.number(base::Exponentials<double>::kShift + 1023), sum = d.add(x, shift);
  const V r = d.sub(x, d.sub(sum, shift));
  return d.mul(d.horner(r, base::kPowerOf2Polynomial), d.to_bits_of_real(d.shift_left(d.to_bits(sum), 52)));
}

}  // namespace

LlvmLogarithm llvm_split_exponent(LlvmReals& d, const V& x) {
  const V root = d.integer(base::kSqrtHalf64Bits), bits = d.sub_int(d.to_bits(x), root);
  const V m = d.to_bits_of_real(d.add_int(d.and_int(bits, d.integer(0x000fffffffffffff)), root));
  // The exponent plus 1024 to the lowest bits, then to a number by the same shift as in splitting.
  const V exponent = d.shift_right_zeros(d.add_int(bits, d.integer(std::int64_t{1024} << 52)), 52);
  return {m, d.sub(d.to_bits_of_real(d.add_int(exponent, d.integer(base::kShift64Bits))),
                   d.number(base::Exponentials<double>::kShift + 1024))};
}

std::string llvm_pow(LlvmReals& f, const V& a, const V& b) {
  LlvmWriter& w = f.writer();
  LlvmReals d(w, DType::f64);
  const std::string narrow = w.vector_of("float"), wide = w.vector_of("double");
  const V size = f.abs(a), zero = f.number(0), one = f.number(1);
  const V x = w.value("fpext " + narrow + " " + size + " to " + wide);
  const V y = w.value("fpext " + narrow + " " + b + " to " + wide);
  V logarithm = log2(d, x);
  logarithm = d.select(f.compare("oeq", a, zero), d.number(-kInfinity), logarithm);
  logarithm = d.select(f.compare("oeq", size, f.number(kInfinity)), d.number(kInfinity), logarithm);
  const V exponent = d.at_least(-200, d.at_most(200, d.mul(y, logarithm)));
  V power = w.value("fptrunc " + wide + " " + exp2(d, exponent) + " to " + narrow);
  const V half = f.mul(b, f.number(0.5)), broken = f.compare("une", f.truncated(b), b);
  const V odd = f.both(f.compare("oeq", f.truncated(b), b), f.compare("une", f.truncated(half), half));
  power = f.select(odd, f.copy_sign(power, a), power);
  const V inside = f.both(f.compare("olt", a, zero), f.compare("ogt", a, f.number(-kInfinity)));
  power = f.select(f.both(inside, broken), f.number(std::numeric_limits<double>::quiet_NaN()), power);
  power = f.select(f.compare("uno", a, b), f.add(a, b), power);
  // 1 whatever the other operand is: x^0, 1^y, and (-1)^infinity.
  const V endless =
      f.both(f.compare("oeq", a, f.number(-1)), f.compare("oeq", f.abs(b), f.number(kInfinity)));
  const V unit = f.any(f.any(f.compare("oeq", b, zero), f.compare("oeq", a, one)), endless);
  return f.select(unit, one, power);
}

}  // namespace sinter::emit
