// Pass: matrix products that tensor cores may compute become contractions, and so do those of one row, which
// other lanes compute as fast as their factors are read.
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/ir/products/parts.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/tiling.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/products/factors.h"
#include "jit/plan/rewrite/products/tf32_factors.h"

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

/// Nodes that elementwise kernels alone read, perhaps through casts.
std::vector<bool> read_by_elementwise(const Graph& graph) {
  std::vector<bool> is_so(graph.nodes.size(), true);
  for (const Result& result : graph.results) is_so[result.node] = false;
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
    const Node& reader = graph.nodes[id];
    const bool is_elementwise = reader.is(OpClass::Elementwise) && (reader.op != Op::Cast || is_so[id]);
    for (const NodeId operand : reader.operands)
      if (!is_elementwise) is_so[operand] = false;
  }
  return is_so;
}

/// A product of few tiles and a long sum is shared by workgroups, of which, unless they are clusters, the
/// last to come to a tile waits for the parts of all others, one after the other. Into so many parts, which
/// their readers add up, the sum is better cut: all of them are read side by side. 1: it is not.
std::int64_t parts_for_readers(const Node& product, const Shape& left, const ir::DeviceTraits& traits) {
  // Elements of a tile's side, and of the sum in a slot of 16 bits.
  constexpr std::int64_t kTile = 64, kSlot = 64, kMostParts = 4, kWorkgroups = 2;
  const std::size_t rank = product.shape.rank();
  const std::int64_t rows = product.shape[rank - 2], columns = product.shape[rank - 1],
                     depth = left[left.rank() - 1];
  if (traits.tensor_cores.cluster > 1 || rank != 2 || std::min(rows, columns) <= kMostFewRows ||
      depth % (kMostParts * kSlot) != 0)
    return 1;
  const std::int64_t tiles = (rows + kTile - 1) / kTile * ((columns + kTile - 1) / kTile),
                     at_once = kWorkgroups * std::int64_t{traits.tensor_cores.compute_units};
  const bool is_shared = ir::tiles_in_parts(tiles, depth / kSlot, at_once, false) >= kMostParts,
             is_then = ir::tiles_in_parts(kMostParts * tiles, depth / kSlot / kMostParts, at_once, false) > 1;
  // Parts are written once, and read by two kernels perhaps.
  const double moved =
      3 * kMostParts * sizeof(float) * static_cast<double>(rows) * static_cast<double>(columns);
  return is_shared && !is_then && moved <= traits.launch_bytes / 4 ? kMostParts : 1;
}

/// (m, k) (k, n) as products of (parts, m, k / parts) and (parts, k / parts, n), and their sum.
NodeId in_parts(Rewriter& to, const Factors& factors, const Shape& shape, std::int64_t parts) {
  const std::int64_t rows = shape[0], columns = shape[1], depth = to.node(factors.nodes[0]).shape[1] / parts;
  const NodeId a = to.permute(to.view(Op::Reshape, factors.nodes[0], Shape{rows, parts, depth}), {1, 0, 2});
  const NodeId b = to.view(Op::Reshape, factors.nodes[1], Shape{parts, depth, columns});
  const NodeId all = contraction(to, factors, a, b, Shape{parts, rows, columns});
  std::vector<NodeId> sums;
  for (std::int64_t i = 0; i < parts; ++i) {
    const NodeId part = to.view(Op::Slice, all, Shape{1, rows, columns}, {i, 0, 0, 1, 1, 1});
    sums.push_back(to.view(Op::Reshape, part, shape));
  }
  while (sums.size() > 1) {
    std::vector<NodeId> pairs;
    for (std::size_t i = 0; i + 1 < sums.size(); i += 2)
      pairs.push_back(to.elementwise(Op::Add, DType::f32, {sums[i], sums[i + 1]}));
    sums = std::move(pairs);
  }
  return sums[0];
}

}  // namespace

bool is_contracted(const Graph& graph, const Node& product, const ir::TensorCores& cores) {
  if (product.is(OpClass::Contract)) return is_wanted(graph, product);
  return product.kind == NodeKind::Op && product.op == Op::MatMul && is_wanted(graph, product) &&
         has_factors(graph, product, cores);
}

void contract_products(Graph& graph, const ir::DeviceTraits& traits) {
  const std::vector<bool> is_read_by_elementwise = read_by_elementwise(graph);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (node.kind != NodeKind::Op || node.op != Op::MatMul || !is_wanted(to.after(), node))
      return to.add(std::move(node));
    if (traits.lone_rows && is_of_one_row(node)) {
      const Factors factors = factors_of_one_row(to, node, traits.tensor_cores);
      return contraction(to, factors, factors.nodes[0], factors.nodes[1], node.shape);
    }
    if (!traits.tensor_cores.any()) return to.add(std::move(node));
    std::optional<Factors> factors = factors_of(to, node, traits.tensor_cores);
    const DType dtype = factors ? to.node(factors->nodes[0]).dtype : DType::f32;
    const bool is_rounded = factors && (dtype != DType::f32 || factors->rounds);
    if (is_rounded && !is_half(dtype)) lay_along_the_sum(to, node, *factors, traits);
    if (!is_rounded && traits.tensor_cores.multiplies(DType::f32))
      if (const std::optional<Factors> parts = factors_in_parts(to, node)) factors = parts;
    if (!factors) return to.add(std::move(node));
    if (traits.tensor_cores.has_groups && is_read_by_elementwise[id] &&
        is_half(to.node(factors->nodes[0]).dtype)) {
      const std::int64_t parts = parts_for_readers(node, to.node(factors->nodes[0]).shape, traits);
      // Sizes of parts are no sizes of the program, so that a plan for others is made from nothing.
      if (graph.checks && parts > 1) graph.checks->give_up();
      if (parts > 1) return in_parts(to, *factors, node.shape, parts);
    }
    return contraction(to, *factors, factors->nodes[0], factors->nodes[1], node.shape);
  });
}

}  // namespace sinter::plan
