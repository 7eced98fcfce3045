// Argument checks that operations share: dtypes, scalars, axes, broadcasting. All throw at the caller's line.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <sinter/any_tensor.h>

#include "src/trace/op.h"
#include "src/trace/value.h"

namespace sinter::tensor {

/// The value behind a handle; throws Error when the handle is empty.
[[noreturn]] void throw_empty(std::string_view op, const Location& where);
inline const trace::Value& value_of(std::string_view op, const AnyTensor& tensor, const Location& where) {
  if (!tensor.defined()) throw_empty(op, where);
  return *tensor.value();
}

/// The dtype of an elementwise op's result for operands of `dtype` (Select: of the selected values), by the
/// rule of the op table. Throws DTypeError when the op is not defined for it.
DType result_dtype(Op op, DType dtype, const Location& where);

/// Throws DTypeError unless `dtype` is i32, i64 or a float.
void check_numeric(std::string_view op, DType dtype, const Location& where);
void check_float(std::string_view op, DType dtype, const Location& where);
/// The dtype of sums and products of many elements: of integers and truth values i64, or u64 of u64.

DType sum_dtype(DType dtype);
/// The dtype in which operands of two dtypes meet (sinter::promote). Throws DTypeError where there is none.
DType promoted_dtype(std::string_view op, DType a, DType b, const Location& where);
void check_same_dtype(std::string_view op, DType a, DType b, const Location& where);
/// Throws DTypeError when the device has no such dtype (f64 on some GPUs).
void check_supported(std::string_view op, DType dtype, const Device& device, const Location& where);

/// Converts `scalar` to `dtype`. Throws DTypeError where an integer dtype gets a fraction or a number out of
/// range, and where a bool gets anything but 0 and 1.
Scalar fit(std::string_view op, Scalar scalar, DType dtype, const Location& where);

/// `axis` as an index from the front. Throws ShapeError when the shape has no such axis.
std::size_t axis_of(std::string_view op, std::int64_t axis, const Shape& shape, const Location& where);
/// Bit set of `axes`, which must be distinct.
std::uint64_t axes_of(std::string_view op, const Axes& axes, const Shape& shape, const Location& where);

/// A strided part of a shape: `sizes` elements start + i * step of each dimension. Dimensions without a range
/// are whole. Throws ShapeError.
struct Part {
  Dims start, step;
  Shape sizes;
};
Part part_of(std::string_view op, std::span<const Range> ranges, const Shape& shape, const Location& where);

/// Throws ShapeError where a shape has no room for one more axis.
void check_room(std::string_view op, const Shape& shape, const Location& where);

/// The shape that both broadcast to. Throws ShapeError.
Shape broadcast(std::string_view op, const Shape& a, const Shape& b, const Location& where);

}  // namespace sinter::tensor
