// Pass: joins nodes that compute the same thing and leaves out what nobody needs. Every rewriting does both;
// this one does nothing else, so that the passes after it find a graph to which it has been done.
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

void simplify(Graph& graph, const ir::DeviceTraits&) {
  rewrite(graph, [](Rewriter& to, NodeId, Node node) { return to.add(std::move(node)); });
}

}  // namespace sinter::plan
