// A number as an operand: recorded as an argument of the kernel, never as part of its text.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>

#include <sinter/dtype.h>

namespace sinter {

/// One number of any element type. Converts from every arithmetic C++ type, and keeps its value.
class Scalar {
 public:
  template <std::floating_point T>
  Scalar(T value) : kind_(Kind::Float), real_(static_cast<double>(value)) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) Scalar(T value)
      : kind_(is_beyond(value) ? Kind::Unsigned : Kind::Int), integer_(static_cast<std::int64_t>(value)) {}
  Scalar(bool value) : kind_(Kind::Bool), integer_(value) {}

  bool is_float() const { return kind_ == Kind::Float; }
  bool is_bool() const { return kind_ == Kind::Bool; }
  /// True for integers from 2^63 on, of which `as_int` gives the bits.
  bool is_beyond_int() const { return kind_ == Kind::Unsigned; }
  double as_double() const {
    if (is_beyond_int()) return static_cast<double>(static_cast<std::uint64_t>(integer_));
    return is_float() ? real_ : static_cast<double>(integer_);
  }
  std::int64_t as_int() const { return is_float() ? static_cast<std::int64_t>(real_) : integer_; }

 private:
  template <class T>
  static constexpr bool is_beyond(T value) {
    if constexpr (std::unsigned_integral<T> && sizeof(T) >= sizeof(std::int64_t))
      return value > static_cast<T>(std::numeric_limits<std::int64_t>::max());
    else
      return false;
  }

  enum class Kind : std::uint8_t { Float, Int, Bool, Unsigned };
  Kind kind_;
  union {
    double real_;
    std::int64_t integer_;
  };
};

}  // namespace sinter
