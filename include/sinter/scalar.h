// A number as an operand: recorded as an argument of the kernel, never as part of its text.
#pragma once

#include <concepts>
#include <cstdint>

#include <sinter/dtype.h>

namespace sinter {

/// One number of any element type. Converts from every arithmetic C++ type.
class Scalar {
 public:
  template <std::floating_point T>
  Scalar(T value) : kind_(Kind::Float), real_(static_cast<double>(value)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Scalar(T value)
      : kind_(Kind::Int), integer_(static_cast<std::int64_t>(value)) {}
  Scalar(bool value) : kind_(Kind::Bool), integer_(value) {}

  bool is_float() const { return kind_ == Kind::Float; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  double as_double() const { return is_float() ? real_ : static_cast<double>(integer_); }
  std::int64_t as_int() const { return is_float() ? static_cast<std::int64_t>(real_) : integer_; }

 private:
  enum class Kind : std::uint8_t { Float, Int, Bool };
  Kind kind_;
  union {
    double real_;
    std::int64_t integer_;
  };
};

}  // namespace sinter
