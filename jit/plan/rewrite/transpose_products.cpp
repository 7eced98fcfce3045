// Pass: a matrix product of which only the transpose is read is computed transposed, so that whoever reads it
// goes along its rows. The gradient of a weight that is stored [out, in] is such a product, and an optimizer
// reads it.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

/// True iff a node swaps the last two dims of its operand and does nothing else.
bool is_transpose(const Node& node) {
  if (!node.is(OpClass::View) || node.op != Op::Permute) return false;
  const std::size_t rank = node.ints.size();
  if (rank < 2) return false;
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (node.ints[d] != static_cast<std::int64_t>(d)) return false;
  return node.ints[rank - 2] == static_cast<std::int64_t>(rank - 1);
}

/// True iff neighbours in memory are neighbours in a column.
bool is_column_major(const Graph& graph, NodeId id) {
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view) return false;  // a copy will be read
  const Dims& strides = view->layout.strides;
  const std::size_t rank = strides.size();
  return strides[rank - 1] != 1 && strides[rank - 2] == 1;
}

/// The products to compute transposed: only those of one row-major and one column-major matrix. They stay
/// products of this kind, for which no device is slower.
std::vector<bool> products_to_transpose(const Graph& graph) {
  std::vector<bool> read_transposed(graph.nodes.size()), read_otherwise(graph.nodes.size());
  for (const Result& result : graph.results) read_otherwise[result.node] = true;
  for (const Node& node : graph.nodes)
    for (NodeId operand : node.operands)
      (is_transpose(node) ? read_transposed : read_otherwise)[operand] = true;
  std::vector<bool> found(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    found[id] = node.kind == NodeKind::Op && node.op == Op::MatMul && read_transposed[id] &&
                !read_otherwise[id] &&
                is_column_major(graph, node.operands[0]) != is_column_major(graph, node.operands[1]);
  }
  return found;
}

NodeId transpose_of(Rewriter& to, NodeId id) {
  Shape shape = to.node(id).shape;
  const std::size_t rank = shape.rank();
  std::swap(shape[rank - 2], shape[rank - 1]);
  std::vector<std::int64_t> axes(rank);
  for (std::size_t d = 0; d < rank; ++d) axes[d] = static_cast<std::int64_t>(d);
  std::swap(axes[rank - 2], axes[rank - 1]);
  return to.view(Op::Permute, id, shape, std::move(axes));
}

}  // namespace

void transpose_products(Graph& graph, const ir::DeviceTraits&) {
  const std::vector<bool> transposed = products_to_transpose(graph);
  if (std::none_of(transposed.begin(), transposed.end(), [](bool is) { return is; })) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (is_transpose(node) && transposed[to.before().nodes[id].operands[0]]) return node.operands[0];
    if (transposed[id]) {
      // (AB)^T = B^T A^T
      const NodeId a = node.operands[0], b = node.operands[1];
      node.operands = {transpose_of(to, b), transpose_of(to, a)};
      const std::size_t rank = node.shape.rank();
      std::swap(node.shape[rank - 2], node.shape[rank - 1]);
    }
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
