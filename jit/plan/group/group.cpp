// The three steps of grouping.
#include "jit/plan/group/group.h"

#include "jit/plan/group/divide.h"
#include "jit/plan/group/merge.h"
#include "jit/plan/group/storing.h"

namespace sinter::plan {

Grouping group(const Graph& graph, const GroupOptions& options) {
  const Users users = users_of(graph);
  std::vector<Storing> storing = choose_stored(graph, users, options);
  Grouping grouping = make_kernels(graph, users, options.limits, storing);
  if (options.fusion) merge_kernels(graph, users, options.limits, storing, grouping);
  return grouping;
}

}  // namespace sinter::plan
