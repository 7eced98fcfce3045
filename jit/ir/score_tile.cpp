// Lays out a tile of scores.
#include "jit/ir/score_tile.h"

#include <cstdint>
#include <vector>

namespace sinter::ir {

ScoreTile::ScoreTile(const Kernel& kernel) : kernel_(kernel), attention_(kernel.attention) {
  const std::vector<std::uint32_t> loops = dependence(kernel);
  for (const bool columns : {false, true})
    for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
      const Expr& e = kernel.exprs[id];
      const bool is_column = (loops[id] >> kernel.outer_rank & 1) != 0;
      if (e.kind != ExprKind::Row || is_column != columns) continue;
      places_[id] = {is_column, first_weight_};
      first_weight_ += (is_column ? attention_.columns : attention_.rows) * line(e);
    }
}

int ScoreTile::words_of_lane() const {
  int words = 0;
  for (const Expr& e : kernel_.exprs) {
    if (e.kind == ExprKind::Dot) words += attention_.rows_of_lane * columns_of_lane();
    if (e.kind == ExprKind::Combine)
      words += attention_.rows_of_lane * kFour * fours_of_lane(kernel_.exprs[e.args[1]]);
  }
  return words;
}

}  // namespace sinter::ir
