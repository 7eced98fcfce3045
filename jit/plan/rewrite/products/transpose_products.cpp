// Pass: a matrix product of which only the transpose is read, as it is or cast, is computed transposed, so
// that whoever reads it goes along its rows. The gradient of a weight that is stored [out, in] is such a
// product, and an optimizer reads it.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

/// True iff neighbours in memory are neighbours in a column.
bool is_column_major(const Graph& graph, NodeId id) {
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view) return false;  // a copy will be read
  const Dims& strides = view->layout.strides;
  const std::size_t rank = strides.size();
  return strides[rank - 1] != 1 && strides[rank - 2] == 1;
}

bool is_cast(const Node& node) { return node.kind == NodeKind::Op && node.op == Op::Cast; }

/// The products to compute transposed, and the casts of these. Of products that are not contracted only those
/// of one row-major and one column-major matrix: they stay products of this kind, for which no device is
/// slower.
std::vector<bool> nodes_to_transpose(const Graph& graph, const ir::DeviceTraits& traits) {
  const std::size_t count = graph.nodes.size();
  std::vector<bool> read_transposed(count), read_otherwise(count), found(count);
  for (const Result& result : graph.results) read_otherwise[result.node] = true;
  for (std::size_t id = count; id-- > 0;) {
    const Node& node = graph.nodes[id];
    const bool hands_on = is_transpose(node) || (is_cast(node) && read_transposed[id] && !read_otherwise[id]);
    for (NodeId operand : node.operands) (hands_on ? read_transposed : read_otherwise)[operand] = true;
  }
  for (NodeId id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    if (node.kind != NodeKind::Op || !read_transposed[id] || read_otherwise[id]) continue;
    if (node.op == Op::MatMul)
      found[id] = (traits.tensor_cores.any() && is_contracted(graph, node, traits.tensor_cores)) ||
                  is_column_major(graph, node.operands[0]) != is_column_major(graph, node.operands[1]);
    else if (is_cast(node))
      found[id] = found[node.operands[0]];
  }
  return found;
}

void swap_last(Shape& shape) { std::swap(shape[shape.rank() - 2], shape[shape.rank() - 1]); }

}  // namespace

void transpose_products(Graph& graph, const ir::DeviceTraits& traits) {
  const std::vector<bool> transposed = nodes_to_transpose(graph, traits);
  if (std::none_of(transposed.begin(), transposed.end(), [](bool is) { return is; })) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (is_transpose(node) && transposed[to.before().nodes[id].operands[0]]) return node.operands[0];
    if (transposed[id]) {
      swap_last(node.shape);
      if (node.op == Op::MatMul) {
        // (AB)^T = B^T A^T
        const NodeId a = node.operands[0], b = node.operands[1];
        node.operands = {to.transpose(b), to.transpose(a)};
      }
    }
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
