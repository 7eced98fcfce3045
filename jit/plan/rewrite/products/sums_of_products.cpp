// Pass: products that are added up become one product.
//
//   A B + C D = (A C) (B; D)      columns side by side, rows one below the other
//
// The gradient of a weight that a recurrent network multiplies by in each step is such a sum, of a product
// for each step: as one it is written once instead of being written and added up again and again, and its
// factors are copied together, which are less. Sums of the same factors, the gradients of biases, become one
// too. A few products whose factors tiles read where they are stay as they are: these become one kernel all
// the same (ir::Tiling::terms).
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

/// One operand of a sum: casts of a product that nobody else reads.
struct Term {
  NodeId node = kNoNode;     // of the new graph: all of it
  NodeId product = kNoNode;  // below the casts
  std::vector<DType> casts;  // the outermost one first
};

/// Alike terms of a sum, in their order.
using Terms = std::vector<Term>;

bool is_op(const Node& node, Op op) { return node.kind == NodeKind::Op && node.op == op; }

/// Finds sums in a graph.
class SumReader {
 public:
  explicit SumReader(const Graph& graph) : users_(graph.nodes.size(), 0), is_within_(graph.nodes.size()) {
    for (const Node& node : graph.nodes)
      for (const NodeId operand : node.operands) ++users_[operand];
    for (const Result& result : graph.results) ++users_[result.node];
    for (const Node& node : graph.nodes) {
      if (!is_sum(node)) continue;
      for (const NodeId id : node.operands)
        is_within_[id] = is_sum(graph.nodes[id]) && users_[id] == 1 && graph.nodes[id].dtype == node.dtype;
    }
    for (const Result& result : graph.results) is_within_[result.node] = false;
  }

  /// True iff the node adds up operands, and is no operand of another such sum.
  bool is_root(const Graph& graph, NodeId id) const { return is_sum(graph.nodes[id]) && !is_within_[id]; }

  /// The operands of the sum, from the first on.
  std::vector<NodeId> operands_of(const Graph& graph, NodeId root) const {
    std::vector<NodeId> found, todo{root};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      if (at != root && !is_within_[at]) {
        found.push_back(at);
        continue;
      }
      const Node& sum = graph.nodes[at];
      todo.insert(todo.end(), sum.operands.rbegin(), sum.operands.rend());
    }
    return found;
  }

  /// The term that an operand is; its nodes are those of the same graph.
  std::optional<Term> term_of(const Graph& graph, NodeId operand) const {
    Term term{operand, operand, {}};
    for (; is_op(graph.nodes[term.product], Op::Cast) && users_[term.product] == 1;
         term.product = graph.nodes[term.product].operands[0])
      term.casts.push_back(graph.nodes[term.product].dtype);
    if (!is_op(graph.nodes[term.product], Op::MatMul) || users_[term.product] != 1) return std::nullopt;
    // A sum over nothing has no pieces.
    for (const NodeId factor : graph.nodes[term.product].operands)
      if (graph.nodes[factor].shape.numel() == 0) return std::nullopt;
    return term;
  }

  bool has_several_products(const Graph& graph, NodeId root) const {
    const std::vector<NodeId> operands = operands_of(graph, root);
    return std::count_if(operands.begin(), operands.end(),
                         [&](NodeId id) { return term_of(graph, id).has_value(); }) > 1;
  }

 private:
  static bool is_sum(const Node& node) { return is_op(node, Op::Add) && is_float(node.dtype); }

  std::vector<std::uint32_t> users_;
  std::vector<bool> is_within_;  // one sum with its only user
};

bool are_alike(const Graph& graph, const Term& a, const Term& b) {
  const Node &x = graph.nodes[a.product], &y = graph.nodes[b.product];
  return a.casts == b.casts && x.dtype == y.dtype && x.shape == y.shape && x.precision == y.precision;
}

