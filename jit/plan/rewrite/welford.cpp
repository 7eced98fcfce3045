// Pass: sums of squared differences from something that is constant over the reduced dims.
//
// A variance by the book goes over x twice: for the mean, and for the squares of what is left. Where x is too
// large to be kept at hand between the two, both are found in one pass: with D the sum of squared deviations
// from x's own mean,
//
//   sum (x - m)^2 = D + n (mean - m)^2      for any m that is constant over the n elements summed up,
//
// all terms of which are positive, so that nothing cancels. That m is the mean does not have to be known.
#include <absl/container/flat_hash_map.h>

#include "jit/plan/graph.h"

namespace sinter::plan {
namespace {

/// x and m of a sum of (x - m)^2 over the dims of `sum`.
struct Squares {
  NodeId x, m;
};

std::optional<Squares> squares_of(const Graph& graph, const Node& sum) {
  const Node& square = graph.nodes[sum.operands[0]];
  if (!square.is(OpClass::Elementwise) || square.op != Op::Mul || square.operands[0] != square.operands[1])
    return std::nullopt;
  const Node& difference = graph.nodes[square.operands[0]];
  if (!difference.is(OpClass::Elementwise) || difference.op != Op::Sub) return std::nullopt;
  const Node& spread = graph.nodes[difference.operands[1]];
  if (!spread.is(OpClass::View) || spread.op != Op::Expand) return std::nullopt;
  if (graph.nodes[spread.operands[0]].shape != sum.shape) return std::nullopt;
  return Squares{difference.operands[0], spread.operands[0]};
}

class Moments {
 public:
  explicit Moments(Graph& graph) : graph_(graph) {}

  NodeId elementwise(const Node& like, Op op, std::vector<NodeId> operands) {
    Node node;
    node.op = op;
    node.dtype = arithmetic_of(like.dtype);
    node.shape = graph_.nodes[operands[0]].shape;
    node.operands = std::move(operands);
    node.record = like.record;
    return graph_.add(std::move(node));
  }

  /// The number n, in every element of the result of `like`. It is the last of 0, 1, .. n.
  NodeId number(const Node& like, std::int64_t n) {
    Node all;
    all.op = Op::Iota;
    all.dtype = DType::i64;
    all.shape = Shape{n + 1};
    all.record = like.record;
    const NodeId last = graph_.add_view(Op::Slice, graph_.add(std::move(all)), Shape{1}, {n, 1});
    const NodeId real = elementwise(like, Op::Cast, {last});
    const NodeId shaped = graph_.add_view(Op::Reshape, real, Shape(Dims::filled(like.shape.rank(), 1)));
    return graph_.add_view(Op::Expand, shaped, like.shape);
  }

  /// In place of `node`, the sum of (x - m)^2; `sum` is the sum of x.
  NodeId write(const Node& node, NodeId x, NodeId m, NodeId sum, std::int64_t n) {
    Node deviations = node;
    deviations.op = Op::SquaredDeviations;
    deviations.operands = {x};
    deviations.dtype = arithmetic_of(node.dtype);
    deviations.value = 0;
    const NodeId own = graph_.add(std::move(deviations)), count = number(node, n);
    const NodeId off = elementwise(node, Op::Sub, {elementwise(node, Op::Div, {sum, count}), m});
    const NodeId more = elementwise(node, Op::Mul, {count, elementwise(node, Op::Mul, {off, off})});
    const NodeId whole = elementwise(node, Op::Add, {own, more});
    graph_.nodes[whole].dtype = node.dtype;
    return whole;
  }

 private:
  Graph& graph_;
};

}  // namespace

void find_moments(Graph& graph, const std::function<bool(std::int64_t, std::int64_t, bool)>& worth) {
  // Nodes must stay in topological order, so the graph is copied with the new nodes in their places.
  const Graph before = std::move(graph);
  graph = Graph{before.trace, {}, before.results, before.channels_last};
  std::vector<NodeId> moved(before.nodes.size());
  absl::flat_hash_map<std::pair<NodeId, std::int64_t>, NodeId> sums;  // operand and dims to a sum over them
  bool any = false;
  for (NodeId id = 0; id < before.nodes.size(); ++id) {
    const Node& old = before.nodes[id];
    Node node = old;
    for (NodeId& operand : node.operands) operand = moved[operand];
    const bool is_sum = old.live && old.is(OpClass::Reduce) && old.op == Op::Sum && is_float(old.dtype);
    if (is_sum) {
      const Shape& in = before.nodes[old.operands[0]].shape;
      const std::int64_t results = old.shape.numel(), n = results ? in.numel() / results : 0;
      std::size_t last = in.rank();
      while (last > 0 && in[last - 1] == 1) --last;
      const bool contiguous = last > 0 && (old.ints[0] >> (last - 1) & 1);
      const std::optional<Squares> squares = squares_of(before, old);
      const auto sum = squares ? sums.find({squares->x, old.ints[0]}) : sums.end();
      if (sum != sums.end() && worth(results, n, contiguous)) {
        moved[id] = Moments(graph).write(node, moved[squares->x], moved[squares->m], sum->second, n);
        any = true;
        continue;
      }
    }
    moved[id] = graph.add(std::move(node));
    if (is_sum) sums.try_emplace({old.operands[0], old.ints[0]}, moved[id]);
  }
  for (Result& result : graph.results) result.node = moved[result.node];
  if (any) simplify(graph);  // what was squared may not be needed any more
}

}  // namespace sinter::plan
