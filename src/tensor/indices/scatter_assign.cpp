// Indexed writes: the last value that goes to a place is found by its position; values that are joined are
// joined where they go, or brought together by sorting the indices, as for indexed sums.
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <sinter/autodiff.h>
#include <sinter/functions/scatter.h>

#include "jit/library/counting.h"
#include "jit/library/segments.h"
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/rows.h"

namespace sinter {

namespace {

using library::SegmentReduction;
using tensor::Rows;

/// The values of each row, and which rows have any (bool [rows, 1]).
class Joins {
 public:
  Joins(const AnyTensor& values, const Rows& rows, SegmentReduction reduction, const Location& where)
      : rows_(rows),
        where_(where),
        reduction_(reduction),
        in_place_(tensor::joins_in_place(values, rows.size(), reduction)) {
    const std::int64_t count = rows.count();
    const AnyTensor::Operand operands[] = {rows.row_of()};
    if (in_place_) {
      const AnyTensor counts = tensor::apply_library(library::counting(library::Counting::Indices), operands,
                                                     {{rows.size()}}, where);
      has = AnyTensor::less(0, counts, where).unsqueeze(1, where);
    } else {
      sorted_ = tensor::apply_library(library::sort_indices(), operands, {{rows.size()}}, where);
      first_ = sorted_.narrow(0, 0, rows.size(), where);  // `count` for rows without any
      has = AnyTensor::less(first_, count, where).unsqueeze(1, where);
    }
  }

  /// True iff `join` gives numbers of `dtype` that change none for rows without any.
  bool leave_others(DType dtype) const { return in_place_ && arithmetic_of(dtype) == dtype; }

  /// [rows, columns]; of rows without any what leave_others says, or any number.
  AnyTensor join(const AnyTensor& values) const {
    if (in_place_) return tensor::join_in_place(values, rows_.row_of(), rows_.size(), reduction_, where_);
    const AnyTensor::Operand operands[] = {values, sorted_};
    const std::int64_t ints[] = {rows_.size(), 0, static_cast<std::int64_t>(reduction_)};
    return tensor::apply_library(library::segment_sum(), operands, ints, where_)
        .index_select(0, first_, where_);
  }

  AnyTensor has;

