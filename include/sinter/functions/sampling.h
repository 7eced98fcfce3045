// Random choices: by counter-based numbers of the device's stream or a Generator, so that a seed gives the
// same ones everywhere.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/any_tensor.h>
#include <sinter/random.h>
#include <sinter/tensor.h>

namespace sinter {

/// One index along `axis` for each row of logarithms of probabilities, up to a constant, drawn by the Gumbel
/// trick: one kernel. i64; the axis stays with size 1. Floats.
SINTER_API AnyTensor categorical(const AnyTensor& logits, std::int64_t axis = -1,
                                 Location where = Location::current());
/// `count` indices for each row of weights [n] or [rows, n], which are 0 or more and need not add up to 1:
/// i64 [count] or [rows, count]. Without replacement the indices of a row differ, and `count` is at most n; a
/// row with fewer weights above 0 goes on with others. With it, shares below 2^-30 of a row's sum count as 0.
/// The weights are not checked, which would take a read: rows of zeros, negative weights and NaN give any
/// indices.
SINTER_API AnyTensor multinomial(const AnyTensor& weights, std::int64_t count, bool replacement = false,
                                 Location where = Location::current());
/// 0, .., n - 1 in random order: i64.
SINTER_API AnyTensor randperm(std::int64_t n, const Device& device, Location where = Location::current());
/// The slices along `axis` in random order.
SINTER_API AnyTensor shuffle(const AnyTensor& x, std::int64_t axis = 0, Location where = Location::current());

/// The same, drawn from a generator.
SINTER_API AnyTensor categorical(const AnyTensor& logits, std::int64_t axis, Generator& generator,
                                 Location where = Location::current());
SINTER_API AnyTensor multinomial(const AnyTensor& weights, std::int64_t count, bool replacement,
                                 Generator& generator, Location where = Location::current());
SINTER_API AnyTensor randperm(std::int64_t n, const Device& device, Generator& generator,
                              Location where = Location::current());
SINTER_API AnyTensor shuffle(const AnyTensor& x, std::int64_t axis, Generator& generator,
                             Location where = Location::current());

template <std::size_t Rank>
Tensor<Rank, Int> categorical(const Tensor<Rank>& logits, std::int64_t axis = -1,
                              Location where = Location::current()) {
  return {detail::trusted, categorical(logits.dynamic(), axis, where)};
}
template <std::size_t Rank>
requires(Rank == 1 || Rank == 2) Tensor<Rank, Int> multinomial(const Tensor<Rank>& weights,
                                                               std::int64_t count, bool replacement = false,
                                                               Location where = Location::current()) {
  return {detail::trusted, multinomial(weights.dynamic(), count, replacement, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> shuffle(const Tensor<Rank, Kind>& x, std::int64_t axis = 0,
                           Location where = Location::current()) {
  return {detail::trusted, shuffle(x.dynamic(), axis, where)};
}

template <std::size_t Rank>
Tensor<Rank, Int> categorical(const Tensor<Rank>& logits, std::int64_t axis, Generator& generator,
                              Location where = Location::current()) {
  return {detail::trusted, categorical(logits.dynamic(), axis, generator, where)};
}
template <std::size_t Rank>
requires(Rank == 1 || Rank == 2) Tensor<Rank, Int> multinomial(const Tensor<Rank>& weights,
                                                               std::int64_t count, bool replacement,
                                                               Generator& generator,
                                                               Location where = Location::current()) {
  return {detail::trusted, multinomial(weights.dynamic(), count, replacement, generator, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> shuffle(const Tensor<Rank, Kind>& x, std::int64_t axis, Generator& generator,
                           Location where = Location::current()) {
  return {detail::trusted, shuffle(x.dynamic(), axis, generator, where)};
}

}  // namespace sinter
