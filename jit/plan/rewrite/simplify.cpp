// Pass: joins nodes that compute the same thing and marks what nobody needs.
#include <absl/container/flat_hash_map.h>
#include <absl/hash/hash.h>

#include "jit/plan/graph.h"

namespace sinter::plan {
namespace {

/// What makes two nodes the same. Scalars count by their place in the table: their values are not structure.
struct Key {
  NodeKind kind;
  Op op;
  DType dtype;
  Shape shape;
  std::vector<NodeId> operands;
  std::vector<std::int64_t> ints;
  std::vector<std::uint32_t> scalars;
  bool channels_last;

  friend bool operator==(const Key& a, const Key& b) {
    return a.kind == b.kind && a.op == b.op && a.dtype == b.dtype && a.shape == b.shape &&
           a.operands == b.operands && a.ints == b.ints && a.scalars == b.scalars &&
           a.channels_last == b.channels_last;
  }
  template <class H>
  friend H AbslHashValue(H h, const Key& k) {
    h = H::combine(std::move(h), k.kind, k.op, k.dtype, k.operands, k.ints, k.scalars);
    for (std::int64_t size : k.shape) h = H::combine(std::move(h), size);
    return h;
  }
};

}  // namespace

void simplify(Graph& graph) {
  absl::flat_hash_map<Key, NodeId> seen;
  std::vector<NodeId> same(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    Node& node = graph.nodes[id];
    same[id] = id;
    for (NodeId& operand : node.operands) operand = same[operand];
    if (node.kind == NodeKind::External) continue;
    Key key{node.kind,     node.op,   node.dtype,   node.shape,
            node.operands, node.ints, node.scalars, node.channels_last};
    same[id] = seen.try_emplace(std::move(key), id).first->second;
  }
  for (Result& result : graph.results) result.node = same[result.node];

  for (Node& node : graph.nodes) node.live = false;
  for (const Result& result : graph.results) graph.nodes[result.node].live = true;
  for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;)
    if (graph.nodes[id].live)
      for (NodeId operand : graph.nodes[id].operands) graph.nodes[operand].live = true;
  // A library op writes all of its results, so they live as long as it does.
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].is(OpClass::Result) && same[id] == id)
      graph.nodes[id].live = graph.nodes[graph.nodes[id].operands[0]].live;
}

}  // namespace sinter::plan
