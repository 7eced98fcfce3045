// What comes of what.
#include "jit/plan/origins.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

#include "jit/ir/held_bytes.h"
#include "jit/plan/graph.h"

namespace sinter::plan {

Origins::Origins(const Graph& graph, std::vector<std::uint32_t> gathers) {
  Edges edges;
  std::size_t count = 0;
  for (const Node& node : graph.nodes) count += node.operands.size();
  edges.first_operand.reserve(graph.nodes.size() + 1);
  edges.operands.reserve(count);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    edges.first_operand.push_back(static_cast<std::uint32_t>(edges.operands.size()));
    edges.operands.insert(edges.operands.end(), node.operands.begin(), node.operands.end());
    if (node.kind == NodeKind::External) edges.inputs.emplace_back(node.value, id);
  }
  edges.first_operand.push_back(static_cast<std::uint32_t>(edges.operands.size()));
  edges.gathers = std::move(gathers);
  for (NodeId gather : edges.gathers) edges.records.push_back(graph.nodes[gather].record);
  for (const Result& result : graph.results) edges.results.push_back(result.node);
  edges_ = std::make_shared<const Edges>(std::move(edges));
}

std::size_t Origins::held_bytes() const {
  // Plans of other sizes have parts of it.
  return (ir::held_bytes(edges_->first_operand) + ir::held_bytes(edges_->operands) +
          ir::held_bytes(edges_->inputs) + ir::held_bytes(edges_->gathers) + ir::held_bytes(edges_->records) +
          ir::held_bytes(edges_->results)) /
         static_cast<std::size_t>(edges_.use_count());
}

std::vector<bool> Origins::reached(std::span<const std::uint32_t> words,
                                   std::span<const trace::ValueId> bad_inputs,
                                   std::span<const std::uint32_t> bad_nodes) const {
  if (!words.empty() && words.size() != edges_->gathers.size())
    throw std::logic_error("[plan] " + std::to_string(words.size()) + " fault words of a plan that has " +
                           std::to_string(edges_->gathers.size()));
  const std::size_t nodes = edges_->first_operand.empty() ? 0 : edges_->first_operand.size() - 1;
  std::vector<bool> bad(nodes);
  for (std::size_t word = 0; word < words.size(); ++word)
    if (words[word] != 0) bad[edges_->gathers[word]] = true;
  for (const std::uint32_t node : bad_nodes) bad[node] = true;
  std::vector<trace::ValueId> sorted(bad_inputs.begin(), bad_inputs.end());
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [value, node] : edges_->inputs)
    if (std::binary_search(sorted.begin(), sorted.end(), value)) bad[node] = true;
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::size_t k = edges_->first_operand[node]; k < edges_->first_operand[node + 1] && !bad[node]; ++k)
      bad[node] = bad[edges_->operands[k]];
  std::vector<bool> found;
  for (std::uint32_t result : edges_->results) found.push_back(bad[result]);
  return found;
}

}  // namespace sinter::plan
