// Compares nodes by what lowering looks at.
#include "jit/plan/lower/node_classes.h"

#include <algorithm>

#include <absl/hash/hash.h>

namespace sinter::plan {
namespace {

template <class List>
std::size_t hash_of(std::size_t hash, const List& list) {
  for (const std::int64_t number : list)
    hash = (hash ^ static_cast<std::size_t>(number)) * 0x9e3779b97f4a7c15u + (hash >> 32);
  return hash + list.size();
}

/// True iff starts move alike, whichever they are.
bool move_alike(const std::vector<NodeStart>& a, const std::vector<NodeStart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeStart& x, const NodeStart& y) {
    return x.dim == y.dim && x.start.low == y.start.low && x.start.reach == y.start.reach;
  });
}

}  // namespace

NodeClasses::NodeClasses(const Graph& graph) : known_(64, Hash{&graph}, Equal{&graph}) {
  for (std::vector<std::uint32_t>& numbers : numbers_) numbers.assign(graph.nodes.size(), 0);
}

std::size_t NodeClasses::Hash::operator()(const Question& question) const {
  const Node& node = graph->nodes[question.id];
  std::size_t hash = static_cast<std::size_t>(node.kind) << 16 | static_cast<std::size_t>(node.dtype) << 8;
  hash = hash_of(hash | question.loaded, node.shape);
  if (node.kind == NodeKind::External) return absl::HashOf(hash);  // layouts mostly follow from shapes
  if (question.loaded) return absl::HashOf(hash);
  return absl::HashOf(hash_of(hash, node.ints), node.op);
}

bool NodeClasses::Equal::operator()(const Question& a, const Question& b) const {
  const Node &x = graph->nodes[a.id], &y = graph->nodes[b.id];
  if (a.loaded != b.loaded || x.kind != y.kind || x.dtype != y.dtype || !(x.shape == y.shape)) return false;
  if (x.kind == NodeKind::External)
    return graph->trace->layout_of(x.value) == graph->trace->layout_of(y.value);
  if (a.loaded || x.kind == NodeKind::Scalar) return true;
  return x.op == y.op && x.ints == y.ints && move_alike(x.starts, y.starts) &&
         x.operands.size() == y.operands.size() && x.scalars.size() == y.scalars.size() &&
         graph->pads_with_zeros(x) == graph->pads_with_zeros(y);
}

std::uint32_t NodeClasses::number_of(NodeId id, bool loaded) {
  std::uint32_t& number = numbers_[loaded][id];
  if (number != 0) return number;
  const auto [known, added] = known_.insert(Question{id, loaded});
  number = added ? ++count_ : numbers_[loaded][known->id];
  return number;
}

}  // namespace sinter::plan
