// Pass: matrix products whose factors have 16 bits become contractions. What the graph casts to f32 for a
// library op is multiplied as it lies in memory: tensor cores take 16 bits and add in f32.
#include <algorithm>
#include <optional>
#include <utility>

#include "jit/plan/lower/tiling.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Rank of a product whose batch dims the copy engine can count.
constexpr std::size_t kMostDims = 5;

/// What is cast to f32, under the views that stand above the cast; kNoNode where it has no 16 bits.
NodeId half_below(Rewriter& to, NodeId id) {
  const Node node = to.node(id);
  if (node.kind != NodeKind::Op) return kNoNode;
  if (node.op == Op::Permute) {
    const NodeId below = half_below(to, node.operands[0]);
    return below == kNoNode ? kNoNode : to.view(node.op, below, node.shape, node.ints);
  }
  if (node.op != Op::Cast || node.dtype != DType::f32) return kNoNode;
  return is_half(to.node(node.operands[0]).dtype) ? node.operands[0] : kNoNode;
}

/// True iff the copy engine can read a factor that lies so: neighbours along a row or a column, all other
/// strides multiples of 16 bytes.
bool lies_well(const Shape& shape, const ViewLayout& layout) {
  const std::size_t rank = shape.rank();
  if (layout.offset % 8 != 0) return false;
  for (const Moving& part : layout.moving)
    if (part.factor % 8 != 0) return false;
  for (const std::size_t along : {rank - 1, rank - 2}) {
    bool well = layout.strides[along] == 1;
    for (std::size_t d = 0; d < rank; ++d) {
      const bool is_of_matrix = d + 2 >= rank;
      if (d == along || shape[d] == 1) continue;
      well = well && layout.strides[d] % 8 == 0 && layout.strides[d] >= (is_of_matrix ? 1 : 0);
    }
    if (well) return true;
  }
  return false;
}

/// Whether a factor may be left where it lies, or will lie once it is stored.
bool is_well(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  const trace::Layout dense = trace::contiguous_layout(node.shape);
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view) return lies_well(node.shape, dense);
  // A view of what the trace computes may be stored itself, where somebody sees it afterwards.
  const bool may_be_stored = view->base != id && graph.nodes[view->base].kind == NodeKind::Op;
  return lies_well(node.shape, view->layout) && (!may_be_stored || lies_well(node.shape, dense));
}

/// True iff its kernel will have tiles, or few rows or columns, of which each is read once.
bool is_wanted(const Graph& graph, const Node& product, NodeId a, NodeId b) {
  const std::size_t rank = product.shape.rank();
  if (rank > kMostDims || product.shape.numel() == 0) return false;
  const std::int64_t rows = product.shape[rank - 2], columns = product.shape[rank - 1];
  const Shape& left = graph.nodes[a].shape;
  if (left[left.rank() - 1] < 2) return false;
  if (std::min(rows, columns) <= kFewRows) return true;
  return is_well(graph, a) && is_well(graph, b);
}

}  // namespace

void contract_products(Graph& graph, const ir::DeviceTraits&) {
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    if (node.kind != NodeKind::Op || node.op != Op::MatMul || node.dtype != DType::f32)
      return to.add(std::move(node));
    const NodeId a = half_below(to, node.operands[0]), b = half_below(to, node.operands[1]);
    if (a == kNoNode || b == kNoNode || to.node(a).dtype != to.node(b).dtype ||
        !is_wanted(to.after(), node, a, b))
      return to.add(std::move(node));
    node.op = Op::Contract;
    node.operands = {a, b};
    node.ints.clear();
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
