// Functions and masks composed of other operations: they fuse, and need no gradient rules of their own.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"
#include "src/tensor/composed/variance.h"

namespace sinter {

namespace {

using A = AnyTensor;
using tensor::Operand;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The operands' dtype, once they are cast to one.
DType common_dtype(std::string_view op, Operand& a, Operand& b, std::array<AnyTensor, 2>& casts,
                   const Location& where) {
  if (!a.tensor && !b.tensor)
    throw Error("[" + std::string(op) + "] needs a tensor among its operands; both are numbers", where);
  tensor::promote_operands(op, a, b, casts, where);
  return tensor::value_of(op, a.tensor ? *a.tensor : *b.tensor, where).dtype;
}

/// |x| with gradient 1 at 0, where that of `abs` is 0.
AnyTensor abs_with_slope(const AnyTensor& x, const Location& where) {
  return A::where(A::less(x, 0, where), x.neg(where), x, where);
}

AnyTensor float_fmod(const Operand& a, const Operand& b, const Location& where) {
  const AnyTensor up_a = a.tensor ? abs_with_slope(*a.tensor, where) : AnyTensor();
  const AnyTensor up_b = b.tensor ? abs_with_slope(*b.tensor, where) : AnyTensor();
  const Operand high = a.tensor ? Operand(up_a) : Operand(std::abs(a.scalar.as_double()));
  const Operand by = b.tensor ? Operand(up_b) : Operand(std::abs(b.scalar.as_double()));
  const AnyTensor rest = A::remainder(high, by, where);
  if (a.tensor) return A::where(A::less(*a.tensor, 0, where), rest.neg(where), rest, where);
  return a.scalar.as_double() < 0 ? rest.neg(where) : rest;
}

/// True where column <= row + diagonal, in the last two dimensions of a tensor of `rank`.
AnyTensor lower_mask(std::size_t rank, std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                     const Device& device, const Location& where) {
  // Beyond the corners the mask stays the same, and the sum below would not fit.
  diagonal = std::clamp(diagonal, -rows, columns);
  const AnyTensor row = tensor::iota_along(rank - 2, rank, rows, device, where);
  const AnyTensor column = tensor::iota_along(rank - 1, rank, columns, device, where);
  return A::less_equal(column, A::add(row, diagonal, where), where);
}

std::int64_t diagonal_below(std::int64_t diagonal) {
  return diagonal == std::numeric_limits<std::int64_t>::min() ? diagonal : diagonal - 1;
}

AnyTensor keep_triangle(std::string_view op, const AnyTensor& x, bool lower, std::int64_t diagonal,
                        const Location& where) {
  const trace::Value& value = tensor::value_of(op, x, where);
  const std::size_t rank = value.shape.rank();
  if (rank < 2)
    throw ShapeError("[" + std::string(op) + "] takes matrices, not shape " + to_string(value.shape), where);
  const AnyTensor below = lower_mask(rank, value.shape[rank - 2], value.shape[rank - 1],
                                     lower ? diagonal : diagonal_below(diagonal), x.device(), where);
  return lower ? A::where(below, x, 0, where) : A::where(below, 0, x, where);
}

}  // namespace

AnyTensor AnyTensor::exp2(Location where) const {
  tensor::check_float("exp2", tensor::value_of("exp2", *this, where).dtype, where);
  return pow(2, *this, where);
}

AnyTensor AnyTensor::log2(Location where) const {
  tensor::check_float("log2", tensor::value_of("log2", *this, where).dtype, where);
  return mul(log(where), std::numbers::log2e, where);
}

AnyTensor AnyTensor::log10(Location where) const {
  tensor::check_float("log10", tensor::value_of("log10", *this, where).dtype, where);
  return mul(log(where), std::numbers::log10e, where);
}

AnyTensor AnyTensor::is_inf(Location where) const {
  tensor::check_float("is_inf", tensor::value_of("is_inf", *this, where).dtype, where);
  return equal(abs(where), kInfinity, where);
}

AnyTensor AnyTensor::is_finite(Location where) const {
  tensor::check_float("is_finite", tensor::value_of("is_finite", *this, where).dtype, where);
  return less(abs(where), kInfinity, where);
}

AnyTensor AnyTensor::fmod(Operand a, Operand b, Location where) {
  std::array<AnyTensor, 2> casts;
  const DType dtype = common_dtype("fmod", a, b, casts, where);
  tensor::check_numeric("fmod", dtype, where);
  if (is_float(dtype)) return float_fmod(a, b, where);
  return sub(a, mul(div(a, b, where), b, where), where);
}

AnyTensor AnyTensor::hypot(Operand a, Operand b, Location where) {
  std::array<AnyTensor, 2> casts;
  tensor::check_float("hypot", common_dtype("hypot", a, b, casts, where), where);
  const AnyTensor size_a = a.tensor ? a.tensor->detach().abs(where) : AnyTensor();
  const AnyTensor size_b = b.tensor ? b.tensor->detach().abs(where) : AnyTensor();
  const AnyTensor high = maximum(a.tensor ? Operand(size_a) : Operand(std::abs(a.scalar.as_double())),
                                 b.tensor ? Operand(size_b) : Operand(std::abs(b.scalar.as_double())), where);
  const AnyTensor is_zero = equal(high, 0, where);
  const AnyTensor divides = logical_and(less(0, high, where), less(high, kInfinity, where), where);
  // The result does not depend on the scale, so that the scale is a constant to derivatives of any order.
  const AnyTensor scale = AnyTensor::where(divides, high, 1, where);
  const AnyTensor squares =
      add(div(a, scale, where).square(where), div(b, scale, where).square(where), where);
  const AnyTensor root = AnyTensor::where(is_zero, 1, squares, where).sqrt(where);
  return AnyTensor::where(is_zero, 0, mul(scale, root, where), where);
}

AnyTensor AnyTensor::one_hot(std::int64_t classes, Location where) const {
  const trace::Value& index = tensor::value_of("one_hot", *this, where);
  if (index.dtype != DType::i32 && index.dtype != DType::i64)
    throw DTypeError("[one_hot] takes i32 or i64, not " + std::string(name_of(index.dtype)), where);
  if (classes < 1)
    throw ShapeError("[one_hot] the number of classes is 1 or more, not " + std::to_string(classes), where);
  const std::size_t rank = index.shape.rank();
  AnyTensor places = tensor::iota_along(rank, rank + 1, classes, device(), where);
  if (index.dtype != DType::i64) places = places.cast(index.dtype, where);
  return equal(unsqueeze(-1, where), places, where).cast(index.dtype, where);
}

AnyTensor AnyTensor::tril(std::int64_t diagonal, Location where) const {
  return keep_triangle("tril", *this, true, diagonal, where);
}
AnyTensor AnyTensor::triu(std::int64_t diagonal, Location where) const {
  return keep_triangle("triu", *this, false, diagonal, where);
}

AnyTensor AnyTensor::tril_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                               const Device& device, Location where) {
  if (rows < 0 || columns < 0)
    throw ShapeError("[tril_mask] sizes are zero or more, not " + to_string(Dims{rows, columns}), where);
  return lower_mask(2, rows, columns, diagonal, device, where);
}
AnyTensor AnyTensor::triu_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                               const Device& device, Location where) {
  if (rows < 0 || columns < 0)
    throw ShapeError("[triu_mask] sizes are zero or more, not " + to_string(Dims{rows, columns}), where);
  return lower_mask(2, rows, columns, diagonal_below(diagonal), device, where).logical_not(where);
}

