// Where ordinary lanes that go over tiles of scores have what they share (Attention::By::Lanes).
#pragma once

#include <cstddef>
#include <map>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// All of it is f32, in fours that lie one behind the other: the Rows of a tile's rows, then those of its
/// columns, then the weights that are combined with at the moment, then what the lanes of a row tell each
/// other. Lines have an odd number of fours, so that those below each other are in different banks.
///
/// Eight lanes share the scores of a row: lane t of these has its columns t, t + 8 and so on. A lane has
/// rows_of_lane rows, four neighbours of each half of the tile (or four in all), whose weights of one column
/// are one four.
class ScoreTile {
 public:
  static constexpr int kLanesOfRow = 8, kFour = 4;

  explicit ScoreTile(const Kernel& kernel);

  int lanes() const { return attention_.rows / attention_.rows_of_lane * kLanesOfRow; }
  int columns_of_lane() const { return attention_.columns / kLanesOfRow; }
  /// Fours of a Row's vectors that a lane combines, at most.
  static int fours_of_lane(const Expr& row) { return (row.length / kFour + kLanesOfRow - 1) / kLanesOfRow; }

  bool is_column(ExprId row) const { return places_.at(row).is_column; }
  /// In fours: where a Row begins, and from one of its lines to the next.
  int first(ExprId row) const { return places_.at(row).first; }
  static int line(const Expr& row) { return row.length / kFour | 1; }
  /// Of weights, a line for each column.
  int first_weight() const { return first_weight_; }
  int line_of_weights() const { return attention_.rows / kFour | 1; }
  /// A number of each row of a lane.
  int first_message() const { return first_weight_ + attention_.columns * line_of_weights(); }
  int fours() const { return first_message() + lanes() * attention_.rows_of_lane / kFour; }
  std::size_t bytes() const { return static_cast<std::size_t>(fours()) * kFour * sizeof(float); }
  /// Words that a lane holds of scores, weights and sums.
  int words_of_lane() const;

 private:
  struct Place {
    bool is_column;
    int first;
  };
  const Kernel& kernel_;
  Attention attention_;
  std::map<ExprId, Place> places_;
  int first_weight_ = 0;
};

}  // namespace sinter::ir
