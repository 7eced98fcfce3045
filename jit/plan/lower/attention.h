// Chooses the tiles by which tensor cores compute kernels of Dots: attention, and its gradients.
#pragma once

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

/// Gives a kernel an Attention where it goes over rows of scores. `kernel` is the draft's, with levels,
/// phases and stores. Throws Cut for one that has a Combine, which nothing else computes, and cannot be one.
/// False for kernels without Dots and Combines.
bool choose_attention(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel);

}  // namespace sinter::plan
