// What the parts of a kernel of attention share.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "jit/emit/walker/expressions.h"
#include "jit/ir/scores/score_places.h"

namespace sinter::emit {

// Of a warpgroup, and of a subgroup by itself; of a line of shared memory, and what an instruction multiplies
// of it.
inline constexpr int kRowsOfWarpgroup = 64, kRowsOfSubgroup = 16, kLineBytes = 128, kStepBytes = 32;

inline int elements_of_line(DType dtype) { return kLineBytes / static_cast<int>(size_of(dtype)); }
inline int elements_of_step(DType dtype) { return kStepBytes / static_cast<int>(size_of(dtype)); }

/// The text of tc_dot_DTYPE: the scores of 64 rows and `columns`, of a step's elements of both, or more of
/// them.
std::string dot_instruction(DType dtype, int columns);
/// Of tc_combine_DTYPE_LENGTH: to 64 rows of sums the weights of a step's columns times their vectors.
std::string combine_instruction(DType dtype, int length);
/// Of Factors_DTYPE, tc_dot_DTYPE and tc_combine_DTYPE_.. where a subgroup multiplies 16 rows.
std::string subgroup_instructions(DType dtype);
std::string subgroup_combine_instruction(DType dtype, int length);

/// Where Rows lie in shared memory: those of a tile's rows, then, in each slot, those of its columns, and
/// numbers of these columns, f32.
///
/// The lanes of a row of scores have its columns 2 t and 2 t + 1 of each eight, t = 0..3, and give them to
/// tensor cores as weights: those of f32 as the weights number t and t + 4 of eight. So in a kernel that
/// combines f32, column t + 4 k of each eight comes to line 2 t + k, which makes it the lane's score number
/// k, and the rows that are combined, which lie across, stay as they are.
class SharedRows {
 public:
  explicit SharedRows(const ir::Kernel& kernel);
  bool is_column(ir::ExprId row) const { return is_column_.at(row); }
  /// True iff the eight columns at a time change their order on the way.
  bool is_ordered(ir::ExprId row) const { return orders_columns_ && is_column(row) && !is_across(row); }
  bool is_across(ir::ExprId row) const { return ir::lies_across(kernel_.exprs[row]); }
  bool orders_columns() const { return orders_columns_; }
  /// Loads of numbers that columns have, whatever the row: a warp brings them, so that lanes do not wait.
  const std::vector<ir::ExprId>& values() const { return values_; }
  /// Of a Row or a value, from the beginning of the rows, or of a slot.
  int offset(ir::ExprId id) const { return offsets_.at(id); }
  /// A chunk has a line for each row (column), with the next elements of it; of what lies across a line for
  /// each element, with those of the next columns.
  int chunks(ir::ExprId row) const;
  int chunk_bytes(ir::ExprId row) const;
  /// From the first line's begin to what an instruction multiplies in a step.
  int step_bytes(ir::ExprId row, int step) const;
  int bytes_of_rows() const { return bytes_of_rows_; }
  int bytes_of_columns() const { return bytes_of_columns_; }
  int bytes_of_slot() const;
  /// Of a workgroup, with what it is aligned by and the barriers.
  std::size_t bytes() const;

 private:
  const ir::Kernel& kernel_;
  std::map<ir::ExprId, bool> is_column_;
  std::map<ir::ExprId, int> offsets_;
  std::vector<ir::ExprId> values_;
  int bytes_of_rows_ = 0, bytes_of_columns_ = 0;
  bool orders_columns_ = false;
};

/// The loops of the batch that a Row's tensor map has dims for: the last one first.
std::vector<std::size_t> mapped_batch(const ir::Kernel& kernel, ir::ExprId row);

/// A comparison of places that changes with the column by 1, -1 or 0: it holds where `from` < `to`, or
/// `from` <= `to`, and `to` - `from` is that of a column plus `step` for each column after it.
struct Margin {
  ir::ExprId from, to;
  bool or_equal;
  int step;
};

/// Conditions that follow from the places of rows and columns alone, such as those of a causal mask.
class Masks {
 public:
  /// Of tiles of so many rows and columns.
  Masks(const Expressions& e, int rows, int columns);

  /// Those that choose between scores, each not part of another one.
  const std::vector<ir::ExprId>& conditions() const { return places_.conditions(); }
  /// Of a condition; nothing where it is no such comparison.
  std::optional<Margin> margin(ir::ExprId condition) const;
  /// What is asked about the tile of columns that begins at `from`, of the rows from `row_of_tile` on.
  struct Tests {
    std::vector<std::string> before;  // definitions that hold for all tiles
    std::vector<std::string> places;  // definitions for this one
    std::string skipped;              // true where no score of the tile counts
    std::string seen;                 // true where all conditions hold and all columns exist
  };
  Tests tests() const;
  /// Text for the start of a kernel in C++: is_skipped(from) and are_all_seen(from).
  std::string text() const;
  /// Text after the last tile: what a greatest score is, where some tiles were skipped; empty: what it was.
  std::string greatest_if_skipped(ir::ExprId maximum) const;
  /// True iff more is seen of later columns in later rows.
  bool grows_with_rows() const;

 private:
  struct Logic;
  /// How much a place changes from one column to the next; nothing where that is not known.
  std::optional<int> step_of(ir::ExprId place) const;
  std::string value_without(ir::ExprId id, ir::ExprId condition) const;
  std::string may_skip(ir::ExprId condition) const;
  std::vector<std::string> interval(ir::ExprId id) const;

  const Expressions& e_;
  const ir::Kernel& kernel_;
  const int rows_, columns_;
  const std::string minus_infinity_;
  const ir::ScorePlaces places_;
};

}  // namespace sinter::emit
