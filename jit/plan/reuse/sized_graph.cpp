// Sizes by their numbers, integers by their ops.
#include "jit/plan/reuse/sized_graph.h"

#include <algorithm>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/reuse/known_trace.h"

namespace sinter::plan {
namespace {

/// True iff the same starts move, wherever to.
bool same_starts(const std::vector<NodeStart>& a, const std::vector<NodeStart>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeStart& x, const NodeStart& y) {
    return x.dim == y.dim && x.start.start == y.start.start;
  });
}

}  // namespace

SizedGraph::SizedGraph(Graph& graph, const Numbers& numbers) : graph_(graph) {
  if (graph.nodes.empty()) return;
  const trace::Trace& trace = *graph.trace;
  std::vector<std::uint32_t> first_start;  // of each op
  std::uint32_t starts = 0;
  for (const trace::OpRecord& op : trace.ops) {
    first_start.push_back(starts);
    starts += static_cast<std::uint32_t>(trace::start_count(op));
  }
  absl::flat_hash_map<Numbers::Id, std::size_t> place_of;  // among the sizes
  for (NodeId id = 0; id < graph.nodes.size() && fits_; ++id) {
    Node& node = graph.nodes[id];
    for (std::int64_t& size : node.shape) {
      const Numbers::Id number = numbers.find(size);
      fits_ &= number != Numbers::kNone;
      const auto [known, added] = place_of.try_emplace(number, sizes_.size());
      if (added) sizes_.push_back({number, size, {}});
      sizes_[known->second].places.push_back(&size);
    }
    if (node.kind != NodeKind::Op || !has_positions(node.op)) continue;
    const trace::OpRecord& record = trace.ops[node.record];
    Node as_recorded;
    as_recorded.shape = node.shape;
    if (node.op == record.op) set_ints(trace, record, first_start[node.record], as_recorded);
    fits_ &= node.op == record.op && node.ints == as_recorded.ints && node.starts == as_recorded.starts;
    takes_ints_.push_back({id, first_start[node.record], node.starts});
  }
}

bool SizedGraph::fill(const Numbers& numbers) {
  for (Size& size : sizes_) {
    if (!numbers.is_set(size.number)) return false;
    const std::int64_t now = numbers.now(size.number);
    if (now == size.now) continue;
    size.now = now;
    for (std::int64_t* const place : size.places) *place = now;
  }
  return std::all_of(takes_ints_.begin(), takes_ints_.end(), [&](const TakesInts& takes) {
    Node& node = graph_.nodes[takes.node];
    set_ints(*graph_.trace, graph_.trace->ops[node.record], takes.first_start, node);
    return same_starts(takes.moving, node.starts);
  });
}

}  // namespace sinter::plan
