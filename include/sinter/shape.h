// The sizes of a tensor's dimensions, outermost first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>

#include <sinter/detail/api.h>
#include <sinter/error.h>

namespace sinter {

/// No tensor has more dimensions than this.
inline constexpr std::size_t kMaxRank = 8;

class Dims;

namespace detail {
[[noreturn]] SINTER_API void throw_rank(std::size_t rank);
SINTER_API std::size_t place_of(const Dims& dims, std::size_t subscript);
}  // namespace detail

/// A short list of integers, one for each dimension, stored inline (no allocation). Also used for strides and
/// axes.
class Dims {
 public:
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values) {
    check_rank(values.size());
    for (std::int64_t v : values) values_[rank_++] = v;
  }
  /// Of a vector, array or span.
  template <class C>
  requires requires(const C& c, const std::int64_t* data) {
    data = c.data();
    c.size();
  }
  explicit Dims(const C& values) {
    check_rank(values.size());
    for (; rank_ < values.size(); ++rank_) values_[rank_] = values.data()[rank_];
  }
  /// `rank` times the same value.
  static Dims filled(std::size_t rank, std::int64_t value) {
    check_rank(rank);
    Dims dims;
    dims.rank_ = rank;
    for (std::size_t i = 0; i < rank; ++i) dims.values_[i] = value;
    return dims;
  }

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return rank_; }
  bool empty() const { return rank_ == 0; }
  /// Throws ShapeError where there is none; -1 is the last one.
  std::int64_t operator[](std::size_t i) const { return values_[i < rank_ ? i : detail::place_of(*this, i)]; }
  std::int64_t& operator[](std::size_t i) { return values_[i < rank_ ? i : detail::place_of(*this, i)]; }
  std::int64_t back() const { return values_[rank_ - 1]; }
  const std::int64_t* begin() const { return values_.data(); }
  const std::int64_t* end() const { return values_.data() + rank_; }
  std::int64_t* begin() { return values_.data(); }
  std::int64_t* end() { return values_.data() + rank_; }

  void push_back(std::int64_t value) {
    check_rank(rank_ + 1);
    values_[rank_++] = value;
  }
  void insert(std::size_t at, std::int64_t value) {
    check_rank(rank_ + 1);
    for (std::size_t i = rank_; i > at; --i) values_[i] = values_[i - 1];
    values_[at] = value;
    ++rank_;
  }
  void erase(std::size_t at) {
    for (std::size_t i = at; i + 1 < rank_; ++i) values_[i] = values_[i + 1];
    --rank_;
  }

  friend bool operator==(const Dims& a, const Dims& b) {
    if (a.rank_ != b.rank_) return false;
    for (std::size_t i = 0; i < a.rank_; ++i)
      if (a.values_[i] != b.values_[i]) return false;
    return true;
  }

 private:
  static void check_rank(std::size_t rank) {
    if (rank > kMaxRank) detail::throw_rank(rank);
  }

  std::size_t rank_ = 0;
  std::array<std::int64_t, kMaxRank> values_{};
};

/// "(2, 3)"
SINTER_API std::string to_string(const Dims& dims);

namespace detail {

/// The product of sizes that are zero or more; nothing when it does not fit. Zeros are left out while it is
/// computed, so that strides, which are products of some of the sizes, fit too.
inline std::optional<std::int64_t> numel_of(const Dims& sizes) {
  std::int64_t product = 1;
  bool empty = false;
  for (std::int64_t size : sizes) {
    if (size == 0) {
      empty = true;
      continue;
    }
#if defined(__GNUC__)
    if (__builtin_mul_overflow(product, size, &product)) return std::nullopt;
#else
    if (product > std::numeric_limits<std::int64_t>::max() / size) return std::nullopt;
    product *= size;
#endif
  }
  return empty ? 0 : product;
}

[[noreturn]] SINTER_API void throw_numel(const Dims& sizes);

}  // namespace detail

/// The sizes of the dimensions; every size is zero or more.
class Shape : public Dims {
 public:
  using Dims::Dims;
  Shape() = default;
  explicit Shape(const Dims& dims) : Dims(dims) {}

  /// Number of elements: the product of all sizes, 1 for rank 0. Throws ShapeError when it is 2^63 or more.
  std::int64_t numel() const {
    if (const std::optional<std::int64_t> n = detail::numel_of(*this)) return *n;
    detail::throw_numel(*this);
  }
};

/// Strides, in elements, of a row-major tensor without gaps.
inline Dims contiguous_strides(const Shape& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  for (std::size_t i = shape.rank(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// One or several dimensions; negative ones count from the end. Written `1` or `{0, -1}`.
class Axes : public Dims {
 public:
  Axes(int axis) : Dims{axis} {}
  Axes(std::int64_t axis) : Dims{axis} {}
  Axes(std::initializer_list<std::int64_t> axes) : Dims(axes) {}
  explicit Axes(const Dims& axes) : Dims(axes) {}
};

/// Says that a reduction's axes go: x.sum(1, drop).
struct Drop {};
inline constexpr Drop drop;

/// Part of a dimension: indices start, start + step, ... before stop. Negative start and stop count from the
/// end; a stop that is left out means "to the end", and what lies beyond an end is cut, as in Python. A
/// negative step goes backwards (start then defaults to the last element).
struct Range {
  std::optional<std::int64_t> start, stop;
  std::int64_t step = 1;
};

}  // namespace sinter
