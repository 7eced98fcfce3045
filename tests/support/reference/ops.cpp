// The oracle's elementwise operations: a value in double or int64, and a bound of its error.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "src/base/element_type.h"
#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The accuracy class of an op.
enum class Exactness { Exact, Division, Math, Distribution, Logistic, Wave, Power };

Exactness exactness_of(Op op) {
  switch (op) {
    case Op::Div:
    case Op::Recip:
    case Op::Sqrt:
    case Op::Rsqrt: return Exactness::Division;
    case Op::Exp:
    case Op::Log:
    case Op::Log1p:
    case Op::Expm1:
    case Op::Tan:
    case Op::Asin:
    case Op::Acos:
    case Op::Atan:
    case Op::Atan2:
    case Op::Sinh:
    case Op::Cosh:
    case Op::Asinh:
    case Op::Acosh:
    case Op::Atanh:
    case Op::Tanh:
    case Op::Erf: return Exactness::Math;
    case Op::Ndtr: return Exactness::Distribution;
    case Op::Sigmoid: return Exactness::Logistic;
    case Op::Sin:
    case Op::Cos: return Exactness::Wave;
    case Op::Pow: return Exactness::Power;
    default: return Exactness::Exact;
  }
}

double sign(double x) {
  if (std::isnan(x)) return x;
  return x > 0 ? 1 : x < 0 ? -1 : 0;
}

// The sign of the divisor, as in Python.
double remainder_of(double a, double b) {
  double r = std::fmod(a, b);
  if (r != 0 && (r < 0) != (b < 0)) r += b;
  return r;
}

double maximum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

double minimum(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::min(a, b);
}

double float_op(Op op, double a, double b) {
  switch (op) {
    case Op::Neg: return -a;
    case Op::Abs: return std::abs(a);
    case Op::Sign: return sign(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Log1p: return std::log1p(a);
    case Op::Expm1: return std::expm1(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Rsqrt: return 1 / std::sqrt(a);
    case Op::Recip: return 1 / a;
    case Op::Sin: return std::sin(a);
    case Op::Cos: return std::cos(a);
    case Op::Tan: return std::tan(a);
    case Op::Asin: return std::asin(a);
    case Op::Acos: return std::acos(a);
    case Op::Atan: return std::atan(a);
    case Op::Sinh: return std::sinh(a);
    case Op::Cosh: return std::cosh(a);
    case Op::Asinh: return std::asinh(a);
    case Op::Acosh: return std::acosh(a);
    case Op::Atanh: return std::atanh(a);
    case Op::Tanh: return std::tanh(a);
    case Op::Sigmoid: return 1 / (1 + std::exp(-a));
    case Op::Erf: return std::erf(a);
    case Op::Ndtr: return std::erfc(a * -0.70710678118654752) / 2;
    case Op::Floor: return std::floor(a);
    case Op::Ceil: return std::ceil(a);
    case Op::Round: return std::nearbyint(a);  // to even, in the default rounding mode
    case Op::Trunc: return std::trunc(a);
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Remainder: return remainder_of(a, b);
    case Op::Pow: return std::pow(a, b);
    case Op::Atan2: return std::atan2(a, b);
    case Op::Maximum: return maximum(a, b);
    case Op::Minimum: return minimum(a, b);
    default: throw std::logic_error("no float op " + std::string(name_of(op)));
  }
}

std::uint64_t bits(std::int64_t x) { return static_cast<std::uint64_t>(x); }

std::int64_t integer_op(Op op, std::int64_t a, std::int64_t b, std::int64_t width) {
  switch (op) {
    case Op::Neg: return static_cast<std::int64_t>(0 - bits(a));
    case Op::Abs: return a < 0 ? static_cast<std::int64_t>(0 - bits(a)) : a;
    case Op::Sign: return (a > 0) - (a < 0);
    case Op::Add: return static_cast<std::int64_t>(bits(a) + bits(b));
    case Op::Sub: return static_cast<std::int64_t>(bits(a) - bits(b));
    case Op::Mul: return static_cast<std::int64_t>(bits(a) * bits(b));
    case Op::Div:
      if (b == 0) return 0;
      return b == -1 ? static_cast<std::int64_t>(0 - bits(a)) : a / b;
    case Op::Remainder: {
      if (b == 0 || b == -1) return 0;
      const std::int64_t r = a % b;
      return r != 0 && (r < 0) != (b < 0) ? r + b : r;
    }
    case Op::Maximum: return std::max(a, b);
    case Op::Minimum: return std::min(a, b);
    case Op::Not: return ~a;
    case Op::And: return a & b;
    case Op::Or: return a | b;
    case Op::Xor: return a ^ b;
    case Op::ShiftLeft: return b < 0 || b >= width ? 0 : static_cast<std::int64_t>(bits(a) << b);
    case Op::ShiftRight: return a >> (b < 0 || b >= width ? width - 1 : b);
    default: throw std::logic_error("no integer op " + std::string(name_of(op)));
  }
}

// What differs where the 64 bits have no sign.
std::int64_t unsigned_op(Op op, std::int64_t x, std::int64_t y) {
  const std::uint64_t a = bits(x), b = bits(y);
  const auto signed_bits = [](std::uint64_t z) { return static_cast<std::int64_t>(z); };
  switch (op) {
    case Op::Abs: return x;
    case Op::Sign: return a != 0;
    case Op::Div: return b == 0 ? 0 : signed_bits(a / b);
    case Op::Remainder: return b == 0 ? 0 : signed_bits(a % b);
    case Op::Maximum: return signed_bits(std::max(a, b));
    case Op::Minimum: return signed_bits(std::min(a, b));
    case Op::ShiftLeft: return b >= 64 ? 0 : signed_bits(a << b);
    case Op::ShiftRight: return b >= 64 ? 0 : signed_bits(a >> b);
    default: return integer_op(op, x, y, 64);
  }
}

std::int64_t narrowed(DType dtype, std::int64_t x) {
  if (dtype == DType::boolean) return x != 0;
  return base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(static_cast<T>(x));
    else
      return x;
  });
}

