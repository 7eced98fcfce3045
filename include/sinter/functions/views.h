// Views of tensors, parts put together, indexed reads and sums: what the methods of the same names do, as
// free functions: transpose(x, 0, 1), split(x, 2, 0).
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>
#include <vector>

#include <sinter/tensor.h>

namespace sinter {

// The arguments of these are the same for tensors of known and of unknown rank.
#define SINTER_FUNCTION(name)                                   \
  template <detail::AnyKindOfTensor T>                          \
  auto name(const T& x, Location where = Location::current()) { \
    return x.name(where);                                       \
  }
SINTER_FUNCTION(t)
SINTER_FUNCTION(flatten)
SINTER_FUNCTION(empty_like)
SINTER_FUNCTION(zeros_like)
SINTER_FUNCTION(ones_like)
SINTER_FUNCTION(rand_like)
SINTER_FUNCTION(randn_like)
#undef SINTER_FUNCTION
#define SINTER_FUNCTION(name, Argument, argument, ...)                                         \
  template <detail::AnyKindOfTensor T>                                                         \
  auto name(const T& x, Argument argument __VA_ARGS__, Location where = Location::current()) { \
    return x.name(argument, where);                                                            \
  }
SINTER_FUNCTION(unsqueeze, std::int64_t, axis)
SINTER_FUNCTION(flip, const Axes&, axes)
SINTER_FUNCTION(expand_as, const T&, other)
SINTER_FUNCTION(one_hot, std::int64_t, classes)
SINTER_FUNCTION(tril, std::int64_t, diagonal, = 0)
SINTER_FUNCTION(triu, std::int64_t, diagonal, = 0)
#undef SINTER_FUNCTION
#define SINTER_FUNCTION(name, first, second)                                                             \
  template <detail::AnyKindOfTensor T>                                                                   \
  auto name(const T& x, std::int64_t first, std::int64_t second, Location where = Location::current()) { \
    return x.name(first, second, where);                                                                 \
  }
SINTER_FUNCTION(transpose, a, b)
SINTER_FUNCTION(movedim, from, to)
SINTER_FUNCTION(select, axis, index)
SINTER_FUNCTION(split, size, axis)
SINTER_FUNCTION(chunk, count, axis)
SINTER_FUNCTION(roll, shift, axis)
#undef SINTER_FUNCTION
#define SINTER_FUNCTION(name, a, b, c)                                  \
  template <detail::AnyKindOfTensor T>                                  \
  auto name(const T& x, std::int64_t a, std::int64_t b, std::int64_t c, \
            Location where = Location::current()) {                     \
    return x.name(a, b, c, where);                                      \
  }
SINTER_FUNCTION(narrow, axis, start, length)
SINTER_FUNCTION(windows, axis, size, step)
#undef SINTER_FUNCTION
#define SINTER_FUNCTION(name)                                                                              \
  template <detail::AnyKindOfTensor T, detail::AnyKindOfTensor Positions>                                  \
  auto name(const T& x, std::int64_t axis, const Positions& index, Location where = Location::current()) { \
    return x.name(axis, index, where);                                                                     \
  }
SINTER_FUNCTION(gather)
SINTER_FUNCTION(index_select)
#undef SINTER_FUNCTION
#define SINTER_FUNCTION(name)                                                       \
  template <detail::AnyKindOfTensor T, detail::AnyKindOfTensor Positions>           \
  auto name(const T& x, std::int64_t axis, const Positions& index, const T& source, \
            Location where = Location::current()) {                                 \
    return x.name(axis, index, source, where);                                      \
  }
SINTER_FUNCTION(index_add)
SINTER_FUNCTION(scatter_add)
#undef SINTER_FUNCTION
template <detail::AnyKindOfTensor T, detail::AnyKindOfTensor Mask>
auto mask_where(const T& x, const Mask& mask, const T& value, Location where = Location::current()) {
  return x.mask_where(mask, value, where);
}
template <detail::AnyKindOfTensor T, detail::AnyKindOfTensor Mask, class Number>
requires std::is_arithmetic_v<Number>
auto mask_fill(const T& x, const Mask& mask, Number number, Location where = Location::current()) {
  return x.mask_fill(mask, number, where);
}
template <detail::AnyKindOfTensor T, class Number>
requires std::is_arithmetic_v<Number>
auto full_like(const T& x, Number value, Location where = Location::current()) {
  return x.full_like(value, where);
}

template <detail::AnyKindOfTensor T>
auto unbind(const T& x, std::int64_t axis = 0, Location where = Location::current()) {
  return x.unbind(axis, where);
}

// ---- shapes: braces say the rank
template <std::size_t Rank, class Kind, std::size_t N>
Tensor<N, Kind> reshape(const Tensor<Rank, Kind>& x, const std::int64_t (&sizes)[N],
                        Location where = Location::current()) {
  return x.reshape(sizes, where);
}
template <std::size_t Rank, class Kind>
Tensor<0, Kind> reshape(const Tensor<Rank, Kind>& x, const Sizes<0>& sizes,
                        Location where = Location::current()) {
  return x.reshape(sizes, where);
}
inline AnyTensor reshape(const AnyTensor& x, const Dims& sizes, Location where = Location::current()) {
  return x.reshape(sizes, where);
}
template <std::size_t Rank, class Kind, std::size_t N>
Tensor<N, Kind> expand(const Tensor<Rank, Kind>& x, const std::int64_t (&sizes)[N],
                       Location where = Location::current()) {
  return x.expand(sizes, where);
}
inline AnyTensor expand(const AnyTensor& x, const Dims& sizes, Location where = Location::current()) {
  return x.expand(sizes, where);
}
template <std::size_t Rank, class Kind>
requires(Rank > 0) Tensor<Rank, Kind> permute(const Tensor<Rank, Kind>& x, const std::int64_t (&axes)[Rank],
                                              Location where = Location::current()) {
  return x.permute(axes, where);
}
inline AnyTensor permute(const AnyTensor& x, const Axes& axes, Location where = Location::current()) {
  return x.permute(axes, where);
}
template <std::size_t Rank, class Kind>
auto squeeze(const Tensor<Rank, Kind>& x, std::int64_t axis, Location where = Location::current()) {
  return x.squeeze(axis, where);
}
template <std::size_t Rank, class Kind, std::size_t N>
auto squeeze(const Tensor<Rank, Kind>& x, const std::int64_t (&axes)[N],
             Location where = Location::current()) {
  return x.squeeze(axes, where);
}
inline AnyTensor squeeze(const AnyTensor& x, const Axes& axes, Location where = Location::current()) {
  return x.squeeze(axes, where);
}
/// flatten<2>(x): see TensorViews.
template <std::size_t N, std::size_t Rank, class Kind>
Tensor<N, Kind> flatten(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  return x.template flatten<N>(where);
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> repeat(const Tensor<Rank, Kind>& x, const std::type_identity_t<Sizes<Rank>>& counts,
                          Location where = Location::current()) {
  return x.repeat(counts, where);
}
inline AnyTensor repeat(const AnyTensor& x, const Dims& counts, Location where = Location::current()) {
  return x.repeat(counts, where);
}
/// Each part along `axis` so many times, zero or more, one behind the other: of [a, b] twice [a, a, b, b],
/// where repeat gives [a, b, a, b].
SINTER_API AnyTensor repeat_interleave(const AnyTensor& x, std::int64_t count, std::int64_t axis,
                                       Location where = Location::current());
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> repeat_interleave(const Tensor<Rank, Kind>& x, std::int64_t count, std::int64_t axis,
                                     Location where = Location::current()) {
  return {detail::trusted, repeat_interleave(x.dynamic(), count, axis, where)};
}
template <std::size_t Rank, class Kind>
Tensor<Rank, Kind> pad(const Tensor<Rank, Kind>& x, const std::type_identity_t<Sizes<Rank>>& before,
                       const std::type_identity_t<Sizes<Rank>>& after,
                       std::type_identity_t<Number<Kind>> value, Location where = Location::current()) {
  return x.pad(before, after, value, where);
}
inline AnyTensor pad(const AnyTensor& x, const Dims& before, const Dims& after, Scalar value,
                     Location where = Location::current()) {
  return x.pad(before, after, value, where);
}

// ---- parts
template <detail::AnyKindOfTensor T>
T slice(const T& x, std::initializer_list<Range> ranges, Location where = Location::current()) {
  return x.slice(ranges, where);
}
template <detail::AnyKindOfTensor T>
T slice_assign(const T& x, std::initializer_list<Range> ranges, const std::type_identity_t<T>& value,
               Location where = Location::current()) {
  return x.slice_assign(ranges, value, where);
}
template <detail::AnyKindOfTensor T, class Number>
requires std::is_arithmetic_v<Number> T slice_fill(const T& x, std::initializer_list<Range> ranges,
                                                   Number number, Location where = Location::current()) {
  return x.slice_fill(ranges, number, where);
}
/// split(x, {2, 3, 4}, 0): pieces of these sizes.
template <detail::AnyKindOfTensor T>
std::vector<T> split(const T& x, std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                     Location where = Location::current()) {
  return x.split(sizes, axis, where);
}
inline AnyTensor matmul(const AnyTensor& a, const AnyTensor& b, Location where = Location::current()) {
  return a.matmul(b, where);
}

}  // namespace sinter
