// Arguments for shapes and slices: sizes of a known rank, ranges of indices.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <sinter/any_tensor.h>

namespace sinter {

/// `Rank` sizes, written {2, 3}, or a shape known at run time (throws ShapeError if its rank differs).
template <std::size_t Rank>
class Sizes {
 public:
  template <std::integral... T>
  requires(sizeof...(T) == Rank) Sizes(T... sizes) : shape_{static_cast<std::int64_t>(sizes)...} {}
  Sizes(const Shape& shape, Location where = Location::current()) : shape_(shape) {
    if (shape.rank() != Rank)
      throw ShapeError("[shape] " + to_string(shape) + " is given where a shape of rank " +
                           std::to_string(Rank) + " is wanted",
                       where);
  }
  operator const Shape&() const { return shape_; }

 private:
  Shape shape_;
};

/// Indices start, start + step, ... before stop, for `slice`; see Range.
inline Range s(std::int64_t start, std::int64_t stop, std::int64_t step = 1) { return {start, stop, step}; }
inline Range s_from(std::int64_t start, std::int64_t step = 1) { return {start, std::nullopt, step}; }
/// Says that a reduction's axes go: x.sum(1, drop).
struct Drop {};
inline constexpr Drop drop;

/// A whole dimension.
inline constexpr Range all{};

}  // namespace sinter
