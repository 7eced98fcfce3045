// Lowers groups, each question once: layers that repeat are lowered as often as there are different ones.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/lower.h"
#include "jit/plan/lower/node_classes.h"

namespace sinter::plan {

/// A kernel with its sizes: what groups share that compute the same over other buffers and scalars.
struct KernelForm {
  std::uint32_t number = 0;  // among the forms of a plan
  ir::Kernel kernel;
  std::vector<std::int64_t> ints;
  std::vector<MovingNumber> moving;       // of the ints; starts by their places among those of a group
  std::optional<InPlaceKernel> in_place;  // starts likewise

  /// Kernels are compared by it. Made when it is asked for, once.
  const std::string& text() const;

 private:
  mutable std::string text_;
};

/// A lowered group.
struct LoweredGroup {
  std::shared_ptr<const KernelForm> form;
  std::vector<BufferUse> buffers;  // in the order of the kernel's
  std::vector<ScalarArgument> scalars;
  std::vector<std::uint32_t> starts;  // numbers of the trace's starts, by place
  std::vector<NodeId> computed;       // nodes that the kernel computes, in ascending order
  std::vector<NodeId> gathers;        // of each fault word of the kernel

  const ir::Kernel& kernel() const { return form->kernel; }
  const std::vector<std::int64_t>& ints(bool in_place = false) const {
    return in_place ? form->in_place->ints : form->ints;
  }
  /// Of the ints, or of those of the form's kernel in place, by the numbers of the trace's starts.
  std::vector<MovingNumber> moving(bool in_place = false) const;
};

/// Equal but for their sizes.
bool same_kernels(const std::optional<InPlaceKernel>& a, const std::optional<InPlaceKernel>& b);

/// What moves by the places of starts in a list, which gets those that it lacks.
std::vector<MovingNumber> by_place(std::vector<MovingNumber> moving, std::vector<std::uint32_t>& starts);

/// What `lower` gives, found again for a group that is like an earlier one: the same nodes but for their
/// places in the program, with the same sizes, wired alike. With assertions on, each group is lowered anyway
/// and what was found is compared with that.
class Lowerer {
 public:
  Lowerer(const Graph& graph, const LowerLimits& limits);

  std::variant<LoweredGroup, std::string> lower(const Owners& owners, GroupId id, const Group& group);
  /// The same under other limits, without a look at earlier groups.
  std::variant<LoweredGroup, std::string> lower(const Owners& owners, GroupId id, const Group& group,
                                                const LowerLimits& limits);

  /// The nodes that lowering the group looks at; of a table that is read by indices, not all views.
  const std::vector<NodeId>& looked_at(const Owners& owners, GroupId id, const Group& group) {
    describe(owners, id, group);
    return nodes_;
  }

 private:
  // Nodes, scalars and moving starts of a group by their places in its description: what is known of one
  // group is so of all that are like it.
  using Place = std::uint32_t;
  struct Known {
    std::shared_ptr<const KernelForm> form;  // null: refused
    std::string refusal;
    std::vector<BufferUse> buffers;  // places instead of nodes
    std::vector<std::pair<Place, DType>> scalars;
    std::vector<Place> computed, gathers;
  };
  using Key = std::pair<std::uint64_t, std::uint64_t>;

  Key describe(const Owners& owners, GroupId id, const Group& group);
  Place place_of(NodeId id);
  Place place_of(ScalarRef scalar);
  void describe_starts(const Node& node);
  void describe_node(const Owners& owners, GroupId group, NodeId id);
  Known remember(std::variant<Lowered, std::string> lowered);
  LoweredGroup recall(const Known& known) const;
  void compare(const Known& known, const std::variant<Lowered, std::string>& lowered) const;
  std::shared_ptr<const KernelForm> new_form(Lowered& lowered, std::vector<std::uint32_t>& starts);

  const Graph& graph_;
  const LowerLimits limits_;
  NodeClasses classes_;
  std::uint32_t forms_ = 0;
  absl::flat_hash_map<Key, Known> known_;

  // The description of the group at hand.
  std::vector<std::uint64_t> words_;
  std::vector<NodeId> nodes_;  // by place
  std::vector<ScalarRef> scalars_;
  std::vector<std::uint32_t> starts_;
  struct Seen {
    std::uint32_t description = 0;
    Place place = 0;
  };
  std::vector<Seen> seen_;             // for each node
  std::vector<Seen> seen_scalars_[2];  // of the program and of the planner
  std::vector<Seen> seen_starts_;
  std::uint32_t descriptions_ = 0;
};

}  // namespace sinter::plan
