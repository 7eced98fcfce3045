// What becomes of a finished tile, for the cost model.
#pragma once

#include "jit/ir/kernel.h"

namespace sinter::plan {

/// Of each element of a tile.
struct TileEnd {
  double instructions = 0;  // between the sum and what is stored, about
  double loaded = 0;        // bytes that differ from row to row
  double stored = 0;        // bytes
};
TileEnd end_of_tiles(const ir::Kernel& kernel, const ir::Tiling& tiling);

}  // namespace sinter::plan
