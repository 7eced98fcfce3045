// Free functions on tensors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/tensor.h>

namespace sinter {

/// `a` where the condition holds, else `b`; one of them may be a number or of rank 0.
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> where(const Tensor<Rank, Bool>& condition, const Tensor<Rank, Kind>& a,
                         const std::type_identity_t<detail::OperandOf<Rank, Kind>>& b,
                         Location where = Location::current()) {
  return {detail::trusted, AnyTensor::where(condition.dynamic(), a.dynamic(), b.operand, where)};
}
template <std::size_t Rank, class Kind, NumberFor<Kind> T>
Tensor<Rank, Kind> where(const Tensor<Rank, Bool>& condition, T a, const Tensor<Rank, Kind>& b,
                         Location where = Location::current()) {
  return {detail::trusted, AnyTensor::where(condition.dynamic(), a, b.dynamic(), where)};
}

inline AnyTensor where(const AnyTensor& condition, AnyTensor::Operand a, AnyTensor::Operand b,
                       Location where = Location::current()) {
  return AnyTensor::where(condition, a, b, where);
}

template <std::size_t Rank>
Tensor<Rank> pow(std::type_identity_t<Number<Float>> a, const Tensor<Rank>& b,
                 Location where = Location::current()) {
  return {detail::trusted, AnyTensor::pow(a.value, b.dynamic(), where)};
}
/// cat({a, b}, 0): joined along an axis.
SINTER_API AnyTensor cat(std::initializer_list<AnyTensor> pieces, std::int64_t axis,
                         Location where = Location::current());
SINTER_API AnyTensor cat(const std::vector<AnyTensor>& pieces, std::int64_t axis,
                         Location where = Location::current());
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> cat(std::initializer_list<Tensor<Rank, Kind>> pieces, std::int64_t axis,
                       Location where = Location::current()) {
  return Tensor<Rank, Kind>::cat(pieces, axis, where);
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> cat(const std::vector<Tensor<Rank, Kind>>& pieces, std::int64_t axis,
                       Location where = Location::current()) {
  return Tensor<Rank, Kind>::cat(pieces, axis, where);
}
/// stack({a, b}, 0): joined along a new axis.
SINTER_API AnyTensor stack(std::initializer_list<AnyTensor> pieces, std::int64_t axis,
                           Location where = Location::current());
SINTER_API AnyTensor stack(const std::vector<AnyTensor>& pieces, std::int64_t axis,
                           Location where = Location::current());
template <std::size_t Rank, class Kind>
Tensor<Rank + 1, Kind> stack(std::initializer_list<Tensor<Rank, Kind>> pieces, std::int64_t axis,
                             Location where = Location::current()) {
  return Tensor<Rank, Kind>::stack(pieces, axis, where);
}
template <std::size_t Rank, class Kind>
Tensor<Rank + 1, Kind> stack(const std::vector<Tensor<Rank, Kind>>& pieces, std::int64_t axis,
                             Location where = Location::current()) {
  return Tensor<Rank, Kind>::stack(pieces, axis, where);
}
template <std::size_t A, std::size_t B>
requires(A >= 2 && B >= 2) Tensor<(A > B ? A : B)> matmul(const Tensor<A>& a, const Tensor<B>& b,
                                                          Location where = Location::current()) {
  return a.matmul(b, where);
}

// The typed forms of what Gradients does, which need the class Tensor.
template <std::size_t Rank, class Kind>
std::optional<Tensor<Rank, Kind>> Gradients::get(const Tensor<Rank, Kind>& leaf) const {
  auto gradient = get(leaf.dynamic());
  if (!gradient) return std::nullopt;
  return Tensor<Rank, Kind>(detail::trusted, *std::move(gradient));
}
template <std::size_t Rank, class Kind>
std::optional<Tensor<Rank, Kind>> Gradients::remove(const Tensor<Rank, Kind>& leaf) {
  auto gradient = remove(leaf.dynamic());
  if (!gradient) return std::nullopt;
  return Tensor<Rank, Kind>(detail::trusted, *std::move(gradient));
}
template <std::size_t Rank, class Kind>
void Gradients::set(const Tensor<Rank, Kind>& leaf, const Tensor<Rank, Kind>& gradient) {
  set(leaf.dynamic(), gradient.dynamic());
}

}  // namespace sinter
