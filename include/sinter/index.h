// What stands in the brackets of x(s(1, 3), all, -1).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/dtype.h>
#include <sinter/shape.h>

namespace sinter {

class AnyTensor;
template <std::size_t Rank, class Kind>
class Tensor;

/// A new axis of size 1, where it stands among the indices.
struct NewAxis {};
inline constexpr NewAxis newaxis;
/// As many whole axes as the other indices leave.
struct Ellipsis {};
inline constexpr Ellipsis ellipsis;

/// One index: a position (its axis goes; negative ones count from the end), a range (its axis stays), a new
/// axis, an ellipsis, or positions in a tensor of i32 or i64, whose axes stand in the place of the axis
/// (negative ones count from the end; one out of range throws ShapeError when the result is read). Axes
/// behind the last index are whole.
class SINTER_API Index {
 public:
  enum class What { None, Position, Part, New, Rest, Positions };

  /// No index: x(0) has one.
  Index() = default;

  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T position)
      : what(What::Position), position(static_cast<std::int64_t>(position)) {}
  Index(const Range& range) : what(What::Part), range(range) {}
  Index(NewAxis) : what(What::New) {}
  Index(Ellipsis) : what(What::Rest) {}
  /// Positions, or, as the only index, a mask of bool and of the tensor's shape.
  Index(const AnyTensor& positions) : what(What::Positions), positions(&positions) {}
  template <std::size_t Rank>
  Index(const Tensor<Rank, Int>& positions) : Index(positions.dynamic()) {}

  What what = What::None;
  std::int64_t position = 0;
  Range range;
  const AnyTensor* positions = nullptr;
};

}  // namespace sinter