// Truncates and saturates; NaN gives 0.
std::int64_t truncated(DType dtype, double x) {
  if (dtype == DType::boolean) return x != 0;
  if (std::isnan(x)) return 0;
  return base::with_element_type(dtype, [&]<class T>(std::type_identity<T>) -> std::int64_t {
    if constexpr (std::is_integral_v<T>) {
      constexpr T low = std::numeric_limits<T>::min(), high = std::numeric_limits<T>::max();
      if (x >= std::ldexp(1.0, std::numeric_limits<T>::digits)) return static_cast<std::int64_t>(high);
      if (x <= static_cast<double>(low)) return static_cast<std::int64_t>(low);
      return static_cast<std::int64_t>(static_cast<T>(x));
    }
    throw std::logic_error("truncated to a float");
  });
}

Value result_of(DType dtype, std::int64_t integer, double error) {
  Value v;
  v.dtype = dtype;
  v.integer = integer;
  v.error = error > 0 || std::isnan(error) ? kInfinity : 0;
  return v;
}

double rounded(DType dtype, double x, const Precision& p) {
  return dtype == DType::f32 && p.round_f32 ? static_cast<double>(static_cast<float>(x)) : x;
}

// The error that the operation itself adds. `argument` is that of a function of one, `raised` what it adds to
// a power's error.
double own_error(Op op, DType dtype, double argument, double result, double raised, bool inexact_input,
                 const Precision& p) {
  const bool f32 = dtype == DType::f32;
  const double size = std::isfinite(result) ? std::abs(result) : 0;
  const double ulp = size * (f32 ? 0x1p-23 : 0x1p-52);
  const double smallest = f32 ? p.smallest() : 1e-320;
  const bool rounds_elsewhere = f32 && !p.round_f32;
  switch (exactness_of(op)) {
    case Exactness::Exact:
      if (f32 && p.flushes_denormals && size < 0x1p-126) return smallest;
      return inexact_input || rounds_elsewhere ? ulp + smallest : 0;
    case Exactness::Division: return p.division_ulps * ulp + smallest;
    case Exactness::Math: return (f32 ? p.math_ulps * ulp : p.math_relative_f64 * size) + smallest;
    case Exactness::Distribution:  // of results below 1/2 the unit is that of 1/2
      return (f32 ? p.math_ulps * std::max(ulp, 0x1p-24) : p.math_relative_f64 * std::max(size, 0.5)) +
             smallest;
    case Exactness::Logistic: {
      // 1 / (1 + e^-x): an argument of e that is rounded is off by more the larger it is, and e^-x overflows
      // on the way to a result that is denormal.
      const double grown = std::isfinite(argument) ? 1 + std::max(-argument, 0.0) / 8 : 1;
      if (!f32) return p.math_relative_f64 * size * grown + 0x1p-1022;
      return p.math_ulps * grown * ulp + (p.math_ulps > 0 ? 0x1p-126 : smallest);
    }
    case Exactness::Wave: {
      // Next to a zero other than 0 itself there is what is left of the argument and as much error as that
      // has.
      const bool reduced = std::abs(argument) > 0.7853981633974483;
      if (f32) return p.math_ulps * ulp + (reduced ? p.wave_absolute : smallest);
      return p.math_relative_f64 * (size + (reduced ? 1 : 0)) + smallest;
    }
    case Exactness::Power:
      return (f32 ? (p.pow_ulps + 2 * raised) * ulp : p.math_relative_f64 * (1 + raised) * size) + smallest;
  }
  return 0;
}

