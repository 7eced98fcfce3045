// f32 maths over vectors, by the formulas and polynomials of the host's block functions
// (src/runtime/host/maths-inl.h).
#include "jit/emit/llvm_maths.h"

#include <cmath>
#include <functional>
#include <limits>

#include "jit/emit/llvm.h"
#include "jit/emit/llvm_reals.h"
#include "src/base/polynomials.h"

namespace sinter::emit {
namespace {

using V = std::string;

/// x = n ln 2 + r with |r| <= ln 2 / 2.
V reduce_ln2(LlvmReals& f, const V& x, const V& n) {
  const V minus = f.neg(n);
  return f.fma(minus, f.number(-2.12194440e-4f), f.fma(minus, f.number(0.693359375f), x));
}

/// 2^n for integers n in [-126, 127].
V power_of_two(LlvmReals& f, const V& n) {
  return f.to_bits_of_real(f.shift_left(f.add_int(n, f.integer(127)), 23));
}

V exponent_of(LlvmReals& f, const V& x) { return f.round(f.mul(x, f.number(1.44269504f))); }

V exp(LlvmReals& f, const V& a) {
  const V x = f.max(f.min(a, f.number(89.0f)), f.number(-104.5f));
  const V n = exponent_of(f, x), r = reduce_ln2(f, x, n);
  const V q = f.horner(r, base::kExpPolynomial);
  const V p = f.add(f.fma(q, f.mul(r, r), r), f.number(1));
  // Two factors: 2^n itself may lie outside of the normal numbers.
  const V whole = f.to_int(n), half = f.shift_right(whole, 1);
  const V y = f.mul(f.mul(p, power_of_two(f, half)), power_of_two(f, f.sub_int(whole, half)));
  return f.select(f.is_nan(a), a, y);
}

/// exp(x) - 1 for x in [-87, 30].
V expm1_core(LlvmReals& f, const V& x) {
  const V n = exponent_of(f, x), r = reduce_ln2(f, x, n);
  const V q = f.horner(r, base::kExpm1Polynomial);
  const V p = f.fma(q, f.mul(r, r), r);
  const V s = power_of_two(f, f.to_int(n));
  return f.fma(s, p, f.sub(s, f.number(1)));
}

V expm1(LlvmReals& f, const V& a) {
  const V x = f.max(f.min(a, f.number(30)), f.number(-40));
  const V large = llvm_maths(f.writer(), Op::Exp, a, "");
  const V y = f.select(f.compare("ogt", a, f.number(20)), large, expm1_core(f, x));
  // Tiny numbers and -0 are their own result, and so is NaN.
  return f.select(f.compare("ult", f.abs(a), f.number(1e-30f)), a, y);
}

V tanh(LlvmReals& f, const V& a) {
  const V x = f.abs(a);
  const V t = expm1_core(f, f.min(f.add(x, x), f.number(20)));
  const V y = f.div(t, f.add(t, f.number(2)));
  return f.copy_sign(f.select(f.compare("ogt", x, f.number(1e-5f)), y, x), a);
}

V sigmoid(LlvmReals& f, const V& a) {
  const V one = f.number(1);
  const V e = llvm_maths(f.writer(), Op::Exp, f.neg(f.abs(a)), "");  // never overflows
  return f.div(f.select(f.compare("olt", a, f.number(0)), e, one), f.add(one, e));
}

V erf(LlvmReals& f, const V& a) {
  const V x = f.abs(a), z = f.min(x, f.number(4));
  const V y = f.neg(expm1_core(f, f.neg(f.mul(z, f.horner(z, base::kErfPolynomial)))));
  const V small = f.mul(x, f.number(1.1283791671f));  // also keeps NaN
  return f.copy_sign(f.select(f.compare("ogt", x, f.number(1e-5f)), y, small), a);
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
  const double infinity = std::numeric_limits<double>::infinity();
  y = f.select(f.compare("oeq", a, f.number(0)), f.number(-infinity), y);
  y = f.select(f.compare("olt", a, f.number(0)), f.number(std::numeric_limits<double>::quiet_NaN()), y);
  return f.select(f.compare("ueq", a, f.number(infinity)), a, y);
}

/// ln(u) x / (u - 1) with u = 1 + x: the rounding of u cancels.
V log1p(LlvmReals& f, const V& a) {
  const V u = f.add(a, f.number(1)), v = f.sub(u, f.number(1));
  const V y = f.mul(llvm_maths(f.writer(), Op::Log, u, ""), f.div(a, v));
  const V whole = f.select(f.compare("olt", u, f.number(std::numeric_limits<double>::infinity())), y, u);
  return f.select(f.compare("oeq", v, f.number(0)), a, whole);
}

/// sin(x + shift pi/2). Where the reduction would lose digits, beyond 8000, the block function takes over.
V sin(LlvmReals& f, const V& a, int shift) {
  LlvmWriter& w = f.writer();
  // Lanes that are too large take part as zeros until they are replaced.
  const V small = f.compare("olt", f.abs(a), f.number(8000));
  const V x = f.select(small, a, f.number(0));
  const V q = f.round(f.mul(x, f.number(0.636619772f))), minus = f.neg(q);
  V r = x;
  for (float part : base::kHalfPi) r = f.fma(minus, f.number(static_cast<double>(part)), r);
  const V y = f.sin_of_quadrant(r, f.add_int(f.to_int(q), f.integer(shift)));
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
        return w.load(type, w.cast_pointer("i8", type, out), 64);
      },
      y);
}

struct Entry {
  Op op;
  const char* name;
  std::function<V(LlvmReals&, const V&)> text;
};
const Entry kFunctions[] = {
    {Op::Exp, "sn_exp", exp},
    {Op::Expm1, "sn_expm1", expm1},
    {Op::Tanh, "sn_tanh", tanh},
    {Op::Sigmoid, "sn_sigmoid", sigmoid},
    {Op::Erf, "sn_erf", erf},
    {Op::Log, "sn_log", log},
    {Op::Log1p, "sn_log1p", log1p},
    {Op::Sin, "sn_sin", [](LlvmReals& f, const V& a) { return sin(f, a, 0); }},
    {Op::Cos, "sn_cos", [](LlvmReals& f, const V& a) { return sin(f, a, 1); }},
};

const Entry* find(Op op) {
  for (const Entry& entry : kFunctions)
    if (entry.op == op) return &entry;
  return nullptr;
}

}  // namespace

bool has_llvm_maths(Op op) { return find(op) != nullptr; }

std::string llvm_maths_inline(LlvmWriter& w, Op op, const std::string& x) {
  LlvmReals reals(w);
  return find(op)->text(reals, x);
}

std::string llvm_maths(LlvmWriter& w, Op op, const std::string& x, const std::string& functions) {
  const Entry& entry = *find(op);
  const bool calls_back = op == Op::Sin || op == Op::Cos;
  const std::string type = w.vector_of("float");
  const std::string name = std::string(entry.name) + "_v" + std::to_string(w.lanes());
  const std::string table = w.pointer_to("i8*");
  if (!w.module().functions.contains(name)) {
    w.module().functions[name];  // is on its way
    LlvmWriter inner(w.module(), w.lanes());
    LlvmReals reals(inner);
    const std::string result = entry.text(reals, "%x");
    inner.line("ret " + type + " " + result);
    w.module().functions[name] = inner.function("define internal " + type + " @" + name + "(" + type + " %x" +
                                                (calls_back ? ", " + table + " %functions" : "") + ") #0");
  }
  return w.value("call " + type + " @" + name + "(" + type + " " + x +
                 (calls_back ? ", " + table + " " + functions : "") + ")");
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
