// Arithmetic on vectors of f32 or f64 as LLVM text, with names short enough to write formulas in.
#pragma once

#include <cstddef>
#include <string>

#include "jit/emit/llvm/writer.h"

namespace sinter::emit {

class LlvmReals {
 public:
  using V = std::string;
  explicit LlvmReals(LlvmWriter& writer, DType dtype = DType::f32)
      : w_(writer),
        dtype_(dtype),
        integer_(dtype == DType::f32 ? DType::i32 : DType::i64),
        real_(writer.type(dtype, true)),
        int_(writer.type(integer_, true)),
        truth_(writer.vector_of("i1")),
        suffix_(writer.suffix(dtype, true)) {}

  LlvmWriter& writer() { return w_; }
  DType dtype() const { return dtype_; }
  V number(double x) { return w_.real(dtype_, true, x); }
  V integer(std::int64_t n) { return w_.integer(integer_, true, n); }

  V add(const V& a, const V& b) { return binary("fadd", real_, a, b); }
  V sub(const V& a, const V& b) { return binary("fsub", real_, a, b); }
  V mul(const V& a, const V& b) { return binary("fmul", real_, a, b); }
  V div(const V& a, const V& b) { return binary("fdiv", real_, a, b); }
  V neg(const V& a) { return w_.value("fneg " + real_ + " " + a); }
  /// a * b + c, in one rounding where the processor has that.
  V fma(const V& a, const V& b, const V& c) {
    return w_.intrinsic("llvm.fmuladd." + suffix_, real_, {{real_, a}, {real_, b}, {real_, c}});
  }
  V abs(const V& a) { return unary("fabs", a); }
  V sqrt(const V& a) { return unary("sqrt", a); }
  V round(const V& a) { return unary("roundeven", a); }
  V truncated(const V& a) { return unary("trunc", a); }
  V copy_sign(const V& magnitude, const V& sign) {
    return w_.intrinsic("llvm.copysign." + suffix_, real_, {{real_, magnitude}, {real_, sign}});
  }
  V compare(const char* how, const V& a, const V& b) {
    return w_.value("fcmp " + std::string(how) + " " + real_ + " " + a + ", " + b);
  }
  V is_nan(const V& a) { return compare("uno", a, a); }
  V select(const V& condition, const V& yes, const V& no) {
    return w_.value("select " + truth_ + " " + condition + ", " + real_ + " " + yes + ", " + real_ + " " +
                    no);
  }
  V both(const V& a, const V& b) { return binary("and", truth_, a, b); }
  V any(const V& a, const V& b) { return binary("or", truth_, a, b); }
  /// True where the sign bit is set, that of a NaN or a zero too.
  V sign_is_set(const V& a) { return w_.value("icmp slt " + int_ + " " + to_bits(a) + ", " + integer(0)); }
  /// Bounds that leave a NaN what it is.
  V at_most(double bound, const V& a) { return least(number(bound), a, "olt"); }
  V at_least(double bound, const V& a) { return least(number(bound), a, "ogt"); }

  V add_int(const V& a, const V& b) { return binary("add", int_, a, b); }
  V sub_int(const V& a, const V& b) { return binary("sub", int_, a, b); }
  V and_int(const V& a, const V& b) { return binary("and", int_, a, b); }
  V xor_int(const V& a, const V& b) { return binary("xor", int_, a, b); }
  V shift_left(const V& a, int bits) { return binary("shl", int_, a, integer(bits)); }
  V shift_right(const V& a, int bits) { return binary("ashr", int_, a, integer(bits)); }
  V shift_right_zeros(const V& a, int bits) { return binary("lshr", int_, a, integer(bits)); }
  V to_int(const V& a) { return w_.value("fptosi " + real_ + " " + a + " to " + int_); }
  V to_real(const V& a) { return w_.value("sitofp " + int_ + " " + a + " to " + real_); }
  V to_bits(const V& a) { return w_.value("bitcast " + real_ + " " + a + " to " + int_); }
  V to_bits_of_real(const V& a) { return w_.value("bitcast " + int_ + " " + a + " to " + real_); }

  template <class T, std::size_t kTerms>
  V horner(const V& x, const T (&coefficients)[kTerms]) {
    V y = number(static_cast<double>(coefficients[kTerms - 1]));
    for (std::size_t i = kTerms - 1; i-- > 0;) y = fma(y, x, number(static_cast<double>(coefficients[i])));
    return y;
  }

  /// sin(r + quadrant pi/2) for r in [-pi/4, pi/4].
  V sin_of_quadrant(const V& r, const V& quadrant);

 private:
  V least(const V& bound, const V& a, const char* how) { return select(compare(how, bound, a), bound, a); }
  V binary(const char* op, const V& type, const V& a, const V& b) {
    return w_.value(std::string(op) + " " + type + " " + a + ", " + b);
  }
  V unary(const char* name, const V& a) {
    return w_.intrinsic("llvm." + std::string(name) + "." + suffix_, real_, {{real_, a}});
  }

  LlvmWriter& w_;
  const DType dtype_, integer_;
  const std::string real_, int_, truth_, suffix_;
};

}  // namespace sinter::emit
