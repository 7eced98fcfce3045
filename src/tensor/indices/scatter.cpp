// Indexed sums: index_add, scatter_add, and the gradients of indexed reads.
#include "src/tensor/indices/scatter.h"

#include <algorithm>
#include <string>

#include "jit/ir/traits.h"
#include "jit/library/counting.h"
#include "jit/library/indexed_join.h"
#include "jit/library/indexed_sum.h"
#include "jit/library/segments.h"
#include "src/autodiff/node.h"
#include "src/base/size_arithmetic.h"
#include "src/runtime/device_core.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/rows.h"
#include "src/trace/indexed_ops.h"

namespace sinter {
namespace tensor {
namespace {

/// Indices as i32 that are in [0, rows) whatever the numbers are. One out of range is found where it is read,
/// as in any indexed read: this is one, of a table that has `rows` times its own first element.
AnyTensor rows_in_range(std::string_view op, const AnyTensor& index, std::int64_t rows,
                        const Location& where) {
  const AnyTensor first = index.narrow(0, 0, 1, where), table = first.expand({rows}, where);
  const Operand operands[] = {table, index};
  const std::int64_t ints[] = {0, trace::number_of_indexed_op(op)};
  const AnyTensor seen = apply(Op::Gather, operands, ints, {}, index.shape(), index.dtype(), where);
  const AnyTensor inside = AnyTensor::minimum(AnyTensor::maximum(index, 0, where), rows - 1, where);
  return AnyTensor::where(AnyTensor::equal(seen, first, where), inside, 0, where).cast(DType::i32, where);
}

void check_limits(std::string_view op, std::int64_t count, std::int64_t rows, const Location& where) {
  if (count > library::kMostSegmentRows || rows > library::kMostSegmentRows)
    throw ShapeError("[" + std::string(op) + "] " + std::to_string(count) + " indices into " +
                         std::to_string(rows) + " places: there may be up to " +
                         std::to_string(library::kMostSegmentRows) + " of each",
                     where);
}

using Joins = ir::DeviceTraits::Joins;
using library::SegmentReduction;

Joins joins_of(const AnyTensor& x) { return x.value()->device->traits().joins; }

/// True iff a device that joins values as they come has to add these up as integers.
bool is_summed_as_integers(const AnyTensor& values, SegmentReduction reduction) {
  return joins_of(values) != Joins::InOrder && sum_order() == SumOrder::Fixed &&
         !library::is_same_in_any_order(reduction, arithmetic_of(values.dtype()));
}

/// True iff the device joins such values in an order that the program allows, or with a result that is the
/// same in any. `values` and `rows` as of join_in_place.
bool may_join(const AnyTensor& values, std::int64_t rows, SegmentReduction reduction) {
  const Joins joins = joins_of(values);
  const DType dtype = arithmetic_of(values.dtype());
  if (joins == Joins::None || joins == Joins::InOrder) return joins == Joins::InOrder;
  if (reduction == SegmentReduction::Prod || (joins == Joins::Unordered && size_of(dtype) > 4)) return false;
  if (!is_summed_as_integers(values, reduction)) return true;
  // Each element takes two atomic operations: of longer rows it is less to sort the indices. And each place,
  // with a value or without, takes three times its own memory.
  constexpr std::int64_t kMostColumns = 32, kMostPlaces = 64;  // places for each value
  const Shape& shape = values.shape();
  const std::int64_t columns = shape.back(), count = shape[shape.rank() - 2];
  const std::int64_t outer = values.numel() / std::max<std::int64_t>(columns * count, 1);
  return dtype == DType::f32 && joins == Joins::UnorderedAll && columns > 0 && columns <= kMostColumns &&
         rows / kMostPlaces <= count &&
         rows <= library::kMostSegmentRows / 3 / columns / std::max<std::int64_t>(outer, 1);
}

/// Stretches of sum_directly, 0 where it takes longer than to sort the indices.
std::int64_t stretches_of(const AnyTensor& values, std::int64_t rows) {
  const Shape& shape = values.shape();
  if (joins_of(values) == Joins::InOrder || shape.rank() > 2) return 0;
  return library::stretches_of_sum(arithmetic_of(values.dtype()), shape[0], shape[1], rows);
}

/// Each stretch of the values is added to rows of its own; whoever reads the sums adds up the stretches.
AnyTensor sum_directly(const AnyTensor& terms, const AnyTensor& row_of, std::int64_t rows,
                       std::int64_t stretches, const Location& where) {
  const Operand operands[] = {terms, row_of};
  const AnyTensor sums = apply_library(library::indexed_sum(), operands, {{rows, stretches}}, where);
  return (stretches > 1 ? sums.sum(0, where).cast(terms.dtype(), where) : sums).squeeze(0, where);
}

AnyTensor sum_sorted(const AnyTensor& terms, const AnyTensor& row_of, std::int64_t rows,
                     const Location& where) {
  const bool dense = terms.shape()[0] >= rows;
  const Operand indices[] = {row_of};
  const AnyTensor sorted = apply_library(library::sort_indices(), indices, {{rows}}, where);
  const Operand operands[] = {terms, sorted};
  const AnyTensor sums = apply_library(library::segment_sum(), operands, {{rows, dense ? 1 : 0, 0}}, where);
  // Few indices, many rows: only what was added is there, and whoever reads the sums picks it. So they are
  // written once, by the kernel that uses them, if at all.
  return dense ? sums : sums.index_select(0, sorted.narrow(0, 0, rows, where), where);
}

}  // namespace

bool joins_in_place(const AnyTensor& values, std::int64_t rows, SegmentReduction reduction) {
  if (!may_join(values, rows, reduction)) return false;
  const Shape& shape = values.shape();
  if (shape.rank() == 3 || shape[0] >= rows) return true;
  // Few indices into many long rows: what is there is kept apart, and whoever reads it picks it (sum_sorted).
  // A GPU sorts in several launches, which take longer than to write a result of some size once more, or one
  // that has less than some thousand elements for each index.
  constexpr std::int64_t kNarrow = 8, kMostWritten = 1 << 24, kManyOfIndex = 1024;
  const std::int64_t columns = std::max<std::int64_t>(shape[1], 1);
  if (joins_of(values) == Joins::InOrder) return columns <= kNarrow;
  return rows <= kMostWritten / columns || rows / kManyOfIndex <= shape[0] / columns;
}

AnyTensor join_in_place(const AnyTensor& values, const AnyTensor& row_of, std::int64_t rows,
                        SegmentReduction reduction, const Location& where) {
  const Operand operands[] = {values, row_of};
  const bool any_order = reduction == SegmentReduction::Sum && is_float(values.dtype()) &&
                         sum_order() == SumOrder::Any && joins_of(values) != Joins::InOrder;
  return apply_library(library::indexed_join(), operands,
                       {{rows, static_cast<std::int64_t>(reduction), any_order ? 1 : 0}}, where);
}

AnyTensor sum_rows(const AnyTensor& values, const AnyTensor& row_of, std::int64_t rows,
                   const Location& where) {
  const DType dtype = values.dtype();
  const AnyTensor terms = is_stored_float(dtype) ? values.detach().cast(DType::f32, where) : values.detach();
  // Atomic operations on one place come one after the other, some 5 ns each: of so many values for each row
  // they would take longer.
  constexpr std::int64_t kMostOfRow = 4096;
  const std::int64_t stretches = stretches_of(terms, rows);
  const bool waits = stretches > 0 && terms.shape()[0] / kMostOfRow > rows;
  AnyTensor sums;
  if (!waits && joins_in_place(terms, rows, SegmentReduction::Sum))
    sums = join_in_place(terms, row_of, rows, SegmentReduction::Sum, where);
  else if (stretches > 0)
    sums = sum_directly(terms, row_of, rows, stretches, where);
  else
    sums = sum_sorted(terms, row_of, rows, where);
  if (is_stored_float(dtype)) sums = sums.cast(dtype, where);
  AnyTensor::NodeRef node;
  if (values.requires_grad()) {
    const Operand history[] = {values, row_of};
    node = autodiff::track(Op::SegmentSum, history, {{rows}}, sums.value(), where);
  }
  return AnyTensor(sums.value(), std::move(node), values.on_autodiff());
}

Rows Rows::of_slices(std::string_view op, const AnyTensor& index, const Shape& shape, std::size_t axis,
                     const Location& where) {
  check_limits(op, index.numel(), shape[axis], where);
  Rows rows;
  rows.shape_ = shape;
  rows.axis_ = axis;
  rows.size_ = shape[axis];
  rows.slices_ = true;
  rows.row_of_ = rows_in_range(op, index, shape[axis], where);
  return rows;
}

Rows Rows::of_elements(std::string_view op, const AnyTensor& index, const Shape& shape, std::size_t axis,
                       const Location& where) {
  const base::SizeArithmetic sizes(op, where);
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
  for (std::size_t d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  const std::int64_t count = index.numel(), size = shape[axis], length = index.shape()[axis];
  Rows rows;
  rows.shape_ = shape;
  rows.axis_ = axis;
  rows.size_ = sizes.product(sizes.product(outer, size), inner);
  check_limits(op, count, rows.size_, where);
  AnyTensor place = rows_in_range(op, index.reshape({count}, where), size, where);
  if (outer > 1 || inner > 1) {
    const auto along = [&](std::size_t d, std::int64_t n) {
      return iota_along(d, 3, n, index.device(), where).cast(DType::i32, where);
    };
    place = AnyTensor::mul(place.reshape({outer, length, inner}, where), inner, where);
    place = AnyTensor::add(place, along(2, inner), where);
    place = AnyTensor::add(place, AnyTensor::mul(along(0, outer), size * inner, where), where);
    place = place.reshape({count}, where);
  }
  rows.row_of_ = std::move(place);
  return rows;
}

AnyTensor Rows::as_rows(const AnyTensor& x, const Location& where) const {
  if (!slices_) return x.reshape({x.numel(), 1}, where);
  const std::int64_t length = x.shape()[axis_];
  return x.movedim(static_cast<std::int64_t>(axis_), 0, where)
      .reshape({length, x.numel() / std::max<std::int64_t>(length, 1)}, where);
}

AnyTensor Rows::from_rows(const AnyTensor& rows, const Location& where) const {
  if (!slices_) return rows.reshape(shape_, where);
  Shape moved(shape_);
  moved.erase(axis_);
  moved.insert(0, shape_[axis_]);
  return rows.reshape(moved, where).movedim(0, static_cast<std::int64_t>(axis_), where);
}

AnyTensor add_slices(std::string_view op, const AnyTensor& index, const AnyTensor& source, std::size_t axis,
                     std::int64_t size, const Location& where) {
  Shape shape(source.shape());
  shape[axis] = size;
  const Rows rows = Rows::of_slices(op, index, shape, axis, where);
  std::int64_t outer = 1;
  for (std::size_t d = 0; d < axis; ++d) outer *= shape[d];
  const std::int64_t count = index.numel(), inner = source.numel() / (outer * count);
  // Nothing has to be transposed. Atomic operations on few places wait for each other.
  constexpr std::int64_t kFewPlaces = 1 << 14;
  const bool many = joins_of(source) == Joins::InOrder || outer * size * inner >= kFewPlaces;
  if (outer > 1 && many) {
    const AnyTensor parts = source.reshape({outer, count, inner}, where);
    if (joins_in_place(parts, size, SegmentReduction::Sum))
      return sum_rows(parts, rows.row_of(), size, where).reshape(shape, where);
  }
  return rows.from_rows(sum_rows(rows.as_rows(source, where), rows.row_of(), size, where), where);
}

AnyTensor add_elements(std::string_view op, const AnyTensor& index, const AnyTensor& source, std::size_t axis,
                       std::int64_t size, const Location& where) {
  Shape shape(source.shape());
  shape[axis] = size;
  const Rows rows = Rows::of_elements(op, index, shape, axis, where);
  return rows.from_rows(sum_rows(rows.as_rows(source, where), rows.row_of(), rows.size(), where), where);
}

AnyTensor count_rows(std::string_view op, const AnyTensor& index, std::int64_t rows, const Location& where) {
  check_limits(op, index.numel(), rows, where);
  const AnyTensor row_of = rows_in_range(op, index.detach(), rows, where);
  const Operand operands[] = {row_of};
  return apply_library(library::counting(library::Counting::Indices), operands, {{rows}}, where);
}

}  // namespace tensor

namespace {

struct Added {
  std::size_t axis;
  std::int64_t size;
};

/// What both have in common: operands that are there, an index of integers, one dtype.
Added check_added(std::string_view op, const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                  const AnyTensor& source, const Location& where) {
  const trace::Value& to = tensor::value_of(op, x, where);
  const trace::Value& at = tensor::value_of(op, index, where);
  const trace::Value& from = tensor::value_of(op, source, where);
  if (at.dtype != DType::i32 && at.dtype != DType::i64)
    throw DTypeError(
        "[" + std::string(op) + "] the index is i32 or i64, not " + std::string(name_of(at.dtype)), where);
  tensor::check_numeric(op, to.dtype, where);
  tensor::check_same_dtype(op, to.dtype, from.dtype, where);
  const std::size_t dim = tensor::axis_of(op, axis, to.shape, where);
  return {dim, to.shape[dim]};
}

[[noreturn]] void throw_shapes(std::string_view op, const AnyTensor& x, const AnyTensor& index,
                               const AnyTensor& source, std::size_t axis, const Location& where) {
  throw ShapeError("[" + std::string(op) + "] a source of shape " + to_string(source.shape()) +
                       " and an index of shape " + to_string(index.shape()) + " do not fit shape " +
                       to_string(x.shape()) + " along axis " + std::to_string(axis),
                   where);
}

void check_not_empty(std::string_view op, std::int64_t indices, const Added& to, const Location& where) {
  if (indices > 0 && to.size == 0)
    throw ShapeError("[" + std::string(op) + "] " + std::to_string(indices) + " indices into axis " +
                         std::to_string(to.axis) + ", which has no elements",
                     where);
}

}  // namespace

AnyTensor AnyTensor::index_add(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                               Location where) const {
  const Added to = check_added("index_add", *this, axis, index, source, where);
  Shape fitting(shape());
  if (index.shape().rank() == 1) fitting[to.axis] = index.shape()[0];
  if (index.shape().rank() != 1 || source.shape() != fitting)
    throw_shapes("index_add", *this, index, source, to.axis, where);
  check_not_empty("index_add", index.shape()[0], to, where);
  if (source.shape().numel() == 0)  // nothing to add, with a history like any other sum's
    return shape().numel() == 0
               ? *this
               : add(*this, source.sum(static_cast<std::int64_t>(to.axis), where).cast(dtype(), where),
                     where);
  return add(*this, tensor::add_slices("index_add", index, source, to.axis, to.size, where), where);
}

AnyTensor AnyTensor::scatter_add(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                                 Location where) const {
  const Added to = check_added("scatter_add", *this, axis, index, source, where);
  const Shape& taken = index.shape();
  bool fits = taken.rank() == shape().rank() && source.shape().rank() == taken.rank();
  for (std::size_t d = 0; fits && d < taken.rank(); ++d)
    fits = taken[d] <= source.shape()[d] && (d == to.axis || taken[d] <= shape()[d]);
  if (!fits) throw_shapes("scatter_add", *this, index, source, to.axis, where);
  check_not_empty("scatter_add", taken.numel(), to, where);
  if (taken.numel() == 0) return *this;
  AnyTensor terms = source;
  for (std::size_t d = 0; d < taken.rank(); ++d)
    if (taken[d] != source.shape()[d]) terms = terms.narrow(static_cast<std::int64_t>(d), 0, taken[d], where);
  AnyTensor sums = tensor::add_elements("scatter_add", index, terms, to.axis, to.size, where);
  if (sums.shape() != shape())
    sums = sums.place(shape(), Dims::filled(taken.rank(), 0), Dims::filled(taken.rank(), 1), 0, where);
  return add(*this, sums, where);
}

}  // namespace sinter
