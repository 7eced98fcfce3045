// How a pass changes a graph: the graph is written anew, from its first node to its last, and a rule says for
// each node what stands in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/graph.h"

namespace sinter::plan {

class Rewriter;

/// `node` is a copy of node `id` of the graph as it was, its operands already those of the new graph. Returns
/// the new node that stands for it: `to.add(std::move(node))` where nothing changes.
using Rule = std::function<NodeId(Rewriter& to, NodeId id, Node node)>;

/// Writes the graph anew: one call of the rule for each node that some result needs, operands before their
/// users. Nodes that compute the same thing become one, and nodes that nothing needs any more are left out,
/// so a pass has to care for neither. Takes time in proportion to the number of nodes.
void rewrite(Graph& graph, const Rule& rule);

/// The graph that is being written. Whatever a rule adds comes before the node that it is asked about next,
/// and belongs to the same op of the program as the node that it is asked about now.
class Rewriter {
 public:
  /// Takes the nodes out of `graph`, which is then written into.
  explicit Rewriter(Graph& graph);

  const Graph& before() const { return before_; }
  const Graph& after() const { return after_; }
  /// A node of the new graph. The reference is good until a node is added.
  const Node& node(NodeId id) const { return after_.nodes[id]; }
  /// What stands for a node of the graph as it was, which the rule has been asked about.
  NodeId now(NodeId id) const { return now_[id]; }

  /// A number for elementwise operands. It reaches kernels as an argument, so another number is not another
  /// kernel.
  NodeId constant(const Scalar& value, DType dtype);
  /// The same number for each element of a shape.
  NodeId full(const Scalar& value, DType dtype, const Shape& shape);
  /// Scalars among the operands fit every shape.
  NodeId elementwise(Op op, DType dtype, std::vector<NodeId> operands);
  NodeId cast(NodeId operand, DType dtype);
  /// The operand in the order of its dims in memory (Node::is_stored_copy).
  NodeId stored_copy(NodeId operand);
  NodeId view(Op op, NodeId operand, const Shape& shape, std::vector<std::int64_t> ints = {});
  /// Dim d of the view is dim axes[d] of the operand. A permuted view is seen through, and what is in order
  /// again is the node itself: index maps cannot always tell that two steps are none.
  NodeId permute(NodeId operand, std::vector<std::int64_t> axes);
  /// The last two dims swapped, as a permuted view.
  NodeId transpose(NodeId operand);
  /// `dims`: bit set of the dims that are reduced and stay with size 1.
  NodeId reduce(Op op, DType dtype, NodeId operand, std::int64_t dims);
  /// Pieces one behind the other along a dim: Concats with no more than kMostPieces each, of the pieces or of
  /// others. A piece alone is itself.
  NodeId concat(std::vector<NodeId> pieces, std::size_t dim);
  /// Any other node.
  NodeId add(Node node);

 private:
  friend void rewrite(Graph& graph, const Rule& rule);

  // Nodes of the new graph by what they compute. Constants count by their numbers, the program's scalars by
  // their places.
  struct Hash {
    const Graph* graph;
    std::size_t operator()(NodeId id) const;
  };
  struct Equal {
    const Graph* graph;
    bool operator()(NodeId a, NodeId b) const;
  };

  void run(const Rule& rule);
  /// The last node of the new graph, or one before it that computes the same.
  NodeId join_last();

  Graph& after_;
  const Graph before_;
  std::vector<NodeId> now_;
  std::uint32_t record_ = 0;  // of the node that the rule is asked about
  absl::flat_hash_set<NodeId, Hash, Equal> known_;
};

}  // namespace sinter::plan
