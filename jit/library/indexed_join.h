// Values that an index sends to rows, joined there without being sorted (jit/library/segments.h sorts). The
// host's threads go over all indices in order, a GPU's lanes join by atomic operations, as they come.
#pragma once

#include <limits>

#include "jit/library/segments.h"

namespace sinter::library {

/// values [count, columns] and row_of [count], i32 in [0, rows) -> [rows, columns]: of each row, the values
/// that go to it, joined in the order of their positions or as they come (DeviceTraits::Joins); none_of the
/// reduction for rows without any. Or
/// values [outer, count, columns] -> [outer, rows, columns], with the same row_of for each of them.
///
/// Devices that join values as they come give the same bits each time for sums of f32, too, which they add up
/// as integers, unless they may add them in `any_order`; they have no products, and sums of f64 in any order
/// alone.
struct IndexedJoinOp final : LibraryOp {
  std::int64_t outer = 1, count = 0, columns = 0, rows = 0;
  SegmentReduction reduction = SegmentReduction::Sum;
  bool any_order = false;  // of sums of floats, as the program allows it (SumOrder)

  const Kind& kind() const override;
  std::string key() const override;
  std::string describe() const override;
  DType dtype_of_operand(std::size_t operand) const override { return operand == 1 ? DType::i32 : dtype; }
  std::int64_t elements_read(std::size_t operand) const override;
  std::int64_t elements_written(std::size_t result) const override;
};

/// A number that changes none that it is joined with.
template <class T>
T none_of(SegmentReduction reduction) {
  using Limits = std::numeric_limits<T>;
  switch (reduction) {
    case SegmentReduction::Sum: return T{0};
    case SegmentReduction::Prod: return T{1};
    case SegmentReduction::Max: return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    case SegmentReduction::Min: break;
  }
  return Limits::has_infinity ? Limits::infinity() : Limits::max();
}

/// True iff any order gives the same bits: sums of floats round, and so do products.
constexpr bool is_same_in_any_order(SegmentReduction reduction, DType dtype) {
  return reduction == SegmentReduction::Max || reduction == SegmentReduction::Min ||
         (reduction == SegmentReduction::Sum && !is_float(dtype));
}

/// Attributes: rows; SegmentReduction; 1 for any order. f32, f64, i32, i64; 16-bit floats as f32.
const Kind& indexed_join();

}  // namespace sinter::library
