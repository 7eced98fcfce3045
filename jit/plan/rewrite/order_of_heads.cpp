// Pass: in which order combined vectors lie. Attention goes over its heads one after the other, (.., heads,
// rows, elements); a model mostly reads the vectors of a row's heads as one, (.., rows, heads, elements), and
// multiplies that. Stored in the first order they would be copied into the second.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"
#include "jit/plan/score_form.h"

namespace sinter::plan {
namespace {

bool is_permute(const Node& node) { return node.is(OpClass::View) && node.op == Op::Permute; }

bool shows_combination(const Rewriter& to, NodeId id) {
  return is_permute(to.node(id)) && to.node(to.node(id).operands[0]).is(OpClass::Combine);
}

/// Dims that the last but one is moved in front of by a view that leaves the last one where it is; 0 for
/// other nodes.
std::size_t dims_passed(const Node& node) {
  const std::size_t rank = node.shape.rank();
  if (!is_permute(node) || rank < 3) return 0;
  if (node.ints[rank - 1] != static_cast<std::int64_t>(rank - 1)) return 0;
  const auto row = std::find(node.ints.begin(), node.ints.end(), static_cast<std::int64_t>(rank - 2));
  return static_cast<std::size_t>(node.ints.end() - row) - 2;
}

bool goes_over_tiles(const Node& node) {
  return node.is(OpClass::Combine) && static_cast<ScoreForm>(node.ints[0]) != ScoreForm::LoneRows;
}

/// For each combination, the dims that its rows are to lie in front of. Those that results show lie in the
/// order of their dims.
std::vector<std::size_t> choose(const Graph& graph) {
  std::vector<std::size_t> passed(graph.nodes.size(), 0);
  for (const Node& node : graph.nodes)
    for (const NodeId operand : node.operands)
      if (goes_over_tiles(graph.nodes[operand]))
        passed[operand] = std::max(passed[operand], dims_passed(node));
  for (const Result& result : graph.results) passed[result.node] = 0;
  return passed;
}

}  // namespace

void order_heads(Graph& graph, const ir::DeviceTraits&) {
  const std::vector<std::size_t> passed = choose(graph);
  if (std::all_of(passed.begin(), passed.end(), [](std::size_t dims) { return dims == 0; })) return;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    if (is_permute(node) && shows_combination(to, node.operands[0]))
      return to.permute(node.operands[0], std::move(node.ints));
    if (passed[id] == 0) return to.add(std::move(node));
    const std::size_t rank = node.shape.rank(), row = rank - 2, place = row - passed[id];
    std::vector<std::int64_t> back(rank);  // where a dim of the combination is stored
    std::iota(back.begin(), back.end(), std::int64_t{0});
    std::rotate(back.begin() + static_cast<std::ptrdiff_t>(place),
                back.begin() + static_cast<std::ptrdiff_t>(place) + 1,
                back.begin() + static_cast<std::ptrdiff_t>(row) + 1);
    const Shape plain = node.shape;
    for (std::size_t d = 0; d < rank; ++d) node.shape[static_cast<std::size_t>(back[d])] = plain[d];
    node.ints[1] = static_cast<std::int64_t>(passed[id]);
    return to.permute(to.add(std::move(node)), std::move(back));
  });
}

}  // namespace sinter::plan
