// Chooses the tiles of products that are computed by cooperative matrices.
#pragma once

#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/traits.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {

/// At most kMostTilings, the one that the cost model expects to be the fastest first, with all else as in
/// `like`. Empty where no tile of whole matrices fits the device.
std::vector<ir::Tiling> ranked_matrix_tilings(const ir::Tiling& like, const ProductSizes& sizes,
                                              const ir::TensorCores& cores);

}  // namespace sinter::plan
