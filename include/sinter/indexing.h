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
#include <sinter/index.h>
#include <sinter/sizes.h>

namespace sinter {

/// The part of `x` that the indices name, of which at most one is a tensor of positions. Ranges beyond the
/// end are cut, as in Python; a position beyond it throws ShapeError.
SINTER_API AnyTensor index(const AnyTensor& x, std::span<const Index> indices,
                           Location where = Location::current());
/// `x` with that part replaced by `value`, which broadcasts to it. Of equal positions the last one counts.
SINTER_API AnyTensor index_assign(const AnyTensor& x, std::span<const Index> indices,
                                  AnyTensor::Operand value, Location where = Location::current());

namespace detail {

/// The same of `count` indices.
SINTER_API AnyTensor index_by(const AnyTensor& x, const Index* indices, std::size_t count,
                              const Location& where);
SINTER_API AnyTensor index_assign_by(const AnyTensor& x, const Index* indices, std::size_t count,
                                     AnyTensor::Operand value, const Location& where);

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
      : Base(detail::trusted, detail::index_by(whole.dynamic(), indices.data(), Count, where)),
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
  }                                                                                                        \
  Base& operator symbol(Operand value)& { return static_cast<Base&>(*this) symbol value; }
  SINTER_ASSIGNMENT(+=, add)
  SINTER_ASSIGNMENT(-=, sub)
  SINTER_ASSIGNMENT(*=, mul)
  SINTER_ASSIGNMENT(/=, div)
#undef SINTER_ASSIGNMENT

 private:
  void assign(AnyTensor::Operand value) {
    whole_ = Whole(detail::trusted,
                   detail::index_assign_by(whole_.dynamic(), indices_.data(), Count, value, where_));
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
#define SINTER_ASSIGNMENT(symbol, name)                                                                    \
  void operator symbol(detail::OperandOf<Whole::kRank, typename Whole::ElementKind> value)&& {             \
    const AnyTensor& whole = whole_.dynamic();                                                             \
    const AnyTensor next = AnyTensor::name(whole, value.operand, value.where).cast(whole.dtype(), where_); \
    whole_ = Whole(detail::trusted, AnyTensor::where(mask_, next, whole, where_));                         \
  }
  SINTER_ASSIGNMENT(+=, add)
  SINTER_ASSIGNMENT(-=, sub)
  SINTER_ASSIGNMENT(*=, mul)
  SINTER_ASSIGNMENT(/=, div)
#undef SINTER_ASSIGNMENT
  operator Tensor<1, typename Whole::ElementKind>() const {
    return {detail::trusted, detail::masked(whole_.dynamic(), mask_, where_)};
  }
  friend std::ostream& operator<<(std::ostream& out, const MaskedPart& part) {
    return out << detail::masked(part.whole_.dynamic(), part.mask_, part.where_);
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
