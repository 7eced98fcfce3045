// Pass: a reduction with few results over many elements becomes two, so that all of the device takes part.
// The cut depends on sizes and the device's figures only, so that the order of additions is always the same.
#include <algorithm>

#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// Below this many elements for each result, a second launch costs more than it saves.
constexpr std::int64_t kWorthSplitting = 2048;
// Elements that each piece has at least, so that the second reduction stays small beside the first.
constexpr std::int64_t kLeastOfPiece = 512;

}  // namespace

ReductionCut choose_reduction_cut(const Shape& in, std::int64_t bits, const ir::DeviceTraits& traits) {
  std::int64_t outer = 1, inner = 1;
  for (std::size_t d = 0; d < in.rank(); ++d) (bits >> d & 1 ? inner : outer) *= in[d];
  std::size_t last = in.rank();
  while (last > 0 && in[last - 1] == 1) --last;
  const bool contiguous = last > 0 && (bits >> (last - 1) & 1);
  const std::int64_t wanted = contiguous ? traits.groups : traits.lanes;
  if (inner < kWorthSplitting || outer > wanted / 2 || outer == 0) return {0, 1};
  for (std::size_t d = 0; d < in.rank(); ++d) {
    if (!(bits >> d & 1) || in[d] == 1) continue;
    const std::int64_t most = std::max<std::int64_t>(1, inner / kLeastOfPiece);
    std::int64_t pieces = std::min({in[d], most, (wanted + outer - 1) / outer});
    while (in[d] % pieces != 0) --pieces;  // pieces of equal size; a prime is not split
    return {d, pieces};
  }
  return {0, 1};
}

namespace {

/// (.., n, ..) is seen as (.., pieces, n / pieces, ..): first all reduced dims but `pieces` are reduced, then
/// `pieces`.
NodeId in_two_stages(Rewriter& to, const Node& node, const ReductionCut& cut) {
  const std::size_t d = cut.dim;
  Shape wide = to.node(node.operands[0]).shape;
  wide[d] /= cut.pieces;
  wide.insert(d, cut.pieces);
  const std::int64_t below = node.ints[0] & ((std::int64_t{1} << d) - 1),
                     above = node.ints[0] >> d << (d + 1);
  const NodeId seen = to.view(Op::Reshape, node.operands[0], wide);
  // What the first stage gives is not rounded.
  const NodeId partial = to.reduce(node.op, arithmetic_of(node.dtype), seen, below | above);
  const NodeId whole = to.reduce(node.op, node.dtype, partial, std::int64_t{1} << d);
  return to.view(Op::Reshape, whole, node.shape);
}

}  // namespace

void split_reductions(Graph& graph, const ir::DeviceTraits& traits) {
  rewrite(graph, [&](Rewriter& to, NodeId, Node node) {
    if (node.is(OpClass::Reduce) && to.node(node.operands[0]).shape.rank() < kMaxRank) {
      const Shape& in = to.node(node.operands[0]).shape;
      const ReductionCut cut = choose_reduction_cut(in, node.ints[0], traits);
      if (graph.checks) graph.checks->cut(in, node.ints[0], cut.dim, cut.pieces);
      if (cut.pieces > 1) return in_two_stages(to, node, cut);
    }
    return to.add(std::move(node));
  });
}

}  // namespace sinter::plan
