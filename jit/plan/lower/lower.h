// From a group of nodes to kernel IR, or the reason why they cannot be one kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/plan/graph.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/maps/index_map.h"

namespace sinter::plan {

using GroupId = std::uint32_t;

/// Who computes a node.
struct Owner {
  enum class Kind : std::uint8_t {
    Inline,  // each kernel that needs it, on the way
    Kernel,  // the kernel of one group: into memory, or for itself alone (a reduction that nobody else reads)
    Library,  // a library op, into memory
  };
  Kind kind = Kind::Inline;
  GroupId group = 0;  // Kernel

  static constexpr Owner kernel(GroupId group) { return {Kind::Kernel, group}; }
  bool is_kernel() const { return kind == Kind::Kernel; }
  friend bool operator==(const Owner&, const Owner&) = default;
};
inline constexpr Owner kInline{Owner::Kind::Inline}, kLibrary{Owner::Kind::Library};

/// For each node.
using Owners = std::vector<Owner>;

/// The nodes of one kernel, which also computes what they need and no other kernel or library op computes.
struct Group {
  std::vector<NodeId> stores;  // written to memory
  std::vector<NodeId> nodes;   // stores, and reductions whose results stay inside
  bool alive = true;
};

struct BufferUse {
  NodeId node;  // an external, or a node that some group stores
  bool read = false, written = false;
};

/// A result of a kernel and an operand, by their places among the kernel's buffers.
struct Overwrite {
  std::uint16_t result = 0, operand = 0;
  friend bool operator==(const Overwrite&, const Overwrite&) = default;
};

/// What does a kernel's work where its results are written over these operands: the same with fewer points
/// (changed_box.h). Its scalars and fault words are the kernel's.
struct InPlaceKernel {
  ir::Kernel kernel;
  std::vector<std::int64_t> ints;
  std::vector<MovingNumber> moving;
  std::vector<Overwrite> over;        // all have to hold
  std::vector<std::uint16_t> places;  // of the kernel's buffers among its own
};

/// A kernel with the numbers of its arguments.
struct Lowered {
  ir::Kernel kernel;
  std::vector<BufferUse> buffers;  // in the order of kernel.buffers
  std::vector<std::int64_t> ints;
  std::vector<MovingNumber> moving;  // of the ints
  std::vector<ScalarArgument> scalars;
  std::vector<NodeId> computed;  // nodes that it computes, in ascending order
  std::vector<NodeId> gathers;   // of each fault word of the kernel
  std::optional<InPlaceKernel> in_place;
};

/// The kernel, or why the group has to be cut.
std::variant<Lowered, std::string> lower(const Graph& graph, const Owners& owners, GroupId group_id,
                                         const Group& group, const LowerLimits& limits);

}  // namespace sinter::plan
