// The third step of grouping: kernels that become one.
#pragma once

#include <vector>

#include "jit/plan/group/storing.h"

namespace sinter::plan {

/// Merges kernels with those whose results they read, then kernels that read the same data. Whether two
/// kernels can be one is decided by lowering them together. Then sums over rows are shared with the kernels
/// of rows (parts.h).
void merge_kernels(Graph& graph, const GroupOptions& options, const std::vector<Storing>& storing,
                   Lowerer& lowerer, Grouping& grouping);

}  // namespace sinter::plan
