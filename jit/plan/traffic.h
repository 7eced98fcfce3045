// How much memory a plan moves: which elements of each buffer its launches read and write, and the least that
// any plan of the same trace would have to move.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "jit/plan/lower/lowerer.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// A set of positions in a buffer, in elements: `first` plus every sum of one multiple of each run's step.
/// Runs stand from the smallest step to the largest, so that equal sets written in different ways mostly
/// compare equal.
struct Reach {
  struct Run {
    std::int64_t step, count;
    friend bool operator==(const Run&, const Run&) = default;
    template <class H>
    friend H AbslHashValue(H h, const Run& run) {
      return H::combine(std::move(h), run.step, run.count);
    }
  };
  std::int64_t first = 0, last = -1;  // smallest and largest position; last < first: empty
  std::int64_t count = 0;             // distinct positions, never fewer than there are
  std::vector<Run> runs;
  friend bool operator==(const Reach&, const Reach&) = default;
  template <class H>
  friend H AbslHashValue(H h, const Reach& reach) {
    return H::combine(std::move(h), reach.first, reach.last, reach.count, reach.runs);
  }
};

/// Positions offset + sum of coordinate * stride for coordinates below `extents`. Overlapping windows are
/// counted once where their strides divide each other, which is how windows of tensors lie.
Reach reach_of(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides,
               std::int64_t offset);

/// The union of sets of positions, to the precision of intervals: sets that lie apart are added up, sets that
/// interleave or overlap count as their sum or as the whole stretch they lie in, whichever is less.
class Coverage {
 public:
  /// Returns how many elements it adds.
  std::int64_t add(const Reach& reach);
  std::int64_t total() const { return total_; }

 private:
  struct Stretch {
    std::int64_t last, elements;
  };
  std::map<std::int64_t, Stretch> stretches_;  // by first position; they do not touch each other's positions
  absl::flat_hash_set<Reach> known_;
  std::int64_t total_ = 0;
};

/// Fills `Launch::accesses` step by step, in the order of the plan.
class Traffic {
 public:
  explicit Traffic(const Graph& graph, const Grouping& grouping);

  /// `lowered` before reads and writes of one buffer are joined; `memory` says where the values lie.
  std::vector<Access> kernel(const LoweredGroup& lowered, const Memory& memory);
  std::vector<Access> library(const LibraryCall& call, const Memory& memory);

 private:
  void start_launch();
  Access begin(NodeId id, const Memory& memory) const;
  void read(Access& access, NodeId id, const std::vector<Reach>& reaches, bool in_kernel);
  void write(Access& access, NodeId id, std::int64_t elements) const;

  /// What a kernel with its sizes reaches.
  struct FormReach {
    std::vector<std::vector<Reach>> loads;  // of each buffer, each different set once
    std::vector<std::int64_t> stored;       // elements written to each buffer
  };
  const FormReach& reach_of_form(const KernelForm& form);

  const Graph& graph_;
  absl::flat_hash_map<const KernelForm*, FormReach> forms_;
  absl::flat_hash_map<NodeId, Coverage> results_;        // elements that somebody sees, by stored node
  absl::flat_hash_map<std::uint32_t, Coverage> inputs_;  // read so far, by buffer of the trace
  // Read by this launch: values may share a buffer, and a product may read one value twice.
  absl::flat_hash_map<std::uint32_t, Coverage> launch_inputs_;
  absl::flat_hash_map<NodeId, Coverage> launch_values_;
};

/// Bytes of the inputs' buffers that the trace can reach, each buffer once.
std::size_t input_bytes(const trace::Trace& trace);

}  // namespace sinter::plan
