// Pass: a matrix product that is only ever read turned (rows as columns) is computed turned, so that those
// who read it go along its rows. The gradient of a weight that is stored [out, in] is such a product.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/graph.h"

namespace sinter::plan {
namespace {

/// True iff a permutation swaps the last two dims and nothing else.
bool turns(const Node& node) {
  if (!node.is(OpClass::View) || node.op != Op::Permute) return false;
  const std::size_t rank = node.ints.size();
  if (rank < 2) return false;
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (node.ints[d] != static_cast<std::int64_t>(d)) return false;
  return node.ints[rank - 2] == static_cast<std::int64_t>(rank - 1);
}

/// Whether a matrix lies with its columns side by side.
bool lies_turned(const Graph& graph, NodeId id) {
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view) return false;  // a copy will be read
  const Dims& strides = view->layout.strides;
  const std::size_t rank = strides.size();
  return strides[rank - 1] != 1 && strides[rank - 2] == 1;
}

/// The products to compute turned. Only those of one matrix that lies turned and one that does not: they stay
/// products of this kind, for which no device is slower.
std::vector<bool> find_turned(const Graph& graph) {
  std::vector<bool> read(graph.nodes.size()), otherwise(graph.nodes.size());
  for (const Result& result : graph.results) otherwise[result.node] = true;
  for (const Node& node : graph.nodes) {
    if (!node.live) continue;
    for (NodeId operand : node.operands) (turns(node) ? read : otherwise)[operand] = true;
  }
  std::vector<bool> turned(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    turned[id] = node.live && node.kind == NodeKind::Op && node.op == Op::MatMul && read[id] &&
                 !otherwise[id] &&
                 lies_turned(graph, node.operands[0]) != lies_turned(graph, node.operands[1]);
  }
  return turned;
}

NodeId add_turned(Graph& graph, NodeId id) {
  Shape shape = graph.nodes[id].shape;
  const std::size_t rank = shape.rank();
  std::swap(shape[rank - 2], shape[rank - 1]);
  std::vector<std::int64_t> axes(rank);
  for (std::size_t d = 0; d < rank; ++d) axes[d] = static_cast<std::int64_t>(d);
  std::swap(axes[rank - 2], axes[rank - 1]);
  return graph.add_view(Op::Permute, id, shape, std::move(axes));
}

}  // namespace

void turn_products(Graph& graph) {
  const std::vector<bool> turned = find_turned(graph);
  if (std::none_of(turned.begin(), turned.end(), [](bool is) { return is; })) return;
  // Nodes must stay in topological order, so the graph is copied with the new nodes in their places.
  std::vector<Node> old = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<NodeId> moved(old.size());
  for (NodeId id = 0; id < old.size(); ++id) {
    Node node = std::move(old[id]);
    const bool undone = node.live && turns(node) && turned[node.operands[0]];
    for (NodeId& operand : node.operands) operand = moved[operand];
    if (undone) {
      moved[id] = node.operands[0];
      continue;
    }
    if (turned[id]) {
      // (A B)' = B' A'
      const NodeId a = add_turned(graph, node.operands[1]), b = add_turned(graph, node.operands[0]);
      const std::size_t rank = node.shape.rank();
      std::swap(node.shape[rank - 2], node.shape[rank - 1]);
      node.operands = {a, b};
      node.value = 0;
    }
    moved[id] = graph.add(std::move(node));
  }
  for (Result& result : graph.results) result.node = moved[result.node];
}

}  // namespace sinter::plan
