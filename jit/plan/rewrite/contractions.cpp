// Pass: matrix products that tensor cores may compute become contractions.
#include <algorithm>
#include <utility>

#include "jit/plan/lower/tiling.h"
#include "jit/plan/rewrite/factors.h"
#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

// Rank of a product whose batch dims the copy engine can count.
constexpr std::size_t kMostDims = 5;
// A factor whose elements are multiplied at least so often is worth a transposed copy: that takes 8 bytes of
// memory for each element, and saves half of the time that its product takes where lanes transpose tiles.
constexpr double kWorthCopy = 512;
// With fewer products for each element that is read or written, memory decides how long the product takes.
constexpr double kWorthSpeed = 128;

/// True iff there is something to add up, and dims enough for the loops of a kernel.
bool is_wanted(const Graph& graph, const Node& product) {
  const std::size_t rank = product.shape.rank();
  if (rank > kMostDims || product.shape.numel() == 0) return false;
  const Shape& left = graph.nodes[product.operands[0]].shape;
  return left[left.rank() - 1] >= 2;
}

// Elements of f32 that the copy engine needs a multiple of, in rows along the sum.
constexpr std::int64_t kWholeRow = 4;

/// How a factor lies, as bits: neighbours in memory are neighbours in a column of it, not in a row; its rows
/// could be read by the copy engine; its columns could, if they were rows. What is no strided view will be
/// copied by rows.
enum Lie : std::uint64_t { kByColumns = 1, kWholeRows = 2, kWholeColumns = 4 };
std::uint64_t lie_of(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const Shape& shape = graph.nodes[id].shape;
  const std::size_t rank = shape.rank();
  std::uint64_t lie = 0;
  if (const std::optional<StridedView> view = strided_view(graph, id)) {
    const Dims& strides = view->layout.strides;
    if (strides[rank - 1] != 1 && strides[rank - 2] == 1) lie |= kByColumns;
  }
  if (shape[rank - 1] % kWholeRow == 0) lie |= kWholeRows;
  if (shape[rank - 2] % kWholeRow == 0) lie |= kWholeColumns;
  return lie;
}

/// The sizes of all that is added up: those of the product and the sum's.
Shape products_of(const Graph& graph, const Node& product) {
  const Shape& left = graph.nodes[product.operands[0]].shape;
  Shape all = product.shape;
  all.push_back(left[left.rank() - 1]);
  return all;
}

/// True iff the sum of the shapes' elements, each so many times, and of the constant is not negative.
bool is_at_least(const Graph& graph, std::vector<SizeChecks::Term> terms, double constant = 0) {
  double sum = constant;
  for (const auto& [shape, times] : terms) sum += times * static_cast<double>(shape.numel());
  if (graph.checks) graph.checks->compare(SizeChecks::Is::AtLeast, std::move(terms), constant, sum >= 0);
  return sum >= 0;
}

NodeId transposed(Rewriter& to, NodeId id) {
  const std::size_t rank = to.node(id).shape.rank();
  std::vector<std::int64_t> axes(rank);
  for (std::size_t d = 0; d < rank; ++d) axes[d] = static_cast<std::int64_t>(d);
  std::swap(axes[rank - 2], axes[rank - 1]);
  return to.permute(id, std::move(axes));
}

/// Tensor cores read f32 along the sum. A factor that lies across it, and is used often, is copied so that it
/// lies along.
NodeId along_the_sum(Rewriter& to, NodeId factor, bool is_left, const Shape& products) {
  const Graph& graph = to.after();
  if (graph.checks) graph.checks->ask(graph, factor, lie_of);
  const std::uint64_t lie = lie_of(graph, factor, {});
  const bool lies_across = ((lie & kByColumns) != 0) == is_left;
  if (!lies_across || (lie & (is_left ? kWholeRows : kWholeColumns)) == 0) return factor;
  if (!is_at_least(graph, {{products, 1}, {graph.nodes[factor].shape, -kWorthCopy}})) return factor;
  if (is_left) return to.elementwise(Op::Cast, DType::f32, {factor});
  return transposed(to, to.elementwise(Op::Cast, DType::f32, {transposed(to, factor)}));
}

/// 1 iff the factor is in memory, as a strided view of what is none of the plan's elementwise results.
std::uint64_t is_plain_view(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view || !view->layout.moving.empty()) return 0;
  const Node& base = graph.nodes[view->base];
  return base.kind == NodeKind::External || base.is(OpClass::Contract) || base.op == Op::MatMul ? 1 : 0;
}

/// True iff a vendor's library is there that computes so large a product of such factors as they lie.
bool has_library(const Graph& graph, const Factors& factors, const Shape& products,
                 const ir::DeviceTraits& traits) {
  if (!traits.has_product_library) return false;
  for (const NodeId factor : factors.nodes) {
    if (graph.checks) graph.checks->ask(graph, factor, is_plain_view);
    if (is_plain_view(graph, factor, traits) == 0) return false;
  }
  return is_at_least(graph, {{products, 1}}, -kLibraryProducts) && traits.has_product_library();
}

/// Both factors of a product of f32 that may be rounded.
void lay_along_the_sum(Rewriter& to, const Node& product, Factors& factors, const ir::DeviceTraits& traits) {
  const Graph& graph = to.after();
  const Shape products = products_of(graph, product);
  if (has_library(graph, factors, products, traits)) return;
  if (!is_at_least(graph, {{products, 1},
                           {graph.nodes[factors.nodes[0]].shape, -kWorthSpeed},
                           {graph.nodes[factors.nodes[1]].shape, -kWorthSpeed},
                           {product.shape, -kWorthSpeed}}))
    return;
  for (const std::size_t k : {0, 1}) factors.nodes[k] = along_the_sum(to, factors.nodes[k], k == 0, products);
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
    if (!factors) return to.add(std::move(node));
    if (factors->rounds) lay_along_the_sum(to, node, *factors, traits);
    return contraction(to, *factors, factors->nodes[0], factors->nodes[1], node.shape, 0);
  });
}

}  // namespace sinter::plan
