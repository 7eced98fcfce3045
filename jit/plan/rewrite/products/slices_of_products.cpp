// Pass: a product that elementwise work reads in slices, and brings these together, becomes a product for
// each slice: the gates of a recurrent cell, or the two halves of a gated layer.
//
// As one product its result has other loops than what reads it, so that it goes through memory to a kernel of
// its own. The products of slices have the same loops as that work, and one factor in common: a tile has the
// same columns of all of them (ir::Tiling::others), and what comes behind is done with the tile's sums. That
// is worth it for products so small that a launch is a good part of their time.
#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Operations behind a product that are looked at, for one that needs all slices.
constexpr std::size_t kMostLookedAt = 64;
// That columns of a factor have to begin at multiples of for the copy engine, of 16 bits.
constexpr std::int64_t kWhole = 8;

/// True iff columns of the factor are brought by the copy engine: neighbours lie along the sum.
bool lies_along_the_sum(const Graph& graph, NodeId factor) {
  const std::optional<StridedView> view = strided_view(graph, factor);
  if (!view || !view->layout.moving.empty()) return false;
  const Dims& strides = view->layout.strides;
  const std::size_t rank = strides.size();
  bool is_so = strides[rank - 2] == 1 && view->layout.offset % kWhole == 0;
  for (std::size_t d = 0; d < rank; ++d)
    is_so &= d == rank - 2 || (strides[d] >= 0 && strides[d] % kWhole == 0);
  return is_so;
}

/// Of a Slice that has all of its operand but for some columns: how many such ones the operand has, and which
/// of them it is. Nothing where they are no equal parts.
struct Share {
  std::int64_t count = 0, number = 0;
};
std::optional<Share> share_of(const Graph& graph, const Node& slice) {
  if (slice.kind != NodeKind::Op || slice.op != Op::Slice || !slice.starts.empty()) return std::nullopt;
  const Shape& whole = graph.nodes[slice.operands[0]].shape;
  const std::size_t rank = whole.rank();
  if (rank == 0) return std::nullopt;
  for (std::size_t d = 0; d < rank; ++d) {
    if (slice.ints[rank + d] != 1) return std::nullopt;
    if (d + 1 < rank && slice.shape[d] != whole[d]) return std::nullopt;
  }
  const std::int64_t width = slice.shape[rank - 1], start = slice.ints[rank - 1];
  if (width == 0 || whole[rank - 1] % width != 0 || start % width != 0) return std::nullopt;
  return Share{whole[rank - 1] / width, start / width};
}

/// What a plan for other sizes depends on, of a slice of a product's second factor.
std::uint64_t share_of_factor(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const std::optional<Share> share = share_of(graph, graph.nodes[id]);
  if (!share || !lies_along_the_sum(graph, id)) return 0;
  return 1 + static_cast<std::uint64_t>(share->count * ir::Tiling::kMostSums + share->number);
}

/// True iff the node hands each column of its operand on: elementwise work, or a link of a concatenation
/// along another dim.
bool keeps_columns(const Graph& graph, const Node& node, NodeId operand) {
  const Shape &shape = node.shape, &of_operand = graph.nodes[operand].shape;
  if (node.is(OpClass::Elementwise)) return shape == of_operand;
  const bool is_link = node.kind == NodeKind::Op && (node.op == Op::Pad || node.op == Op::SliceAssign);
  const std::size_t rank = shape.rank(), last = rank - 1;
  return is_link && rank > 0 && node.starts.empty() && of_operand.rank() == rank &&
         of_operand[last] == shape[last] && node.ints[last] == 0 && node.ints[rank + last] == 1;
}