/// The pieces side by side along a dim: those of what casts and permutes show, where all pieces are seen
/// through the same. Many are joined in groups first.
NodeId side_by_side(Rewriter& to, std::vector<NodeId> pieces, std::size_t dim) {
  const Node first = to.node(pieces[0]);
  const bool is_seen_alike = first.kind == NodeKind::Op &&
                             (first.op == Op::Cast || first.op == Op::Permute) &&
                             std::all_of(pieces.begin(), pieces.end(), [&](NodeId id) {
                               const Node& piece = to.node(id);
                               return piece.kind == NodeKind::Op && piece.op == first.op &&
                                      piece.dtype == first.dtype && piece.ints == first.ints &&
                                      to.node(piece.operands[0]).dtype == to.node(first.operands[0]).dtype;
                             });
  if (is_seen_alike) {
    for (NodeId& piece : pieces) piece = to.node(piece).operands[0];
    if (first.op == Op::Cast) return to.cast(side_by_side(to, std::move(pieces), dim), first.dtype);
    const auto dim_below = static_cast<std::size_t>(first.ints[dim]);
    return to.permute(side_by_side(to, std::move(pieces), dim_below), first.ints);
  }
  return to.concat(std::move(pieces), dim);
}

/// The number of bytes of one element of a factor in memory, below what a product casts.
double bytes_of_element(const Graph& graph, NodeId id) {
  while (graph.nodes[id].kind == NodeKind::Op &&
         (graph.nodes[id].op == Op::Cast || graph.nodes[id].op == Op::Permute))
    id = graph.nodes[id].operands[0];
  return static_cast<double>(size_of(graph.nodes[id].dtype));
}

/// How the copy engine brings both factors of a product, where it brings them from where they lie: which of
/// them lie across the sum, and a bit more; else 0.
std::uint64_t lies_for_copies(const Graph& graph, NodeId product, const ir::DeviceTraits&) {
  constexpr std::int64_t kVector = 8;  // elements of 16 bits, that it brings at least
  std::uint64_t lie = 1;
  for (std::size_t k = 0; k < 2; ++k) {
    NodeId id = graph.nodes[product].operands[k];
    while (is_op(graph.nodes[id], Op::Cast)) id = graph.nodes[id].operands[0];
    const Shape& shape = graph.nodes[id].shape;
    const std::size_t rank = shape.rank();
    if (size_of(graph.nodes[id].dtype) != 2 || shape[rank - 1] % kVector != 0 ||
        shape[rank - 2] % kVector != 0)
      return 0;
    const std::optional<StridedView> view = strided_view(graph, id);
    if (!view) continue;  // it is stored by rows
    const Dims& strides = view->layout.strides;
    const bool is_by_columns = strides[rank - 1] != 1;
    const std::size_t along = is_by_columns ? rank - 2 : rank - 1;
    bool is_whole = strides[along] == 1 && view->layout.offset % kVector == 0;
    for (std::size_t d = 0; d < rank; ++d) is_whole &= d == along || strides[d] % kVector == 0;
    if (!is_whole) return 0;
    // Rows of the left factor lie along the sum, columns of the right one do.
    if (is_by_columns == (k == 0)) lie |= std::uint64_t{2} << k;
  }
  return lie;
}

/// True iff tiles go on from product to product, wherever the factors are (ir::Tiling::terms).
bool need_no_copies(const Graph& graph, const Terms& terms, const ir::TensorCores& cores) {
  if (!cores.any() || !cores.has_groups || !cores.matrices.empty() ||
      terms.size() > std::size_t{ir::Tiling::kMostSums})
    return false;
  const Shape& result = graph.nodes[terms[0].product].shape;
  for (const std::size_t d : {result.rank() - 2, result.rank() - 1}) {
    const Shape size{result[d]};
    const bool are_many = size.numel() > kMostFewRows;
    if (graph.checks) graph.checks->compare(SizeChecks::Is::More, {{size, 1}}, -kMostFewRows, are_many);
    if (!are_many) return false;
  }
  const auto depth_of = [&](const Term& term) {
    const Shape& left = graph.nodes[graph.nodes[term.product].operands[0]].shape;
    return Shape{left[left.rank() - 1]};
  };
  const auto lie_of = [&](const Term& term) {
    if (graph.checks) graph.checks->ask(graph, term.product, lies_for_copies);
    return lies_for_copies(graph, term.product, {});
  };
  const std::uint64_t lie = lie_of(terms[0]);
  return lie != 0 && std::all_of(terms.begin() + 1, terms.end(), [&](const Term& term) {
           const bool are_as_long = depth_of(term) == depth_of(terms[0]);
           if (graph.checks)
             graph.checks->compare(SizeChecks::Is::Equal, {{depth_of(term), 1}, {depth_of(terms[0]), -1}}, 0,
                                   are_as_long);
           return are_as_long && lie_of(term) == lie;
         });
}

