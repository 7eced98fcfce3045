// What comes of what in a plan: which results an index out of range has spoiled, or an input that was spoiled
// before.
#pragma once

#include <cstddef>
#include <cstdint>
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
  std::uint32_t record_of(std::uint32_t word) const { return records_[word]; }

  /// About how much memory the edges take.
  std::size_t held_bytes() const;

 private:
  // Node n reads the nodes operands_[first_operand_[n]] up to those of n + 1; all of them come before n.
  std::vector<std::uint32_t> first_operand_, operands_;
  std::vector<std::pair<trace::ValueId, std::uint32_t>> inputs_;  // external values and their nodes
  std::vector<std::uint32_t> gathers_, records_;                  // of each word
  std::vector<std::uint32_t> results_;                            // of each placement
};

}  // namespace sinter::plan
