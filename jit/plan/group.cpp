// Chooses what is stored, then merges kernels. Whether two kernels can be one is decided by lowering them
// together.
#include "jit/plan/group.h"

#include <algorithm>
#include <stdexcept>

#include <absl/container/flat_hash_set.h>

namespace sinter::plan {
namespace {

// A shared value of more work for each element than this is never computed again.
constexpr int kInlineWeight = 256;
// A value that many points share (it is expanded) is computed again for each of them only if it is cheaper
// than this.
constexpr int kExpandedWeight = 12;

/// Work for one element, in additions: what only floats have is a function of several steps, and a random
/// number (a source with seed and stream) ten rounds of multiplications.
int weight_of(const Node& node) {
  if (node.kind != NodeKind::Op || node.op_class() == OpClass::View) return 0;
  if (node.op_class() == OpClass::Source) return node.scalars.size() == 2 ? 16 : 1;
  return info(node.op).rule == DTypeRule::Float ? 4 : 1;
}

class Grouper {
 public:
  Grouper(const Graph& graph, const GroupOptions& options) : graph_(graph), options_(options) {
    result_.owners.assign(graph.nodes.size(), kInline);
    pinned_.assign(graph.nodes.size(), false);
    expanded_.assign(graph.nodes.size(), false);
    spread_.assign(graph.nodes.size(), false);
    roots_.resize(graph.nodes.size());
    inlined_.assign(graph.nodes.size(), 0);
    users_.resize(graph.nodes.size());
    for (NodeId id = 0; id < graph.nodes.size(); ++id)
      if (graph.nodes[id].live)
        for (NodeId operand : graph.nodes[id].operands) users_[operand].push_back(id);
  }

  Grouping run() {
    pin_what_must_be_stored();
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;)
      if (graph_.nodes[id].live) choose_stored(id);
    make_groups();
    if (options_.fusion) {
      merge_producers();
      merge_siblings();
    }
    return std::move(result_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  std::int64_t bytes(NodeId id) const {
    return node(id).shape.numel() * static_cast<std::int64_t>(size_of(node(id).dtype));
  }

  /// Memory for a node that a kernel computes; externals have theirs.
  void pin(NodeId id) {
    if (node(id).kind == NodeKind::Op) pinned_[id] = true;
  }

  void pin_what_must_be_stored() {
    result_.libraries = library_calls(graph_);
    for (const LibraryCall& call : result_.libraries) {
      for (NodeId result : call.results) pin(result);
      for (const LibraryOperand& operand : call.operands) pin(operand.base);
    }
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (!node(id).live || node(id).kind != NodeKind::Op) continue;
      if (node(id).op_class() == OpClass::Gather) {
        const NodeId table = node(id).operands[0];
        pin(strided_view(graph_, table) ? base_of(graph_, table) : table);
      }
    }
    // Results that are views share the memory of what they look at, unless that would keep more than they
    // show.
    for (const Result& result : graph_.results) {
      if (!node(result.node).is(OpClass::View)) {
        pin(result.node);
        continue;
      }
      const std::optional<StridedView> view = strided_view(graph_, result.node);
      if (!view) {
        pin(result.node);
      } else if (node(view->base).kind == NodeKind::Op && !pinned_[view->base]) {
        pin(node(result.node).shape.numel() < node(view->base).shape.numel() ? result.node : view->base);
      }
    }
    // Nothing but what is pinned here can make a view be stored.
    make_library_ops(graph_, pinned_, result_.libraries);
  }

  /// Leaves and work below a node, down to what is in memory for sure.
  struct Below {
    std::int64_t leaf_bytes = 0;
    int weight = 0;
  };
  Below below(NodeId id) const {
    Below sum;
    absl::flat_hash_set<NodeId> seen;
    std::vector<NodeId> todo{id};
    while (!todo.empty() && sum.weight <= kInlineWeight) {
      const NodeId at = todo.back();
      todo.pop_back();
      if (!seen.insert(at).second) continue;
      const Node& n = node(at);
      if (n.kind == NodeKind::External || (at != id && (pinned_[at] || n.is(OpClass::Reduce)))) {
        sum.leaf_bytes += bytes(at);
        continue;
      }
      sum.weight += weight_of(n);
      for (NodeId operand : n.operands) todo.push_back(operand);
    }
    return sum;
  }

  /// True iff it takes less time to write a value that several kernels need and to read it back than to
  /// compute it in each of them. Keeping it costs a launch too, unless it merges with a neighbour: that is
  /// not known yet.
  bool keeping_pays(NodeId id, const Below& below) const {
    if (below.weight > kInlineWeight) return true;
    const double uses = static_cast<double>(roots_[id].size()), size = static_cast<double>(bytes(id));
    const double work = below.weight * static_cast<double>(node(id).shape.numel()) / options_.work_per_byte;
    const double leaves = static_cast<double>(below.leaf_bytes);
    return (uses - 1) * (leaves + work) > (uses + 1) * size + options_.launch_bytes;
  }

