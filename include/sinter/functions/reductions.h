// Reductions as free functions, which do what the methods of the same names do: sum(x), sum(x, 1), sum(x, {0,
// 2}, drop). x.all() and x.std() are methods alone: `all` is an
// index, and std a namespace.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/tensor.h>

namespace sinter {

#define SINTER_FUNCTION(name)                                                            \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, const Axes& axes, Location where = Location::current()) {        \
    return x.name(axes, where);                                                          \
  }                                                                                      \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, Location where = Location::current()) {                          \
    return x.name(where);                                                                \
  }                                                                                      \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, std::int64_t axis, Drop, Location where = Location::current()) { \
    return x.name(axis, drop, where);                                                    \
  }                                                                                      \
  template <std::size_t Rank, class Kind, std::size_t N>                                 \
  auto name(const Tensor<Rank, Kind>& x, const std::int64_t(&axes)[N], Drop,             \
            Location where = Location::current()) {                                      \
    return x.name(axes, drop, where);                                                    \
  }
SINTER_FUNCTION(sum)
SINTER_FUNCTION(prod)
SINTER_FUNCTION(mean)
SINTER_FUNCTION(max)
SINTER_FUNCTION(min)
SINTER_FUNCTION(any)
#undef SINTER_FUNCTION
template <detail::AnyKindOfTensor T>
auto var(const T& x, const Axes& axes, double correction = 1, Location where = Location::current()) {
  return x.var(axes, correction, where);
}
template <detail::AnyKindOfTensor T>
auto var(const T& x, Location where = Location::current()) {
  return x.var(where);
}
#define SINTER_FUNCTION(name)                                                            \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, std::int64_t axis, Location where = Location::current()) {       \
    return x.name(axis, where);                                                          \
  }                                                                                      \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, std::int64_t axis, Drop, Location where = Location::current()) { \
    return x.name(axis, drop, where);                                                    \
  }                                                                                      \
  template <detail::AnyKindOfTensor T>                                                   \
  auto name(const T& x, Location where = Location::current()) {                          \
    return x.name(where);                                                                \
  }
SINTER_FUNCTION(argmax)
SINTER_FUNCTION(argmin)
#undef SINTER_FUNCTION

}  // namespace sinter
