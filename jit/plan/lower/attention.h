// Chooses how kernels of Dots are computed, attention and its gradients: by tiles of rows, on tensor cores or
// ordinary lanes, or each of few rows by itself.
#pragma once

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

/// Notes how the scores of a Dot or a Combine are gone over. Throws Cut where the draft has some that are
/// gone over otherwise.
void go_over_scores(Draft& draft, const Node& node);

/// Gives a kernel an Attention, or LoneRows, where it goes over rows of scores. `kernel` is the draft's, with
/// levels, phases and stores. Throws Cut for one that has a Combine, which nothing else computes, and cannot
/// be one. False for kernels without Dots and Combines.
bool choose_attention(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel);

}  // namespace sinter::plan
