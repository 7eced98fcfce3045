// From notes to cuts.
#include "jit/plan/cuts.h"

#include <string>
#include <tuple>

#include <absl/container/flat_hash_map.h>

namespace sinter::plan {

std::vector<PlanCut> cuts_of(const Graph& graph, const Grouping& grouping) {
  std::vector<PlanCut> cuts;
  // By the text of the file's name: a header has one in each source that includes it.
  using Key = std::tuple<Op, std::string, std::uint32_t, Op, std::string, std::uint32_t, std::string>;
  auto file = [](const trace::OpRecord& op) { return std::string(op.file ? op.file : ""); };
  absl::flat_hash_map<Key, std::size_t> known;
  absl::flat_hash_map<std::pair<NodeId, NodeId>, bool> tried;
  for (const CutNote& note : grouping.cuts) {
    const Owner from = grouping.owners[note.producer], to = grouping.owners[note.consumer];
    if (from == kInline || from == to) continue;
    // A pair is tried again after each merge beside it; it is one cut all the same.
    if (!tried.try_emplace({note.producer, note.consumer}, true).second) continue;
    const std::uint32_t producer = graph.nodes[note.producer].record,
                        consumer = graph.nodes[note.consumer].record;
    const trace::OpRecord &p = graph.trace->ops[producer], &c = graph.trace->ops[consumer];
    auto [it, added] =
        known.try_emplace(Key{p.op, file(p), p.line, c.op, file(c), c.line, note.reason}, cuts.size());
    if (added) {
      cuts.push_back({producer, consumer, note.reason, 1});
    } else {
      ++cuts[it->second].count;
    }
  }
  return cuts;
}

}  // namespace sinter::plan
