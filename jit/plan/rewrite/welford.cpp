// Pass: variances of much data take one pass over it.
//
// A variance by the book goes over x twice: for the mean, and for the squared differences from it. Where x is
// too large to be held in registers between the two, Welford's method finds both in one pass: with D the sum
// of squared deviations from x's own mean,
//
//   sum (x - m)^2 = D + n (mean - m)^2      for any m that is constant over the n elements summed up,
//
// all terms of which are positive, so that nothing cancels. That m is the mean does not have to be known.
#include <optional>
#include <utility>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

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
  const Node& expanded = graph.nodes[difference.operands[1]];
  if (!expanded.is(OpClass::View) || expanded.op != Op::Expand) return std::nullopt;
  if (graph.nodes[expanded.operands[0]].shape != sum.shape) return std::nullopt;
  return Squares{difference.operands[0], expanded.operands[0]};
}

/// A sum of (x - m)^2 over n elements for each result, and the sum of x over the same.
struct Variance {
  NodeId x, m, sum;
  std::int64_t n;
};

/// Elements that each result of a reduction is made of.
std::int64_t elements_of(const Graph& graph, const Node& reduction) {
  const std::int64_t results = reduction.shape.numel();
  return results ? graph.nodes[reduction.operands[0]].shape.numel() / results : 0;
}

/// True iff neighbours in a row are reduced.
bool reduces_rows(const Graph& graph, const Node& reduction) {
  const Shape& in = graph.nodes[reduction.operands[0]].shape;
  std::size_t last = in.rank();
  while (last > 0 && in[last - 1] == 1) --last;
  return last > 0 && (reduction.ints[0] >> (last - 1) & 1);
}

using Variances = absl::flat_hash_map<NodeId, Variance>;

Variances find_variances(const Graph& graph, const LowerLimits& limits) {
  Variances found;
  absl::flat_hash_map<std::pair<NodeId, std::int64_t>, NodeId> sums;  // by operand and dims
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (!node.is(OpClass::Reduce) || node.op != Op::Sum || !is_float(node.dtype)) continue;
    if (const std::optional<Squares> squares = squares_of(graph, node)) {
      const auto sum = sums.find({squares->x, node.ints[0]});
      const std::int64_t n = elements_of(graph, node);
      if (graph.checks && sum != sums.end())
        graph.checks->sharing(graph.nodes[node.operands[0]].shape, node.shape);
      if (sum != sums.end() &&
          sharing_is_worth_launches(node.shape.numel(), n, reduces_rows(graph, node), 1, limits)) {
        found[id] = {squares->x, squares->m, sum->second, n};
        continue;
      }
    }
    sums.try_emplace({node.operands[0], node.ints[0]}, id);
  }
  return found;
}

/// D + n (sum / n - m)^2
NodeId in_one_pass(Rewriter& to, const Node& node, const Variance& of) {
  const DType dtype = arithmetic_of(node.dtype);
  const NodeId n = to.constant(of.n, dtype);
  const NodeId deviations = to.reduce(Op::SquaredDeviations, dtype, to.now(of.x), node.ints[0]);
  const NodeId mean = to.elementwise(Op::Div, dtype, {to.now(of.sum), n});
  const NodeId off = to.elementwise(Op::Sub, dtype, {mean, to.now(of.m)});
  const NodeId square = to.elementwise(Op::Mul, dtype, {off, off});
  const NodeId more = to.elementwise(Op::Mul, dtype, {n, square});
  return to.elementwise(Op::Add, node.dtype, {deviations, more});
}

}  // namespace

void use_welford(Graph& graph, const ir::DeviceTraits& traits) {
  const Variances variances = find_variances(graph, limits_of(traits));
  if (variances.empty()) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    const auto variance = variances.find(id);
    if (variance == variances.end()) return to.add(std::move(node));
    return in_one_pass(to, node, variance->second);
  });
}

}  // namespace sinter::plan
