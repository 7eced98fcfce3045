// Chooses how subgroups share the sums of products of few rows.
#pragma once

#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {

inline constexpr std::int64_t kMostFewRows = 16;
inline constexpr std::size_t kMostOfFewRows = 4;

/// At most kMostOfFewRows ways, the one that is expected to be the fastest first, with all else as in `like`:
/// of a product of at most kMostFewRows rows, whose tiles of 64 would mostly be empty. Empty of others, and
/// where tensor cores are not reached by single subgroups.
std::vector<ir::Tiling> few_row_tilings(const ir::Tiling& like, const ProductSizes& sizes,
                                        const ir::TensorCores& cores);

/// True iff so few results are made of each element of the product's first or second factor that a kernel of
/// few rows, or of one, computes it once at most.
bool has_few_readers(const Graph& graph, const Node& product, std::size_t which);

}  // namespace sinter::plan
