// The reductions of the oracle.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/support/reference/ir_reference.h"

namespace sinter::testing {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline std::int64_t wrapped_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t wrapped_mul(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

inline Value integer_value(DType dtype, std::int64_t value) {
  if (dtype == DType::i32) value = static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  if (dtype == DType::u8) value = static_cast<std::uint8_t>(value);
  if (dtype == DType::boolean) value = value != 0;
  Value v;
  v.dtype = dtype;
  v.integer = value;
  return v;
}

/// Reductions, sequentially; the error bounds hold for every order of the terms.
class Accumulator {
 public:
  Accumulator(Op op, DType dtype, const Precision& precision) : op_(op), precision_(precision) {
    value_.dtype = dtype;
    const bool f32 = dtype == DType::f32;
    switch (op) {
      case Op::Sum:
      case Op::SquaredDeviations: break;
      case Op::Prod:
        value_.real = 1;
        value_.integer = 1;
        break;
      case Op::Max:
        value_.real = -kInfinity;
        value_.integer = lowest(dtype);
        break;
      case Op::Min:
        value_.real = kInfinity;
        value_.integer = highest(dtype);
        break;
      default: throw std::logic_error("not a reduction");
    }
    largest_finite_ = f32 ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max();
    smallest_normal_ = f32 ? std::numeric_limits<float>::min() : std::numeric_limits<double>::min();
  }

  void add(const Value& term) {
    ++count_;
    if (!is_float(value_.dtype)) {
      add_integer(term);
      return;
    }
    switch (op_) {
      case Op::Sum:
        value_.real += term.real;
        value_.error += term.error;
        if (std::isfinite(term.real)) magnitude_ += std::abs(term.real);
        break;
      case Op::Prod:
        value_.real *= term.real;
        upper_ *= std::abs(term.real) + term.error;
        if (std::isfinite(term.real)) {
          magnitude_ = std::max(magnitude_, 1.0) * std::max(1.0, std::abs(term.real));
          if (term.real != 0) least_ *= std::min(1.0, std::abs(term.real));
        }
        break;
      case Op::SquaredDeviations: terms_.push_back(term); break;
      default: {
        const Op pick = op_ == Op::Max ? Op::Maximum : Op::Minimum;
        const Value both[2] = {value_, term};
        value_ = apply(pick, value_.dtype, both, precision_);
      }
    }
  }

  Value finish() const {
    Value v = value_;
    if (!is_float(v.dtype) || op_ == Op::Max || op_ == Op::Min || count_ == 0) return v;
    const bool f32 = v.dtype == DType::f32;
    const double relative = f32 ? precision_.sum_relative : precision_.sum_relative_f64;
    if (op_ == Op::SquaredDeviations) return squared_deviations(relative);
    if (op_ == Op::Sum) {
      if (count_ > 1) v.error += relative * magnitude_;
    } else if (count_ > 1) {
      v.error = std::max(0.0, upper_ - std::abs(v.real)) + relative * std::abs(v.real);
      if (least_ < smallest_normal_) v.error = kInfinity;
    }
    // Partial results in another order may overflow where these did not.
    if (magnitude_ > largest_finite_) v.error = kInfinity;
    if (std::isnan(v.error)) v.error = kInfinity;
    if (f32 && precision_.round_f32) v.real = static_cast<double>(static_cast<float>(v.real));
    return v;
  }

 private:
  /// The error of a running mean depends on the terms' errors and magnitudes, however far from zero they are.
  Value squared_deviations(double relative) const {
    Value v = value_;
    const double count = static_cast<double>(count_);
    double mean = 0, largest = 0, error = 0;
    for (const Value& term : terms_) {
      mean += term.real / count;
      largest = std::max(largest, std::abs(term.real));
      error = std::max(error, term.error);
    }
    for (const Value& term : terms_) v.real += (term.real - mean) * (term.real - mean);
    const double slip = 2 * error + relative * largest;  // of one deviation
    v.error = relative * v.real + 2 * std::sqrt(v.real * count) * slip + count * slip * slip;
    if (largest * largest * count > largest_finite_ || std::isnan(v.real)) v.error = kInfinity;
    if (v.dtype == DType::f32 && precision_.round_f32)
      v.real = static_cast<double>(static_cast<float>(v.real));
    return v;
  }

  static std::int64_t lowest(DType dtype) {
    if (dtype == DType::i32) return std::numeric_limits<std::int32_t>::min();
    if (dtype == DType::i64) return std::numeric_limits<std::int64_t>::min();
    return 0;
  }
  static std::int64_t highest(DType dtype) {
    if (dtype == DType::i32) return std::numeric_limits<std::int32_t>::max();
    if (dtype == DType::i64) return std::numeric_limits<std::int64_t>::max();
    return 1;
  }

  void add_integer(const Value& term) {
    std::int64_t x = value_.integer;
    switch (op_) {
      case Op::Sum: x = wrapped_add(x, term.integer); break;
      case Op::Prod: x = wrapped_mul(x, term.integer); break;
      case Op::Max: x = std::max(x, term.integer); break;
      default: x = std::min(x, term.integer); break;
    }
    const double error = std::max(value_.error, term.error);
    value_ = integer_value(value_.dtype, x);
    value_.error = error;
  }

  Op op_;
  const Precision& precision_;
  Value value_;
  std::int64_t count_ = 0;
  double magnitude_ = 0, upper_ = 1, least_ = 1;
  std::vector<Value> terms_;  // SquaredDeviations
  double largest_finite_, smallest_normal_;
};

}  // namespace sinter::testing
