// Grouping: which nodes are written to memory, and which of them are computed by one kernel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "jit/plan/graph.h"
#include "jit/plan/library.h"
#include "jit/plan/lower/lowerer.h"

namespace sinter::plan {

struct GroupOptions {
  bool fusion = true;  // false: each op is a kernel of its own
  LowerLimits limits;
  double launch_bytes = 1 << 20, work_per_byte = 8, wait_bytes = 0;  // as in DeviceTraits
};

/// Two groups that might have been one, and why they are not.
struct CutNote {
  NodeId producer, consumer;
  std::string reason;
};

struct Grouping {
  Owners owners;                      // for each node
  std::vector<Group> groups;          // dead ones were merged into others
  std::vector<LoweredGroup> kernels;  // for each group
  std::vector<LibraryCall> libraries;
  std::vector<CutNote> cuts;
};

/// How many buffers two kernels have together of which neither reads what the other writes; 0 for others,
/// which may need fewer than both: a sum is taken from the other kernel instead of added up again.
std::size_t buffers_of_both(const LoweredGroup& a, const LoweredGroup& b);

/// In three steps, each in a file of its own: what is stored (storing.h), a kernel for each stored node
/// (divide.h), and kernels that become one (merge.h).
/// `graph` gets partial sums (parts.h), where sums over rows have room for them.
Grouping group(Graph& graph, const GroupOptions& options);

}  // namespace sinter::plan
