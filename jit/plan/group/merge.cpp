// Merges kernels.
#include "jit/plan/group/merge.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_set.h>

namespace sinter::plan {
namespace {

class Merger {
 public:
  Merger(const Graph& graph, const Users& users, const LowerLimits& limits,
         const std::vector<Storing>& storing, Grouping& grouping)
      : graph_(graph),
        users_(users),
        limits_(limits),
        storing_(storing),
        result_(grouping),
        readers_(graph.nodes.size()) {
    for (GroupId g = 0; g < result_.groups.size(); ++g) note_reads(g, true);
  }

  void run() {
    merge_producers();
    merge_siblings();
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  // Not an integer: views that repeat their elements may have 2^62 bytes.
  double bytes(NodeId id) const {
    return static_cast<double>(node(id).shape.numel()) * static_cast<double>(size_of(node(id).dtype));
  }

  void note_reads(GroupId g, bool add) {
    for (const BufferUse& use : result_.kernels[g].buffers) {
      if (!use.read) continue;
      auto& readers = readers_[use.node];
      if (add) {
        readers.push_back(g);
      } else {
        readers.erase(std::remove(readers.begin(), readers.end(), g), readers.end());
      }
    }
  }

  /// True iff a way leads from group `from` to group `to` other than by one direct step. (Ways through
  /// library ops count.)
  bool indirect_path(GroupId from, GroupId to) const {
    std::vector<NodeId> todo;
    absl::flat_hash_set<NodeId> seen;
    auto outputs = [&](GroupId g) {
      for (NodeId id : result_.groups[g].stores)
        if (seen.insert(id).second) todo.push_back(id);
    };
    outputs(from);
    const std::size_t direct = todo.size();
    std::vector<NodeId> first(todo.begin(), todo.begin() + static_cast<std::ptrdiff_t>(direct));
    todo.clear();
    auto visit = [&](NodeId stored, bool is_direct) {
      for (GroupId reader : readers_[stored]) {
        if (reader == to) {
          if (!is_direct) return true;
          continue;
        }
        outputs(reader);
      }
      for (NodeId library : library_readers(stored))
        if (seen.insert(library).second) todo.push_back(library);
      return false;
    };
    for (NodeId id : first) visit(id, true);
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (visit(id, false)) return true;
    }
    return false;
  }

  /// Library ops that read a stored node, directly or through views.
  std::vector<NodeId> library_readers(NodeId id) const {
    std::vector<NodeId> found, todo{id};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      for (NodeId user : users_[at]) {
        if (node(user).is_library_result())
          found.push_back(user);
        else if (node(user).is(OpClass::View) && result_.owners[user] == kInline)
          todo.push_back(user);
      }
    }
    return found;
  }

  bool try_merge(GroupId producer, GroupId consumer) {
    Group& from = result_.groups[producer];
    Group& to = result_.groups[consumer];
    Group merged;
    merged.nodes = from.nodes;
    merged.nodes.insert(merged.nodes.end(), to.nodes.begin(), to.nodes.end());
    merged.stores = to.stores;
    std::int64_t largest = 0;
    bool reduces = false;
    for (NodeId id : merged.nodes) {
      largest = std::max(largest, node(id).shape.numel());
      reduces |= node(id).is(OpClass::Reduce);
    }
    for (NodeId id : from.stores) {
      const bool read_elsewhere = std::any_of(readers_[id].begin(), readers_[id].end(),
                                              [&](GroupId reader) { return reader != consumer; });
      if (storing_[id] == Storing::Required || read_elsewhere) {
        merged.stores.push_back(id);
      } else if (storing_[id] == Storing::Expanded && !reduces && node(id).shape.numel() < largest) {
        return note(from, to, "too much work to repeat for each element that shares it");
      } else if (!node(id).is(OpClass::Reduce)) {
        merged.nodes.erase(std::find(merged.nodes.begin(), merged.nodes.end(), id));
      }
    }
    std::sort(merged.stores.begin(), merged.stores.end());
    if (indirect_path(producer, consumer)) return note(from, to, "another kernel must run between them");

    for (NodeId id : from.nodes) {
      const bool stays = std::find(merged.nodes.begin(), merged.nodes.end(), id) != merged.nodes.end();
      result_.owners[id] = stays ? Owner::kernel(consumer) : kInline;
    }
    std::variant<Lowered, std::string> kernel = lower(graph_, result_.owners, consumer, merged, limits_);
    if (auto* reason = std::get_if<std::string>(&kernel)) {
      for (NodeId id : from.nodes) result_.owners[id] = Owner::kernel(producer);
      return note(from, to, *reason);
    }
    note_reads(producer, false);
    note_reads(consumer, false);
    from.alive = false;
    to = std::move(merged);
    result_.kernels[consumer] = std::move(std::get<Lowered>(kernel));
    result_.kernels[producer] = {};
    note_reads(consumer, true);
    return true;
  }

