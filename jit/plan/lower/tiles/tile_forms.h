// Chooses among the forms of tiles.
#pragma once

#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/traits.h"
#include "jit/plan/lower/tiles/tile_end.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {

/// True iff products with these tilings may be terms of one sum (ir::Tiling::terms), as far as their factors
/// are concerned.
bool may_be_terms(const ir::Tiling& a, const ir::Tiling& b);

/// The one that the cost model expects to be the fastest first, with all else as in `like`. Empty where the
/// device has no room for any.
std::vector<ir::Tiling> ranked_by_forms(const ir::Tiling& like, const ProductSizes& sizes, const TileEnd& end,
                                        const ir::TensorCores& cores);

/// True iff clusters may share the tiles: the copy engine brings both factors, and sums of integers, which
/// become floats when all of a sum is there, are none of it.
bool may_share_in_clusters(const ir::Tiling& like, const ir::TensorCores& cores);

}  // namespace sinter::plan
