// The three steps of grouping.
#include "jit/plan/group/group.h"

#include <utility>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/group/divide.h"
#include "jit/plan/group/merge.h"
#include "jit/plan/group/storing.h"
#include "jit/plan/library.h"

namespace sinter::plan {

std::size_t buffers_of_both(const LoweredGroup& a, const LoweredGroup& b) {
  absl::flat_hash_map<NodeId, bool> written;
  for (const BufferUse& use : a.buffers) written[use.node] = use.written;
  for (const BufferUse& use : b.buffers) {
    const auto [it, added] = written.try_emplace(use.node, use.written);
    if (!added && (it->second || use.written)) return 0;
  }
  return written.size();
}

Grouping group(Graph& graph, const GroupOptions& options) {
  const Users users = users_of(graph);
  std::vector<LibraryCall> libraries = library_calls(graph);
  std::vector<Storing> storing = choose_stored(graph, users, libraries, options);
  // A view that is stored for another reason is read from its own memory. Nothing after this stores views.
  std::vector<bool> stored(storing.size());
  for (NodeId id = 0; id < storing.size(); ++id) stored[id] = storing[id] != Storing::Inline;
  make_library_ops(graph, stored, libraries);
  Lowerer lowerer(graph, options.limits);
  Grouping grouping = make_kernels(graph, users, options.limits, storing, lowerer);
  grouping.libraries = std::move(libraries);
  if (options.fusion) merge_kernels(graph, options, storing, lowerer, grouping);
  return grouping;
}

}  // namespace sinter::plan
