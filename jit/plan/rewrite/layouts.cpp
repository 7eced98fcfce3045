// Pass: which images lie with their channels last. A convolution that is given an image in another order than
// it works in turns it first, and turns its result; between two of them that is work for nothing.
#include <numeric>

#include "jit/plan/graph.h"
#include "jit/plan/library.h"

namespace sinter::plan {
namespace {

// Turns that must be spared before others are handed an image in another order.
constexpr int kWorthTurning = 2;

/// Sets of nodes that lie alike: images that elementwise work leads from one to the next.
class Images {
 public:
  explicit Images(const Graph& graph)
      : graph_(graph),
        parent_(graph.nodes.size()),
        spared_(graph.nodes.size(), 0),
        plain_(graph.nodes.size(), false) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph.nodes[id].live) join(id);
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph.nodes[id].live) weigh(id);
  }

  /// True iff the node is to be computed with its channels last.
  bool channels_last(NodeId id) {
    return is_member(id) && !plain_[root(id)] && spared_[root(id)] >= kWorthTurning;
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  bool is_member(NodeId id) const {
    const Node& n = node(id);
    if (!n.live || n.kind != NodeKind::Op || n.shape.rank() != 4 || n.shape.numel() == 0) return false;
    if (n.is(OpClass::Elementwise)) return true;
    if (!n.is(OpClass::Library)) return false;
    // Further results name the op, which would be a view of itself.
    const library::Signature signature = signature_of(graph_, n);
    return signature.results.size() == 1 &&
           kind_of(n).result_order(signature, 0) == library::ImageOrder::Either;
  }

  NodeId root(NodeId id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  void join(NodeId id) {
    if (!is_member(id) || !node(id).is(OpClass::Elementwise)) return;
    for (NodeId operand : node(id).operands)
      if (is_member(operand) && node(operand).shape == node(id).shape) parent_[root(operand)] = root(id);
  }

  void weigh(NodeId id) {
    const Node& n = node(id);
    if (is_member(id)) {
      if (n.is(OpClass::Library)) ++spared_[root(id)];
      // Four neighbours in the order of the dims share one draw of random numbers; in any other order each
      // has its own, which is more work than to turn the image.
      for (NodeId operand : n.operands)
        if (const NodeId base = base_of(graph_, operand);
            node(base).is(OpClass::Source) && node(base).scalars.size() == 2)
          plain_[root(id)] = true;
    }
    if (!n.is(OpClass::Library)) return;
    const library::Signature signature = signature_of(graph_, n);
    for (std::size_t k = 0; k < n.operands.size(); ++k) {
      const library::ImageOrder order = kind_of(n).operand_order(signature, k);
      if (order != library::ImageOrder::NotAnImage && is_member(n.operands[k]))
        spared_[root(n.operands[k])] += order == library::ImageOrder::Either ? 1 : -1;
    }
  }

  const Graph& graph_;
  std::vector<NodeId> parent_;
  std::vector<int> spared_;  // of sets, by their root: turns that convolutions are spared
  std::vector<bool> plain_;  // sets that have to lie in the order of their dims
};

}  // namespace

void choose_layouts(Graph& graph) {
  graph.channels_last = true;
  std::vector<bool> turned(graph.nodes.size());
  bool any = false;
  Images images(graph);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) any |= turned[id] = images.channels_last(id);
  if (!any) return;

  // Nodes must stay in topological order, so the graph is copied with the views in their places.
  std::vector<Node> old = std::move(graph.nodes);
  graph.nodes.clear();
  std::vector<NodeId> moved(old.size()), last(old.size(), kNoNode);  // (n, c, h, w); (n, h, w, c)
  for (NodeId id = 0; id < old.size(); ++id) {
    Node node = std::move(old[id]);
    const bool elementwise = node.is(OpClass::Elementwise);
    std::vector<NodeId> operands = node.operands;
    for (NodeId& operand : node.operands) operand = moved[operand];
    if (!turned[id]) {
      moved[id] = graph.add(std::move(node));
      continue;
    }
    const Shape plain = node.shape, shape{plain[0], plain[2], plain[3], plain[1]};
    if (elementwise) {
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (graph.nodes[moved[operands[k]]].kind == NodeKind::Scalar) continue;
        node.operands[k] = last[operands[k]] != kNoNode
                               ? last[operands[k]]
                               : graph.add_view(Op::Permute, moved[operands[k]], shape, {0, 2, 3, 1});
      }
    } else {
      node.channels_last = true;
    }
    node.shape = shape;
    last[id] = graph.add(std::move(node));
    moved[id] = graph.add_view(Op::Permute, last[id], plain, {0, 3, 1, 2});
  }
  for (Result& result : graph.results) result.node = moved[result.node];
}

}  // namespace sinter::plan
