// Sorting, searching, and results whose size only the data decides: on the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <sinter/functions/scan.h>

namespace sinter {

/// Sorts along `axis`; stable. NaN counts as the largest number, so it is last, or first where `descending`;
/// both zeros are equal. `indices` (i64) say where each value was. The gradient of a value goes to the
/// element that it came from. All dtypes.
SINTER_API AnyIndexed sort(const AnyTensor& x, std::int64_t axis = -1, bool descending = false,
                           Location where = Location::current());
SINTER_API AnyTensor argsort(const AnyTensor& x, std::int64_t axis = -1, bool descending = false,
                             Location where = Location::current());
/// The `k` largest (else smallest) elements along `axis` in order, the first of equal ones first.
SINTER_API AnyIndexed topk(const AnyTensor& x, std::int64_t k, std::int64_t axis = -1, bool largest = true,
                           Location where = Location::current());
/// The k-th smallest element along `axis`, counted from 1; the axis stays with size 1.
SINTER_API AnyIndexed kthvalue(const AnyTensor& x, std::int64_t k, std::int64_t axis = -1,
                               Location where = Location::current());
/// The element in the middle along `axis`, the lower one of two; NaN where there is one. The axis stays with
/// size 1. Without an axis: of all elements, rank 0, and all elements that equal it share the gradient.
SINTER_API AnyIndexed median(const AnyTensor& x, std::int64_t axis, Location where = Location::current());
SINTER_API AnyTensor median(const AnyTensor& x, Location where = Location::current());
/// Between the two elements next to q * (n - 1) in order, in proportion; q in [0, 1]. NaN where there is one.
/// The axis stays with size 1. Floats.
SINTER_API AnyTensor quantile(const AnyTensor& x, double q, std::int64_t axis,
                              Location where = Location::current());
/// The largest (smallest) element along `axis` and where it first is; NaN counts as both. The axis stays with
/// size 1.
SINTER_API AnyIndexed max_with_indices(const AnyTensor& x, std::int64_t axis,
                                       Location where = Location::current());
SINTER_API AnyIndexed min_with_indices(const AnyTensor& x, std::int64_t axis,
                                       Location where = Location::current());

/// For each value, how many elements of the sorted row stand before it: less ones, or also equal ones where
/// `right`. sorted [.., n] and values [.., m], or sorted [n] for values of any shape. NaN counts as the
/// largest number. i64.
SINTER_API AnyTensor searchsorted(const AnyTensor& sorted, const AnyTensor& values, bool right = false,
                                  Location where = Location::current());
/// The same the other way round: the bucket of each element between sorted `boundaries` [n].
SINTER_API AnyTensor bucketize(const AnyTensor& x, const AnyTensor& boundaries, bool right = false,
                               Location where = Location::current());

// ---- results of unknown size: these flush, and wait for one number (bincount: two) that says the size

/// The coordinates of all elements that are not 0 (NaN is not), in row-major order: i64 [count, rank].
SINTER_API AnyTensor nonzero(const AnyTensor& x, Location where = Location::current());
SINTER_API AnyTensor argwhere(const AnyTensor& x, Location where = Location::current());
/// The elements where the mask, which broadcasts to x, is true, in row-major order: [count].
SINTER_API AnyTensor mask_select(const AnyTensor& x, const AnyTensor& mask,
                                 Location where = Location::current());

/// All different elements in order, each NaN for itself, as in PyTorch; `inverse` of x's shape says where
/// each element is among them, `counts` how often it was there (i64).
SINTER_API AnyUnique unique(const AnyTensor& x, Location where = Location::current());

/// How often 0, 1, .. occur among integers [n] that are 0 or more: i64 with at least `least` elements. With
/// weights [n]: the sum of the weights of each.
SINTER_API AnyTensor bincount(const AnyTensor& x, std::int64_t least = 0,
                              Location where = Location::current());
SINTER_API AnyTensor bincount(const AnyTensor& x, const AnyTensor& weights, std::int64_t least = 0,
                              Location where = Location::current());

// ---- histograms: of a known size, so they neither flush nor wait

/// How many elements are in each of `bins` equal parts of [low, high], whose end belongs to the last one;
/// what is outside, and NaN, is in none. Counts have x's dtype; floats and integers.
SINTER_API AnyTensor histc(const AnyTensor& x, std::int64_t bins, double low, double high,
                           Location where = Location::current());
/// The same with the bins + 1 edges. Floats.
SINTER_API AnyHistogram histogram(const AnyTensor& x, std::int64_t bins, double low, double high,
                                  Location where = Location::current());

// ---- the same for typed tensors

#define SINTER_INDEXED(name)                                                  \
  template <std::size_t Rank, class Kind>                                     \
  Indexed<Rank, Kind> name(const Tensor<Rank, Kind>& x, std::int64_t axis,    \
                           Location where = Location::current()) {            \
    return detail::typed_indexed<Rank, Kind>(name(x.dynamic(), axis, where)); \
  }
SINTER_INDEXED(median)
SINTER_INDEXED(max_with_indices)
SINTER_INDEXED(min_with_indices)
#undef SINTER_INDEXED

template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> sort(const Tensor<Rank, Kind>& x, std::int64_t axis = -1, bool descending = false,
                         Location where = Location::current()) {
  return detail::typed_indexed<Rank, Kind>(sort(x.dynamic(), axis, descending, where));
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Int> argsort(const Tensor<Rank, Kind>& x, std::int64_t axis = -1, bool descending = false,
                          Location where = Location::current()) {
  return {detail::trusted, argsort(x.dynamic(), axis, descending, where)};
}
template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> topk(const Tensor<Rank, Kind>& x, std::int64_t k, std::int64_t axis = -1,
                         bool largest = true, Location where = Location::current()) {
  return detail::typed_indexed<Rank, Kind>(topk(x.dynamic(), k, axis, largest, where));
}
template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> kthvalue(const Tensor<Rank, Kind>& x, std::int64_t k, std::int64_t axis = -1,
                             Location where = Location::current()) {
  return detail::typed_indexed<Rank, Kind>(kthvalue(x.dynamic(), k, axis, where));
}
template <std::size_t Rank, class Kind>
Tensor<0, Kind> median(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  return {detail::trusted, median(x.dynamic(), where)};
}
template <std::size_t Rank>
Tensor<Rank> quantile(const Tensor<Rank>& x, double q, std::int64_t axis,
                      Location where = Location::current()) {
  return {detail::trusted, quantile(x.dynamic(), q, axis, where)};
}
template <std::size_t Sorted, std::size_t Rank, class Kind>
requires(Sorted == 1 || Sorted == Rank) Tensor<Rank, Int> searchsorted(const Tensor<Sorted, Kind>& sorted,
                                                                       const Tensor<Rank, Kind>& values,
                                                                       bool right = false,
                                                                       Location where = Location::current()) {
  return {detail::trusted, searchsorted(sorted.dynamic(), values.dynamic(), right, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Int> bucketize(const Tensor<Rank, Kind>& x, const Tensor<1, Kind>& boundaries,
                            bool right = false, Location where = Location::current()) {
  return {detail::trusted, bucketize(x.dynamic(), boundaries.dynamic(), right, where)};
}
template <std::size_t Rank, class Kind>
Tensor<2, Int> nonzero(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  return {detail::trusted, nonzero(x.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
Tensor<2, Int> argwhere(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  return {detail::trusted, argwhere(x.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
Tensor<1, Kind> mask_select(const Tensor<Rank, Kind>& x, const Tensor<Rank, Bool>& mask,
                            Location where = Location::current()) {
  return {detail::trusted, mask_select(x.dynamic(), mask.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
struct Unique {
  Tensor<1, Kind> values;
  Tensor<Rank, Int> inverse;
  Tensor<1, Int> counts;
};
template <std::size_t Rank, class Kind>
Unique<Rank, Kind> unique(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  AnyUnique found = unique(x.dynamic(), where);
  return {{detail::trusted, std::move(found.values)},
          {detail::trusted, std::move(found.inverse)},
          {detail::trusted, std::move(found.counts)}};
}
SINTER_API Tensor<1, Int> bincount(const Tensor<1, Int>& x, std::int64_t least = 0,
                                   Location where = Location::current());
template <class Kind>
Tensor<1, Kind> bincount(const Tensor<1, Int>& x, const Tensor<1, Kind>& weights, std::int64_t least = 0,
                         Location where = Location::current()) {
  return {detail::trusted, bincount(x.dynamic(), weights.dynamic(), least, where)};
}
template <std::size_t Rank, class Kind>
Tensor<1, Kind> histc(const Tensor<Rank, Kind>& x, std::int64_t bins, double low, double high,
                      Location where = Location::current()) {
  return {detail::trusted, histc(x.dynamic(), bins, low, high, where)};
}
using Histogram = HistogramOf<Tensor<1>>;
template <std::size_t Rank>
Histogram histogram(const Tensor<Rank>& x, std::int64_t bins, double low, double high,
                    Location where = Location::current()) {
  AnyHistogram found = histogram(x.dynamic(), bins, low, high, where);
  return {{detail::trusted, std::move(found.counts)}, {detail::trusted, std::move(found.edges)}};
}

}  // namespace sinter
