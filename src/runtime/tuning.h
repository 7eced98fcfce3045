// Has the tuner (jit/tune) choose the variants of a plan's kernels.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "jit/plan/plan.h"
#include "src/runtime/backend.h"
#include "src/runtime/compilations.h"

namespace sinter::runtime {

class Executor;

/// Gives the kernels of a plan that have a tiling the one that is chosen for the sizes of each launch.
/// Returns for each launch which it is and what chose it; empty where there was nothing to choose. Throws
/// Error for a pin that does not fit.
std::vector<std::string> choose_tilings(plan::Plan& plan, const trace::Trace& trace, Executor& executor,
                                        Backend& backend, Compilations& compilations);

/// Of sinter::TuneAnew the number of instances: while there are any, variants are timed whatever is known.
std::atomic<int>& tuning_anew();

}  // namespace sinter::runtime
