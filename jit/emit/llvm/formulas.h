// Formulas over vectors, of f32 where nothing else is said, that maths.cpp lists and makes functions of.
#pragma once

#include <string>

#include "jit/emit/llvm/reals.h"
#include "src/trace/op.h"

namespace sinter::emit {

/// x as mantissa * 2^exponent, the mantissa in [sqrt(1/2), sqrt(2)), for x > 0 that is normal in f64, which
/// is what `d` writes.
struct LlvmLogarithm {
  std::string mantissa, exponent;
};
LlvmLogarithm llvm_split_exponent(LlvmReals& d, const std::string& x);

/// The function of an op within another function whose operand is %x; such as call back have %functions.
std::string llvm_maths_of(LlvmReals& f, Op op, const std::string& x);

// Trigonometric and hyperbolic functions, as in src/runtime/host/maths/trigonometry-inl.h.
std::string llvm_tan(LlvmReals& f, const std::string& x);
std::string llvm_atan2(LlvmReals& f, const std::string& y, const std::string& x);
std::string llvm_atan(LlvmReals& f, const std::string& x);
std::string llvm_asin(LlvmReals& f, const std::string& x);
std::string llvm_acos(LlvmReals& f, const std::string& x);
std::string llvm_sinh(LlvmReals& f, const std::string& x);
std::string llvm_cosh(LlvmReals& f, const std::string& x);
std::string llvm_asinh(LlvmReals& f, const std::string& x);
std::string llvm_acosh(LlvmReals& f, const std::string& x);
std::string llvm_atanh(LlvmReals& f, const std::string& x);

/// x^y with all of C's special cases, as in src/runtime/host/maths/power-inl.h.
std::string llvm_pow(LlvmReals& f, const std::string& x, const std::string& y);

}  // namespace sinter::emit
