// Pass: joins nodes that compute the same thing and leaves out what nobody needs, as every rewriting does,
// and what has no elements: the passes after it find a graph to which that has been done.
//
// A dim of size 0 is no loop to index maps, so that a kernel would load what depends on nothing else before
// its loops, from a buffer that has no element: an index out of range that nobody has.
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

/// Computed by generated kernels from operands.
bool is_generated(const Node& node) {
  return node.kind == NodeKind::Op && !node.operands.empty() && !node.is_library_result();
}

NodeId simplified(Rewriter& to, Node node) {
  if (is_generated(node)) {
    if (node.shape.numel() == 0) return to.full(0, node.dtype, node.shape);
    const bool adds = node.op == Op::Sum, multiplies = node.op == Op::Prod;
    if ((adds || multiplies) && to.node(node.operands[0]).shape.numel() == 0)
      return to.full(adds ? 0 : 1, node.dtype, node.shape);
  }
  return to.add(std::move(node));
}

}  // namespace

void simplify(Graph& graph, const ir::DeviceTraits&) {
  rewrite(graph, [](Rewriter& to, NodeId, Node node) { return simplified(to, std::move(node)); });
}

}  // namespace sinter::plan
