// The two halves of a deterministic scatter: indices brought into order, and sums over segments of equal
// ones.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// Positions are counted in 32 bits: up to this many indices, and as many rows.
inline constexpr std::int64_t kMostSegmentRows = (std::int64_t{1} << 31) - 1;

/// index [count], i32 in [0, rows) -> i32 [rows + 2 * count], three lists one behind the other:
///   first      of each row the place in order where its indices begin; `count` for rows without any
///   index      the indices in order, equal ones in the order of their positions
///   position   where each of them stood
struct SortIndicesOp final : LibraryOp {
  std::int64_t count = 0, rows = 0;

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// How the values of one index are joined. Prod, Max and Min: in their order too, NaN is an extreme.
enum class SegmentReduction : std::uint8_t { Sum, Prod, Max, Min };

/// values [count, columns] and what SortIndices gave -> sums over the values whose index is the same, added
/// in the order of their positions (or part by part in that order).
///   dense     [rows, columns]: of each row, 0 for rows without indices
///   else      [count + 1, columns]: where the indices of a row begin in order; 0 everywhere else, the last
///             row included: `first` says for each row where its sum is
struct SegmentSumOp final : LibraryOp {
  std::int64_t count = 0, columns = 0, rows = 0;
  bool dense = true;
  SegmentReduction reduction = SegmentReduction::Sum;

  std::int64_t results() const { return dense ? rows : count + 1; }
  std::int64_t lists() const { return rows + 2 * count; }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t operand) const override { return operand == 1 ? DType::i32 : dtype; }
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// Attribute: rows.
const Kind& sort_indices();
/// Attributes: rows; 1 for a dense result, else 0; SegmentReduction. f32, f64, i32, i64; 16-bit floats as
/// f32.
const Kind& segment_sum();

}  // namespace sinter::library