 private:
  const Rows& rows_;
  const Location& where_;
  SegmentReduction reduction_;
  bool in_place_;
  AnyTensor sorted_, first_;
};

/// `value` with the history of `like`, which has the same gradients and is never computed.
AnyTensor with_history_of(const AnyTensor& value, const AnyTensor& like) {
  return AnyTensor(value.value(), like.node(), like.on_autodiff());
}

/// x's rows where the last of the values for a row stands instead.
AnyTensor assign_rows(const AnyTensor& x, const AnyTensor& values, const Rows& rows, const Location& where) {
  const AnyTensor::Operand operands[] = {rows.row_of()};
  const AnyTensor last = tensor::apply_library(library::counting(library::Counting::LastPositions), operands,
                                               {{rows.size()}}, where);
  const AnyTensor has = AnyTensor::less(0, last, where).unsqueeze(1, where);
  const AnyTensor winner = AnyTensor::maximum(AnyTensor::sub(last, 1, where), 0, where);
  const AnyTensor result =
      AnyTensor::where(has, values.detach().index_select(0, winner, where), x.detach(), where);
  if (!x.requires_grad() && !values.requires_grad()) return result;
  const AnyTensor own = AnyTensor::arange(0, rows.count(), 1, x.device(), where).cast(DType::i32, where);
  const AnyTensor wins = AnyTensor::equal(winner.index_select(0, rows.row_of(), where), own, where);
  const AnyTensor kept = AnyTensor::where(has, 0, x, where);
  const AnyTensor given = AnyTensor::where(wins.unsqueeze(1, where), values, 0, where);
  return with_history_of(
      result, AnyTensor::add(kept, tensor::sum_rows(given, rows.row_of(), rows.size(), where), where));
}

AnyTensor joined(const AnyTensor& a, const AnyTensor& b, ScatterReduction reduction, const Location& where) {
  switch (reduction) {
    case ScatterReduction::Sum: return AnyTensor::add(a, b, where);
    case ScatterReduction::Prod: return AnyTensor::mul(a, b, where);
    case ScatterReduction::Max: return AnyTensor::maximum(a, b, where);
    case ScatterReduction::Min: break;
  }
  return AnyTensor::minimum(a, b, where);
}

/// The product of all other factors, of which `zeros` are 0 and the rest come to `rest`.
AnyTensor product_of_others(const AnyTensor& factor, const AnyTensor& zeros, const AnyTensor& rest,
                            const Location& where) {
  const AnyTensor zero = AnyTensor::equal(factor, 0, where);
  const AnyTensor others = AnyTensor::div(rest, AnyTensor::where(zero, 1, factor, where), where);
  const AnyTensor none =
      AnyTensor::equal(AnyTensor::sub(zeros, zero.cast(zeros.dtype(), where), where), 0, where);
  return AnyTensor::where(none, others, 0, where);
}

AnyTensor reduce_rows(const AnyTensor& given, const AnyTensor& terms, const Rows& rows,
                      ScatterReduction reduction, bool include_self, const Location& where);

/// The products of x's rows with all values for them, `product`, with their history. Gradients of gradients
/// count factors that are 0 as constants.
AnyTensor with_history_of_products(const AnyTensor& product, const AnyTensor& x, const AnyTensor& values,
                                   const Rows& rows, const AnyTensor& has, bool include_self,
                                   const Location& where) {
  sinter::detail::FunctionParts parts{"scatter_reduce", where, {}, {}};
  parts.forward = [&](Saved& saved) {
    saved.keep(x);
    saved.keep(values);
    return sinter::detail::Tensors{product};
  };
  parts.backward = [=](const Saved& saved, const sinter::detail::Tensors& g) {
    const AnyTensor &own = saved[0], &factors = saved[1];
    const auto is_zero = [&](const AnyTensor& t) { return AnyTensor::equal(t, 0, where); };
    const auto without_zeros = [&](const AnyTensor& t) { return AnyTensor::where(is_zero(t), 1, t, where); };
    const auto count = [&](const AnyTensor& t) { return is_zero(t).cast(DType::i32, where); };
    const auto at_values = [&](const AnyTensor& t) { return t.index_select(0, rows.row_of(), where); };
    // The products of what is not 0, whose own gradients come the same way.
    AnyTensor rest = reduce_rows(without_zeros(own), without_zeros(factors), rows, ScatterReduction::Prod,
                                 include_self, where);
    AnyTensor zeros = tensor::sum_rows(count(factors), rows.row_of(), rows.size(), where), of_own;
    if (include_self) {
      zeros = AnyTensor::add(zeros, count(own), where);
      of_own = product_of_others(own, zeros, rest, where);
    } else {
      of_own = AnyTensor::where(has, 0, own.detach().ones_like(where), where);
    }
    const AnyTensor of_factors = product_of_others(factors, at_values(zeros), at_values(rest), where);
    return sinter::detail::Tensors{AnyTensor::mul(g[0], of_own, where),
                                   AnyTensor::mul(at_values(g[0]), of_factors, where)};
  };
  return sinter::detail::call(std::move(parts), {x, values})[0];
}

/// x's rows joined with all values for them; without x's own where values come and `include_self` is not set.
AnyTensor reduce_rows(const AnyTensor& given, const AnyTensor& terms, const Rows& rows,
                      ScatterReduction reduction, bool include_self, const Location& where) {
  if (given.dtype() == DType::u64 &&
      (reduction == ScatterReduction::Max || reduction == ScatterReduction::Min)) {
    // What is joined is i64, which has other largest and least numbers: with the highest bit turned, the
    // same.
    const auto turned = [&](const AnyTensor& t) {
      return AnyTensor::add(t.cast(DType::i64, where), std::numeric_limits<std::int64_t>::min(), where);
    };
    return turned(reduce_rows(turned(given), turned(terms), rows, reduction, include_self, where))
        .cast(DType::u64, where);
  }
  const bool half = is_stored_float(given.dtype());
  const AnyTensor x = half ? given.cast(DType::f32, where) : given;
  const AnyTensor values = half ? terms.cast(DType::f32, where) : terms;
  const auto back = [&](const AnyTensor& result) {
    return half ? result.cast(given.dtype(), where) : result;
  };
  const auto sum = [&](const AnyTensor& t) { return tensor::sum_rows(t, rows.row_of(), rows.size(), where); };
  const Joins joins(values, rows, static_cast<SegmentReduction>(reduction), where);
  if (reduction == ScatterReduction::Sum)
    return back(
        AnyTensor::add(include_self ? x : AnyTensor::where(joins.has, 0, x, where), sum(values), where));
  const AnyTensor plain = x.detach(), plain_values = values.detach();
  const AnyTensor all = joins.join(plain_values);
  const AnyTensor with_own = include_self ? joined(plain, all, reduction, where) : all;
  const AnyTensor result = include_self && joins.leave_others(x.dtype())
                               ? with_own
                               : AnyTensor::where(joins.has, with_own, plain, where);
  if (!x.requires_grad() && !values.requires_grad()) return back(result);

  if (reduction == ScatterReduction::Prod)
    return back(with_history_of_products(result, x, values, rows, joins.has, include_self, where));

  // The result is linear in each element next to where it is: with these factors, which are its derivatives.
  const auto at_values = [&](const AnyTensor& t) { return t.index_select(0, rows.row_of(), where); };
  const AnyTensor wins = AnyTensor::equal(plain_values, at_values(result), where).cast(x.dtype(), where);
  AnyTensor own = AnyTensor::equal(plain, result, where);
  if (!include_self) own = AnyTensor::logical_and(own, joins.has.logical_not(where), where);
  const AnyTensor own_wins = own.cast(x.dtype(), where);
  const AnyTensor winners = AnyTensor::add(sum(wins), own_wins, where);
  const AnyTensor of_x = AnyTensor::div(own_wins, AnyTensor::maximum(winners, 1, where), where);
  const AnyTensor of_values = AnyTensor::div(wins, at_values(AnyTensor::maximum(winners, 1, where)), where);
  return back(with_history_of(result, AnyTensor::add(AnyTensor::mul(x, of_x, where),
                                                     sum(AnyTensor::mul(values, of_values, where)), where)));
}

/// What all indexed writes ask of their arguments; gives the axis.
std::size_t check_write(std::string_view op, const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                        const AnyTensor& source, const Location& where) {
  const trace::Value& to = tensor::value_of(op, x, where);
  const trace::Value& at = tensor::value_of(op, index, where);
  const trace::Value& from = tensor::value_of(op, source, where);
  if (at.dtype != DType::i32 && at.dtype != DType::i64)
    throw DTypeError(
        "[" + std::string(op) + "] the index is i32 or i64, not " + std::string(name_of(at.dtype)), where);
  tensor::check_same_dtype(op, to.dtype, from.dtype, where);
  const std::size_t dim = tensor::axis_of(op, axis, to.shape, where);
  if (at.shape.numel() > 0 && to.shape[dim] == 0)
    throw ShapeError("[" + std::string(op) + "] " + std::to_string(at.shape.numel()) + " indices into axis " +
                         std::to_string(dim) + ", which has no elements",
                     where);
  return dim;
}

[[noreturn]] void throw_shapes(std::string_view op, const AnyTensor& x, const AnyTensor& index,
                               const AnyTensor& source, std::size_t axis, const Location& where) {
  throw ShapeError("[" + std::string(op) + "] a source of shape " + to_string(source.shape()) +
                       " and an index of shape " + to_string(index.shape()) + " do not fit shape " +
                       to_string(x.shape()) + " along axis " + std::to_string(axis),
                   where);
}

/// Whole slices: write(x's rows, the source's rows, rows).
template <class Write>
AnyTensor write_slices(std::string_view op, const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                       const AnyTensor& source, const Location& where, Write write) {
  const std::size_t dim = check_write(op, x, axis, index, source, where);
  Shape fitting(x.shape());
  if (index.rank() == 1) fitting[dim] = index.shape()[0];
  if (index.rank() != 1 || source.shape() != fitting) throw_shapes(op, x, index, source, dim, where);
  if (source.numel() == 0 || x.numel() == 0) return x;
  const Rows rows = Rows::of_slices(op, index, x.shape(), dim, where);
  return rows.from_rows(write(rows.as_rows(x, where), rows.as_rows(source, where), rows), where);
}

/// Single elements: the same.
template <class Write>
AnyTensor write_elements(std::string_view op, const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                         const AnyTensor& source, const Location& where, Write write) {
  const std::size_t dim = check_write(op, x, axis, index, source, where);
  const Shape& taken = index.shape();
  bool fits = taken.rank() == x.rank() && source.rank() == taken.rank();
  for (std::size_t d = 0; fits && d < taken.rank(); ++d)
    fits = taken[d] <= source.shape()[d] && (d == dim || taken[d] <= x.shape()[d]);
  if (!fits) throw_shapes(op, x, index, source, dim, where);
  if (taken.numel() == 0) return x;
  AnyTensor terms = source, part = x;
  std::vector<Range> ranges;
  for (std::size_t d = 0; d < taken.rank(); ++d) {
    const auto along = static_cast<std::int64_t>(d);
    if (taken[d] != source.shape()[d]) terms = terms.narrow(along, 0, taken[d], where);
    if (d != dim && taken[d] != x.shape()[d]) part = part.narrow(along, 0, taken[d], where);
    ranges.push_back(d == dim ? Range{} : Range{0, taken[d]});
  }
  const Rows rows = Rows::of_elements(op, index, part.shape(), dim, where);
  const AnyTensor written =
      rows.from_rows(write(rows.as_rows(part, where), rows.as_rows(terms, where), rows), where);
  return written.shape() == x.shape() ? written : x.slice_assign(ranges, written, where);
}

auto assigning(const Location& where) {
  return [&](const AnyTensor& x, const AnyTensor& values, const Rows& rows) {
    return assign_rows(x, values, rows, where);
  };
}
auto reducing(ScatterReduction reduction, bool include_self, const Location& where) {
  return [reduction, include_self, &where](const AnyTensor& x, const AnyTensor& values, const Rows& rows) {
    return reduce_rows(x, values, rows, reduction, include_self, where);
  };
}

/// x seen as rows that the last axis of `index` [.., k] chooses by their coordinates; -1 for coordinates that
/// are not there.
struct Coordinates {
  AnyTensor x, row;  // [rows, columns], i64 [count]
  Shape result;      // index [.., k] -> [.., x's other axes]
};
Coordinates coordinates_of(std::string_view op, const AnyTensor& x, const AnyTensor& index,
                           const Location& where) {
  const Shape& shape = tensor::value_of(op, x, where).shape;
  const trace::Value& at = tensor::value_of(op, index, where);
  if (at.dtype != DType::i32 && at.dtype != DType::i64)
    throw DTypeError(
        "[" + std::string(op) + "] the index is i32 or i64, not " + std::string(name_of(at.dtype)), where);
  const std::int64_t k = at.shape.rank() > 0 ? at.shape.back() : 0;
  if (at.shape.rank() == 0 || k < 1 || k > static_cast<std::int64_t>(shape.rank()))
    throw ShapeError("[" + std::string(op) + "] an index of shape " + to_string(at.shape) +
                         " has no coordinates in shape " + to_string(shape),
                     where);
  Coordinates found;
  std::int64_t rows = 1, columns = 1, count = at.shape.numel() / k;
  AnyTensor inside;
  for (std::int64_t d = 0; d < k; ++d) {
    const std::int64_t size = shape[static_cast<std::size_t>(d)];
    const AnyTensor own = index.narrow(-1, d, 1, where).reshape({count}, where).cast(DType::i64, where);
    const AnyTensor fits = AnyTensor::logical_and(AnyTensor::less_equal(0, own, where),
                                                  AnyTensor::less(own, size, where), where);
    inside = d == 0 ? fits : AnyTensor::logical_and(inside, fits, where);
    found.row = d == 0 ? own : AnyTensor::add(AnyTensor::mul(found.row, size, where), own, where);
    rows *= size;
  }
  for (std::size_t d = 0; d + 1 < at.shape.rank(); ++d) found.result.push_back(at.shape[d]);
  for (std::size_t d = static_cast<std::size_t>(k); d < shape.rank(); ++d) {
    columns *= shape[d];
    found.result.push_back(shape[d]);
  }
  found.row = AnyTensor::where(inside, found.row, -1, where);
  found.x = x.reshape({rows, columns}, where);
  return found;
}

template <class Write>
AnyTensor write_coordinates(std::string_view op, const AnyTensor& x, const AnyTensor& index,
                            const AnyTensor& source, const Location& where, Write write) {
  const Coordinates at = coordinates_of(op, x, index, where);
  if (tensor::value_of(op, source, where).shape != at.result)
    throw ShapeError("[" + std::string(op) + "] a source of shape " + to_string(source.shape()) +
                         " does not fit, which takes " + to_string(at.result),
                     where);
  const AnyTensor rows = source.reshape({at.row.numel(), at.x.shape()[1]}, where);
  return write_slices(op, at.x, 0, at.row, rows, where, write).reshape(x.shape(), where);
}

}  // namespace

AnyTensor scatter(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                  Location where) {
  return write_elements("scatter", x, axis, index, source, where, assigning(where));
}

AnyTensor scatter_fill(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, Scalar number,
                       Location where) {
  const DType dtype = tensor::value_of("scatter_fill", x, where).dtype;
  const Shape& shape = tensor::value_of("scatter_fill", index, where).shape;
  return write_elements("scatter_fill", x, axis, index,
                        AnyTensor::full(shape, number, dtype, x.device(), where), where, assigning(where));
}

AnyTensor scatter_reduce(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                         const AnyTensor& source, ScatterReduction reduction, bool include_self,
                         Location where) {
  tensor::check_numeric("scatter_reduce", tensor::value_of("scatter_reduce", x, where).dtype, where);
  return write_elements("scatter_reduce", x, axis, index, source, where,
                        reducing(reduction, include_self, where));
}

AnyTensor index_copy(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                     Location where) {
  return write_slices("index_copy", x, axis, index, source, where, assigning(where));
}

AnyTensor index_fill(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, Scalar number,
                     Location where) {
  const DType dtype = tensor::value_of("index_fill", x, where).dtype;
  Shape shape(x.shape());
  const std::size_t dim = tensor::axis_of("index_fill", axis, shape, where);
  if (tensor::value_of("index_fill", index, where).shape.rank() == 1) shape[dim] = index.shape()[0];
  return write_slices("index_fill", x, axis, index, AnyTensor::full(shape, number, dtype, x.device(), where),
                      where, assigning(where));
}

AnyTensor index_reduce(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                       ScatterReduction reduction, bool include_self, Location where) {
  tensor::check_numeric("index_reduce", tensor::value_of("index_reduce", x, where).dtype, where);
  return write_slices("index_reduce", x, axis, index, source, where,
                      reducing(reduction, include_self, where));
}

AnyTensor take(const AnyTensor& x, const AnyTensor& index, Location where) {
  const std::int64_t count = tensor::value_of("take", x, where).shape.numel();
  const Shape shape = tensor::value_of("take", index, where).shape;
  return tensor::select_slices("take", x.reshape({count}, where), 0, index.reshape({shape.numel()}, where),
                               where)
      .reshape(shape, where);
}

AnyTensor take_along_dim(const AnyTensor& x, const AnyTensor& index, std::int64_t axis, Location where) {
  const Shape& shape = tensor::value_of("take_along_dim", x, where).shape;
  const Shape& at = tensor::value_of("take_along_dim", index, where).shape;
  const std::size_t dim = tensor::axis_of("take_along_dim", axis, shape, where);
  if (shape.rank() != at.rank())
    throw ShapeError(
        "[take_along_dim] an index of shape " + to_string(at) + " does not fit shape " + to_string(shape),
        where);
  Shape one(shape), other(at);
  one[dim] = other[dim] = 1;
  Shape both = tensor::broadcast("take_along_dim", one, other, where), wide(both);
  both[dim] = shape[dim];
  wide[dim] = at[dim];
  return tensor::broadcast_to(x, both, where)
      .gather(static_cast<std::int64_t>(dim), tensor::broadcast_to(index, wide, where), where);
}

AnyTensor gather_nd(const AnyTensor& x, const AnyTensor& index, Location where) {
  const Coordinates at = coordinates_of("gather_nd", x, index, where);
  return tensor::select_slices("gather_nd", at.x, 0, at.row, where).reshape(at.result, where);
}

AnyTensor scatter_nd(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source, Location where) {
  return write_coordinates("scatter_nd", x, index, source, where, assigning(where));
}

AnyTensor scatter_nd_add(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source,
                         Location where) {
  tensor::check_numeric("scatter_nd_add", tensor::value_of("scatter_nd_add", x, where).dtype, where);
  return write_coordinates("scatter_nd_add", x, index, source, where,
                           reducing(ScatterReduction::Sum, true, where));
}

AnyTensor scatter_nd_reduce(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source,
                            ScatterReduction reduction, bool include_self, Location where) {
  tensor::check_numeric("scatter_nd_reduce", tensor::value_of("scatter_nd_reduce", x, where).dtype, where);
  return write_coordinates("scatter_nd_reduce", x, index, source, where,
                           reducing(reduction, include_self, where));
}

}  // namespace sinter
