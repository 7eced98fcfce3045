// The second step of grouping: a kernel for each stored node.
#pragma once

#include <vector>

#include "jit/plan/group/storing.h"

namespace sinter::plan {

/// Kernels, each of which stores one node. Where one would be too large, more nodes are stored.
Grouping make_kernels(const Graph& graph, const Users& users, const LowerLimits& limits,
                      std::vector<Storing>& storing, Lowerer& lowerer);

}  // namespace sinter::plan
