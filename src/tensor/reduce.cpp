// Reductions. Reduced dimensions stay with size 1.
#include <limits>

#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

AnyTensor reduce(Op op, std::string_view name, const AnyTensor& x, const Axes& axes, const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  std::uint64_t bits = tensor::axes_of(name, axes, value.shape, where);
  Shape shape(value.shape);
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (!(bits >> i & 1)) continue;
    if (shape[i] == 0 && (op == Op::Max || op == Op::Min) && value.dtype != DType::boolean)
      throw ShapeError("[" + std::string(name) + "] axis " + std::to_string(i) + " of shape " +
                           to_string(value.shape) + " has no element",
                       where);
    if (shape[i] == 1) bits &= ~(std::uint64_t{1} << i);
    shape[i] = 1;
  }
  if (!bits) return x;
  const AnyTensor::Operand operands[] = {x};
  const std::int64_t ints[] = {static_cast<std::int64_t>(bits)};
  return tensor::apply(op, operands, ints, {}, shape, value.dtype, where);
}

AnyTensor reduce_numbers(Op op, const AnyTensor& x, const Axes& axes, const Location& where) {
  tensor::check_numeric(name_of(op), tensor::value_of(name_of(op), x, where).dtype, where);
  return reduce(op, name_of(op), tensor::runs_wide(op) ? tensor::autocast_wide(x, where) : x, axes, where);
}

AnyTensor accumulate(Op op, const AnyTensor& x, const Axes& axes, const Location& where) {
  const DType dtype = tensor::value_of(name_of(op), x, where).dtype;
  return reduce_numbers(op, x.cast(tensor::sum_dtype(dtype), where), axes, where);
}

AnyTensor reduce_bools(Op op, std::string_view name, const AnyTensor& x, const Axes& axes,
                       const Location& where) {
  const DType dtype = tensor::value_of(name, x, where).dtype;
  if (dtype != DType::boolean)
    throw DTypeError("[" + std::string(name) + "] takes bool, not " + std::string(name_of(dtype)), where);
  return reduce(op, name, x, axes, where);
}

/// The smallest index of an element that equals the extreme (or is NaN, which makes the extreme NaN).
AnyTensor index_of_extreme(Op op, std::string_view name, const AnyTensor& x, std::int64_t axis,
                           const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  tensor::check_numeric(name, value.dtype, where);
  const std::size_t dim = tensor::axis_of(name, axis, value.shape, where);
  const Axes along(static_cast<std::int64_t>(dim));
  const AnyTensor extreme = reduce(op, name, x, along, where);
  AnyTensor found = AnyTensor::equal(x, extreme, where);
  if (is_float(value.dtype)) found = AnyTensor::logical_or(found, x.is_nan(where), where);
  const std::int64_t size = value.shape[dim];
  const AnyTensor index = tensor::iota_along(dim, value.shape.rank(), size, x.device(), where);
  if (size > std::numeric_limits<std::int32_t>::max())
    return AnyTensor::where(found, index, size, where).min(along, where);
  // GPUs compare and exchange numbers of 32 bits in half the time.
  return AnyTensor::where(found, index.cast(DType::i32, where), size, where)
      .min(along, where)
      .cast(DType::i64, where);
}

}  // namespace

AnyTensor AnyTensor::sum(const Axes& axes, Location where) const {
  return accumulate(Op::Sum, *this, axes, where);
}
AnyTensor AnyTensor::prod(const Axes& axes, Location where) const {
  return accumulate(Op::Prod, *this, axes, where);
}
AnyTensor AnyTensor::max(const Axes& axes, Location where) const {
  return reduce_numbers(Op::Max, *this, axes, where);
}
AnyTensor AnyTensor::min(const Axes& axes, Location where) const {
  return reduce_numbers(Op::Min, *this, axes, where);
}

AnyTensor AnyTensor::mean(const Axes& axes, Location where) const {
  const trace::Value& value = tensor::value_of("mean", *this, where);
  tensor::check_float("mean", value.dtype, where);
  const std::uint64_t bits = tensor::axes_of("mean", axes, value.shape, where);
  double count = 1;
  for (std::size_t i = 0; i < value.shape.rank(); ++i)
    if (bits >> i & 1) count *= static_cast<double>(value.shape[i]);
  const AnyTensor sum = reduce(Op::Sum, "mean", tensor::widened(*this, where), axes, where);
  return mul(sum, 1 / count, where).cast(tensor::autocast_wide(dtype()), where);
}

AnyTensor AnyTensor::any(const Axes& axes, Location where) const {
  return reduce_bools(Op::Max, "any", *this, axes, where);
}
AnyTensor AnyTensor::all(const Axes& axes, Location where) const {
  return reduce_bools(Op::Min, "all", *this, axes, where);
}

AnyTensor AnyTensor::argmax(std::int64_t axis, Location where) const {
  return index_of_extreme(Op::Max, "argmax", *this, axis, where);
}
AnyTensor AnyTensor::argmin(std::int64_t axis, Location where) const {
  return index_of_extreme(Op::Min, "argmin", *this, axis, where);
}

// Without the axes, and of all elements.
#define SINTER_REDUCTION(name)                                              \
  AnyTensor AnyTensor::name(const Axes& axes, Drop, Location where) const { \
    return name(axes, where).squeeze(axes, where);                          \
  }                                                                         \
  AnyTensor AnyTensor::name(Location where) const {                         \
    tensor::value_of(#name, *this, where);                                  \
    return name(all_axes(), where).reshape({}, where);                      \
  }
SINTER_REDUCTION(sum)
SINTER_REDUCTION(prod)
SINTER_REDUCTION(mean)
SINTER_REDUCTION(max)
SINTER_REDUCTION(min)
SINTER_REDUCTION(any)
SINTER_REDUCTION(all)
#undef SINTER_REDUCTION
AnyTensor AnyTensor::var(Location where) const {
  tensor::value_of("var", *this, where);
  return var(all_axes(), 1, where).reshape({}, where);
}
AnyTensor AnyTensor::std(Location where) const {
  tensor::value_of("std", *this, where);
  return std(all_axes(), 1, where).reshape({}, where);
}
AnyTensor AnyTensor::argmax(std::int64_t axis, Drop, Location where) const {
  return argmax(axis, where).squeeze(axis, where);
}
AnyTensor AnyTensor::argmin(std::int64_t axis, Drop, Location where) const {
  return argmin(axis, where).squeeze(axis, where);
}
AnyTensor AnyTensor::argmax(Location where) const {
  tensor::value_of("argmax", *this, where);
  return reshape({-1}, where).argmax(0, drop, where);
}
AnyTensor AnyTensor::argmin(Location where) const {
  tensor::value_of("argmin", *this, where);
  return reshape({-1}, where).argmin(0, drop, where);
}

Axes AnyTensor::all_axes() const {
  Dims axes;
  for (std::size_t i = 0; i < rank(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  return Axes(axes);
}

}  // namespace sinter