namespace {

/// In f32 where x has fewer bits.
AnyTensor wide_variance(std::string_view name, const AnyTensor& x, const Axes& axes, double correction,
                        const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  tensor::check_float(name, value.dtype, where);
  const std::uint64_t bits = tensor::axes_of(name, axes, value.shape, where);
  double count = 1;
  for (std::size_t i = 0; i < value.shape.rank(); ++i)
    if (bits >> i & 1) count *= static_cast<double>(value.shape[i]);
  const AnyTensor wide = tensor::widened(x, where);
  const AnyTensor centred = AnyTensor::sub(wide, wide.mean(axes, where), where);
  return tensor::scaled_variance(wide, centred, axes, 1 / std::max(0.0, count - correction), where);
}

}  // namespace

AnyTensor AnyTensor::var(const Axes& axes, double correction, Location where) const {
  const AnyTensor variance = wide_variance("var", *this, axes, correction, where);
  return variance.cast(tensor::autocast_wide(dtype()), where);
}

AnyTensor AnyTensor::std(const Axes& axes, double correction, Location where) const {
  const AnyTensor variance = wide_variance("std", *this, axes, correction, where);
  const DType narrow = tensor::autocast_wide(dtype());
  if (!variance.requires_grad()) return variance.sqrt(where).cast(narrow, where);
  // Where all elements are equal the root has no derivative; its gradient there is 0, as in PyTorch.
  const AnyTensor is_zero = equal(variance, 0, where);
  const AnyTensor root = AnyTensor::where(is_zero, 1, variance, where).sqrt(where);
  return AnyTensor::where(is_zero, 0, root, where).cast(narrow, where);
}

}  // namespace sinter
