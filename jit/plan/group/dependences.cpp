// Follows what kernels read to who writes it.
#include "jit/plan/group/dependences.h"

#include <algorithm>
#include <utility>

namespace sinter::plan {

std::vector<std::vector<NodeId>> reads_of(const Graph& graph, const Grouping& grouping) {
  std::vector<std::vector<NodeId>> reads(grouping.groups.size());
  std::vector<GroupId> seen_by(graph.nodes.size(), static_cast<GroupId>(grouping.groups.size()));
  std::vector<NodeId> todo;
  const bool was_divided = !grouping.cuts.empty();
  for (GroupId g = 0; g < grouping.groups.size(); ++g) {
    const auto reads_node = [&](NodeId id) {
      if (std::exchange(seen_by[id], g) != g) reads[g].push_back(id);
    };
    for (const BufferUse& use : grouping.kernels[g].buffers)
      if (use.read) reads_node(use.node);
    if (was_divided) todo = graph.nodes[grouping.groups[g].stores[0]].operands;
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (graph.nodes[id].kind != NodeKind::Op || seen_by[id] == g) continue;
      if (grouping.owners[id] != kInline) {
        reads_node(id);
        continue;
      }
      seen_by[id] = g;
      todo.insert(todo.end(), graph.nodes[id].operands.begin(), graph.nodes[id].operands.end());
    }
  }
  return reads;
}

Precedence precedence_of(const Graph& graph, const Grouping& grouping,
                         const std::vector<std::vector<NodeId>>& reads) {
  const auto groups = static_cast<Precedence::Vertex>(grouping.groups.size());
  // Operands come before their users in the graph, and nothing is merged yet.
  std::vector<std::pair<NodeId, Precedence::Vertex>> order;
  std::vector<Precedence::Vertex> writer(graph.nodes.size());
  for (GroupId g = 0; g < groups; ++g) {
    order.emplace_back(grouping.groups[g].stores[0], g);
    writer[grouping.groups[g].stores[0]] = g;
  }
  for (std::size_t k = 0; k < grouping.libraries.size(); ++k) {
    const auto vertex = groups + static_cast<Precedence::Vertex>(k);
    const std::vector<NodeId>& results = grouping.libraries[k].results;
    order.emplace_back(*std::min_element(results.begin(), results.end()), vertex);
    for (const NodeId result : results) writer[result] = vertex;
  }
  std::sort(order.begin(), order.end());
  std::vector<Precedence::Vertex> vertices;
  for (const auto& [node, vertex] : order) vertices.push_back(vertex);
  Precedence precedence(vertices);
  const auto add = [&](Precedence::Vertex reader, NodeId id) {
    if (graph.nodes[id].kind == NodeKind::Op) precedence.add_edge(writer[id], reader);
  };
  for (GroupId g = 0; g < groups; ++g)
    for (const NodeId id : reads[g]) add(g, id);
  for (std::size_t k = 0; k < grouping.libraries.size(); ++k)
    for (const LibraryOperand& operand : grouping.libraries[k].operands)
      add(groups + static_cast<Precedence::Vertex>(k), operand.base);
  return precedence;
}

}  // namespace sinter::plan
