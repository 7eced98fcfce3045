// Pass: gives every stored node its memory: new, donated by an input that dies, or a piece of the plan's
// arena.
#pragma once

#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// A launch before its buffers are bound.
struct Step {
  const LibraryCall* library = nullptr;  // of the grouping; null: a kernel
  std::vector<GroupId> members;          // a kernel's groups; several share the launch
  NodeId node = kNoNode;                 // the last node that it computes
  std::vector<BufferUse> buffers;        // in the order of the launch's arguments, member after member
};

struct Memory {
  std::vector<Binding> of_node;  // for stored nodes
  std::vector<std::size_t> output_bytes;
  std::vector<std::size_t> arena_bytes;      // of each segment
  std::vector<std::int64_t> in_place_bytes;  // for each step
};

/// `most_bytes`: no segment of the arena gets larger, unless a single temporary is; 0: one segment holds all.
Memory place(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
             std::size_t most_bytes);

}  // namespace sinter::plan
