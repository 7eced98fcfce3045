// What the kernels of groups read, and which of them must run before others.
#pragma once

#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/precedence.h"

namespace sinter::plan {

/// For each group the stored nodes and externals that its kernel reads, or would read if it were lowered now:
/// a later division may have stored what it computes inline.
std::vector<std::vector<NodeId>> reads_of(const Graph& graph, const Grouping& grouping);

/// The vertices of the groups' precedence: groups by their numbers, then library ops.
Precedence precedence_of(const Graph& graph, const Grouping& grouping,
                         const std::vector<std::vector<NodeId>>& reads);

}  // namespace sinter::plan
