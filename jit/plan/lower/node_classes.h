// Which nodes of a graph are alike, apart from what they read and where they stand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "jit/plan/graph.h"

namespace sinter::plan {

/// Numbers for nodes, asked for one by one: two nodes have the same number iff lowering cannot tell them
/// apart but by their operands, scalars and moving starts.
class NodeClasses {
 public:
  explicit NodeClasses(const Graph& graph);

  /// Of a node that a kernel computes, and of a scalar.
  std::uint32_t computed(NodeId id) { return number_of(id, false); }
  /// Of a node that a kernel loads from memory: what computes it does not count, where it lies does.
  std::uint32_t loaded(NodeId id) { return number_of(id, true); }

 private:
  struct Question {
    NodeId id;
    bool loaded;
  };
  struct Hash {
    const Graph* graph;
    std::size_t operator()(const Question& question) const;
  };
  struct Equal {
    const Graph* graph;
    bool operator()(const Question& a, const Question& b) const;
  };

  std::uint32_t number_of(NodeId id, bool loaded);

  absl::flat_hash_set<Question, Hash, Equal> known_;  // the first node of each class
  std::vector<std::uint32_t> numbers_[2];             // of nodes that were asked about, from 1 on
  std::uint32_t count_ = 0;
};

}  // namespace sinter::plan
