// Pass: which images lie with their channels last. A convolution that is given an image in another order than
// it works in transposes it first, and transposes its result; between two of them that is work for nothing.
// What elementwise work, pools and their gradients make of images lies as these do, whatever its rank.
#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/library.h"
#include "jit/plan/rewrite/convolutions/images.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Transposes that must be saved before others are handed an image in another order: by library ops, and by
// contractions, whose results lie with their channels last in any case.
constexpr int kWorthAnotherOrder = 2, kWorthOfContractions = 1;

Shape channels_last(const Shape& plain) {
  Shape shape = plain;
  for (std::size_t d = 1; d + 1 < plain.rank(); ++d) shape[d] = plain[d + 1];
  shape[plain.rank() - 1] = plain[1];
  return shape;
}

constexpr std::int64_t kImageDims = 3;  // n and c, as a set of dims

/// Whether a view leaves the images of a batch and their channels as they are.
std::uint64_t keeps_channels(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const Node& n = graph.nodes[id];
  const Shape &from = graph.nodes[n.operands[0]].shape, &to = n.shape;
  if (from.rank() < 3 || to.rank() < 3 || from[0] != to[0] || from[1] != to[1]) return 0;
  if (n.op == Op::Permute) return n.ints[0] == 0 && n.ints[1] == 1;
  return n.op != Op::Windows || n.ints[0] > 1;
}

/// In which orders the device has images: contractions take any, sums over windows are made in whatever order
/// the image lies, library ops say by their kinds, where the device gains by it.
class Orders {
 public:
  Orders(const Graph& graph, const ir::DeviceTraits& traits) : graph_(graph), traits_(traits) {}

  library::ImageOrder of_result(const Node& n, const library::Signature& signature) const {
    if (is_contracted(n)) return image_order(!gives_weight(n));
    if (is_summed(n)) return indifferent(!gives_weight(n));
    return order_of(kind_of(n).result_order(signature, 0));
  }
  library::ImageOrder of_operand(const Node& n, const library::Signature& signature, std::size_t k) const {
    const bool is_image = k == 0 || gives_weight(n);
    if (is_contracted(n)) return image_order(is_image);
    if (is_summed(n)) return indifferent(is_image);
    return order_of(kind_of(n).operand_order(signature, k));
  }
  bool is_contracted(const Node& n) const {
    return traits_.tensor_cores.any() && is_contracted_convolution(graph_, n, traits_.tensor_cores);
  }

  bool is_summed(const Node& n) const { return traits_.fixed_windows && is_summed_convolution(graph_, n); }

 private:
  static library::ImageOrder image_order(bool is_image) {
    return is_image ? library::ImageOrder::Either : library::ImageOrder::ChannelsFirst;
  }
  static library::ImageOrder indifferent(bool is_image) {
    return is_image ? library::ImageOrder::Indifferent : library::ImageOrder::ChannelsFirst;
  }
  library::ImageOrder order_of(library::ImageOrder order) const {
    return takes_channels_last(order) && !traits_.channels_last ? library::ImageOrder::ChannelsFirst : order;
  }

  const Graph& graph_;
  const ir::DeviceTraits& traits_;
};

/// All orders of a library op, as bits: what is asked about its sizes.
std::uint64_t orders_of(const Graph& graph, NodeId id, const ir::DeviceTraits& traits) {
  const Node& n = graph.nodes[id];
  const Orders orders(graph, traits);
  const library::Signature signature = signature_of(graph, n);
  auto bits = static_cast<std::uint64_t>(orders.is_contracted(n));
  bits = bits << 2 | static_cast<std::uint64_t>(orders.of_result(n, signature));
  for (std::size_t k = 0; k < n.operands.size(); ++k)
    bits = bits << 2 | static_cast<std::uint64_t>(orders.of_operand(n, signature, k));
  if (orders.is_summed(n))
    bits = bits << 1 | static_cast<std::uint64_t>(lies_channels_last(graph, n.operands[0]));
  return bits;
}

