// Sums of products that are added up, which tiles compute as one sum.
#pragma once

#include <span>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// True iff results need of these Reduces no more than what all of them, and maybe other values, add up to.
/// A product of 16 bits that is added as f32 counts as if it were not rounded (docs/numerics.md).
bool are_added_up(const Kernel& kernel, std::span<const ExprId> sums);

/// A kernel with Tiling::terms as tiles compute it: where these terms are added there is nothing to add,
/// and Tiling::sum has them all.
Kernel with_one_sum(const Kernel& kernel);

}  // namespace sinter::ir
