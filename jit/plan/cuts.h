// The notes that grouping left about kernels that stayed apart, as a reader wants them.
#pragma once

#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// Cuts that hold in the end: notes about values that another merge took out of memory after all are left
/// out, and equal ones (ops, source lines, reason) are joined.
std::vector<PlanCut> cuts_of(const Graph& graph, const Grouping& grouping);

}  // namespace sinter::plan
