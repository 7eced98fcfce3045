// Pass: what scales all terms of a sum scales the sum.
//
//   sum of c x_i = c sum of x_i      for any c that is the same for all terms
//
// The sums of x_i alone are often asked for anyway, or by another sum of the same terms: the gradient of a
// norm has some with the deviation of the row or channel and some without. And where c is made of a reduction
// over the same, as that deviation is, the sum no longer waits for it.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Products of products that are gone through for factors.
constexpr int kDeepest = 6;

/// The terms of a sum, taken apart: `base` times all `factors`, negated or not.
struct Terms {
  NodeId base;
  std::vector<NodeId> factors;  // of the shape of the sum
  bool negative = false;
};

/// What the operand of a product has for all terms of a sum, as a node of the shape of the sum; else none.
NodeId constant_along(const Graph& graph, NodeId id, const Node& sum) {
  const Node& node = graph.nodes[id];
  if (!node.is(OpClass::View) || node.op != Op::Expand) return kNoNode;
  return graph.nodes[node.operands[0]].shape == sum.shape ? node.operands[0] : kNoNode;
}

/// Takes the factors out of the product that `id` is. What has none stays the node that it is.
Terms terms_of(Rewriter& to, NodeId id, const Node& sum, int deepest = kDeepest) {
  const Node node = to.node(id);
  if (deepest == 0 || !node.is(OpClass::Elementwise) || node.dtype != sum.dtype) return {id, {}};
  if (node.op == Op::Neg) {
    Terms terms = terms_of(to, node.operands[0], sum, deepest - 1);
    if (terms.factors.empty()) return {id, {}};
    terms.negative = !terms.negative;
    return terms;
  }
  if (node.op != Op::Mul) return {id, {}};
  for (const std::size_t i : {0, 1}) {
    const NodeId factor = constant_along(to.after(), node.operands[i], sum);
    if (factor == kNoNode || to.node(node.operands[1 - i]).kind == NodeKind::Scalar) continue;
    Terms terms = terms_of(to, node.operands[1 - i], sum, deepest - 1);
    terms.factors.push_back(factor);
    return terms;
  }
  Terms first = terms_of(to, node.operands[0], sum, deepest - 1),
        second = terms_of(to, node.operands[1], sum, deepest - 1);
  if (first.factors.empty() && second.factors.empty()) return {id, {}};
  // In one order, so that equal products are one node.
  const auto [low, high] = std::minmax(first.base, second.base);
  first.base = to.elementwise(Op::Mul, node.dtype, {low, high});
  first.factors.insert(first.factors.end(), second.factors.begin(), second.factors.end());
  first.negative ^= second.negative;
  return first;
}

}  // namespace

void take_out_factors(Graph& graph, const ir::DeviceTraits&) {
  rewrite(graph, [](Rewriter& to, NodeId, Node node) {
    if (!node.is(OpClass::Reduce) || node.op != Op::Sum || !is_float(node.dtype))
      return to.add(std::move(node));
    Terms terms = terms_of(to, node.operands[0], node);
    if (terms.factors.empty()) return to.add(std::move(node));
    const DType dtype = arithmetic_of(node.dtype);
    std::sort(terms.factors.begin(), terms.factors.end());
    NodeId result = to.reduce(Op::Sum, dtype, terms.base, node.ints[0]);
    for (const NodeId factor : terms.factors) result = to.elementwise(Op::Mul, dtype, {result, factor});
    if (terms.negative) result = to.elementwise(Op::Neg, dtype, {result});
    return dtype == node.dtype ? result : to.cast(result, node.dtype);
  });
}

}  // namespace sinter::plan
