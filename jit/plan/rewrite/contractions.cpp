// Pass: matrix products that tensor cores may compute become contractions.
#include <algorithm>
#include <utility>

#include "jit/plan/lower/tiling.h"
#include "jit/plan/rewrite/factors.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/tf32_factors.h"

namespace sinter::plan {
namespace {

// Rank of a product whose batch dims the copy engine can count.
constexpr std::size_t kMostDims = 5;

/// True iff there is something to add up, and dims enough for the loops of a kernel.
bool is_wanted(const Graph& graph, const Node& product) {
  const std::size_t rank = product.shape.rank();
  if (rank > kMostDims || product.shape.numel() == 0) return false;
  const Shape& left = graph.nodes[product.operands[0]].shape;
  return left[left.rank() - 1] >= 2;
}

}  // namespace

bool is_contracted(const Graph& graph, const Node& product) {
  if (product.is(OpClass::Contract)) return is_wanted(graph, product);
  return product.kind == NodeKind::Op && product.op == Op::MatMul && is_wanted(graph, product) &&
         has_factors(graph, product);
}

void contract_products(Graph& graph, const ir::DeviceTraits& traits) {
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    if (node.kind != NodeKind::Op || node.op != Op::MatMul || !is_wanted(to.after(), node))
      return to.add(std::move(node));
    std::optional<Factors> factors = factors_of(to, node);
    if (factors && factors->rounds) lay_along_the_sum(to, node, *factors, traits);
    if (!factors) factors = factors_in_parts(to, node);
    if (!factors) return to.add(std::move(node));
    return contraction(to, *factors, factors->nodes[0], factors->nodes[1], node.shape, 0);
  });
}

}  // namespace sinter::plan
