// Pass: products of library ops take and give 16-bit floats. A product of such floats is computed in f32, and
// the graph says so by casts; a device that multiplies what is stored would only be kept waiting by them: a
// matrix of weights that few rows are multiplied by takes the time of reading it, and its f32 copy twice as
// much, besides being written.
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

/// The node whose cast to f32 an operand is a view of; nothing where that has no 16 bits.
std::optional<NodeId> stored_half(const Graph& graph, NodeId operand) {
  const Node& cast = graph.nodes[base_of(graph, operand)];
  if (!is_cast(cast) || cast.dtype != DType::f32) return std::nullopt;
  const NodeId half = cast.operands[0];
  return is_half(graph.nodes[half].dtype) ? std::optional(half) : std::nullopt;
}

/// What `operand`, a view of a cast, shows of `half`, which is cast.
NodeId seen_below_cast(Rewriter& to, NodeId operand, NodeId half) {
  std::vector<NodeId> views;
  for (; to.node(operand).is(OpClass::View); operand = to.node(operand).operands[0]) views.push_back(operand);
  NodeId seen = half;
  for (; !views.empty(); views.pop_back()) {
    Node view = to.node(views.back());
    view.dtype = to.node(half).dtype;
    view.operands = {seen};
    seen = to.add(std::move(view));
  }
  // Where the op needs a copy of a value with gaps, a view is what is stored.
  const Node& given = to.node(seen);
  return given.kind == NodeKind::External ? to.view(Op::Reshape, seen, Shape(given.shape)) : seen;
}

/// For each product of two matrices or images of 16-bit floats that is read by nothing but casts to one such
/// dtype, that dtype.
std::vector<std::optional<DType>> half_results(const Graph& graph) {
  std::vector<std::optional<DType>> found = read_as_halves(graph, Readers::Direct);
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (!is_product(node) || node.dtype != DType::f32 || !stored_half(graph, node.operands[0]) ||
        !stored_half(graph, node.operands[1]))
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
    for (NodeId& operand : node.operands)
      if (const std::optional<NodeId> half = stored_half(to.after(), operand))
        operand = seen_below_cast(to, operand, *half);
    if (results[id]) node.dtype = *results[id];
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
