// Follows assignments back to the pad that they begin with.
#include "jit/plan/rewrite/chains.h"

#include <algorithm>

namespace sinter::plan {

std::vector<bool> wanted_in_memory(const Graph& graph) {
  std::vector<bool> wanted(graph.nodes.size(), false);
  for (const Result& result : graph.results) wanted[result.node] = true;
  for (const Node& node : graph.nodes)
    if (node.is(OpClass::Library))
      for (const NodeId operand : node.operands) wanted[operand] = true;
  return wanted;
}

ChainReader::ChainReader(const Graph& graph)
    : graph_(graph), uses_(graph.nodes.size(), 0), is_continued_(graph.nodes.size(), false) {
  for (const Node& node : graph.nodes)
    for (const NodeId operand : node.operands) ++uses_[operand];
  for (const Result& result : graph.results) ++uses_[result.node];
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (is_link(id)) is_continued_[graph.nodes[id].operands[0]] = true;
}

/// An assignment to what is nothing yet, at a place that does not move.
bool ChainReader::is_link(NodeId id) const {
  const Node& node = graph_.nodes[id];
  return node.kind == NodeKind::Op && node.op == Op::SliceAssign && node.ints.back() != 0 &&
         node.starts.empty();
}

std::optional<Chain> ChainReader::ending_at(NodeId id) const {
  if (!is_link(id) || is_continued_[id]) return std::nullopt;
  const Shape& whole = graph_.nodes[id].shape;
  const std::size_t rank = whole.rank();
  Chain chain;
  NodeId at = id;
  for (; is_link(at); at = graph_.nodes[at].operands[0]) {
    if (at != id && uses_[at] != 1) return std::nullopt;
    chain.links.push_back(at);
    chain.pieces.push_back(graph_.nodes[at].operands[1]);
  }
  const Node& pad = graph_.nodes[at];
  if (pad.kind != NodeKind::Op || pad.op != Op::Pad || !pad.starts.empty() || uses_[at] != 1)
    return std::nullopt;
  chain.links.push_back(at);
  chain.pieces.push_back(pad.operands[0]);
  while (chain.dim < rank && graph_.nodes[id].ints[chain.dim] == 0) ++chain.dim;
  if (chain.dim == rank) return std::nullopt;
  std::int64_t begin = whole[chain.dim];
  for (std::size_t k = 0; k < chain.links.size(); ++k) {  // from the last piece to the first
    const Node &link = graph_.nodes[chain.links[k]], &piece = graph_.nodes[chain.pieces[k]];
    begin -= piece.shape[chain.dim];
    for (std::size_t d = 0; d < rank; ++d)
      if (link.ints[d] != (d == chain.dim ? begin : 0) || link.ints[rank + d] != 1 ||
          (d != chain.dim && piece.shape[d] != whole[d]))
        return std::nullopt;
  }
  if (begin != 0) return std::nullopt;
  std::reverse(chain.links.begin(), chain.links.end());
  std::reverse(chain.pieces.begin(), chain.pieces.end());
  return chain;
}

}  // namespace sinter::plan
