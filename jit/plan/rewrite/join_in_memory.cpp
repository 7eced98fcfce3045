// Pass: pieces of a concatenation are stored where the concatenation lies.
//
// What a recurrent network keeps of its steps is joined for the products that all steps have in common. Each
// piece is in memory by then, as the next step reads it; joined by a kernel, all of them are read and written
// once more, each element behind a comparison for each piece. Where the pieces lie one behind the other, that
// kernel has nothing to do: memory is taken for all of them, and who computes a piece stores it in its place.
// Pieces that have memory elsewhere are copied, all of them by one launch where a device has such, each as
// fast as any copy, where a kernel for all would ask for each element in which piece it is.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "jit/plan/place.h"
#include "jit/plan/rewrite/chains.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {
namespace {

// A kernel that reads fewer pieces where they are asks little for each element.
constexpr std::size_t kFewest = 8;

/// Pieces one behind the other along a dim.
struct Pieces {
  std::vector<NodeId> nodes, stored;  // stored: below reshapes, which change no positions
  std::size_t dim = 0;
  std::size_t own = 0, all = 0;  // with the pieces of pieces: those that had better be stored here, and all
};

/// True iff the pieces of a Concat or Join lie one behind the other in memory, each as what is stored may.
std::uint64_t lie_in_turn(const Graph& graph, NodeId id, const ir::DeviceTraits&) {
  const Node& whole = graph.nodes[id];
  const auto dim = static_cast<std::size_t>(whole.ints[0]);
  for (std::size_t d = 0; d < dim; ++d)
    if (whole.shape[d] != 1) return 0;
  std::size_t begin = 0;
  for (const NodeId piece : whole.operands) {
    if (begin % kAlignment != 0) return 0;
    begin += static_cast<std::size_t>(graph.nodes[piece].shape.numel()) * size_of(whole.dtype);
  }
  return 1;
}

/// Finds concatenations in a graph.
class PieceReader {
 public:
  PieceReader(const Graph& graph, const ir::DeviceTraits& traits)
      : graph_(graph),
        chains_(graph),
        users_(chains_.uses()),
        copies_(traits.batch_bytes > 0),
        is_shown_(graph.nodes.size()),
        is_in_memory_(wanted_in_memory(graph)),
        is_piece_(graph.nodes.size()) {
    for (const Result& result : graph.results)
      is_shown_[result.node] = is_shown_[base_of(graph, result.node)] = true;
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (std::optional<Pieces> pieces = read(id)) found_.emplace(id, std::move(*pieces));
    // The tree of a long list: what is a part of a larger one need not be long itself.
    std::vector<bool> is_part(graph.nodes.size());
    for (NodeId id = static_cast<NodeId>(graph.nodes.size()); id-- > 0;) {
      const auto known = found_.find(id);
      if (known == found_.end()) continue;
      const Pieces& pieces = known->second;
      if (!is_part[id] && (pieces.all < kFewest || 2 * pieces.own < pieces.all)) {
        found_.erase(known);
        continue;
      }
      for (const NodeId piece : pieces.stored) is_part[piece] = true;
    }
  }

  bool is_any() const { return !found_.empty(); }
  const Pieces* pieces_of(NodeId id) const {
    const auto known = found_.find(id);
    return known == found_.end() ? nullptr : &known->second;
  }
  /// True iff somebody sees the node afterwards, as it is or by a view: it has memory of its own.
  bool is_shown(NodeId id) const { return is_shown_[id]; }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  bool is_op(NodeId id, Op op) const { return node(id).kind == NodeKind::Op && node(id).op == op; }

