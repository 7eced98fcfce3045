// Reductions, indexed reads and sums, triangles and products of a tensor with rank and kind.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/detail/typed.h>
#include <sinter/sizes.h>

namespace sinter::detail {

/// A base of Tensor<Rank, Kind>: what combines its elements.
template <std::size_t Rank, class Kind>
class TensorMethods {
  using Same = Tensor<Rank, Kind>;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;

 public:
  // ---- reductions; axes that are named stay with size 1, or go: x.sum(1), x.sum({0, 2}, drop). Without axes
  // everything becomes one number.
#define SINTER_REDUCTION(name, Of, condition)                                                               \
  Tensor<Rank, Of> name(const Axes& axes, Location where = Location::current()) const requires(condition) { \
    return {trusted, here().name(axes, where)};                                                             \
  }                                                                                                         \
  Tensor<(Rank ? Rank - 1 : 0), Of> name(std::int64_t axis, Drop, Location where = Location::current())     \
      const requires(condition) {                                                                           \
    return {trusted, here().name(axis, drop, where)};                                                       \
  }                                                                                                         \
  template <std::size_t N>                                                                                  \
  requires(N <= Rank) Tensor<Rank - N, Of> name(const std::int64_t(&axes)[N], Drop,                         \
                                                Location where = Location::current())                       \
  const requires(condition) {                                                                               \
    const Axes along = detail::axes_of(axes, N);                                                            \
    return {trusted, here().name(along, drop, where)};                                                      \
  }                                                                                                         \
  Tensor<0, Of> name(Location where = Location::current()) const requires(condition) {                      \
    return {trusted, here().name(where)};                                                                   \
  }
  // Those of truth values count and multiply 0 and 1.
  SINTER_REDUCTION(sum, typename SumOf<Kind>::type, true)
  SINTER_REDUCTION(prod, typename SumOf<Kind>::type, true)
  SINTER_REDUCTION(max, Kind, !kBool)
  SINTER_REDUCTION(min, Kind, !kBool)
  SINTER_REDUCTION(mean, Kind, kFloat)
  SINTER_REDUCTION(all, Kind, kBool)
  SINTER_REDUCTION(any, Kind, kBool)
#undef SINTER_REDUCTION
  Same var(const Axes& axes, double correction = 1,
           Location where = Location::current()) const requires kFloat {
    return made(here().var(axes, correction, where));
  }
  Tensor<0, Kind> var(Location where = Location::current()) const requires kFloat {
    return {trusted, here().var(where)};
  }
  Same std(const Axes& axes, double correction = 1,
           Location where = Location::current()) const requires kFloat {
    return made(here().std(axes, correction, where));
  }
  Tensor<0, Kind> std(Location where = Location::current()) const requires kFloat {
    return {trusted, here().std(where)};
  }
  Tensor<Rank, Int> argmax(std::int64_t axis, Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmax(axis, where)};
  }
  Tensor<(Rank ? Rank - 1 : 0), Int> argmax(std::int64_t axis, Drop,
                                            Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmax(axis, where).squeeze(axis, where)};
  }
  Tensor<Rank, Int> argmin(std::int64_t axis, Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmin(axis, where)};
  }
  Tensor<(Rank ? Rank - 1 : 0), Int> argmin(std::int64_t axis, Drop,
                                            Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmin(axis, where).squeeze(axis, where)};
  }

  /// Of all elements, row by row.
  Tensor<(Rank - Rank), Int> argmax(Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmax(where)};
  }
  Tensor<(Rank - Rank), Int> argmin(Location where = Location::current()) const requires(!kBool) {
    return {trusted, here().argmin(where)};
  }

  // ---- indexed reads
  Same gather(std::int64_t axis, const Tensor<Rank, Int>& index, Location where = Location::current()) const {
    return made(here().gather(axis, index.dynamic(), where));
  }
  Same index_select(std::int64_t axis, const HandleOf<1, Int>& index,
                    Location where = Location::current()) const {
    return made(here().index_select(axis, index.dynamic, where));
  }

  // ---- indexed sums
  Same index_add(std::int64_t axis, const HandleOf<1, Int>& index, const Same& source,
                 Location where = Location::current()) const requires(!kBool) {
    return made(here().index_add(axis, index.dynamic, source.dynamic(), where));
  }
  Same scatter_add(std::int64_t axis, const Tensor<Rank, Int>& index, const Same& source,
                   Location where = Location::current()) const requires(!kBool) {
    return made(here().scatter_add(axis, index.dynamic(), source.dynamic(), where));
  }

  Tensor<Rank + 1, Kind> one_hot(std::int64_t classes,
                                 Location where = Location::current()) const requires kInt {
    return {trusted, here().one_hot(classes, where)};
  }

  // ---- triangles
  Same tril(std::int64_t diagonal = 0, Location where = Location::current()) const requires(Rank >= 2) {
    return made(here().tril(diagonal, where));
  }
  Same triu(std::int64_t diagonal = 0, Location where = Location::current()) const requires(Rank >= 2) {
    return made(here().triu(diagonal, where));
  }

  // ---- products
  template <std::size_t Other>
  requires(kFloat&& Rank >= 2 && Other >= 2) Tensor<(Rank > Other ? Rank : Other), Kind> matmul(
      const Tensor<Other, Kind>& other, Location where = Location::current())
  const { return {trusted, here().matmul(other.dynamic(), where)}; }
  Same conv2d(const Same& weight, const Conv2dOptions& options = {},
              Location where = Location::current()) const requires(kFloat&& Rank == 4) {
    return made(here().conv2d(weight.dynamic(), options, where));
  }

 private:
  const AnyTensor& here() const { return static_cast<const Same&>(*this).dynamic(); }
  static Same made(AnyTensor any) { return Same(trusted, std::move(any)); }
};

}  // namespace sinter::detail
