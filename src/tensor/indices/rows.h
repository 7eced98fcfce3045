// What indexed writes have in common: values and places as rows of a matrix.
#pragma once

#include <string_view>

#include <sinter/functions/scatter.h>

#include "jit/library/segments.h"
#include "src/tensor/indices/scatter.h"

namespace sinter::tensor {

/// A tensor seen as rows [size, columns] that an index chooses, and what goes to them as [count, columns].
/// Whole slices along `axis`, or rows of one element.
class Rows {
 public:
  /// `index` of rank 1, for slices of a tensor of `shape`.
  static Rows of_slices(std::string_view op, const AnyTensor& index, const Shape& shape, std::size_t axis,
                        const Location& where);
  /// `index` with an entry for each element: of the rank of `shape`, whose other sizes it has.
  static Rows of_elements(std::string_view op, const AnyTensor& index, const Shape& shape, std::size_t axis,
                          const Location& where);

  std::int64_t count() const { return row_of_.numel(); }
  std::int64_t size() const { return size_; }
  /// For each value its row: i32 [count], in range whatever the index says; see rows_in_range.
  const AnyTensor& row_of() const { return row_of_; }

  /// The target, or values of the source's shape, as rows; and the target's rows back.
  AnyTensor as_rows(const AnyTensor& x, const Location& where) const;
  AnyTensor from_rows(const AnyTensor& rows, const Location& where) const;

 private:
  AnyTensor row_of_;
  Shape shape_;  // of the target
  std::size_t axis_ = 0;
  std::int64_t size_ = 0;
  bool slices_ = false;
};

/// True iff what goes to `rows` rows of `values` is joined there, by join_in_place, in the order that this
/// thread allows.
bool joins_in_place(const AnyTensor& values, std::int64_t rows, library::SegmentReduction reduction);
/// library::IndexedJoinOp, without a history. What rows without any have is a number that changes none where
/// the dtype is one that library ops compute in, else any.
AnyTensor join_in_place(const AnyTensor& values, const AnyTensor& row_of, std::int64_t rows,
                        library::SegmentReduction reduction, const Location& where);

/// Adds the rows of `values` [count, columns] up by `row_of` [count]: [rows, columns], 0 for those without
/// any. Where it joins in place also of [outer, count, columns] to [outer, rows, columns].
AnyTensor sum_rows(const AnyTensor& values, const AnyTensor& row_of, std::int64_t rows,
                   const Location& where);

}  // namespace sinter::tensor
