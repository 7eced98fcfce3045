// Pass: products of library ops take and give 16-bit floats, and matrix products take i8. A product of such
// numbers is computed in f32, and the graph says so by casts; a device that multiplies what is stored would
// only be kept waiting by them: a matrix of weights that few rows are multiplied by takes the time of reading
// it, and its f32 copy two or four times as much, besides being written.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/read_as.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

bool is_cast(const Node& node) { return node.kind == NodeKind::Op && node.op == Op::Cast; }

bool is_product(const Node& node) {
  return is_convolution(node) || (node.kind == NodeKind::Op && node.op == Op::MatMul);
}

/// The node whose cast to f32 an operand of a product is a view of; nothing where the product cannot take it.
std::optional<NodeId> below_cast(const Graph& graph, const Node& product, std::size_t operand) {
  const Node& cast = graph.nodes[base_of(graph, product.operands[operand])];
  if (!is_cast(cast) || cast.dtype != DType::f32) return std::nullopt;
  const NodeId narrow = cast.operands[0];
  const DType dtype = graph.nodes[narrow].dtype;
  const bool is_taken = is_half(dtype) || (dtype == DType::i8 && !is_convolution(product));
  return is_taken ? std::optional(narrow) : std::nullopt;
}

/// What `operand`, a view of a cast, shows of `narrow`, which is cast.
NodeId seen_below_cast(Rewriter& to, NodeId operand, NodeId narrow) {
  std::vector<NodeId> views;
  for (; to.node(operand).is(OpClass::View); operand = to.node(operand).operands[0]) views.push_back(operand);
  NodeId seen = narrow;
  for (; !views.empty(); views.pop_back()) {
    Node view = to.node(views.back());
    view.dtype = to.node(narrow).dtype;
    view.operands = {seen};
    seen = to.add(std::move(view));
  }
  // Where the op needs a copy of a value with gaps, a view is what is stored.
  const Node& given = to.node(seen);
  return given.kind == NodeKind::External ? to.view(Op::Reshape, seen, Shape(given.shape)) : seen;
}

/// For each product of two matrices or images without casts that is read by nothing but casts to one dtype of
/// 16-bit floats, that dtype.
std::vector<std::optional<DType>> half_results(const Graph& graph) {
  std::vector<std::optional<DType>> found = read_as_halves(graph, Readers::Direct);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (!is_product(node) || node.dtype != DType::f32 || !below_cast(graph, node, 0) ||
        !below_cast(graph, node, 1))
      found[id] = std::nullopt;
  }
  return found;
}

}  // namespace

void absorb_casts(Graph& graph, const ir::DeviceTraits&) {
  const std::vector<std::optional<DType>> results = half_results(graph);
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (is_cast(node) && results[to.before().nodes[id].operands[0]]) return node.operands[0];
    if (!is_product(node) || node.dtype != DType::f32) return to.add(std::move(node));
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      if (const std::optional<NodeId> narrow = below_cast(to.after(), node, i))
        node.operands[i] = seen_below_cast(to, node.operands[i], *narrow);
    if (results[id]) node.dtype = *results[id];
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
