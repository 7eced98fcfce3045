// Scans: running sums, products and extremes along an axis, on the device; and differences of neighbours.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/tensor.h>

namespace sinter {

template <std::size_t Rank, class Kind>
struct Indexed {
  Tensor<Rank, Kind> values;
  Tensor<Rank, Int> indices;
};

/// Along `axis`, the sum (product) of each element and all before it. f32, f64, i32 and i64 keep their dtype,
/// 16-bit floats are added up in f32 and rounded once for each result, u8 and bool become i64. A tensor of
/// rank 0 counts as one element along axis 0. The order of additions follows from the shape, so that bits are
/// the same each time.
SINTER_API AnyTensor cumsum(const AnyTensor& x, std::int64_t axis, ScanOptions options = {},
                            Location where = Location::current());
SINTER_API AnyTensor cumprod(const AnyTensor& x, std::int64_t axis, ScanOptions options = {},
                             Location where = Location::current());
/// log(sum(exp(x))) of each element and all before it, without overflow. Floats.
SINTER_API AnyTensor logcumsumexp(const AnyTensor& x, std::int64_t axis, ScanOptions options = {},
                                  Location where = Location::current());
/// What each element along `axis` has more than the one before it, `times` in turn: each time the axis is one
/// shorter, down to none. Numbers; integers wrap around.
SINTER_API AnyTensor diff(const AnyTensor& x, std::int64_t times = 1, std::int64_t axis = -1,
                          Location where = Location::current());
/// The largest (smallest) element so far, and where it is: the last one among equal ones; NaN stays from
/// where it first is on, with the position of the latest, as in PyTorch. The gradient goes to the elements
/// that are named.
SINTER_API AnyIndexed cummax(const AnyTensor& x, std::int64_t axis, ScanOptions options = {},
                             Location where = Location::current());
SINTER_API AnyIndexed cummin(const AnyTensor& x, std::int64_t axis, ScanOptions options = {},
                             Location where = Location::current());

template <std::size_t Rank, class Kind>
Tensor<Rank, typename detail::SumOf<Kind>::type> cumsum(const Tensor<Rank, Kind>& x, std::int64_t axis,
                                                        ScanOptions options = {},
                                                        Location where = Location::current()) {
  return {detail::trusted, cumsum(x.dynamic(), axis, options, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, typename detail::SumOf<Kind>::type> cumprod(const Tensor<Rank, Kind>& x, std::int64_t axis,
                                                         ScanOptions options = {},
                                                         Location where = Location::current()) {
  return {detail::trusted, cumprod(x.dynamic(), axis, options, where)};
}
template <std::size_t Rank>
Tensor<Rank> logcumsumexp(const Tensor<Rank>& x, std::int64_t axis, ScanOptions options = {},
                          Location where = Location::current()) {
  return {detail::trusted, logcumsumexp(x.dynamic(), axis, options, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> diff(const Tensor<Rank, Kind>& x, std::int64_t times = 1, std::int64_t axis = -1,
                        Location where = Location::current()) {
  return {detail::trusted, diff(x.dynamic(), times, axis, where)};
}
template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> cummax(const Tensor<Rank, Kind>& x, std::int64_t axis, ScanOptions options = {},
                           Location where = Location::current()) {
  return detail::typed_indexed<Rank, Kind>(cummax(x.dynamic(), axis, options, where));
}
template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> cummin(const Tensor<Rank, Kind>& x, std::int64_t axis, ScanOptions options = {},
                           Location where = Location::current()) {
  return detail::typed_indexed<Rank, Kind>(cummin(x.dynamic(), axis, options, where));
}

}  // namespace sinter
