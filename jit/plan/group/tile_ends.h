// What stands behind the tiles of a contraction, and whether it should.
#pragma once

#include "jit/plan/group/group.h"

namespace sinter::plan {

/// Elements of tensors as large as a contraction's result that another kernel reads and writes, in bytes for
/// each element of the result.
struct BehindTiles {
  double handed = 0;       // by the contraction, through memory unless both are one kernel
  double moved = 0;        // all others
  bool may_share = false;  // clusters may share its tiles
};

/// True iff a kernel takes longer behind the tiles of a contraction than on its own. As many workgroups do
/// it as there are tiles: where all share long sums of few tiles, most of them have nothing to do then, and
/// where there are no more tiles to come, nothing is multiplied meanwhile. Of many tiles some multiply
/// meanwhile, but what moves much memory keeps their factors from the cache. Tiles of few rows are nearly all
/// factor. `products`: what is added up to the contraction's result.
bool are_slower_behind_tiles(const Graph& graph, const Node& contraction, const Shape& products,
                             const BehindTiles& behind, const GroupOptions& options);

}  // namespace sinter::plan