/// Sets of nodes that lie alike: images that elementwise work, frames or reductions within channels lead from
/// one to the next.
class Images {
 public:
  Images(const Graph& graph, const ir::DeviceTraits& traits)
      : graph_(graph),
        orders_(graph, traits),
        parent_(graph.nodes.size()),
        saved_(graph.nodes.size(), 0),
        contracts_(graph.nodes.size(), false),
        in_order_(graph.nodes.size(), false),
        below_(graph.nodes.size()) {
    std::iota(parent_.begin(), parent_.end(), NodeId{0});
    std::iota(below_.begin(), below_.end(), NodeId{0});
    if (std::none_of(graph.nodes.begin(), graph.nodes.end(), is_convolution)) return;
    for (NodeId id = 0; id < graph.nodes.size(); ++id) look_below(id);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) join(id);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) weigh(id);
  }

  /// For each node whether it is to be computed with its channels last.
  std::vector<bool> lie_last() {
    std::vector<bool> found(graph_.nodes.size());
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const NodeId set = root(id);
      const int worth = contracts_[set] ? kWorthOfContractions : kWorthAnotherOrder;
      found[id] = is_member(id) && !in_order_[set] && saved_[set] >= worth;
    }
    return found;
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  bool is_member(NodeId id) const {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op || n.shape.rank() < 4 || n.shape.numel() == 0) return false;
    if (n.is(OpClass::Elementwise) || n.op == Op::Pad) return true;
    if (n.is(OpClass::Reduce)) return (n.ints[0] & kImageDims) == 0;
    if (!n.is(OpClass::Library)) return false;
    // Further results name the op, which would be a view of itself.
    const library::Signature signature = signature_of(graph_, n);
    return signature.results.size() == 1 && takes_channels_last(orders_.of_result(n, signature));
  }

  NodeId root(NodeId id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  /// Finds what views show that leave channels as they are.
  void look_below(NodeId id) {
    const Node& n = node(id);
    if (!n.is(OpClass::View)) return;
    if (graph_.checks) graph_.checks->ask(graph_, id, keeps_channels);
    if (keeps_channels(graph_, id, {}) != 0) below_[id] = below_[n.operands[0]];
  }

  void join(NodeId id) {
    const Node& n = node(id);
    if (!is_member(id) || n.is(OpClass::Library)) return;
    for (NodeId operand : n.operands) {
      const NodeId image = below_[operand];
      if (is_member(image) && node(image).shape[0] == n.shape[0] && node(image).shape[1] == n.shape[1])
        parent_[root(image)] = root(id);
    }
  }

  void weigh(NodeId id) {
    const Node& n = node(id);
    if (is_member(id)) {
      if (n.is(OpClass::Library)) {
        saved_[root(id)] += transposes_saved(orders_.of_result(n, signature_of(graph_, n)));
        if (orders_.is_contracted(n)) contracts_[root(id)] = true;
        weigh_sums(id);
      }
      // Four neighbours in the order of the dims share one draw of random numbers; in any other order each
      // has its own, which is more work than to transpose the image.
      for (NodeId operand : n.operands)
        if (node(base_of(graph_, operand)).is_random()) in_order_[root(id)] = true;
    }
    if (!n.is(OpClass::Library)) return;
    const library::Signature signature = signature_of(graph_, n);
    for (std::size_t k = 0; k < n.operands.size(); ++k) {
      const library::ImageOrder order = orders_.of_operand(n, signature, k);
      if (graph_.checks && order != library::ImageOrder::NotAnImage)
        graph_.checks->ask(graph_, id, orders_of);
      const NodeId image = seen_by(n.operands[k]);
      if (order == library::ImageOrder::NotAnImage || !is_member(image)) continue;
      const NodeId set = root(image);
      saved_[set] += transposes_saved(order);
      if (order == library::ImageOrder::Either && orders_.is_contracted(n)) contracts_[set] = true;
    }
  }

  /// Sums over windows of an image whose channels are last lie so themselves.
  void weigh_sums(NodeId id) {
    if (!orders_.is_summed(node(id)) || !lies_channels_last(graph_, node(id).operands[0])) return;
    saved_[root(id)] += kWorthOfContractions;
    contracts_[root(id)] = true;
  }

  /// Where the image has its channels last.
  static int transposes_saved(library::ImageOrder order) {
    return order == library::ImageOrder::Indifferent ? 0 : order == library::ImageOrder::Either ? 1 : -1;
  }

  /// What an operand is a view of that strides can express.
  NodeId seen_by(NodeId operand) const {
    const std::optional<StridedView> view = strided_view(graph_, operand);
    return view && view->base == below_[operand] ? view->base : operand;
  }

  const Graph& graph_;
  const Orders orders_;
  std::vector<NodeId> parent_;
  std::vector<int> saved_;       // of sets, by their root: transposes that convolutions are saved
  std::vector<bool> contracts_;  // sets that contractions read or write
  std::vector<bool> in_order_;   // sets that have to lie in the order of their dims
  std::vector<NodeId> below_;    // of views, the image that they show
};

