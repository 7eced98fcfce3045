// Pass: a place in the graph in front of each sum over rows, for what rows' kernels may do of it.
//
// A kernel that goes over the rows of a value may add up its columns on the way: partial sums, one row of
// them for each part of the rows, which the sum over all rows then adds up. Whether it does is known when
// kernels are merged (group/parts.h), and nodes are in an order by then.
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"

namespace sinter::plan {
namespace {

/// A sum of floats in whose operand neighbours are kept apart, and all dims before them added up.
bool is_over_rows(const Graph& graph, const Node& node) {
  if (!node.is(OpClass::Reduce) || node.op != Op::Sum || arithmetic_of(node.dtype) != DType::f32)
    return false;
  const std::vector<std::int64_t> sizes = rows_and_columns(graph.nodes[node.operands[0]].shape, node.ints[0]);
  return sizes.size() == 3 && sizes[0] == 1;
}

}  // namespace

void leave_room_for_parts(Graph& graph, const ir::DeviceTraits&) {
  // Not by `rewrite`, which drops what nothing needs.
  std::vector<Node> before = std::exchange(graph.nodes, {});
  std::vector<NodeId> now(before.size());
  for (NodeId id = 0; id < before.size(); ++id) {
    Node& node = before[id];
    for (NodeId& operand : node.operands) operand = now[operand];
    if (is_over_rows(graph, node)) {
      Node place;
      place.op = Op::PartialSum;
      place.shape = node.shape;
      place.record = node.record;
      place.ints = node.ints;
      graph.add(std::move(place));
    }
    now[id] = graph.add(std::move(node));
  }
  for (Result& result : graph.results) result.node = now[result.node];
}

NodeId place_for_parts(const Graph& graph, NodeId sum) {
  if (sum == 0 || !graph.nodes[sum].is(OpClass::Reduce)) return kNoNode;
  const Node& before = graph.nodes[sum - 1];
  return before.is(OpClass::Partial) && before.operands.empty() ? sum - 1 : kNoNode;
}

}  // namespace sinter::plan
