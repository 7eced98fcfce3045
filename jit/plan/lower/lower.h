// From a group of nodes to kernel IR, or the reason why they cannot be one kernel.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/plan/graph.h"
#include "jit/plan/lower/index_map.h"
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

using GroupId = std::uint32_t;
inline constexpr GroupId kInline = 0xffffffff;  // computed where it is used
inline constexpr GroupId kLibraryGroup = 0xfffffffe;

/// Nodes that become one kernel, and with them what they need and no other group owns.
struct Group {
  std::vector<NodeId> stores;  // written to memory
  std::vector<NodeId> nodes;   // stores, and reductions whose results stay inside
  bool alive = true;
};

/// Which group computes a node into memory; kInline for nodes that have no memory of their own.
using Owners = std::vector<GroupId>;

struct BufferUse {
  NodeId node;  // an external, or a node that some group stores
  bool read = false, written = false;
};

/// A kernel with the numbers of its arguments.
struct Lowered {
  ir::Kernel kernel;
  std::vector<BufferUse> buffers;  // in the order of kernel.buffers
  std::vector<std::int64_t> ints;
  std::vector<ScalarArgument> scalars;
  std::vector<std::uint32_t> records;  // ops of the trace that it computes
};

/// The kernel, or why the group has to be cut.
std::variant<Lowered, std::string> lower(const Graph& graph, const Owners& owners, GroupId group_id,
                                         const Group& group, const LowerLimits& limits);

}  // namespace sinter::plan
