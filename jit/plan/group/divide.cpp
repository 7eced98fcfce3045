// Lowers each stored node, and divides what is too large for one kernel.
#include "jit/plan/group/divide.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_set.h>

namespace sinter::plan {
namespace {

class Divider {
 public:
  Divider(const Graph& graph, const Users& users, const LowerLimits& limits, std::vector<Storing>& storing,
          Lowerer& lowerer)
      : graph_(graph), users_(users), limits_(limits), storing_(storing), lowerer_(lowerer) {
    result_.owners.assign(graph.nodes.size(), kInline);
  }

  Grouping run() {
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (storing_[id] == Storing::Inline) continue;
      if (node(id).is_library_result() || node(id).is(OpClass::Join))
        result_.owners[id] = kLibrary;
      else
        new_group(id);
    }
    // A later division may store what an earlier kernel computes inline; that kernel stays right.
    for (GroupId g = 0; g < result_.groups.size(); ++g) {
      LoweredGroup kernel = lower_or_divide(g);
      result_.kernels.push_back(std::move(kernel));
    }
    return std::move(result_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  void new_group(NodeId id) {
    result_.owners[id] = Owner::kernel(static_cast<GroupId>(result_.groups.size()));
    result_.groups.push_back(Group{{id}, {id}, true});
  }

  /// The kernel of a group that stores one node. Where it would be too large, a node halfway down is stored,
  /// until it fits: where the cut is depends on the program alone.
  LoweredGroup lower_or_divide(GroupId g) {
    while (true) {
      const Group whole = result_.groups[g];
      std::variant<LoweredGroup, std::string> kernel = lowerer_.lower(result_.owners, g, whole);
      if (auto* lowered = std::get_if<LoweredGroup>(&kernel)) return std::move(*lowered);
      const std::vector<NodeId> inlined = inlined_below(whole.stores[0]);
      if (inlined.empty()) return lower_alone(g, whole);
      const NodeId halfway = end_of_concatenation(inlined[inlined.size() / 2]);
      result_.cuts.push_back({halfway, whole.stores[0], std::get<std::string>(kernel)});
      storing_[halfway] = Storing::Chosen;
      new_group(halfway);
    }
  }

  /// A group of one operation, however long it takes to compile.
  LoweredGroup lower_alone(GroupId g, const Group& whole) {
    LowerLimits limits = limits_;
    limits.max_divisions = SIZE_MAX;
    limits.alone = true;
    std::variant<LoweredGroup, std::string> kernel = lowerer_.lower(result_.owners, g, whole, limits);
    if (auto* lowered = std::get_if<LoweredGroup>(&kernel)) return std::move(*lowered);
    throw std::logic_error("plan: a single operation cannot be lowered: " + std::get<std::string>(kernel));
  }

  /// From within a concatenation that is computed inline to its last node: the others are mostly unfilled.
  NodeId end_of_concatenation(NodeId id) const {
    NodeId at = id;
    while (users_[at].size() == 1) {
      const NodeId user = users_[at][0];
      if (node(user).op != Op::SliceAssign || node(user).operands[0] != at || node(user).ints.back() == 0)
        return at;
      if (result_.owners[user] != kInline) return id;  // that of the kernel itself
      at = user;
    }
    return at;
  }

  /// Nodes that the kernel of `root` computes on the way, in the order of the program.
  std::vector<NodeId> inlined_below(NodeId root) const {
    std::vector<NodeId> found, todo = node(root).operands;
    absl::flat_hash_set<NodeId> seen;
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      const Node& n = node(at);
      if (n.kind != NodeKind::Op || result_.owners[at] != kInline || !seen.insert(at).second) continue;
      if (n.op_class() != OpClass::View && n.op_class() != OpClass::Source) found.push_back(at);
      todo.insert(todo.end(), n.operands.begin(), n.operands.end());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  const Graph& graph_;
  const Users& users_;
  const LowerLimits& limits_;
  std::vector<Storing>& storing_;
  Lowerer& lowerer_;
  Grouping result_;
};

}  // namespace

Grouping make_kernels(const Graph& graph, const Users& users, const LowerLimits& limits,
                      std::vector<Storing>& storing, Lowerer& lowerer) {
  return Divider(graph, users, limits, storing, lowerer).run();
}

}  // namespace sinter::plan