/// True iff copying the factors takes less time than to write each product and to add it up.
bool joining_pays(const Graph& graph, const Terms& terms, const ir::DeviceTraits& traits) {
  const Shape& result = graph.nodes[terms[0].product].shape;
  const double more = static_cast<double>(terms.size() - 1);
  std::vector<SizeChecks::Term> sizes{
      {result, more * 2 * static_cast<double>(size_of(graph.nodes[terms[0].product].dtype))}};
  for (const Term& term : terms)
    for (const NodeId factor : graph.nodes[term.product].operands)
      sizes.push_back({graph.nodes[factor].shape, -2 * bytes_of_element(graph, factor)});
  double saved = more * traits.launch_bytes;
  for (const SizeChecks::Term& size : sizes) saved += size.times * static_cast<double>(size.shape.numel());
  if (graph.checks)
    graph.checks->compare(SizeChecks::Is::More, std::move(sizes), more * traits.launch_bytes, saved > 0);
  return saved > 0;
}

/// All factors as two, and their product.
NodeId product_of(Rewriter& to, const Terms& terms) {
  std::vector<NodeId> left, right;
  for (const Term& term : terms) {
    left.push_back(to.node(term.product).operands[0]);
    right.push_back(to.node(term.product).operands[1]);
  }
  Node node = to.node(terms[0].product);
  const std::size_t rank = node.shape.rank();
  node.operands = {side_by_side(to, std::move(left), rank - 1), side_by_side(to, std::move(right), rank - 2)};
  return to.add(std::move(node));
}

/// The products of a sum by kinds, from the first on; those that are alone are left out.
std::vector<Terms> kinds_of(const Rewriter& to, const SumReader& sums, const std::vector<NodeId>& operands) {
  std::vector<Terms> kinds;
  for (const NodeId operand : operands) {
    std::optional<Term> term = sums.term_of(to.before(), operand);
    if (!term) continue;
    *term = {to.now(term->node), to.now(term->product), std::move(term->casts)};
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&](const Terms& known) {
      return are_alike(to.after(), known[0], *term);
    });
    if (kind == kinds.end())
      kinds.push_back({std::move(*term)});
    else
      kind->push_back(std::move(*term));
  }
  std::erase_if(kinds, [](const Terms& terms) { return terms.size() < 2; });
  return kinds;
}

/// What the sum adds up, with one product for each kind that is better joined.
std::vector<NodeId> joined_operands(Rewriter& to, const SumReader& sums, NodeId root,
                                    const ir::DeviceTraits& traits) {
  const std::vector<NodeId> operands = sums.operands_of(to.before(), root);
  std::vector<NodeId> joined;
  absl::flat_hash_set<NodeId> gone;
  for (const Terms& terms : kinds_of(to, sums, operands)) {
    if (need_no_copies(to.after(), terms, traits.tensor_cores) || !joining_pays(to.after(), terms, traits))
      continue;
    NodeId product = product_of(to, terms);
    const std::vector<DType>& casts = terms[0].casts;
    for (auto dtype = casts.rbegin(); dtype != casts.rend(); ++dtype) product = to.cast(product, *dtype);
    joined.push_back(product);
    for (const Term& term : terms) gone.insert(term.node);
  }
  if (joined.empty()) return {};
  for (const NodeId operand : operands)
    if (!gone.contains(to.now(operand))) joined.push_back(to.now(operand));
  return joined;
}

}  // namespace

void join_sums_of_products(Graph& graph, const ir::DeviceTraits& traits) {
  const SumReader sums(graph);
  bool is_any = false;
  for (NodeId id = 0; id < graph.nodes.size() && !is_any; ++id)
    is_any = sums.is_root(graph, id) && sums.has_several_products(graph, id);
  if (!is_any) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (!sums.is_root(to.before(), id)) return to.add(std::move(node));
    const std::vector<NodeId> operands = joined_operands(to, sums, id, traits);
    if (operands.empty()) return to.add(std::move(node));
    NodeId sum = operands[0];
    for (std::size_t k = 1; k < operands.size(); ++k)
      sum = to.elementwise(Op::Add, node.dtype, {sum, operands[k]});
    return sum;
  });
}

}  // namespace sinter::plan
