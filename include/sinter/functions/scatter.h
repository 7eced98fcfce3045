// Indexed writes and reads; index_add, scatter_add, gather and index_select are methods of tensors.
//
// Indices are i32 or i64 and count from 0; one out of range throws ShapeError when the result is read.
// Several values for one place are taken in the order of their positions: an assignment keeps the last one,
// so that a program gives the same bits each time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <sinter/any_tensor.h>
#include <sinter/tensor.h>

namespace sinter {

/// x with result[.., index[.., i, ..], ..] = source[.., i, ..]; sizes of `index` as for scatter_add. All
/// dtypes. The gradient of a source that was overwritten is 0.
SINTER_API AnyTensor scatter(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                             const AnyTensor& source, Location where = Location::current());
/// The same with one number for all places.
SINTER_API AnyTensor scatter_fill(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                                  Scalar number, Location where = Location::current());
/// Joins what goes to one place, and x's own element where `include_self`. Equal extremes share the gradient.
SINTER_API AnyTensor scatter_reduce(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                                    const AnyTensor& source, ScatterReduction reduction,
                                    bool include_self = true, Location where = Location::current());

/// The same for whole slices along `axis`, with an index (rank 1) for each slice of `source`.
SINTER_API AnyTensor index_copy(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                                const AnyTensor& source, Location where = Location::current());
SINTER_API AnyTensor index_fill(const AnyTensor& x, std::int64_t axis, const AnyTensor& index, Scalar number,
                                Location where = Location::current());
SINTER_API AnyTensor index_reduce(const AnyTensor& x, std::int64_t axis, const AnyTensor& index,
                                  const AnyTensor& source, ScatterReduction reduction,
                                  bool include_self = true, Location where = Location::current());

/// The elements of x, seen as one row, at the positions in `index`: of index's shape.
SINTER_API AnyTensor take(const AnyTensor& x, const AnyTensor& index, Location where = Location::current());
/// gather whose operands broadcast to each other, except along `axis`.
SINTER_API AnyTensor take_along_dim(const AnyTensor& x, const AnyTensor& index, std::int64_t axis,
                                    Location where = Location::current());

/// index [.., k] has coordinates in the first k axes of x: result [.., x's other axes].
SINTER_API AnyTensor gather_nd(const AnyTensor& x, const AnyTensor& index,
                               Location where = Location::current());
/// x with the slices source [.., x's other axes] at the coordinates index [.., k]; the second adds them.
SINTER_API AnyTensor scatter_nd(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source,
                                Location where = Location::current());
SINTER_API AnyTensor scatter_nd_add(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source,
                                    Location where = Location::current());
/// The same joined with x's own and with each other.
SINTER_API AnyTensor scatter_nd_reduce(const AnyTensor& x, const AnyTensor& index, const AnyTensor& source,
                                       ScatterReduction reduction, bool include_self = true,
                                       Location where = Location::current());

template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> scatter(const Tensor<Rank, Kind>& x, std::int64_t axis, const Tensor<Rank, Int>& index,
                           const Tensor<Rank, Kind>& source, Location where = Location::current()) {
  return {detail::trusted, scatter(x.dynamic(), axis, index.dynamic(), source.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> scatter_fill(const Tensor<Rank, Kind>& x, std::int64_t axis,
                                const Tensor<Rank, Int>& index, std::type_identity_t<Number<Kind>> number,
                                Location where = Location::current()) {
  return {detail::trusted, scatter_fill(x.dynamic(), axis, index.dynamic(), number.value, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> scatter_reduce(const Tensor<Rank, Kind>& x, std::int64_t axis,
                                  const Tensor<Rank, Int>& index, const Tensor<Rank, Kind>& source,
                                  ScatterReduction reduction, bool include_self = true,
                                  Location where = Location::current()) {
  return {detail::trusted, scatter_reduce(x.dynamic(), axis, index.dynamic(), source.dynamic(), reduction,
                                          include_self, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> index_copy(const Tensor<Rank, Kind>& x, std::int64_t axis, const Tensor<1, Int>& index,
                              const Tensor<Rank, Kind>& source, Location where = Location::current()) {
  return {detail::trusted, index_copy(x.dynamic(), axis, index.dynamic(), source.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> index_fill(const Tensor<Rank, Kind>& x, std::int64_t axis, const Tensor<1, Int>& index,
                              std::type_identity_t<Number<Kind>> number,
                              Location where = Location::current()) {
  return {detail::trusted, index_fill(x.dynamic(), axis, index.dynamic(), number.value, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> index_reduce(const Tensor<Rank, Kind>& x, std::int64_t axis, const Tensor<1, Int>& index,
                                const Tensor<Rank, Kind>& source, ScatterReduction reduction,
                                bool include_self = true, Location where = Location::current()) {
  return {detail::trusted,
          index_reduce(x.dynamic(), axis, index.dynamic(), source.dynamic(), reduction, include_self, where)};
}
template <std::size_t Rank, std::size_t Index, class Kind>
Tensor<Index, Kind> take(const Tensor<Rank, Kind>& x, const Tensor<Index, Int>& index,
                         Location where = Location::current()) {
  return {detail::trusted, take(x.dynamic(), index.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> take_along_dim(const Tensor<Rank, Kind>& x, const Tensor<Rank, Int>& index,
                                  std::int64_t axis, Location where = Location::current()) {
  return {detail::trusted, take_along_dim(x.dynamic(), index.dynamic(), axis, where)};
}

}  // namespace sinter
