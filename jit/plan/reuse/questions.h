// Questions about how operands lie, which decisions of passes depend on.
#pragma once

#include <cstdint>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "jit/plan/graph.h"

namespace sinter::plan {

/// Questions about nodes, with all that they look at: the node, its operands, and what these are views or
/// casts of, with the sizes that they have when they are asked. Passes write graphs anew, so each question
/// keeps a copy of these nodes.
class Questions {
 public:
  /// May look at the node, its operands and what these are views or casts of; what is below that has no
  /// operands in the copy.
  using Question = SizeChecks::Question;

  void ask(const Graph& graph, NodeId id, Question question, const ir::DeviceTraits& traits);

  /// The copies. Their sizes may be filled in anew.
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

  /// True iff all answers are what they were. False where a copy misses something that a question looks at.
  bool hold(const ir::DeviceTraits& traits) const;

 private:
  NodeId copy(const Graph& graph, NodeId id, std::size_t depth);

  struct Asked {
    NodeId node;
    Question question;
    std::uint64_t answer;
  };
  Graph graph_;
  std::vector<Asked> asked_;
  // Of the question at hand: copies, and what they are in words, so that each is asked once.
  absl::flat_hash_map<NodeId, NodeId> copies_;
  NodeId first_ = 0;
  std::vector<std::int64_t> words_;
  absl::flat_hash_set<std::vector<std::int64_t>> known_;
  bool is_complete_ = true;  // false: some copies lack what is far below them
};

}  // namespace sinter::plan
