// What comes of what in a plan: which results an index out of range has spoiled, or an input that was spoiled
// before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "src/trace/trace.h"

namespace sinter::plan {

struct Graph;

/// The edges of a plan's graph, as little as answers the questions below. A run asks only when something was
/// wrong; each answer takes time in proportion to the graph.
class Origins {
 public:
  Origins() = default;
  /// `gathers`: of each fault word of the plan the node whose index it tells of. A node that several kernels
  /// compute, or one kernel at several places, has several words.
  Origins(const Graph& graph, std::vector<std::uint32_t> gathers);

  /// For each of the plan's placements whether its value came of an index whose word is set, or of one of the
  /// external values `bad_inputs`, or of one of the nodes `bad_nodes`. `words`: those of a run, or none.
  std::vector<bool> reached(std::span<const std::uint32_t> words, std::span<const trace::ValueId> bad_inputs,
                            std::span<const std::uint32_t> bad_nodes = {}) const;

  /// The op of the trace that a fault word belongs to: of equal ops that became one, the first.
  std::uint32_t record_of(std::uint32_t word) const { return edges_->records[word]; }

  /// About how much memory the edges take.
  std::size_t held_bytes() const;

 private:
  struct Edges {
    // Node n reads the nodes operands[first_operand[n]] up to those of n + 1; all of them come before n.
    std::vector<std::uint32_t> first_operand, operands;
    std::vector<std::pair<trace::ValueId, std::uint32_t>> inputs;  // external values and their nodes
    std::vector<std::uint32_t> gathers, records;                   // of each word
    std::vector<std::uint32_t> results;                            // of each placement
  };
  std::shared_ptr<const Edges> edges_ = std::make_shared<const Edges>();  // plans share them
};

}  // namespace sinter::plan
