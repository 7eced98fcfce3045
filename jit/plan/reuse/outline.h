// All of a plan but its numbers.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "jit/plan/assemble.h"
#include "jit/plan/group/group.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// A plan that other sizes change the numbers of, and nothing else: where the same groups have the same
/// kernels, steps are the same too, and launches are, where also the same results are written in place.
class Outline {
 public:
  /// `grouping`: of the graph, with kernels for the sizes at hand; it is to be where it is as long as the
  /// outline is used.
  Outline(const Graph& graph, const Grouping& grouping, std::vector<Step> steps,
          std::vector<const KernelForm*> kernels, const ArenaLimits& limits);

  /// The kernels that it was made of, one for each form of the template.
  const std::vector<const KernelForm*>& kernels() const { return kernels_; }

  /// The plan for the sizes that graph and grouping have now.
  Plan plan(const Graph& graph, const Grouping& grouping);

  /// About how much memory it takes.
  std::size_t held_bytes() const { return held_bytes_; }

 private:
  void note(const Graph& graph, const Grouping& grouping);
  Plan filled(const Graph& graph, const Grouping& grouping, const Memory& memory) const;

  std::vector<const KernelForm*> kernels_;
  std::vector<Step> steps_;
  PlaceRules rules_;
  ArenaLimits limits_;
  std::optional<Assembled> made_;
  std::vector<NodeId> written_over_;  // when it was made: Memory::written_over
  struct Call {
    std::size_t launch;
    const LibraryCall* call;
  };
  std::vector<Call> calls_;
  std::vector<NodeId> shape_like_;   // of each value a node with its shape: they are few
  std::vector<Binding> inputs_;      // of each buffer where it is one of the trace's, whatever the sizes
  std::vector<std::size_t> stored_;  // numbers of the other buffers
  struct Seen {                      // a result that is stored as itself, or shown by a view (kNoNode)
    NodeId node, shape_like;
  };
  std::vector<Seen> results_;
  std::vector<NodeId> result_shapes_;             // what `shape_like` numbers
  std::vector<trace::ValueId> values_in_memory_;  // before the trace
  std::size_t held_bytes_ = 0;
  bool moves_ = false;  // some numbers of launches do
};

}  // namespace sinter::plan
