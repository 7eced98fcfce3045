// Pass: which images lie with their channels last. A convolution that is given an image in another order than
// it works in transposes it first, and transposes its result; between two of them that is work for nothing.
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "jit/plan/library.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Transposes that must be saved before others are handed an image in another order.
constexpr int kWorthAnotherOrder = 2;

/// Sets of nodes that lie alike: images that elementwise work leads from one to the next.
class Images {
 public:
  explicit Images(const Graph& graph)
      : graph_(graph),
        parent_(graph.nodes.size()),
        saved_(graph.nodes.size(), 0),
        in_order_(graph.nodes.size(), false) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    for (NodeId id = 0; id < graph.nodes.size(); ++id) join(id);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) weigh(id);
  }

  /// For each node whether it is to be computed with its channels last.
  std::vector<bool> channels_last() {
    std::vector<bool> found(graph_.nodes.size());
    for (NodeId id = 0; id < graph_.nodes.size(); ++id)
      found[id] = is_member(id) && !in_order_[root(id)] && saved_[root(id)] >= kWorthAnotherOrder;
    return found;
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  bool is_member(NodeId id) const {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op || n.shape.rank() != 4 || n.shape.numel() == 0) return false;
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
      if (n.is(OpClass::Library)) ++saved_[root(id)];
      // Four neighbours in the order of the dims share one draw of random numbers; in any other order each
      // has its own, which is more work than to transpose the image.
      for (NodeId operand : n.operands)
        if (node(base_of(graph_, operand)).is_random()) in_order_[root(id)] = true;
    }
    if (!n.is(OpClass::Library)) return;
    const library::Signature signature = signature_of(graph_, n);
    for (std::size_t k = 0; k < n.operands.size(); ++k) {
      const library::ImageOrder order = kind_of(n).operand_order(signature, k);
      if (graph_.checks && order != library::ImageOrder::NotAnImage) graph_.checks->give_up();
      if (order != library::ImageOrder::NotAnImage && is_member(n.operands[k]))
        saved_[root(n.operands[k])] += order == library::ImageOrder::Either ? 1 : -1;
    }
  }

  const Graph& graph_;
  std::vector<NodeId> parent_;
  std::vector<int> saved_;      // of sets, by their root: transposes that convolutions are saved
  std::vector<bool> in_order_;  // sets that have to lie in the order of their dims
};

/// Writes node `id` as (n, h, w, c), and gives others a view of it that is (n, c, h, w). `written`: for nodes
/// of the graph as it was, the node that is (n, h, w, c).
NodeId write_channels_last(Rewriter& to, NodeId id, Node node, std::vector<NodeId>& written) {
  const Shape plain = node.shape, shape{plain[0], plain[2], plain[3], plain[1]};
  if (node.is(OpClass::Elementwise)) {
    for (std::size_t k = 0; k < node.operands.size(); ++k) {
      NodeId& operand = node.operands[k];
      if (to.node(operand).kind == NodeKind::Scalar) continue;
      const NodeId before = to.before().nodes[id].operands[k];
      operand =
          written[before] != kNoNode ? written[before] : to.view(Op::Permute, operand, shape, {0, 2, 3, 1});
    }
  } else {
    node.channels_last = true;
  }
  node.shape = shape;
  written[id] = to.add(std::move(node));
  return to.view(Op::Permute, written[id], plain, {0, 3, 1, 2});
}

}  // namespace

void choose_layouts(Graph& graph, const ir::DeviceTraits&) {
  graph.channels_last = true;
  const std::vector<bool> channels_last = Images(graph).channels_last();
  if (std::none_of(channels_last.begin(), channels_last.end(), [](bool is) { return is; })) return;
  std::vector<NodeId> written(graph.nodes.size(), kNoNode);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    return channels_last[id] ? write_channels_last(to, id, std::move(node), written)
                             : to.add(std::move(node));
  });
}

}  // namespace sinter::plan