  /// The concatenation that a node is the end of. Operands have been asked about before.
  std::optional<Pieces> read(NodeId id) {
    Pieces pieces;
    if (is_op(id, Op::Concat)) {
      pieces.nodes = node(id).operands;
      pieces.dim = static_cast<std::size_t>(node(id).ints[0]);
    } else if (std::optional<Chain> chain = chains_.ending_at(id)) {
      pieces.nodes = std::move(chain->pieces);
      pieces.dim = chain->dim;
    } else {
      return std::nullopt;
    }
    for (NodeId piece : pieces.nodes) {
      bool is_stored = users_[piece] > 1;
      for (; is_op(piece, Op::Reshape); is_stored |= users_[piece] > 1) piece = node(piece).operands[0];
      is_stored |= node(piece).has_inner_loops() || node(piece).is_library_result();
      const auto part = found_.find(piece);
      if (may_be_stored_here(piece))
        pieces.own += part != found_.end() ? part->second.own : is_stored ? 1 : 0;
      else if (copies_ && node(piece).kind == NodeKind::External && is_in_memory_[id])
        pieces.own += 1;
      pieces.all += part != found_.end() ? part->second.all : 1;
      pieces.stored.push_back(piece);
      is_piece_[piece] = true;
    }
    return pieces;
  }

  /// False where it has memory elsewhere, or none.
  bool may_be_stored_here(NodeId piece) const {
    return node(piece).kind == NodeKind::Op && !node(piece).is(OpClass::View) && !is_shown_[piece] &&
           !is_piece_[piece];
  }

  const Graph& graph_;
  const ChainReader chains_;
  const std::vector<std::uint32_t>& users_;
  const bool copies_;  // that have memory elsewhere share a launch
  std::vector<bool> is_shown_;
  const std::vector<bool> is_in_memory_;  // wanted there
  std::vector<bool> is_piece_;            // of what was read so far
  absl::flat_hash_map<NodeId, Pieces> found_;
};

/// Writes a concatenation whose pieces lie in turn as a Join.
class Joiner {
 public:
  Joiner(Rewriter& to, const PieceReader& reader, absl::flat_hash_set<NodeId>& taken)
      : to_(to), reader_(reader), taken_(taken) {}

  NodeId written(Node node, const Pieces& pieces, const ir::DeviceTraits& traits) {
    Node whole;
    whole.op = Op::Concat;
    whole.dtype = node.dtype;
    whole.shape = node.shape;
    whole.ints = {static_cast<std::int64_t>(pieces.dim)};
    for (const NodeId piece : pieces.nodes) whole.operands.push_back(to_.now(piece));
    const NodeId id = to_.add(whole);
    if (to_.after().checks) to_.after().checks->ask(to_.after(), id, lie_in_turn);
    if (lie_in_turn(to_.after(), id, traits) == 0) return to_.add(std::move(node));
    whole.op = Op::Join;
    for (std::size_t k = 0; k < pieces.stored.size(); ++k) {
      whole.operands[k] = to_.now(pieces.stored[k]);
      if (!take(pieces.stored[k], whole.operands[k])) return to_.add(std::move(node));
    }
    return to_.add(std::move(whole));
  }

 private:
  /// Makes the piece one that is stored for this join alone: a copy, where it has memory elsewhere. False
  /// where it is a piece twice.
  bool take(NodeId before, NodeId& piece) {
    const Node& node = to_.node(piece);
    if (node.kind != NodeKind::Op || reader_.is_shown(before) || taken_.contains(piece))
      piece = to_.view(Op::Reshape, piece, Shape(to_.node(piece).shape));
    return taken_.insert(piece).second;
  }

  Rewriter& to_;
  const PieceReader& reader_;
  absl::flat_hash_set<NodeId>& taken_;  // pieces, of the new graph
};

}  // namespace

void join_in_memory(Graph& graph, const ir::DeviceTraits& traits) {
  const PieceReader reader(graph, traits);
  if (!reader.is_any()) return;
  absl::flat_hash_set<NodeId> taken;
  rewrite(graph, [&](Rewriter& to, NodeId id, Node node) {
    const Pieces* pieces = reader.pieces_of(id);
    if (pieces == nullptr) return to.add(std::move(node));
    return Joiner(to, reader, taken).written(std::move(node), *pieces, traits);
  });
}

}  // namespace sinter::plan
