// Concatenations as a program records them: a pad with the first piece, to which the others are assigned one
// after the other.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "jit/plan/graph.h"

namespace sinter::plan {

/// A whole concatenation: its pieces lie one behind the other along a dim.
struct Chain {
  std::vector<NodeId> pieces;
  std::vector<NodeId> links;  // of each piece the node that puts it there: the pad, then the assignments
  std::size_t dim = 0;
};

/// Of each node whether it is wanted in memory by who reads it: results, operands of the library.
std::vector<bool> wanted_in_memory(const Graph& graph);

/// Finds such chains in a graph, each by its last node.
class ChainReader {
 public:
  explicit ChainReader(const Graph& graph);

  /// Nothing where the node is not the last one of a whole concatenation, or somebody reads what is not whole
  /// yet.
  std::optional<Chain> ending_at(NodeId id) const;

  /// How often operands and results name a node.
  const std::vector<std::uint32_t>& uses() const { return uses_; }

 private:
  bool is_link(NodeId id) const;

  const Graph& graph_;
  std::vector<std::uint32_t> uses_;
  std::vector<bool> is_continued_;  // by a link
};

}  // namespace sinter::plan
