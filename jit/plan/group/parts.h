// Sums over rows that the kernels of rows add up in parts.
#pragma once

#include <vector>

#include "jit/plan/group/storing.h"
#include "jit/plan/precedence.h"

namespace sinter::plan {

/// Kernels as they are merged.
struct MergedKernels {
  Graph& graph;
  const GroupOptions& options;
  const std::vector<Storing>& storing;
  Lowerer& lowerer;
  Grouping& grouping;
  Precedence& precedence;                      // of groups
  std::vector<std::vector<GroupId>>& readers;  // for each node, as groups were before they were merged
};

/// The gradients of a norm's weight and bias are sums over all rows of what the kernel of its input's
/// gradient has read, or computed, for each row. Where it spares more memory traffic than the parts take,
/// that kernel adds up the columns of the rows that each of its workgroups goes over, and stores these sums:
/// partial sums, which the kernel of the sums over all rows reads in place of the rows. So two kernels stay
/// two, and what is read by both is read once.
void add_up_in_parts(const MergedKernels& kernels);

}  // namespace sinter::plan
