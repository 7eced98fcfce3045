// Pass: a reduction with few results over many elements becomes two, so that all of the device takes part.
// The cut depends on sizes and the device's figures only, so that the order of additions is always the same.
#include <algorithm>

#include "jit/plan/graph.h"

namespace sinter::plan {
namespace {

// Below this many elements for each result, a second launch costs more than it saves.
constexpr std::int64_t kWorthSplitting = 2048;

struct Cut {
  std::size_t dim;      // a reduced dim
  std::int64_t pieces;  // it is seen as (pieces, size / pieces)
};

/// Where to cut, or pieces == 1 for not at all.
Cut choose(const Shape& in, std::int64_t bits, std::int64_t groups, std::int64_t lanes) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < in.rank(); ++d) (bits >> d & 1 ? inner : outer) *= in[d];
  std::size_t last = in.rank();
  while (last > 0 && in[last - 1] == 1) --last;
  const bool contiguous = last > 0 && (bits >> (last - 1) & 1);
  const std::int64_t wanted = contiguous ? groups : lanes;
  if (inner < kWorthSplitting || outer * 2 > wanted || outer == 0) return {0, 1};
  for (std::size_t d = 0; d < in.rank(); ++d) {
    if (!(bits >> d & 1) || in[d] == 1) continue;
    // Each piece keeps enough to do, and the second stage stays small.
    const std::int64_t most = std::max<std::int64_t>(1, inner / 512);
    std::int64_t pieces = std::min({in[d], most, (wanted + outer - 1) / outer});
    while (in[d] % pieces != 0) --pieces;  // pieces of equal size; a prime is not split
    return {d, pieces};
  }
  return {0, 1};
}

}  // namespace

void split_reductions(Graph& graph, std::int64_t groups, std::int64_t lanes) {
  // Nodes must stay in topological order, so the graph is copied with the new nodes in their places.
  std::vector<Node> old = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<NodeId> moved(old.size());
  for (NodeId id = 0; id < old.size(); ++id) {
    Node node = std::move(old[id]);
    for (NodeId& operand : node.operands) operand = moved[operand];
    const bool splittable =
        node.live && node.is(OpClass::Reduce) && graph.nodes[node.operands[0]].shape.rank() < kMaxRank;
    Cut cut{0, 1};
    if (splittable) cut = choose(graph.nodes[node.operands[0]].shape, node.ints[0], groups, lanes);
    const Shape in = splittable ? graph.nodes[node.operands[0]].shape : Shape();
    if (cut.pieces <= 1) {
      moved[id] = graph.add(std::move(node));
      continue;
    }
    // (.., n, ..) as (.., pieces, n / pieces, ..): first all reduced dims but `pieces`, then `pieces`.
    const std::size_t d = cut.dim;
    Shape wide = in;
    wide[d] = in[d] / cut.pieces;
    wide.insert(d, cut.pieces);
    const std::int64_t below = node.ints[0] & ((std::int64_t{1} << d) - 1),
                       above = node.ints[0] >> d << (d + 1);
    const NodeId seen = graph.add_view(Op::Reshape, node.operands[0], wide);
    Node first = node;
    first.operands = {seen};
    first.ints = {below | above};
    first.value = 0;
    first.dtype = arithmetic_of(node.dtype);  // partial results are not rounded
    first.shape = wide;
    for (std::size_t i = 0; i < wide.rank(); ++i)
      if (first.ints[0] >> i & 1) first.shape[i] = 1;
    const Shape partial = first.shape;
    const NodeId first_id = graph.add(std::move(first));
    Node second = node;
    second.operands = {first_id};
    second.ints = {std::int64_t{1} << d};
    second.shape = partial;
    second.shape[d] = 1;
    const NodeId second_id = graph.add(std::move(second));
    moved[id] = graph.add_view(Op::Reshape, second_id, node.shape);
  }
  for (Result& result : graph.results) result.node = moved[result.node];
}

}  // namespace sinter::plan
