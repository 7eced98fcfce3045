// x(s(1, 3), all, -1): parts of a tensor by position, and what is assigned to them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <sinter/any_tensor.h>
#include <sinter/detail/typed.h>
#include <sinter/sizes.h>

namespace sinter {

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
  enum class What { Position, Part, New, Rest, Positions };

  template <std::integral T>
  requires(!std::same_as<T, bool>) Index(T position)
      : what(What::Position), position(static_cast<std::int64_t>(position)) {}
  Index(const Range& range) : what(What::Part), range(range) {}
  Index(NewAxis) : what(What::New) {}
  Index(Ellipsis) : what(What::Rest) {}
  Index(const AnyTensor& positions) : what(What::Positions), positions(&positions) {}
  template <std::size_t Rank>
  Index(const Tensor<Rank, Int>& positions) : Index(positions.dynamic()) {}

  What what;
  std::int64_t position = 0;
  Range range;
  const AnyTensor* positions = nullptr;
};

/// The part of `x` that the indices name, of which at most one is a tensor of positions. Ranges beyond the
/// end are cut, as in Python; a position beyond it throws ShapeError.
SINTER_API AnyTensor index(const AnyTensor& x, std::span<const Index> indices,
                           Location where = Location::current());
/// `x` with that part replaced by `value`, which broadcasts to it. Of equal positions the last one counts.
SINTER_API AnyTensor index_assign(const AnyTensor& x, std::span<const Index> indices,
                                  AnyTensor::Operand value, Location where = Location::current());

namespace detail {

template <class I>
struct IndexFacts;  // the axes of the tensor that an index takes, and those of the result that it gives
template <std::integral I>
struct IndexFacts<I> {
  static constexpr std::size_t taken = 1, given = 0;
};
template <>
struct IndexFacts<Range> {
  static constexpr std::size_t taken = 1, given = 1;
};
template <>
struct IndexFacts<NewAxis> {
  static constexpr std::size_t taken = 0, given = 1;
};
template <>
struct IndexFacts<Ellipsis> {
  static constexpr std::size_t taken = 0, given = 0;
};
template <std::size_t Rank>
struct IndexFacts<Tensor<Rank, Int>> {
  static constexpr std::size_t taken = 1, given = Rank;
};

template <class I>
concept Indexes = requires {
  IndexFacts<std::remove_cvref_t<I>>::taken;
}
&&!std::same_as<I, bool>;

template <std::size_t Rank, class... I>
constexpr std::size_t indexed_rank() {
  constexpr std::size_t taken = (IndexFacts<I>::taken + ...);
  static_assert(taken <= Rank, "there are more indices than axes");
  return Rank - taken + (IndexFacts<I>::given + ...);
}

}  // namespace detail

namespace detail {

/// The first index of x(...), which knows the caller's line.
template <class I>
struct First {
  First(I index, Location where = Location::current()) : index(index), where(where) {}
  I index;
  Location where;
};
template <>
struct First<std::int64_t> {
  template <std::integral T>
  requires(!std::same_as<T, bool>) First(T position, Location where = Location::current())
      : index(static_cast<std::int64_t>(position)), where(where) {}
  std::int64_t index;
  Location where;
};
}  // namespace detail

/// What x(...) gives for a tensor that can be assigned to: the part itself and, as long as it has no name, a
/// place to assign to: x(0, all) = row; x(s(0, 2)) += 1.
template <std::size_t Rank, class Kind, class Whole, std::size_t Count>
class Part : public Tensor<Rank, Kind> {
  using Base = Tensor<Rank, Kind>;

 public:
  using Operand = detail::OperandOf<Rank, Kind>;

  Part(Whole& whole, const std::array<Index, Count>& indices, const Location& where)
      : Base(detail::trusted, index(whole.dynamic(), indices, where)),
        whole_(whole),
        indices_(indices),
        where_(where) {}
  Part(const Part&) = delete;

  Part& operator=(const Base& other) & {
    static_cast<Base&>(*this) = other;
    return *this;
  }
  void operator=(Operand value) && { assign(value.operand); }
  void operator=(const Part& value) && { assign(value.dynamic()); }
#define SINTER_ASSIGNMENT(symbol, name)                                                                    \
  void operator symbol(Operand value)&& {                                                                  \
    assign(AnyTensor::name(this->dynamic(), value.operand, value.where).cast(this->dtype(), value.where)); \
  }
  SINTER_ASSIGNMENT(+=, add)
  SINTER_ASSIGNMENT(-=, sub)
  SINTER_ASSIGNMENT(*=, mul)
  SINTER_ASSIGNMENT(/=, div)
#undef SINTER_ASSIGNMENT

 private:
  void assign(AnyTensor::Operand value) {
    whole_ = Whole(detail::trusted, index_assign(whole_.dynamic(), indices_, value, where_));
  }

  Whole& whole_;
  std::array<Index, Count> indices_;
  Location where_;
};

namespace detail {
SINTER_API AnyTensor masked(const AnyTensor& x, const AnyTensor& mask, const Location& where);
}

/// What x(mask) gives for a tensor that can be assigned to: x(x < 0) = 0. As a tensor, the elements where the
/// mask is true, in row-major order (see mask_select: their number is read, which waits).
template <class Whole>
class MaskedPart {
 public:
  MaskedPart(Whole& whole, const AnyTensor& mask, const Location& where)
      : whole_(whole), mask_(mask), where_(where) {}
  MaskedPart(const MaskedPart&) = delete;

  /// A number, or a tensor of the whole's shape, of which the elements where the mask is true are taken.
  void operator=(detail::OperandOf<Whole::kRank, typename Whole::ElementKind> value) && {
    whole_ = Whole(detail::trusted, AnyTensor::where(mask_, value.operand, whole_.dynamic(), where_));
  }
  operator Tensor<1, typename Whole::ElementKind>() const {
    return {detail::trusted, detail::masked(whole_.dynamic(), mask_, where_)};
  }

 private:
  Whole& whole_;
  AnyTensor mask_;
  Location where_;
};

namespace detail {

template <std::size_t Rank, class Kind, class... I>
using IndexedTensor = Tensor<indexed_rank<Rank, I...>(), Kind>;
template <std::size_t Rank, class Kind, class... I>
using PartOf = Part<indexed_rank<Rank, I...>(), Kind, Tensor<Rank, Kind>, sizeof...(I)>;

}  // namespace detail

}  // namespace sinter