/// Writes a graph in which some images lie with their channels last.
class Writer {
 public:
  explicit Writer(std::vector<bool> lie_last)
      : lie_last_(std::move(lie_last)), written_(lie_last_.size(), kNoNode) {}

  NodeId write(Rewriter& to, NodeId id, Node node) {
    if (lie_last_[id]) return image(to, id, std::move(node));
    if (node.is(OpClass::Reduce) && written_[to.before().nodes[id].operands[0]] != kNoNode)
      return reduction(to, id, node);
    return to.add(std::move(node));
  }

 private:
  /// The node computes (n, .., c), and others are given a view of it that is (n, c, ..).
  NodeId image(Rewriter& to, NodeId id, Node node) {
    const std::size_t rank = node.shape.rank();
    if (node.is(OpClass::Library)) {
      node.channels_last = true;
    } else {
      for (std::size_t k = 0; k < node.operands.size(); ++k) {
        NodeId& operand = node.operands[k];
        if (to.node(operand).kind == NodeKind::Scalar) continue;
        const NodeId written = written_[to.before().nodes[id].operands[k]];
        operand = written != kNoNode ? written : seen_last(to, operand);
      }
      if (node.is(OpClass::Reduce)) node.ints[0] = dims_last(node.ints[0], rank);
      if (node.op == Op::Pad) frame_last(node, rank);
    }
    node.shape = channels_last(node.shape);
    written_[id] = to.add(std::move(node));
    return to.permute(written_[id], to_channels_first(rank));
  }

  /// A set of dims of (n, c, ..) as one of (n, .., c).
  static std::int64_t dims_last(std::int64_t dims, std::size_t rank) {
    const std::vector<std::int64_t> axes = to_channels_last(rank);
    std::int64_t result = 0;
    for (std::size_t d = 0; d < rank; ++d) result |= (dims >> axes[d] & 1) << d;
    return result;
  }

  /// What a frame has before and between the elements of each dim, in the order of (n, .., c).
  static void frame_last(Node& node, std::size_t rank) {
    const std::vector<std::int64_t> axes = to_channels_last(rank), ints = node.ints;
    const std::vector<NodeStart> starts = std::exchange(node.starts, {});
    for (std::size_t d = 0; d < rank; ++d) {
      const auto from = static_cast<std::size_t>(axes[d]);
      node.ints[d] = ints[from];
      node.ints[rank + d] = ints[rank + from];
      for (const NodeStart& start : starts)
        if (start.dim == from) node.starts.push_back({static_cast<std::uint32_t>(d), start.start});
    }
  }

  /// A reduction of such an image goes over it as it lies, so that it may share a kernel with what computes
  /// it.
  NodeId reduction(Rewriter& to, NodeId id, const Node& node) {
    const NodeId operand = written_[to.before().nodes[id].operands[0]];
    const std::size_t rank = node.shape.rank();
    const NodeId reduced = to.reduce(node.op, node.dtype, operand, dims_last(node.ints[0], rank));
    return to.permute(reduced, to_channels_first(rank));
  }

  /// What lies in order, seen as (n, .., c). What was expanded is expanded afterwards, so that passes find
  /// whose expansion it is.
  static NodeId seen_last(Rewriter& to, NodeId id) {
    const Node node = to.node(id);
    const std::size_t rank = node.shape.rank();
    if (node.is(OpClass::View) && node.op == Op::Expand && to.node(node.operands[0]).shape.rank() == rank)
      return to.view(Op::Expand, seen_last(to, node.operands[0]), channels_last(node.shape));
    return to.permute(id, to_channels_last(rank));
  }

  std::vector<bool> lie_last_;
  std::vector<NodeId> written_;  // for nodes of the graph as it was, the node that is (n, .., c)
};

}  // namespace

void choose_layouts(Graph& graph, const ir::DeviceTraits& traits) {
  graph.channels_last = traits.channels_last;
  std::vector<bool> lie_last = Images(graph, traits).lie_last();
  if (std::none_of(lie_last.begin(), lie_last.end(), [](bool is) { return is; })) return;
  Writer writer(std::move(lie_last));
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) { return writer.write(to, id, std::move(node)); });
}

}  // namespace sinter::plan
