// Argument checks and their messages.
#include "src/tensor/check.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "jit/ir/traits.h"
#include "src/runtime/device_core.h"

namespace sinter::tensor {

namespace {

std::string prefix(std::string_view op) { return "[" + std::string(op) + "] "; }

std::string text_of(Scalar scalar) {
  if (scalar.is_beyond_int()) return std::to_string(static_cast<std::uint64_t>(scalar.as_int()));
  if (!scalar.is_float()) return std::to_string(scalar.as_int());
  char text[32];
  std::snprintf(text, sizeof(text), "%.17g", scalar.as_double());
  return text;
}

[[noreturn]] void throw_dtype(std::string_view op, DType dtype, const char* accepted, const Location& where) {
  throw DTypeError(prefix(op) + "takes " + accepted + ", not " + std::string(name_of(dtype)) + "; cast first",
                   where);
}

}  // namespace

void throw_empty(std::string_view op, const Location& where) {
  throw Error(prefix(op) + "the tensor is empty: it was declared, or moved from, and never given a value",
              where);
}

void check_numeric(std::string_view op, DType dtype, const Location& where) {
  if (dtype == DType::boolean) throw_dtype(op, dtype, "floats or integers", where);
}

void check_float(std::string_view op, DType dtype, const Location& where) {
  if (!is_float(dtype)) throw_dtype(op, dtype, "floats", where);
}

DType sum_dtype(DType dtype) { return is_float(dtype) || dtype == DType::u64 ? dtype : DType::i64; }

DType promoted_dtype(std::string_view op, DType a, DType b, const Location& where) {
  const std::optional<DType> common = promote(a, b);
  if (!common)
    throw DTypeError(prefix(op) + "no integers hold both " + std::string(name_of(a)) + " and " +
                         std::string(name_of(b)) + "; cast one of them",
                     where);
  return *common;
}

void check_same_dtype(std::string_view op, DType a, DType b, const Location& where) {
  if (a != b)
    throw DTypeError(prefix(op) + "dtypes differ: " + std::string(name_of(a)) + " and " +
                         std::string(name_of(b)) + "; cast one of them",
                     where);
}

void check_supported(std::string_view op, DType dtype, const Device& device, const Location& where) {
  if ((dtype == DType::f64 || is_stored_float(dtype)) && !device.core().traits().supports(dtype))
    throw DTypeError(prefix(op) + "device " + device.name() + " has no " + std::string(name_of(dtype)),
                     where);
}

DType result_dtype(Op op, DType dtype, const Location& where) {
  const OpInfo& row = info(op);
  switch (row.rule) {
    case DTypeRule::Same: check_numeric(row.name, dtype, where); return dtype;
    case DTypeRule::Float: check_float(row.name, dtype, where); return dtype;
    case DTypeRule::Bool: check_float(row.name, dtype, where); return DType::boolean;
    case DTypeRule::Compare: return DType::boolean;
    case DTypeRule::Select: return dtype;
    case DTypeRule::Logic:
      if (is_float(dtype)) throw_dtype(row.name, dtype, "bool or integers", where);
      return dtype;
    case DTypeRule::Integer:
      if (!is_int(dtype)) throw_dtype(row.name, dtype, "integers", where);
      return dtype;
    case DTypeRule::Cast:
    case DTypeRule::None: break;
  }
  return dtype;
}

Scalar fit(std::string_view op, Scalar scalar, DType dtype, const Location& where) {
  if (is_float(dtype)) return Scalar(scalar.as_double());
  double low = 0, high = 1;
  if (size_of(dtype) == 8) {
    const bool is_i64 = dtype == DType::i64;
    const bool fits = scalar.is_beyond_int() ? !is_i64 : is_i64 || scalar.as_int() >= 0;
    if (!scalar.is_float() && fits) return scalar.is_bool() ? Scalar(scalar.as_int()) : scalar;
    // 2^63 or 2^64 itself is out of range; the largest double below it is not.
    low = is_i64 ? -9223372036854775808.0 : 0;
    high = is_i64 ? 9223372036854774784.0 : 18446744073709549568.0;
  } else if (is_int(dtype)) {
    const int bits = 8 * static_cast<int>(size_of(dtype));
    low = is_unsigned(dtype) ? 0 : -std::ldexp(1.0, bits - 1);
    high = std::ldexp(1.0, is_unsigned(dtype) ? bits : bits - 1) - 1;
  }
  const double value = scalar.as_double();
  if (!(value >= low && value <= high) || (scalar.is_float() && std::trunc(value) != value))
    throw DTypeError(prefix(op) + "the number " + text_of(scalar) + " is not a value of dtype " +
                         std::string(name_of(dtype)) + "; cast the tensor first",
                     where);
  if (dtype == DType::boolean) return Scalar(value != 0);
  return dtype == DType::u64 ? Scalar(static_cast<std::uint64_t>(value)) : Scalar(scalar.as_int());
}

std::size_t axis_of(std::string_view op, std::int64_t axis, const Shape& shape, const Location& where) {
  const auto rank = static_cast<std::int64_t>(shape.rank());
  if (axis < -rank || axis >= rank)
    throw ShapeError(
        prefix(op) + "there is no axis " + std::to_string(axis) + " in shape " + to_string(shape), where);
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

std::uint64_t axes_of(std::string_view op, const Axes& axes, const Shape& shape, const Location& where) {
  std::uint64_t bits = 0;
  for (std::int64_t axis : axes) {
    const std::uint64_t bit = std::uint64_t{1} << axis_of(op, axis, shape, where);
    if (bits & bit)
      throw ShapeError(
          prefix(op) + "an axis of " + to_string(shape) + " is named twice in " + to_string(axes), where);
    bits |= bit;
  }
  return bits;
}

void check_room(std::string_view op, const Shape& shape, const Location& where) {
  if (shape.rank() < kMaxRank) return;
  throw ShapeError(prefix(op) + "one axis more than shape " + to_string(shape) +
                       " has: a tensor has at most " + std::to_string(kMaxRank) + " axes",
                   where);
}

Shape broadcast(std::string_view op, const Shape& a, const Shape& b, const Location& where) {
  const std::size_t rank = std::max(a.rank(), b.rank());
  Shape result(Dims::filled(rank, 1));
  for (std::size_t i = 0; i < rank; ++i) {  // i counts from the last dimension
    const std::int64_t x = i < a.rank() ? a[a.rank() - 1 - i] : 1;
    const std::int64_t y = i < b.rank() ? b[b.rank() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1)
      throw ShapeError(prefix(op) + "shapes do not broadcast: " + to_string(a) + " and " + to_string(b),
                       where);
    result[rank - 1 - i] = x == 1 ? y : x;
  }
  return result;
}

}  // namespace sinter::tensor
