// The last step of planning: launches with their arguments.
#pragma once

#include <vector>

#include "jit/plan/group/group.h"
#include "jit/plan/place.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// A plan, and where its numbers are from, so that they can be filled in anew for other sizes.
struct Assembled {
  Plan plan;
  std::vector<NodeId> node_of_value;   // of LaunchStructure::values
  std::vector<NodeId> node_of_buffer;  // of LaunchArguments::buffers
  struct Ints {
    GroupId group;      // whose they are
    std::size_t first;  // where they begin in LaunchArguments::ints
    bool in_place;      // those of the form's kernel in place
  };
  std::vector<Ints> ints;
};

/// All of a plan but its cuts and what it says of held values. `verifies`: kernels are held to the rules of
/// kernel IR; without it only where assertions are on.
Assembled assemble(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
                   const Memory& memory, bool verifies);

/// The memory of a stored node.
Binding binding_of(const Graph& graph, const Memory& memory, NodeId id);
/// Where in its base's memory the operand begins.
std::size_t offset_bytes(const Graph& graph, const LibraryOperand& operand);
/// Fills in the bytes that the plan takes.
void add_up(const Memory& memory, std::size_t input_bytes, Plan& plan);
/// Where a value lies that somebody sees afterwards.
Placement placement_of(const Graph& graph, const Grouping& grouping, const Memory& memory,
                       const Result& result);

}  // namespace sinter::plan
