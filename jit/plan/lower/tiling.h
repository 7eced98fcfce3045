// Chooses the tiles by which tensor cores compute a sum of products.
#pragma once

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

/// With so few rows or columns a product is read as fast as memory is, by the kernels of other reductions.
inline constexpr double kFewRows = 1;

/// Gives a kernel a Tiling where it is a sum of products that the device's tensor cores can compute. `kernel`
/// is the draft's, with levels, phases and stores; nothing changes where it is not.
void choose_tiling(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel);

}  // namespace sinter::plan
