// Where a workgroup that goes over tiles of scores has what its lanes share (Attention::By::Lanes, Matrices).
#pragma once

#include <cstddef>
#include <map>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Memory is counted in pieces of 16 bytes: four f32, or eight floats of 16 bits. First come the Rows of a
/// tile's rows, then those of its columns: a line for each row (column), of f32, or of cooperative matrices
/// as they are in memory, up to a multiple of what these multiply. Lines have an odd number of pieces, so
/// that those below each other are in different banks. Behind them are, each with a line for each column,
///
///   By::Lanes     the weights that are combined with at the moment, or what the lanes of a row tell each
///                 other where they cannot exchange it otherwise
///   By::Matrices  the scores of each Dot, in whose place come, when lanes have read them, weights of 16 bits
///                 and sixteen lines of numbers of rows, which matrices are divided by. When all is done, the
///                 sums of each Combine come in the place of everything, a line for each element. Where the
///                 layout of matrices is known, nothing: all this stays in registers.
///
/// Several lanes share the scores of rows_of_lane() neighbouring rows: lane t of these has columns t, t +
/// lanes_of_row() and so on. Of matrices of a known layout lanes have the rows and columns that this says.
class ScoreTile {
 public:
  static constexpr int kFour = 4, kPieceBytes = 16, kMatrix = 16;
  /// Of a lane, for what it holds, beside what it finds that by.
  static constexpr int kMostWords = 168;

  explicit ScoreTile(const Kernel& kernel);

  bool of_matrices() const { return attention_.by == Attention::By::Matrices; }
  bool is_laid() const { return attention_.layout.is_known(); }
  int rows_of_lane() const { return is_laid() ? attention_.layout.rows_of_lane() : of_matrices() ? 8 : 4; }
  int lanes_of_row() const { return is_laid() ? attention_.layout.lanes_of_row() : of_matrices() ? 16 : 8; }
  int lanes() const { return attention_.rows / rows_of_lane() * lanes_of_row(); }
  int columns_of_lane() const { return attention_.columns / lanes_of_row(); }
  /// Of the vectors of a Row, fours of a lane that combines them, at most.
  static int fours_of_lane(const Expr& row) { return (row.length / kFour + 7) / 8; }
  /// Matrices side by side in a Row.
  static int matrices_of(const Expr& row) { return (row.length + kMatrix - 1) / kMatrix; }

  bool is_column(ExprId row) const { return places_.at(row).is_column; }
  int first(ExprId row) const { return places_.at(row).first; }
  /// Pieces of a line of a Row that have something, and to its next line.
  int filled(const Expr& row) const { return of_matrices() ? 2 * matrices_of(row) : row.length / kFour; }
  int line(const Expr& row) const { return filled(row) | 1; }
  /// Of f32 of each row.
  int line_of_rows() const { return attention_.rows / kFour | 1; }
  int first_score(ExprId dot) const { return scores_.at(dot); }
  int first_weight() const { return end_of_rows_; }
  int line_of_weights() const { return of_matrices() ? attention_.rows / 8 | 1 : line_of_rows(); }
  int first_message() const { return end_of_rows_; }
  int first_factor() const { return first_factor_; }
  int first_sum(ExprId combine) const { return sums_.at(combine); }

  int pieces() const { return pieces_; }
  std::size_t bytes() const { return static_cast<std::size_t>(pieces_) * kPieceBytes; }
  /// Words that a lane holds of scores, weights and sums.
  int words_of_lane() const;
  /// Of a known layout: a lane's words of the Rows of the tile's rows, and whether it holds them, so that
  /// those of columns come in their place, or loads them again for each tile of columns.
  int words_of_rows() const;
  bool holds_rows() const;

 private:
  struct Place {
    bool is_column;
    int first;
  };
  const Kernel& kernel_;
  Attention attention_;
  std::map<ExprId, Place> places_;
  std::map<ExprId, int> scores_, sums_;
  int end_of_rows_ = 0, first_factor_ = 0, pieces_ = 0;
};

}  // namespace sinter::ir
