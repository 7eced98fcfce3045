// Products of vectors and matrices, and Einstein's summation. Decompositions are not here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// The sum of a * b of two vectors of equal length: rank 0.
SINTER_API AnyTensor dot(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// a [.., m] and b [.., n] -> [.., m, n].
SINTER_API AnyTensor outer(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// matrix [.., m, n] and vector [.., n] -> [.., m].
SINTER_API AnyTensor matvec(const AnyTensor& matrix, const AnyTensor& vector,
                            Location where = Location::current());
/// The elements on a diagonal of the last two axes, as the last axis; diagonal 1 is the one to the right of
/// the main one.
SINTER_API AnyTensor diagonal(const AnyTensor& x, std::int64_t diagonal = 0,
                              Location where = Location::current());
/// The inverse: the last axis on a diagonal of a square matrix of zeros.
SINTER_API AnyTensor diag_embed(const AnyTensor& x, std::int64_t diagonal = 0,
                                Location where = Location::current());
namespace linalg {
/// The sum of the main diagonal of the last two axes.
SINTER_API AnyTensor trace(const AnyTensor& x, Location where = Location::current());
}  // namespace linalg
/// The vector product along an axis of size 3.
SINTER_API AnyTensor cross(const AnyTensor& a, const AnyTensor& b, std::int64_t axis = -1,
                           Location where = Location::current());
/// Kronecker's product of two matrices.
SINTER_API AnyTensor kron(const AnyTensor& a, const AnyTensor& b, Location where = Location::current());
/// The cosine of the angle between a and b along an axis, which goes; lengths are at least epsilon.
SINTER_API AnyTensor cosine_similarity(const AnyTensor& a, const AnyTensor& b, std::int64_t axis = 1,
                                       double epsilon = 1e-8, Location where = Location::current());

/// Einstein's summation, as in NumPy: einsum("bik,bkj->bij", {a, b}). A letter for each axis; axes of one
/// letter have one size (or 1); a letter that is repeated in one operand takes its diagonal; letters that
/// the result does not name are summed. "..." stands for the leading axes that have no letter. Without "->"
/// the result has, in alphabetical order, the letters that occur once. Operands are multiplied in pairs, each
/// time the pair of least work.
SINTER_API AnyTensor einsum(std::string_view formula, std::span<const AnyTensor> operands,
                            Location where = Location::current());

template <std::size_t Rank>
requires(Rank >= 1) Tensor<Rank + 1> outer(const Tensor<Rank>& a, const Tensor<Rank>& b,
                                           Location where = Location::current()) {
  return {detail::trusted, outer(a.dynamic(), b.dynamic(), where)};
}
SINTER_API Tensor<0> dot(const Tensor<1>& a, const Tensor<1>& b, Location where = Location::current());
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank - 1> matvec(const Tensor<Rank>& matrix, const Tensor<Rank - 1>& vector,
                                            Location where = Location::current()) {
  return {detail::trusted, matvec(matrix.dynamic(), vector.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
requires(Rank >= 2) Tensor<Rank - 1, Kind> diagonal(const Tensor<Rank, Kind>& x, std::int64_t number = 0,
                                                    Location where = Location::current()) {
  return {detail::trusted, diagonal(x.dynamic(), number, where)};
}
template <std::size_t Rank, class Kind>
requires(Rank >= 1) Tensor<Rank + 1, Kind> diag_embed(const Tensor<Rank, Kind>& x, std::int64_t number = 0,
                                                      Location where = Location::current()) {
  return {detail::trusted, diag_embed(x.dynamic(), number, where)};
}
namespace linalg {
template <std::size_t Rank, class Kind>
requires(Rank >= 2) Tensor<Rank - 2, Kind> trace(const Tensor<Rank, Kind>& x,
                                                 Location where = Location::current()) {
  return {sinter::detail::trusted, trace(x.dynamic(), where)};
}
}  // namespace linalg
template <std::size_t Rank>
requires(Rank >= 1) Tensor<Rank> cross(const Tensor<Rank>& a, const Tensor<Rank>& b, std::int64_t axis = -1,
                                       Location where = Location::current()) {
  return {detail::trusted, cross(a.dynamic(), b.dynamic(), axis, where)};
}
SINTER_API Tensor<2> kron(const Tensor<2>& a, const Tensor<2>& b, Location where = Location::current());
template <std::size_t Rank>
requires(Rank >= 1) Tensor<Rank - 1> cosine_similarity(const Tensor<Rank>& a, const Tensor<Rank>& b,
                                                       std::int64_t axis = 1, double epsilon = 1e-8,
                                                       Location where = Location::current()) {
  return {detail::trusted, cosine_similarity(a.dynamic(), b.dynamic(), axis, epsilon, where)};
}
/// einsum<3>("bik,bkj->bij", a, b): the rank of the result is said, and checked.
template <std::size_t Result, std::size_t... Ranks>
Tensor<Result> einsum(std::string_view formula, const Tensor<Ranks>&... operands) {
  const AnyTensor all[] = {operands.dynamic()...};
  return Tensor<Result>(einsum(formula, std::span<const AnyTensor>(all)));
}

}  // namespace sinter
