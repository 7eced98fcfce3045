// Pass: batches of products with few rows and columns become sums of products, which kernels of sums compute
// together with the work around them. A tile of such a product would be mostly empty, and a kernel of tiles
// has one for each product of the batch.
#include <algorithm>
#include <utility>
#include <vector>

#include "jit/plan/reuse/size_checks.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Rows, columns and elements of a sum. Each multiplication reads two elements out of a cache: with 32 of
// each, tiles, which keep them in registers, take a sixth of the time (docs/benchmarks/products.md).
constexpr std::int64_t kMost = 16;
// Of a product with many rows or columns: multiplications for each of them. With 256, tiles take two thirds
// of the time at least, and a quarter of it with many columns.
constexpr std::int64_t kMostThin = 32;

/// 1 iff the product is one of several, each of few rows, columns and elements to add up, or has many rows or
/// columns for each of which little is multiplied.
std::uint64_t is_small(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const Node& product = graph.nodes[id];
  const std::size_t rank = product.shape.rank();
  const Shape& left = graph.nodes[product.operands[0]].shape;
  std::int64_t batch = 1;
  for (std::size_t d = 0; d + 2 < rank; ++d) batch *= product.shape[d];
  const auto fits = [](std::int64_t size) { return size <= kMost; };
  const std::int64_t m = product.shape[rank - 2], n = product.shape[rank - 1];
  const std::int64_t k = left[rank - 1];
  if (m == 0 || n == 0 || k == 0) return 0;
  if (batch > 1 && fits(m) && fits(n) && fits(k)) return 1;
  return std::max(m, n) > kMost && std::min(m, n) * k <= kMostThin;
}

/// Nodes that a softmax is made of, or is made from: the products of attention, which stay out of memory
/// (keep_scores).
std::vector<bool> near_softmax(const Graph& graph) {
  const std::size_t count = graph.nodes.size();
  const auto passes_on = [](const Node& node) {
    return node.is(OpClass::Elementwise) || node.is(OpClass::View);
  };
  std::vector<bool> made_of(count, false), read_by(count, false);
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    if (!passes_on(node)) continue;
    made_of[id] = node.op == Op::Exp;
    for (const NodeId operand : node.operands) made_of[id] = made_of[id] || made_of[operand];
  }
  for (NodeId id = static_cast<NodeId>(count); id-- > 0;) {
    const Node& node = graph.nodes[id];
    if (!passes_on(node) || !(made_of[id] || read_by[id])) continue;
    for (const NodeId operand : node.operands) read_by[operand] = true;
  }
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    for (const NodeId operand : node.operands) read_by[id] = read_by[id] || made_of[operand];
  }
  return read_by;
}

/// (.., m, k) (.., k, n) as the sum over k of products (.., m, k, n).
NodeId sum_of_products(Rewriter& to, const Node& product) {
  const std::size_t rank = product.shape.rank();
  Shape points = product.shape;
  points.insert(rank - 1, to.node(product.operands[0]).shape[rank - 1]);
  const auto operand = [&](std::size_t k) {
    NodeId id = product.operands[k];
    // Widened behind the views: what is in memory is what is read.
    const bool is_cast = to.node(id).kind == NodeKind::Op && to.node(id).op == Op::Cast &&
                         size_of(to.node(to.node(id).operands[0]).dtype) < size_of(product.dtype);
    if (is_cast) id = to.node(id).operands[0];
    Shape shape = to.node(id).shape;
    shape.insert(k == 0 ? rank : rank - 2, 1);
    id = to.view(Op::Expand, to.view(Op::Reshape, id, shape), points);
    return is_cast ? to.cast(id, product.dtype) : id;
  };
  constexpr std::int64_t kBoth = 3;
  Node products;
  products.op = Op::Mul;
  products.dtype = product.dtype;
  products.operands = {operand(0), operand(1)};
  products.shape = points;
  products.ints = {kBoth};  // each element is read by each column, or by each row
  const NodeId sum =
      to.reduce(Op::Sum, product.dtype, to.add(std::move(products)), std::int64_t{1} << (rank - 1));
  return to.view(Op::Reshape, sum, product.shape);
}

}  // namespace

void sum_small_products(Graph& graph, const ir::DeviceTraits& traits) {
  std::vector<bool> is_wanted(graph.nodes.size(), false);
  bool is_any = false;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.kind != NodeKind::Op || node.op != Op::MatMul || node.shape.rank() < 2) continue;
    if (graph.checks) graph.checks->ask(graph, id, is_small);
    is_wanted[id] = is_small(graph, id, traits) != 0;
    is_any |= is_wanted[id];
  }
  if (!is_any) return;
  const std::vector<bool> is_near_softmax = near_softmax(graph);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    return is_wanted[id] && !is_near_softmax[id] ? sum_of_products(to, node) : to.add(std::move(node));
  });
}

}  // namespace sinter::plan
