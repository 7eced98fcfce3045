// From a group of nodes to kernel IR, or the reason why they cannot be one kernel.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/plan/graph.h"
#include "jit/plan/lower/index_map.h"

namespace sinter::plan {

using GroupId = std::uint32_t;
inline constexpr GroupId kInline = 0xffffffff;  // computed where it is used
inline constexpr GroupId kLibraryGroup = 0xfffffffe;

/// Nodes that become one kernel. What they need and what is not `owned` by another group is computed on the
/// way.
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
  std::vector<std::pair<std::uint32_t, DType>> scalars;  // index in the trace's table, dtype wanted
  std::vector<std::uint32_t> records;                    // ops of the trace that it computes
};

struct LowerLimits {
  int max_buffers = 24;
  std::size_t max_exprs = 2048;
  std::size_t max_tests =
      64;  // each element goes through all of them: the pieces of a long list are joined in groups
  std::size_t max_ints = 2000;   // a GPU's kernel takes some kilobytes of arguments
  bool grid_reductions = false;  // these as in DeviceTraits
  std::int64_t groups = 1, lanes = 1, shared_elements = 4096;
  int row_lanes = 0;
};

/// True iff results so few, each over so many elements, keep a device busy only when several groups of lanes
/// share the elements of a result. `contiguous`: the lanes of a group walk a result's elements side by side;
/// else each lane walks those of its own result.
bool sharing_pays(std::int64_t results, std::int64_t elements, bool contiguous, const LowerLimits& limits);

/// True iff a kernel that goes over such elements several times would leave so much of the device idle that
/// launches of their own for each time are faster.
bool sharing_is_worth_launches(std::int64_t results, std::int64_t elements, bool contiguous,
                               const LowerLimits& limits);

/// The kernel, or why the group has to be cut.
std::variant<Lowered, std::string> lower(const Graph& graph, const Owners& owners, GroupId group_id,
                                         const Group& group, const LowerLimits& limits);

}  // namespace sinter::plan
