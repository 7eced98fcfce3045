// Goes over the operands of all nodes.
#include "jit/plan/rewrite/read_as.h"

namespace sinter::plan {

std::vector<std::optional<DType>> read_as_halves(const Graph& graph, Readers readers) {
  std::vector<std::optional<DType>> found(graph.nodes.size());
  std::vector<bool> read_otherwise(graph.nodes.size());
  for (const Result& result : graph.results) read_otherwise[result.node] = true;
  // From the last on: who reads a node comes after it.
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
    if (read_otherwise[id]) found[id] = std::nullopt;
    const Node& node = graph.nodes[id];
    std::optional<DType> as;
    if (node.kind == NodeKind::Op && node.op == Op::Cast && is_half(node.dtype)) as = node.dtype;
    if (readers == Readers::BehindViews && node.is(OpClass::View)) as = found[id];
    for (const NodeId operand : node.operands) {
      if (operand == kNoNode) continue;
      if (as && (!found[operand] || *found[operand] == *as))
        found[operand] = as;
      else
        read_otherwise[operand] = true;
    }
  }
  return found;
}

}  // namespace sinter::plan