/// Finds products to be sliced.
class Finder {
 public:
  Finder(const Graph& graph, const ir::DeviceTraits& traits)
      : graph_(graph),
        units_(traits.tensor_cores.compute_units),
        users_(graph.nodes.size()),
        shares_(graph.nodes.size(), kNotAsked),
        is_product_(graph.nodes.size()),
        is_sliced_(graph.nodes.size()) {
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      for (const NodeId operand : graph.nodes[id].operands) users_[operand].push_back(id);
    for (const Result& result : graph.results) shares_[result.node] = 0;
    for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) ask_users(id);
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      is_product_[id] = shares_[id] >= 2 && node(id).is(OpClass::Contract) && may_be_sliced(id);
    leave_one_of_each_kernel();
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      is_sliced_[id] = is_product_[id];
      if (shares_[id] >= 2 && !node(id).is(OpClass::Contract))
        for (const NodeId operand : node(id).operands) is_sliced_[id] = is_sliced_[id] || is_sliced_[operand];
      is_any_ = is_any_ || is_product_[id];
    }
  }

  bool is_any() const { return is_any_; }
  bool is_product(NodeId id) const { return is_product_[id]; }
  /// True iff it is computed from products to be sliced, column by column, and read in slices alone.
  bool is_sliced(NodeId id) const { return is_sliced_[id]; }
  /// Into how many.
  std::int64_t shares(NodeId id) const { return shares_[id]; }

 private:
  static constexpr std::int64_t kNotAsked = -1;

  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  /// In how many equal shares of its columns all that need a node read it, whatever they make of it column by
  /// column before; 0: in others, or whole. Of its users that is known.
  void ask_users(NodeId id) {
    std::int64_t& shares = shares_[id];
    for (const NodeId user : users_[id]) {
      if (shares == 0) return;
      const Node& n = node(user);
      const std::optional<Share> share = share_of(graph_, n);
      const std::int64_t own = share ? share->count : keeps_columns(graph_, n, id) ? shares_[user] : 0;
      shares = shares == kNotAsked || shares == own ? own : 0;
    }
  }

  bool may_be_sliced(NodeId id) const {
    const Node& product = node(id);
    const NodeId b = product.operands[1];
    return shares_[id] <= ir::Tiling::kMostSums && product.ints[1] == 0 && is_half(node(b).dtype) &&
           lies_along_the_sum(graph_, b) && come_together(id) && is_small(product);
  }

  /// Of products that meet element by element, the first: a tile has sums of one factor.
  void leave_one_of_each_kernel() {
    std::vector<NodeId> product_of(graph_.nodes.size(), kNoNode);
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (is_product_[id]) product_of[id] = id;
      if (shares_[id] < 2 || !node(id).is(OpClass::Elementwise)) continue;
      for (const NodeId operand : node(id).operands) {
        const NodeId other = product_of[operand];
        if (other == kNoNode || other == product_of[id]) continue;
        if (product_of[id] != kNoNode) is_product_[std::max(other, product_of[id])] = false;
        product_of[id] = std::min(other, product_of[id]);
      }
    }
  }

  bool is_small(const Node& product) const {
    const double most = kMostOfSums * units_;
    const bool is_so = static_cast<double>(product.shape.numel()) <= most;
    if (graph_.checks) graph_.checks->compare(SizeChecks::Is::More, {{product.shape, 1}}, -most, !is_so);
    return is_so && !has_few_readers(graph_, product, 1);
  }

  /// True iff some element of a later result is made of one element of each share.
  bool come_together(NodeId product) const {
    const unsigned all = (1u << shares_[product]) - 1;
    const Shape& shape = node(product).shape;
    const std::int64_t elements = shape.numel() / shares_[product];
    absl::flat_hash_map<NodeId, unsigned> made_of{{product, 0u}};
    std::priority_queue<NodeId, std::vector<NodeId>, std::greater<>> todo;
    todo.push(product);
    for (std::size_t seen = 0; !todo.empty() && seen < kMostLookedAt; ++seen) {
      const NodeId id = todo.top();
      todo.pop();
      const unsigned own = made_of[id];
      if (own == all) return true;
      for (const NodeId user : users_[id]) {
        const Node& n = node(user);
        const bool is_reshape = n.kind == NodeKind::Op && n.op == Op::Reshape;
        const std::optional<Share> share = own == 0 ? share_of(graph_, n) : std::nullopt;
        if (!share && !n.is(OpClass::Elementwise) && !(is_reshape && own != 0)) continue;
        if (n.shape.numel() != (own == 0 && !share ? shape.numel() : elements)) continue;
        const auto [known, is_new] = made_of.try_emplace(user, 0u);
        known->second |= share ? 1u << share->number : own;
        if (is_new) todo.push(user);
      }
    }
    return false;
  }

  const Graph& graph_;
  const double units_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<std::int64_t> shares_;
  std::vector<bool> is_product_, is_sliced_;
  bool is_any_ = false;
};

/// Writes all shares of what is computed from products, operands before their users.
class Slicer {
 public:
  Slicer(Rewriter& to, const Finder& finder) : to_(to), finder_(finder) {}

  void write(NodeId id) {
    std::vector<NodeId> shares;
    for (std::int64_t number = 0; number < finder_.shares(id); ++number) shares.push_back(share(id, number));
    shares_.emplace(id, std::move(shares));
  }
  NodeId written(NodeId id, std::int64_t number) const {
    return shares_.at(id)[static_cast<std::size_t>(number)];
  }

 private:
  NodeId share(NodeId id, std::int64_t number) {
    Node node = to_.before().nodes[id];
    const std::int64_t width = node.shape[node.shape.rank() - 1] / finder_.shares(id);
    if (finder_.is_product(id)) {
      const NodeId columns = view(to_.now(node.operands[1]), number, width);
      if (to_.after().checks) to_.after().checks->ask(to_.after(), columns, share_of_factor);
      node.operands = {to_.now(node.operands[0]), columns};
    } else {
      for (NodeId& operand : node.operands) {
        const bool is_number = to_.before().nodes[operand].kind == NodeKind::Scalar;
        operand = finder_.is_sliced(operand) ? written(operand, number)
                  : is_number                ? to_.now(operand)
                                             : view(to_.now(operand), number, width);
      }
    }
    node.shape[node.shape.rank() - 1] = width;
    return to_.add(std::move(node));
  }

  NodeId view(NodeId id, std::int64_t number, std::int64_t width) {
    Shape shape = to_.node(id).shape;
    const std::size_t rank = shape.rank();
    shape[rank - 1] = width;
    std::vector<std::int64_t> ints(2 * rank, 0);  // starts and steps
    std::fill(ints.begin() + static_cast<std::ptrdiff_t>(rank), ints.end(), std::int64_t{1});
    ints[rank - 1] = number * width;
    return to_.view(Op::Slice, id, shape, std::move(ints));
  }

  Rewriter& to_;
  const Finder& finder_;
  absl::flat_hash_map<NodeId, std::vector<NodeId>> shares_;  // by nodes of the graph as it was
};

}  // namespace

void slice_products(Graph& graph, const ir::DeviceTraits& traits) {
  const Finder finder(graph, traits);
  if (!finder.is_any()) return;
  std::optional<Slicer> slicer;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (!slicer) slicer.emplace(to, finder);
    const Node& before = to.before().nodes[id];
    if (node.kind == NodeKind::Op && node.op == Op::Slice && finder.is_sliced(before.operands[0]))
      return slicer->written(before.operands[0], share_of(to.before(), before)->number);
    if (finder.is_sliced(id)) slicer->write(id);
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