// |f(x) - f(y)|; equal infinities and two NaNs have distance 0.
double distance(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  const double d = std::abs(x - y);
  return std::isnan(d) ? kInfinity : d;
}

// A device may use a rounded quotient; an exact division has no rest. Near 0 and near the divisor, rounding
// may move the result from one to the other; for large quotients nothing can be compared.
double remainder_error(DType dtype, double a, double b, double r) {
  if (!std::isfinite(r) || !std::isfinite(b)) return 0;
  if (std::abs(a / b) > 0x1p24) return kInfinity;
  if (r == 0) return 0;
  const double eps = dtype == DType::f32 ? 0x1p-23 : 0x1p-52;
  const double error = 2 * eps * std::max(std::abs(a), std::abs(b));
  const bool at_the_edge = std::min(std::abs(r), std::abs(b - r)) <= error || error > std::abs(b) / 4;
  return at_the_edge ? std::abs(b) : error;
}

Value float_result(Op op, DType dtype, const Value& a, const Value& b, const Precision& p) {
  Value v;
  v.dtype = dtype;
  const double exact = float_op(op, a.real, b.real);
  v.real = rounded(dtype, exact, p);
  const bool inexact_input = a.error > 0 || b.error > 0;
  double spread = 0;
  if (a.error == kInfinity || b.error == kInfinity) {
    spread = kInfinity;
  } else if (inexact_input) {
    for (const double da : {-a.error, a.error})
      for (const double db : {-b.error, b.error})
        spread = std::max(spread, distance(float_op(op, a.real + da, b.real + db), exact));
    // Between the corners the sawtooth of a remainder may jump.
    if (op == Op::Remainder) {
      const double low = std::floor((a.real - a.error) / b.real),
                   high = std::floor((a.real + a.error) / b.real);
      if (b.error > 0 || low != high) spread = std::abs(b.real) + b.error;
    }
    // A pole or an extremum may be between them.
    const bool crosses = (op == Op::Recip && std::abs(a.real) <= a.error) ||
                         (op == Op::Div && std::abs(b.real) <= b.error) ||
                         (op == Op::Pow && (std::abs(a.real) <= a.error || (a.real < 0 && b.error > 0))) ||
                         (op == Op::Tan && std::abs(std::cos(a.real)) <= 2 * a.error);
    if (crosses) spread = kInfinity;
    if (op == Op::Sin || op == Op::Cos) spread = std::min(2.0, std::max(spread, a.error));
    if (op == Op::Abs) spread = std::max(spread, a.error);
  }
  double raised = 0;
  if (op == Op::Pow && std::isfinite(exact) && exact != 0) raised = std::abs(std::log2(std::abs(exact)));
  v.error = spread + own_error(op, dtype, a.real, v.real, raised, inexact_input, p);
  if (op == Op::Remainder) v.error += remainder_error(dtype, a.real, b.real, v.real);
  if (spread == 0 && std::isnan(v.real)) v.error = 0;
  return v;
}

Value compare(Op op, const Value& a, const Value& b) {
  bool holds = false;
  double error = std::max(a.error, b.error);
  if (is_float(a.dtype)) {
    const double x = a.real, y = b.real;
    holds = op == Op::Equal ? x == y : op == Op::NotEqual ? x != y : op == Op::Less ? x < y : x <= y;
    if (error > 0 && error != kInfinity) {
      const bool apart = std::isnan(x) || std::isnan(y) || std::isinf(x) || std::isinf(y) ||
                         std::abs(x - y) > a.error + b.error;
      if (apart) error = 0;
    }
  } else {
    const std::int64_t x = a.integer, y = b.integer;
    const bool less = a.dtype == DType::u64 ? bits(x) < bits(y) : x < y;
    holds = op == Op::Equal ? x == y : op == Op::NotEqual ? x != y : op == Op::Less ? less : less || x == y;
  }
  return result_of(DType::boolean, holds, error);
}

Value select(const Value& condition, const Value& x, const Value& y) {
  Value v = condition.integer != 0 ? x : y;
  if (condition.error == 0) return v;
  if (is_float(v.dtype)) {
    v.error = distance(x.real, y.real) + std::max(x.error, y.error);
  } else {
    v.error = x.integer == y.integer ? std::max(x.error, y.error) : kInfinity;
  }
  return v;
}

