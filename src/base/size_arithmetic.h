// Arithmetic on sizes that users hand in: every sum and product is checked, here and nowhere else.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/shape.h>

namespace sinter::base {

/// Computes the sizes of one operation's result. What does not fit into 63 bits throws ShapeError with the
/// operation's name and the numbers.
class SizeArithmetic {
 public:
  SizeArithmetic(std::string_view op, const Location& where) : op_(op), where_(where) {}

  std::int64_t sum(std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    if (__builtin_add_overflow(a, b, &result)) throw_overflow(a, '+', b);
    return result;
  }
  std::int64_t difference(std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    if (__builtin_sub_overflow(a, b, &result)) throw_overflow(a, '-', b);
    return result;
  }
  std::int64_t product(std::int64_t a, std::int64_t b) const {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result)) throw_overflow(a, '*', b);
    return result;
  }

  /// Bytes of a tensor. Throws ShapeError when they are 2^63 or more, even if a size is zero: then strides do
  /// not fit.
  std::int64_t bytes(const Shape& shape, DType dtype) const {
    const std::optional<std::int64_t> elements = detail::numel_of(shape);
    std::int64_t result = 0;
    if (!elements || __builtin_mul_overflow(*elements, static_cast<std::int64_t>(size_of(dtype)), &result))
      throw_bytes(shape, dtype);
    return result;
  }

 private:
  [[noreturn]] void throw_bytes(const Shape& shape, DType dtype) const;
  [[noreturn]] void throw_overflow(std::int64_t a, char sign, std::int64_t b) const;

  std::string_view op_;
  const Location& where_;
};

}  // namespace sinter::base
