// Sorts, searches, and order statistics, which read sorted positions.
#include "src/tensor/indices/sort.h"

#include <cmath>
#include <limits>
#include <string>

#include <sinter/autodiff.h>
#include <sinter/functions/sort.h>

#include "jit/library/sort.h"
#include "src/autodiff/node.h"
#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"
#include "src/tensor/indices/scan.h"

namespace sinter {

namespace tensor {

AnyTensor comparable(const AnyTensor& x, const Location& where) {
  if (x.dtype() == DType::boolean) return x.detach().cast(DType::i32, where);
  if (x.dtype() != DType::u64) return x.detach();
  constexpr std::int64_t kSignBit = std::numeric_limits<std::int64_t>::min();
  return AnyTensor::logical_xor(x.detach().cast(DType::i64, where), kSignBit, where);
}

namespace {

/// The axis of a tensor that is not of rank 0: such a tensor counts as one element along axis 0.
std::size_t sorted_axis(std::string_view op, const AnyTensor& x, std::int64_t axis, const Location& where) {
  return axis_of(op, axis, value_of(op, x, where).shape, where);
}

void check_not_empty(std::string_view op, const AnyTensor& x, std::size_t axis, const Location& where) {
  if (x.shape()[axis] == 0)
    throw ShapeError("[" + std::string(op) + "] axis " + std::to_string(axis) + " of shape " +
                         to_string(x.shape()) + " has no element",
                     where);
}

AnyIndexed with_values(const AnyTensor& x, std::size_t axis, const AnyTensor& index, const Location& where) {
  return {picked(x, axis, index, where), index.cast(DType::i64, where)};
}

AnyIndexed none_of(const AnyTensor& x, std::size_t axis, std::int64_t size, const Location& where) {
  // A view of x, so that it has x's history.
  const AnyTensor values = x.narrow(static_cast<std::int64_t>(axis), 0, size, where);
  return {values, AnyTensor::full(values.shape(), 0, DType::i64, x.device(), where)};
}

/// Calls f for x, or for [x] where x has rank 0.
template <class F>
AnyIndexed along_some_axis(const AnyTensor& x, const Location& where, F f) {
  if (x.rank() > 0) return f(x);
  const AnyIndexed one = f(x.reshape({1}, where));
  return {one.values.reshape({}, where), one.indices.reshape({}, where)};
}

/// The number of NaN along an axis, i32, where there may be any.
AnyTensor nans_along(const AnyTensor& x, std::size_t axis, const Location& where) {
  return x.detach().is_nan(where).cast(DType::i32, where).sum(static_cast<std::int64_t>(axis), where);
}

}  // namespace

namespace {

/// Records a sort of x along `axis` by either kind. Results have x's rank.
void record_sort(const library::Kind& kind, const AnyTensor& x, std::size_t axis, std::int64_t keep,
                 bool descending, std::span<AnyTensor> results, const Location& where) {
  const AnyTensor compared = comparable(x, where);
  const Operand operands[] = {compared};
  const std::int64_t ints[] = {static_cast<std::int64_t>(axis), keep == x.shape()[axis] ? 0 : keep,
                               descending, static_cast<std::int64_t>(x.dtype())};
  apply_library(kind, operands, ints, results, where);
  Shape sizes(x.shape());
  sizes.erase(axis);
  sizes.push_back(keep);
  for (AnyTensor& result : results)
    result = result.reshape(sizes, where).movedim(-1, static_cast<std::int64_t>(axis), where);
}

/// The first `keep` elements in order.
AnyIndexed first_in_order(const AnyTensor& x, std::size_t axis, std::int64_t keep, bool descending,
                          const Location& where) {
  if (keep == 0 || x.numel() == 0) return none_of(x, axis, keep, where);
  // What is sorted as other numbers than it has is picked.
  if (x.dtype() == DType::boolean || x.dtype() == DType::u64)
    return with_values(x, axis, order_along(x, axis, keep, descending, where), where);
  AnyTensor results[2];
  record_sort(library::sort_with_values(), x, axis, keep, descending, results, where);
  const auto& [order, sorted] = results;
  AnyTensor values = sorted;
  if (x.requires_grad()) {  // the history is that of a gather
    const Operand operands[] = {x, order};
    const std::int64_t ints[] = {static_cast<std::int64_t>(axis)};
    values = AnyTensor(sorted.value(), autodiff::track(Op::Gather, operands, ints, sorted.value(), where),
                       x.on_autodiff());
  }
  return {values, order.cast(DType::i64, where)};
}

}  // namespace

AnyTensor order_along(const AnyTensor& x, std::size_t axis, std::int64_t keep, bool descending,
                      const Location& where) {
  AnyTensor order;
  record_sort(library::sort(), x, axis, keep, descending, std::span(&order, 1), where);
  return order;
}

AnyTensor places_in(const AnyTensor& sorted, const AnyTensor& values, bool right, const Location& where) {
  const AnyTensor in = comparable(sorted, where), of = comparable(values, where);
  const Operand operands[] = {in, of};
  const std::int64_t ints[] = {right};
  return apply_library(library::search_sorted(), operands, ints, where);
}

}  // namespace tensor

AnyIndexed sort(const AnyTensor& x, std::int64_t axis, bool descending, Location where) {
  tensor::value_of("sort", x, where);
  return tensor::along_some_axis(x, where, [&](const AnyTensor& t) {
    const std::size_t dim = tensor::sorted_axis("sort", t, axis, where);
    return tensor::first_in_order(t, dim, t.shape()[dim], descending, where);
  });
}

AnyTensor argsort(const AnyTensor& x, std::int64_t axis, bool descending, Location where) {
  tensor::value_of("argsort", x, where);
  return sort(x.detach(), axis, descending, where).indices;
}

AnyIndexed topk(const AnyTensor& x, std::int64_t k, std::int64_t axis, bool largest, Location where) {
  tensor::value_of("topk", x, where);
  return tensor::along_some_axis(x, where, [&](const AnyTensor& t) {
    const std::size_t dim = tensor::sorted_axis("topk", t, axis, where);
    if (k < 0 || k > t.shape()[dim])
      throw ShapeError("[topk] there are no " + std::to_string(k) + " elements along axis " +
                           std::to_string(dim) + " of shape " + to_string(t.shape()),
                       where);
    return tensor::first_in_order(t, dim, k, largest, where);
  });
}

AnyIndexed kthvalue(const AnyTensor& x, std::int64_t k, std::int64_t axis, Location where) {
  tensor::value_of("kthvalue", x, where);
  return tensor::along_some_axis(x, where, [&](const AnyTensor& t) {
    const std::size_t dim = tensor::sorted_axis("kthvalue", t, axis, where);
    if (k < 1 || k > t.shape()[dim])
      throw ShapeError("[kthvalue] there is no element " + std::to_string(k) +
                           ", counted from 1, along axis " + std::to_string(dim) + " of shape " +
                           to_string(t.shape()),
                       where);
    if (t.numel() == 0) return tensor::none_of(t, dim, 1, where);
    const AnyTensor order = tensor::order_along(t, dim, k, false, where);
    return tensor::with_values(t, dim, order.narrow(static_cast<std::int64_t>(dim), k - 1, 1, where), where);
  });
}

AnyIndexed median(const AnyTensor& x, std::int64_t axis, Location where) {
  tensor::value_of("median", x, where);
  return tensor::along_some_axis(x, where, [&](const AnyTensor& t) {
    const std::size_t dim = tensor::sorted_axis("median", t, axis, where);
    tensor::check_not_empty("median", t, dim, where);
    if (t.numel() == 0) return tensor::none_of(t, dim, 1, where);
    const std::int64_t length = t.shape()[dim], middle = (length - 1) / 2;
    const auto along = static_cast<std::int64_t>(dim);
    if (!is_float(t.dtype()))
      return tensor::with_values(
          t, dim, tensor::order_along(t, dim, middle + 1, false, where).narrow(along, middle, 1, where),
          where);
    // NaN stand last, the first of them at the length without them.
    const AnyTensor order = tensor::order_along(t, dim, length, false, where);
    const AnyTensor nans = tensor::nans_along(t, dim, where);
    const AnyTensor place =
        AnyTensor::where(AnyTensor::equal(nans, 0, where), middle,
                         AnyTensor::sub(static_cast<std::int32_t>(length), nans, where), where);
    return tensor::with_values(t, dim, order.gather(along, place, where), where);
  });
}

AnyTensor median(const AnyTensor& x, Location where) {
  tensor::value_of("median", x, where);
  const auto value = [&] {
    return median(x.reshape({x.numel()}, where), 0, where).values.reshape({}, where);
  };
  if (!x.requires_grad()) return value();
  // Elements that equal it share the gradient, as those of the largest do.
  detail::FunctionParts parts{"median", where, {}, {}};
  parts.forward = [&](Saved& saved) {
    const AnyTensor middle = value();
    const AnyTensor nan = AnyTensor::logical_and(x.is_nan(where), middle.is_nan(where), where);
    const AnyTensor equal = AnyTensor::logical_or(AnyTensor::equal(x, middle, where), nan, where);
    saved.keep(equal.cast(x.dtype(), where));
    return detail::Tensors{middle};
  };
  parts.backward = [where](const Saved& saved, const detail::Tensors& gradients) {
    const AnyTensor& equal = saved[0];
    const AnyTensor each =
        AnyTensor::div(tensor::widened(gradients[0], where), tensor::widened(equal, where).sum(where), where);
    return detail::Tensors{AnyTensor::mul(equal, each.cast(equal.dtype(), where), where)};
  };
  return detail::call(std::move(parts), {x})[0];
}

AnyTensor quantile(const AnyTensor& x, double q, std::int64_t axis, Location where) {
  tensor::check_float("quantile", tensor::value_of("quantile", x, where).dtype, where);
  if (!(q >= 0 && q <= 1)) throw Error("[quantile] q is in [0, 1], not " + std::to_string(q), where);
  if (x.rank() == 0) return x;
  const std::size_t dim = tensor::sorted_axis("quantile", x, axis, where);
  tensor::check_not_empty("quantile", x, dim, where);
  if (x.numel() == 0) return tensor::none_of(x, dim, 1, where).values;
  const auto along = static_cast<std::int64_t>(dim);
  const double rank = q * static_cast<double>(x.shape()[dim] - 1);
  const auto below = static_cast<std::int64_t>(std::floor(rank)),
             above = static_cast<std::int64_t>(std::ceil(rank));
  const AnyTensor order = tensor::order_along(x, dim, above + 1, false, where);
  const auto at = [&](std::int64_t place) {
    return tensor::picked(x, dim, order.narrow(along, place, 1, where), where);
  };
  AnyTensor value = at(below);
  if (above > below) {
    const double weight = rank - static_cast<double>(below);
    const AnyTensor next = at(above), apart = AnyTensor::sub(next, value, where);
    // What stands twice is itself, by the difference; infinities have none. Both forms share the gradient.
    const AnyTensor between = AnyTensor::add(value, AnyTensor::mul(apart, weight, where), where);
    const AnyTensor parts =
        AnyTensor::add(AnyTensor::mul(value, 1 - weight, where), AnyTensor::mul(next, weight, where), where);
    value = AnyTensor::where(apart.is_finite(where), between, parts, where);
  }
  return AnyTensor::where(AnyTensor::equal(tensor::nans_along(x, dim, where), 0, where), value, std::nan(""),
                          where);
}

AnyIndexed max_with_indices(const AnyTensor& x, std::int64_t axis, Location where) {
  const AnyTensor index = x.argmax(axis, where);
  return {x.gather(axis, index, where), index};
}
AnyIndexed min_with_indices(const AnyTensor& x, std::int64_t axis, Location where) {
  const AnyTensor index = x.argmin(axis, where);
  return {x.gather(axis, index, where), index};
}

AnyTensor searchsorted(const AnyTensor& sorted, const AnyTensor& values, bool right, Location where) {
  const Shape& rows = tensor::value_of("searchsorted", sorted, where).shape;
  const Shape& shape = tensor::value_of("searchsorted", values, where).shape;
  tensor::check_same_dtype("searchsorted", sorted.dtype(), values.dtype(), where);
  const bool shared = rows.rank() == 1;
  bool fits = rows.rank() >= 1 && (shared || rows.rank() == shape.rank());
  for (std::size_t d = 0; fits && !shared && d + 1 < rows.rank(); ++d) fits = rows[d] == shape[d];
  if (!fits)
    throw ShapeError("[searchsorted] values of shape " + to_string(shape) +
                         " do not fit sorted rows of shape " + to_string(rows),
                     where);
  const std::int64_t count = shape.numel();
  if (count == 0 || rows.numel() == 0) return AnyTensor::full(shape, 0, DType::i64, values.device(), where);
  const std::int64_t number = shared ? 1 : rows.numel() / rows.back();
  const AnyTensor places = tensor::places_in(shared ? sorted : sorted.reshape({number, rows.back()}, where),
                                             values.reshape({number, count / number}, where), right, where);
  return places.reshape(shape, where).cast(DType::i64, where);
}

AnyTensor bucketize(const AnyTensor& x, const AnyTensor& boundaries, bool right, Location where) {
  if (tensor::value_of("bucketize", boundaries, where).shape.rank() != 1)
    throw ShapeError("[bucketize] boundaries have one axis, not shape " + to_string(boundaries.shape()),
                     where);
  return searchsorted(boundaries, x, right, where);
}

}  // namespace sinter