Value cast(DType to, const Value& a, const Precision& p) {
  if (is_stored_float(to))
    return a.dtype == to ? a : cast_to_stored(to, a.dtype == DType::f32 ? a : cast(DType::f32, a, p));
  Value v;
  v.dtype = to;
  if (a.dtype == DType::bf16 && to != DType::bf16 && p.flushes_denormals && std::abs(a.real) < 0x1p-126) {
    Value close = a;
    close.dtype = DType::f32;
    close.error += std::abs(a.real);
    return cast(to, close, p);
  }
  if (is_float(a.dtype)) {
    if (!is_float(to)) {
      double error = a.error;
      if (error > 0 && truncated(to, a.real - error) == truncated(to, a.real + error)) error = 0;
      if (to == DType::boolean && a.error > 0) error = std::abs(a.real) > a.error ? 0 : kInfinity;
      return result_of(to, truncated(to, a.real), error);
    }
    v.real = rounded(to, a.real, p);
    v.error = a.error;
    if (to == DType::f32 && a.dtype == DType::f64) {
      if (a.error > 0 || !p.round_f32) v.error += std::abs(v.real) * 0x1p-23 + p.smallest();
    }
    return v;
  }
  if (!is_float(to)) return result_of(to, narrowed(to, a.integer), a.error);
  const auto as = [&]<class Real>(Real) -> double {
    return a.dtype == DType::u64 ? static_cast<Real>(bits(a.integer)) : static_cast<Real>(a.integer);
  };
  v.real = to == DType::f32 ? as(float{}) : as(double{});
  v.error = a.error;
  return v;
}

}  // namespace

Value cast_to_stored(DType stored, const Value& value) {
  const auto nearest = [&](double number) {
    return base::with_element_type(stored, [&]<class T>(std::type_identity<T>) -> double {
      return static_cast<float>(T(static_cast<float>(number)));
    });
  };
  Value v = value;
  v.dtype = stored;
  v.real = nearest(static_cast<double>(static_cast<float>(value.real)));
  if (value.error == 0 || !std::isfinite(value.real)) return v;
  // This value and the device's are both rounded, by half a step each.
  const double size = std::abs(value.real) + value.error;
  switch (stored) {
    case DType::bf16: v.error += size * 0x1p-7 + 0x1p-133; break;
    case DType::f16: v.error += size * 0x1p-10 + 0x1p-24; break;
    case DType::f8_e4m3: v.error += size * 0x1p-3 + 0x1p-9; break;
    default: v.error += size * 0x1p-2 + 0x1p-16;
  }
  if (!std::isfinite(nearest(size))) v.error = kInfinity;
  return v;
}

Value kept_as_stored(DType stored, const Value& value) {
  Value v = value;
  const Value rounded = cast_to_stored(stored, value);
  if (v.error == 0 && rounded.real != value.real) v.error = std::numeric_limits<double>::min();
  if (std::isnan(value.real)) return rounded;
  v = cast_to_stored(stored, v);
  if (std::isnan(v.real)) v.error = kInfinity;  // f8_e4m3 has no infinity
  return v;
}

Value apply(Op op, DType dtype, std::span<const Value> args, const Precision& precision) {
  if (is_stored_float(dtype) && info(op).rule != DTypeRule::Cast && info(op).rule != DTypeRule::Select)
    return kept_as_stored(dtype, apply(op, DType::f32, args, precision));
  if (args.size() != info(op).arity) throw std::logic_error("wrong number of operands");
  const Value& a = args[0];
  const Value& b = args.size() > 1 ? args[1] : args[0];
  switch (info(op).rule) {
    case DTypeRule::Compare: return compare(op, a, b);
    case DTypeRule::Select: return select(a, b, args[2]);
    case DTypeRule::Cast: return cast(dtype, a, precision);
    case DTypeRule::Bool:
      return result_of(DType::boolean, std::isnan(a.real), a.error == kInfinity ? kInfinity : 0);
    default: break;
  }
  if (is_float(dtype)) {
    if (args.size() == 1) {
      Value none;
      return float_result(op, dtype, a, none, precision);
    }
    return float_result(op, dtype, a, b, precision);
  }
  const double error = args.size() > 1 ? std::max(a.error, b.error) : a.error;
  if (dtype == DType::boolean && op == Op::Not) return result_of(dtype, a.integer == 0, error);
  if (dtype == DType::u64) return result_of(dtype, unsigned_op(op, a.integer, b.integer), error);
  const std::int64_t width = size_of(arithmetic_of(dtype)) * 8;
  return result_of(dtype, narrowed(dtype, integer_op(op, a.integer, b.integer, width)), error);
}

}  // namespace sinter::testing
