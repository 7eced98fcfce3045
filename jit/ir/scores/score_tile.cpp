// Lays out a tile of scores.
#include "jit/ir/scores/score_tile.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace sinter::ir {

ScoreTile::ScoreTile(const Kernel& kernel) : kernel_(kernel), attention_(kernel.attention) {
  const std::vector<std::uint32_t> loops = dependence(kernel);
  int end_of_held = 0;
  for (const bool columns : {false, true}) {
    if (columns && holds_rows()) end_of_held = std::exchange(end_of_rows_, 0);
    for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
      const Expr& e = kernel.exprs[id];
      const bool is_column = (loops[id] >> kernel.outer_rank & 1) != 0;
      if (e.kind != ExprKind::Row || is_column != columns) continue;
      places_[id] = {is_column, end_of_rows_};
      end_of_rows_ += (is_column ? attention_.columns : attention_.rows) * line(e);
    }
  }
  if (!of_matrices()) {
    pieces_ = end_of_rows_ + std::max(attention_.columns * line_of_weights(), lanes());
    return;
  }
  if (is_laid()) {
    pieces_ = std::max(end_of_rows_, end_of_held);
    return;
  }
  int scores = end_of_rows_, sums = 0;
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    if (e.kind == ExprKind::Dot) {
      scores_[id] = scores;
      scores += attention_.columns * line_of_rows();
    }
    if (e.kind == ExprKind::Combine) {
      sums_[id] = sums;
      sums += matrices_of(kernel.exprs[e.args[1]]) * kMatrix * line_of_rows();
    }
  }
  first_factor_ = end_of_rows_ + attention_.columns * line_of_weights();
  const int factors = kernel.phases == 3 ? first_factor_ + kMatrix * line_of_rows() : 0;
  pieces_ = std::max({scores, factors, sums});
}

int ScoreTile::words_of_lane() const {
  int words = 0;
  const int of_dot = rows_of_lane() * columns_of_lane();
  for (const Expr& e : kernel_.exprs) {
    if (e.kind == ExprKind::Dot) words += of_dot;
    if (e.kind != ExprKind::Combine) continue;
    const Expr& row = kernel_.exprs[e.args[1]];
    if (of_matrices())
      words += (is_laid() ? of_dot / 2 : of_dot) + attention_.rows * matrices_of(row) * kMatrix / lanes();
    else
      words += rows_of_lane() * kFour * fours_of_lane(row);
  }
  return words;
}

int ScoreTile::words_of_rows() const {
  int words = 0;
  for (const auto& [id, place] : places_)
    if (!place.is_column) words += attention_.rows * matrices_of(kernel_.exprs[id]) * kMatrix / 2 / lanes();
  return words;
}

bool ScoreTile::holds_rows() const { return is_laid() && words_of_lane() + words_of_rows() <= kMostWords; }

}  // namespace sinter::ir
