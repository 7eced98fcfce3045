// The last step of planning: launches with their arguments.
#pragma once

#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// All of a plan but its cuts and what it says of held values. `verifies`: kernels are held to the rules of
/// kernel IR; without it only where assertions are on.
Plan assemble(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
              const Memory& memory, bool verifies);

}  // namespace sinter::plan
