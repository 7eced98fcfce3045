// Sorting along an axis, and places in sorted rows.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// Positions are counted in 32 bits: up to this many elements along an axis.
inline constexpr std::int64_t kMostSorted = (std::int64_t{1} << 31) - 1;

/// x seen as [outer, length, inner] by strides, none negative -> i32 [outer, inner, keep]: where the first
/// `keep` elements in order stand along `length`. Stable; NaN counts as the largest number, both zeros are
/// equal. With values: a second result of x's dtype and the same shape, the elements in that order, their
/// bits as they were.
struct SortOp final : LibraryOp {
  bool descending = false, with_values = false;
  std::int64_t outer = 1, length = 1, inner = 1, keep = 1;
  std::int64_t x_outer = 1, x_step = 1, x_inner = 1;  // strides of x
  DType x_dtype = DType::f32;
  DType numbers = DType::f32;  // the dtype whose numbers x has, perhaps one of fewer bits

  std::int64_t sequences() const { return outer * inner; }
  std::int64_t numel() const { return sequences() * length; }
  /// Elements from x's first to its last one.
  std::int64_t x_span() const {
    return numel() == 0 ? 0 : (outer - 1) * x_outer + (length - 1) * x_step + (inner - 1) * x_inner + 1;
  }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t) const override { return x_dtype; }
  std::int64_t elements_read(std::size_t) const override { return numel(); }
  std::int64_t elements_written(std::size_t) const override { return sequences() * keep; }
};

/// sorted [rows, length] (`shared`: [length], the same for all rows), ascending; values [rows, count]
///   -> i32 [rows, count]: how many elements of the sorted row are less (`right`: or equal). NaN counts as
///   the
/// largest number.
struct SearchSortedOp final : LibraryOp {
  std::int64_t rows = 1, length = 1, count = 1;
  bool shared = false, right = false;
  DType x_dtype = DType::f32;

  std::int64_t sorted_numel() const { return shared ? length : rows * length; }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t) const override { return x_dtype; }
  std::int64_t elements_read(std::size_t operand) const override {
    return operand == 0 ? sorted_numel() : rows * count;
  }
  std::int64_t elements_written(std::size_t) const override { return rows * count; }
};

/// Attributes: axis; how many are kept, 0 for all; 1 for descending; the dtype whose numbers these are, as a
/// number: with fewer bits, a sort has fewer passes. f32, f64, i32, i64; 16-bit floats as f32.
const Kind& sort();
/// The same, with the elements in order as a second result.
const Kind& sort_with_values();
/// Attribute: 1 for right. Of the same dtypes, both operands of one.
const Kind& search_sorted();

}  // namespace sinter::library
