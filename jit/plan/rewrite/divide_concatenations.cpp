// Pass: long concatenations that a kernel computes are divided.
//
// A kernel asks for each element in which piece it is. Where pieces are large, a kernel for a few of them
// goes over these alone: what the chain of assignments has come to is stored there, each kernel puts its
// pieces beside those of the kernels before it, and writes nothing else (lower/changed_box.h). Where pieces
// are small, launches would take longer: some pieces are joined by a kernel, like other pieces by others,
// which may share a launch, and what they give is joined in turn.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/limits.h"
#include "jit/plan/reuse/size_checks.h"
#include "jit/plan/rewrite/chains.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Additions that take as long as asking whether an element is in a piece, and reading it there.
constexpr double kWorkOfTest = 12;

/// For how many pieces of the size of the last one a kernel takes the least time for each, up to kMostPieces.
std::uint64_t pieces_of_kernel(const Graph& graph, NodeId id, const ir::DeviceTraits& traits) {
  const auto elements = static_cast<double>(graph.nodes[graph.nodes[id].operands[1]].shape.numel());
  const double tests = elements * kWorkOfTest / traits.work_per_byte;  // for one more piece, in bytes
  const double most = static_cast<double>(kMostPieces);
  return static_cast<std::uint64_t>(
      std::clamp(std::sqrt(traits.launch_bytes / std::max(tests, 1.0)), 1.0, most));
}

/// What becomes of the chains of a graph.
class Division {
 public:
  Division(const Graph& graph, const ir::DeviceTraits& traits)
      : stands_alone(graph.nodes.size(), false), is_unseen_around(graph.nodes.size(), false) {
    const ChainReader reader(graph);
    const std::vector<bool> is_in_memory = wanted_in_memory(graph);
    for (NodeId id = 0; id < graph.nodes.size(); ++id) {
      std::optional<Chain> chain = reader.ending_at(id);
      if (!chain) continue;
      const std::size_t count = chain->pieces.size();
      if (count < kFewest || (count <= kMostPieces && !is_in_memory[id])) continue;
      if (graph.checks) graph.checks->ask(graph, id, pieces_of_kernel);
      const std::size_t each = pieces_of_kernel(graph, id, traits);
      if (each == kMostPieces) {
        if (count > kMostPieces) in_groups.emplace(id, std::move(*chain));
      } else if (count > 2 * each) {
        is_unseen_around[chain->links[0]] = true;
        for (std::size_t k = each; k < count; k += each) stands_alone[chain->links[k - 1]] = true;
        stands_alone[id] = true;
      }
    }
  }

  bool is_any() const {
    return !in_groups.empty() ||
           std::find(stands_alone.begin(), stands_alone.end(), true) != stands_alone.end();
  }

  std::vector<bool> stands_alone, is_unseen_around;
  absl::flat_hash_map<NodeId, Chain> in_groups;

 private:
  // Of a few pieces all are asked for in the time of a launch or two.
  static constexpr std::size_t kFewest = 4;
};

}  // namespace

void divide_concatenations(Graph& graph, const ir::DeviceTraits& traits) {
  const Division division(graph, traits);
  if (!division.is_any()) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    node.stands_alone |= division.stands_alone[id];
    node.is_unseen_around |= division.is_unseen_around[id];
    const auto known = division.in_groups.find(id);
    if (known == division.in_groups.end()) return to.add(std::move(node));
    std::vector<NodeId> pieces = known->second.pieces;
    for (NodeId& piece : pieces) piece = to.now(piece);
    return to.concat(std::move(pieces), known->second.dim);
  });
}

}  // namespace sinter::plan
