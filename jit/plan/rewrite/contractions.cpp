// Pass: matrix products that tensor cores may compute become contractions, and so do those of one row, which
// other lanes compute as fast as their factors are read.
#include <algorithm>
#include <utility>

#include "jit/plan/lower/tiles/tiling.h"
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

/// True iff the product has one row or one column, so that each element of the other factor is read once, and
/// a kernel of sums may read it as it lies.
bool is_of_one_row(const Node& product) {
  const std::size_t rank = product.shape.rank();
  return product.dtype == DType::f32 && std::min(product.shape[rank - 2], product.shape[rank - 1]) == 1;
}

/// The factors of such a product, of 16 or 8 bits or as they are.
Factors factors_of_one_row(Rewriter& to, const Node& product, const ir::TensorCores& cores) {
  if (const std::optional<Factors> factors = stored_factors(to, product)) return *factors;
  if (const std::optional<Factors> factors = factors_of(to, product, cores); factors && !factors->rounds)
    return *factors;
  return {{product.operands[0], product.operands[1]}, false};
}

}  // namespace

bool is_contracted(const Graph& graph, const Node& product, const ir::TensorCores& cores) {
  if (product.is(OpClass::Contract)) return is_wanted(graph, product);
  return product.kind == NodeKind::Op && product.op == Op::MatMul && is_wanted(graph, product) &&
         has_factors(graph, product, cores);
}

void contract_products(Graph& graph, const ir::DeviceTraits& traits) {
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    if (node.kind != NodeKind::Op || node.op != Op::MatMul || !is_wanted(to.after(), node))
      return to.add(std::move(node));
    if (traits.lone_rows && is_of_one_row(node)) {
      const Factors factors = factors_of_one_row(to, node, traits.tensor_cores);
      return contraction(to, factors, factors.nodes[0], factors.nodes[1], node.shape, 0);
    }
    if (!traits.tensor_cores.any()) return to.add(std::move(node));
    std::optional<Factors> factors = factors_of(to, node, traits.tensor_cores);
    const DType dtype = factors ? to.node(factors->nodes[0]).dtype : DType::f32;
    const bool is_rounded = factors && (dtype != DType::f32 || factors->rounds);
    if (is_rounded && !is_half(dtype)) lay_along_the_sum(to, node, *factors, traits);
    if (!is_rounded && traits.tensor_cores.multiplies(DType::f32))
      if (const std::optional<Factors> parts = factors_in_parts(to, node)) factors = parts;
    if (!factors) return to.add(std::move(node));
    return contraction(to, *factors, factors->nodes[0], factors->nodes[1], node.shape, 0);
  });
}

}  // namespace sinter::plan
