// The first step of grouping: which nodes are written to memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/plan/group/group.h"

namespace sinter::plan {

/// For each node, the nodes that read it.
using Users = std::vector<std::vector<NodeId>>;
Users users_of(const Graph& graph);

/// Work for one element of a node, in additions.
int weight_of(const Node& node);

/// Whether a node is written to memory, and why.
enum class Storing : std::uint8_t {
  Inline,    // it is not: each kernel that needs it computes it on the way
  Chosen,    // it is weighed to be cheaper so; a kernel that is merged with all that read it need not do it
  Expanded,  // an expansion hands each element to many points, and it is too costly to compute at each
  Factor,    // it is a product's only row, or a matrix that few rows meet; likewise
  Required,  // it is in memory after its kernel: a result, or read by a library op or an indexed read
};

/// Library ops have what `libraries` names in memory: their results, and the nodes that operands are read
/// from.
std::vector<Storing> choose_stored(const Graph& graph, const Users& users,
                                   std::span<const LibraryCall> libraries, const GroupOptions& options);

}  // namespace sinter::plan
