// Arguments for shapes and slices: sizes of a known rank, ranges of indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/any_tensor.h>

namespace sinter {

namespace detail {
[[noreturn]] SINTER_API void throw_other_rank(const Shape& shape, std::size_t rank, const Location& where);
}

/// `Rank` sizes, written {2, 3}, or a shape known at run time (throws ShapeError if its rank differs).
template <std::size_t Rank>
class Sizes {
 public:
  template <std::integral... T>
  requires(sizeof...(T) == Rank) Sizes(T... sizes) : shape_{static_cast<std::int64_t>(sizes)...} {}
  Sizes(const Shape& shape, Location where = Location::current()) : shape_(shape) {
    if (shape.rank() != Rank) detail::throw_other_rank(shape, Rank, where);
  }
  operator const Shape&() const { return shape_; }

 private:
  Shape shape_;
};

/// Indices start, start + step, ... before stop, for `slice`; see Range.
inline Range s(std::int64_t start, std::int64_t stop, std::int64_t step = 1) { return {start, stop, step}; }
inline Range s_from(std::int64_t start, std::int64_t step = 1) { return {start, std::nullopt, step}; }
/// A whole dimension.
inline constexpr Range all{};

}  // namespace sinter
