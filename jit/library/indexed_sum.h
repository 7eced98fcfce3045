// Sums of values that an index sends to few rows: one pass over the values, nothing is sorted.
#pragma once

#include "jit/library/library_op.h"

namespace sinter::library {

/// values [count, columns] and row_of [count], i32 in [0, rows) -> sums [stretches, rows, columns]: of each
/// stretch of values, one after the other, the sums of those that go to each row; 0 for rows without any. All
/// stretches have the same length, but the last ones may have less or nothing. Added up they are the sums of
/// all values.
struct IndexedSumOp final : LibraryOp {
  std::int64_t count = 0, columns = 0, rows = 0, stretches = 1;

  /// Values of a stretch.
  std::int64_t stretch() const { return count / stretches + (count % stretches != 0 ? 1 : 0); }

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t operand) const override { return operand == 1 ? DType::i32 : dtype; }
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// What a workgroup of a GPU has of the result.
struct IndexedSumTile {
  std::int64_t rows, columns;
};
IndexedSumTile tile_of_sum(DType dtype, std::int64_t columns);

/// How many stretches a sum of these sizes has, as many as keep a GPU busy; 0 where so many tiles of the
/// result would each look through all indices that sorting these takes less (jit/library/segments.h).
/// Follows from the sizes alone, so that sums have the same bits each time.
std::int64_t stretches_of_sum(DType dtype, std::int64_t count, std::int64_t columns, std::int64_t rows);

/// Attributes: rows, stretches. f32, f64, i32, i64; 16-bit floats as f32.
const Kind& indexed_sum();

}  // namespace sinter::library