  /// Visits users before operands, so it is known in which kernels `id` would be computed.
  void choose_stored(NodeId id) {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op) return;
    const bool computes = n.op_class() != OpClass::View;
    bool stored = pinned_[id];
    if (computes && (!options_.fusion || n.op_class() == OpClass::Reduce)) stored = true;
    collect_uses(id);
    if (!stored && computes && n.op_class() != OpClass::Source) {
      const Below sum = below(id);
      if (spread_[id] && sum.weight > kExpandedWeight) stored = expanded_[id] = true;
      if (roots_[id].size() > 1 && keeping_pays(id, sum)) stored = true;
      for (NodeId root : roots_[id])
        if (++inlined_[root] > options_.limits.max_exprs / 2) stored = true;
    }
    if (stored) result_.owners[id] = kLibraryGroup;  // make_groups gives it its group
  }

  /// Finds the stored nodes that would compute `id` inline (a few of them are enough to know), and whether on
  /// the way there it is expanded.
  void collect_uses(NodeId id) {
    for (NodeId user : users_[id]) {
      const bool grows = node(user).op == Op::Expand && node(user).shape.numel() > 4 * node(id).shape.numel();
      const bool inlined = result_.owners[user] == kInline;
      if (grows || (inlined && spread_[user])) spread_[id] = true;
      const std::vector<NodeId> itself{user};
      for (NodeId root : inlined ? roots_[user] : itself)
        if (roots_[id].size() < 4 &&
            std::find(roots_[id].begin(), roots_[id].end(), root) == roots_[id].end())
          roots_[id].push_back(root);
    }
  }

  void make_groups() {
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (result_.owners[id] != kInline && !node(id).is_library_result()) new_group(id);
    }
    readers_.resize(graph_.nodes.size());
    for (GroupId g = 0; g < result_.groups.size(); ++g) result_.kernels.push_back(lower_or_divide(g));
    // A later division may have stored what an earlier kernel computed inline; that kernel stays right, so
    // only now is it known who reads what.
    for (GroupId g = 0; g < result_.groups.size(); ++g) note_reads(g, true);
  }

  void new_group(NodeId id) {
    result_.owners[id] = static_cast<GroupId>(result_.groups.size());
    result_.groups.push_back(Group{{id}, {id}, true});
  }

  /// The kernel of a group that stores one node. Where it would be too large, a node halfway down gets memory
  /// of its own, until it fits: where the cut is depends on the program alone.
  Lowered lower_or_divide(GroupId g) {
    while (true) {
      const Group whole = result_.groups[g];
      std::variant<Lowered, std::string> kernel = lower(graph_, result_.owners, g, whole, options_.limits);
      if (auto* lowered = std::get_if<Lowered>(&kernel)) return std::move(*lowered);
      const std::vector<NodeId> inlined = inlined_below(whole.stores[0]);
      if (inlined.empty())
        throw std::logic_error("plan: a single operation cannot be lowered: " +
                               std::get<std::string>(kernel));
      const NodeId halfway = end_of_concatenation(inlined[inlined.size() / 2]);
      result_.cuts.push_back({halfway, whole.stores[0], std::get<std::string>(kernel)});
      new_group(halfway);
    }
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

  /// Library ops that read a stored node, directly or through views; and of a library op its further results,
  /// from which ways lead on.
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
      if (pinned_[id] || read_elsewhere) {
        merged.stores.push_back(id);
      } else if (expanded_[id] && !reduces && node(id).shape.numel() < largest) {
        return note(from, to, "too much work to repeat for each element that shares it");
      } else if (!node(id).is(OpClass::Reduce)) {
        merged.nodes.erase(std::find(merged.nodes.begin(), merged.nodes.end(), id));
      }
    }
    std::sort(merged.stores.begin(), merged.stores.end());
    if (indirect_path(producer, consumer)) return note(from, to, "another kernel must run between them");

    std::vector<std::pair<NodeId, GroupId>> changed;
    for (NodeId id : from.nodes) {
      changed.emplace_back(id, result_.owners[id]);
      const bool stays = std::find(merged.nodes.begin(), merged.nodes.end(), id) != merged.nodes.end();
      result_.owners[id] = stays ? consumer : kInline;
    }
    std::variant<Lowered, std::string> kernel =
        lower(graph_, result_.owners, consumer, merged, options_.limits);
    if (auto* reason = std::get_if<std::string>(&kernel)) {
      for (const auto& [id, owner] : changed) result_.owners[id] = owner;
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
          const GroupId owner = result_.owners[use.node];
          if (use.read && owner < result_.groups.size() && owner != g &&
              std::find(producers.begin(), producers.end(), owner) == producers.end())
            producers.push_back(owner);
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

  std::int64_t largest_bytes(GroupId g) const {
    std::int64_t largest = 0;
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
  const GroupOptions& options_;
  Grouping result_;
  std::vector<bool>
      pinned_;  // must be in memory after its kernel: a result, or read by a library op or an indexed read
  std::vector<bool> expanded_;              // stored because it is expanded and costly
  std::vector<bool> spread_;                // used, perhaps through others, by an expansion
  std::vector<std::vector<NodeId>> roots_;  // stored nodes that compute it inline; at most 4 are noted
  std::vector<std::size_t> inlined_;        // for stored nodes: how many nodes they compute inline
  std::vector<std::vector<NodeId>> users_;
  std::vector<std::vector<GroupId>> readers_;  // groups that load a node from memory
};

}  // namespace

Grouping group(const Graph& graph, const GroupOptions& options) { return Grouper(graph, options).run(); }

}  // namespace sinter::plan
