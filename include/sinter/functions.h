// Free functions on tensors.
#pragma once

#include <cstddef>
#include <optional>
#include <type_traits>
#include <utility>

#include <sinter/tensor.h>

namespace sinter {

/// `a` where the condition holds, else `b`; one of them may be a number or of rank 0.
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> where(const Tensor<Rank, Bool>& condition, const Tensor<Rank, Kind>& a,
                         const std::type_identity_t<detail::OperandOf<Rank, Kind>>& b,
                         Location where = Location::current()) {
  return {detail::trusted, AnyTensor::where(condition.any(), a.any(), b.operand, where)};
}
template <std::size_t Rank, class Kind, NumberFor<Kind> T>
Tensor<Rank, Kind> where(const Tensor<Rank, Bool>& condition, T a, const Tensor<Rank, Kind>& b,
                         Location where = Location::current()) {
  return {detail::trusted, AnyTensor::where(condition.any(), a, b.any(), where)};
}

/// True iff any element is.
template <std::size_t Rank>
Tensor<0, Bool> any(const Tensor<Rank, Bool>& x, Location where = Location::current()) {
  return {detail::trusted, x.any().any(x.any().all_axes(), where).reshape({}, where)};
}

template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> maximum(const Tensor<Rank, Kind>& a,
                           const std::type_identity_t<detail::OperandOf<Rank, Kind>>& b) {
  return a.maximum(b);
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> minimum(const Tensor<Rank, Kind>& a,
                           const std::type_identity_t<detail::OperandOf<Rank, Kind>>& b) {
  return a.minimum(b);
}
template <std::size_t Rank>
Tensor<Rank> pow(const Tensor<Rank>& a, const std::type_identity_t<detail::OperandOf<Rank, Float>>& b) {
  return a.pow(b);
}
template <std::size_t Rank>
Tensor<Rank> pow(std::type_identity_t<Number<Float>> a, const Tensor<Rank>& b,
                 Location where = Location::current()) {
  return {detail::trusted, AnyTensor::pow(a.value, b.any(), where)};
}
template <std::size_t A, std::size_t B>
requires(A >= 2 && B >= 2) Tensor<(A > B ? A : B)> matmul(const Tensor<A>& a, const Tensor<B>& b,
                                                          Location where = Location::current()) {
  return a.matmul(b, where);
}

// The typed forms of what Gradients does, which need the class Tensor.
template <std::size_t Rank, class Kind>
std::optional<Tensor<Rank, Kind>> Gradients::get(const Tensor<Rank, Kind>& leaf) const {
  auto gradient = get(leaf.any());
  if (!gradient) return std::nullopt;
  return Tensor<Rank, Kind>(detail::trusted, *std::move(gradient));
}
template <std::size_t Rank, class Kind>
std::optional<Tensor<Rank, Kind>> Gradients::remove(const Tensor<Rank, Kind>& leaf) {
  auto gradient = remove(leaf.any());
  if (!gradient) return std::nullopt;
  return Tensor<Rank, Kind>(detail::trusted, *std::move(gradient));
}
template <std::size_t Rank, class Kind>
void Gradients::set(const Tensor<Rank, Kind>& leaf, const Tensor<Rank, Kind>& gradient) {
  set(leaf.any(), gradient.any());
}

}  // namespace sinter
