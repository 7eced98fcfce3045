// What comes of what.
#include "jit/plan/origins.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "jit/ir/held_bytes.h"
#include "jit/plan/graph.h"

namespace sinter::plan {

Origins::Origins(const Graph& graph, std::vector<std::uint32_t> gathers) : gathers_(std::move(gathers)) {
  std::size_t edges = 0;
  for (const Node& node : graph.nodes) edges += node.operands.size();
  first_operand_.reserve(graph.nodes.size() + 1);
  operands_.reserve(edges);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    first_operand_.push_back(static_cast<std::uint32_t>(operands_.size()));
    operands_.insert(operands_.end(), node.operands.begin(), node.operands.end());
    if (node.kind == NodeKind::External) inputs_.emplace_back(node.value, id);
  }
  first_operand_.push_back(static_cast<std::uint32_t>(operands_.size()));
  for (NodeId gather : gathers_) records_.push_back(graph.nodes[gather].record);
  for (const Result& result : graph.results) results_.push_back(result.node);
}

std::size_t Origins::held_bytes() const {
  return ir::held_bytes(first_operand_) + ir::held_bytes(operands_) + ir::held_bytes(inputs_) +
         ir::held_bytes(gathers_) + ir::held_bytes(records_) + ir::held_bytes(results_);
}

std::vector<bool> Origins::reached(std::span<const std::uint32_t> words,
                                   std::span<const trace::ValueId> bad_inputs,
                                   std::span<const std::uint32_t> bad_nodes) const {
  if (!words.empty() && words.size() != gathers_.size())
    throw std::logic_error("[plan] " + std::to_string(words.size()) + " fault words of a plan that has " +
                           std::to_string(gathers_.size()));
  const std::size_t nodes = first_operand_.empty() ? 0 : first_operand_.size() - 1;
  std::vector<bool> bad(nodes);
  for (std::size_t word = 0; word < words.size(); ++word)
    if (words[word] != 0) bad[gathers_[word]] = true;
  for (const std::uint32_t node : bad_nodes) bad[node] = true;
  std::vector<trace::ValueId> sorted(bad_inputs.begin(), bad_inputs.end());
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [value, node] : inputs_)
    if (std::binary_search(sorted.begin(), sorted.end(), value)) bad[node] = true;
  for (std::size_t node = 0; node < nodes; ++node)
    for (std::size_t k = first_operand_[node]; k < first_operand_[node + 1] && !bad[node]; ++k)
      bad[node] = bad[operands_[k]];
  std::vector<bool> found;
  for (std::uint32_t result : results_) found.push_back(bad[result]);
  return found;
}

}  // namespace sinter::plan