  bool note(const Group& from, const Group& to, std::string reason) {
    result_.cuts.push_back({from.nodes[0], to.nodes[0], std::move(reason)});
    return false;
  }

  void merge_producers() {
    for (GroupId g = 0; g < result_.groups.size(); ++g) {
      for (bool again = true; again && result_.groups[g].alive;) {
        again = false;
        std::vector<GroupId> producers;
        for (const BufferUse& use : result_.kernels[g].buffers) {
          const Owner owner = result_.owners[use.node];
          if (use.read && owner.is_kernel() && owner.group != g &&
              std::find(producers.begin(), producers.end(), owner.group) == producers.end())
            producers.push_back(owner.group);
        }
        for (GroupId producer : producers)
          if (try_merge(producer, g)) {
            again = true;
            break;
          }
      }
    }
  }

  /// Kernels that read the same data over the same loops become one.
  void merge_siblings() {
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      for (std::size_t i = 0; i < readers_[id].size(); ++i)
        for (std::size_t j = i + 1; j < readers_[id].size(); ++j) {
          const GroupId a = readers_[id][i], b = readers_[id][j];
          if (!same_loops(a, b) || bytes(id) * 2 < largest_bytes(a) || reaches(a, b) || reaches(b, a))
            continue;
          if (try_merge(std::min(a, b), std::max(a, b))) {
            i = static_cast<std::size_t>(-1);
            break;
          }
        }
    }
  }

  bool same_loops(GroupId a, GroupId b) const {
    const ir::Kernel &x = result_.kernels[a].kernel, &y = result_.kernels[b].kernel;
    if (x.inner_rank != y.inner_rank || x.outer_rank != y.outer_rank) return false;
    for (std::size_t k = 0; k < x.extents.size(); ++k)
      if (result_.kernels[a].ints[x.extents[k].index] != result_.kernels[b].ints[y.extents[k].index])
        return false;
    return true;
  }

  double largest_bytes(GroupId g) const {
    double largest = 0;
    for (const BufferUse& use : result_.kernels[g].buffers) largest = std::max(largest, bytes(use.node));
    return largest;
  }

  bool reaches(GroupId from, GroupId to) const {
    for (NodeId id : result_.groups[from].stores)
      for (GroupId reader : readers_[id])
        if (reader == to) return true;
    return indirect_path(from, to);
  }

  const Graph& graph_;
  const Users& users_;
  const LowerLimits& limits_;
  const std::vector<Storing>& storing_;
  Grouping& result_;
  std::vector<std::vector<GroupId>> readers_;  // for each node: groups whose kernels load it from memory
};

}  // namespace

void merge_kernels(const Graph& graph, const Users& users, const LowerLimits& limits,
                   const std::vector<Storing>& storing, Grouping& grouping) {
  Merger(graph, users, limits, storing, grouping).run();
}

}  // namespace sinter::plan
