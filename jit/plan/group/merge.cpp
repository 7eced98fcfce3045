// Merges kernels.
#include "jit/plan/group/merge.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/container/flat_hash_set.h>

#include "jit/plan/group/dependences.h"
#include "jit/plan/group/loops.h"
#include "jit/plan/group/parts.h"
#include "jit/plan/group/tile_ends.h"
#include "jit/plan/lower/chosen_loops.h"
#include "jit/plan/lower/inner_loops.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/tile_forms.h"
#include "jit/plan/precedence.h"

namespace sinter::plan {
namespace {

// Kernels over the same data and loops that a further one is tried with: what does not merge with these
// mostly does not merge at all.
constexpr std::size_t kMostSiblings = 8;
// Expressions of a kernel that is lowered again and again without much ado.
constexpr std::size_t kSmall = 32;

class Merger {
 public:
  Merger(Graph& graph, const GroupOptions& options, const std::vector<Storing>& storing, Lowerer& lowerer,
         Grouping& grouping)
      : Merger(graph, options, storing, lowerer, grouping, reads_of(graph, grouping)) {}

  void run() {
    // Reductions of much data to few results come last. What they hand on is little, and must keep no two of
    // them apart that read the same: a mean that meets the sum of something else would make one kernel of
    // both, which kernels that need the mean cannot join any more.
    merge_producers(Which::NotShared);
    merge_siblings(Which::Shared);
    merge_producers(Which::All);
    merge_siblings(Which::All);
    add_up_in_parts({graph_, options_, storing_, lowerer_, result_, precedence_, readers_});
  }

 private:
  /// Kernels whose work several workgroups share, the others, or all.
  enum class Which : std::uint8_t { Shared, NotShared, All };

  Merger(Graph& graph, const GroupOptions& options, const std::vector<Storing>& storing, Lowerer& lowerer,
         Grouping& grouping, const std::vector<std::vector<NodeId>>& reads)
      : graph_(graph),
        options_(options),
        limits_(options.limits),
        storing_(storing),
        lowerer_(lowerer),
        result_(grouping),
        precedence_(precedence_of(graph, grouping, reads)),
        readers_(graph.nodes.size()) {
    for (const Group& group : result_.groups) loops_.push_back(reductions_of(group));
    for (GroupId g = 0; g < result_.groups.size(); ++g)
      for (const NodeId id : reads[g]) readers_[id].push_back(g);
  }

  const Node& node(NodeId id) const { return graph_.nodes[id]; }

  std::size_t exprs(GroupId g) const { return result_.kernels[g].kernel().exprs.size(); }

  /// Of a group that stores one node.
  Loops reductions_of(const Group& group) const {
    const Node& stored = node(group.stores[0]);
    if (!stored.has_inner_loops()) return {};
    const Domain domain = domain_of(graph_, stored);
    Loops loops{true, {}, domain.reduced};
    loops.domain = without_ones(domain.shape, loops.reduced);
    return loops;
  }

  // Not an integer: views that repeat their elements may have 2^62 bytes.
  double bytes(NodeId id) const {
    return static_cast<double>(node(id).shape.numel()) * static_cast<double>(size_of(node(id).dtype));
  }

  bool try_merge(GroupId producer, GroupId consumer) {
    Group& from = result_.groups[producer];
    Group& to = result_.groups[consumer];
    std::string refusal;
    Group merged = both(producer, consumer, &refusal);
    if (refusal.empty()) refusal = why_never(producer, consumer, merged);
    if (refusal.empty() && is_slower_behind_tiles(producer, consumer))
      refusal = "much memory to move behind the tiles of a contraction";
    if (refusal.empty() && is_slower_in_front(producer, consumer))
      refusal = "too much work to repeat for each result of a product";
    if (!refusal.empty()) return note(from, to, std::move(refusal));

    for (NodeId id : from.nodes) result_.owners[id] = kInline;
    for (NodeId id : merged.nodes) result_.owners[id] = Owner::kernel(consumer);
    std::variant<LoweredGroup, std::string> kernel = lowerer_.lower(result_.owners, consumer, merged);
    if (const auto* lowered = std::get_if<LoweredGroup>(&kernel);
        lowered && have_other_scores(producer, consumer, *lowered))
      kernel = "scores of their own";
    if (auto* reason = std::get_if<std::string>(&kernel)) {
      for (NodeId id : from.nodes) result_.owners[id] = Owner::kernel(producer);
      return note(from, to, *reason);
    }
    precedence_.join(producer, consumer);
    if (loops_[producer].reduces && !are_in_front(producer, consumer))
      loops_[consumer] = std::move(loops_[producer]);
    from.alive = false;
    to = std::move(merged);
    result_.kernels[consumer] = std::move(std::get<LoweredGroup>(kernel));
    result_.kernels[producer] = {};
    return true;
  }

  /// True iff the producer reduces what the consumer's inner loops go over: a norm in front of a product of
  /// one row.
  bool are_in_front(GroupId producer, GroupId consumer) const {
    const Loops &from = loops_[producer], &to = loops_[consumer];
    return limits_.lone_rows && from.reduces && to.reduces &&
           is_over_inner_loops(from.domain, from.reduced, to.domain, to.reduced);
  }

  /// True iff a producer computes the only row of a product, and each of its results would do so again: that
  /// takes longer than a launch.
  bool is_slower_in_front(GroupId producer, GroupId consumer) const {
    if (!limits_.lone_rows || !is_of_one_row(consumer) || is_unpacked_by(producer, consumer)) return false;
    const Shape& points = loops_[consumer].domain;
    for (const BufferUse& use : result_.kernels[consumer].buffers)
      if (use.written && is_read_by(use.node, producer)) return false;  // behind it
    const double work = static_cast<double>(exprs(producer)) / options_.work_per_byte;
    const bool is_slower = work * static_cast<double>(points.numel()) > options_.launch_bytes;
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::More, {{points, work}}, -options_.launch_bytes, is_slower);
    return is_slower;
  }

  /// True iff a producer computes the matrix of a product of one row, of which each element is needed once.
  bool is_unpacked_by(GroupId producer, GroupId consumer) const {
    const std::vector<NodeId>& nodes = result_.groups[consumer].nodes;
    return std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) {
      if (!node(id).is(OpClass::Contract)) return false;
      for (std::size_t k = 0; k < 2; ++k) {
        NodeId factor = node(id).operands[k];
        while (node(factor).is(OpClass::View)) factor = node(factor).operands[0];
        if (result_.owners[factor] == Owner::kernel(producer) &&
            node(id).shape[node(id).dim_along(1 - k)] == 1 && has_few_readers(graph_, node(id), k))
          return true;
      }
      return false;
    });
  }

  bool is_read_by(NodeId id, GroupId g) const {
    return std::any_of(result_.kernels[g].buffers.begin(), result_.kernels[g].buffers.end(),
                       [&](const BufferUse& use) { return use.read && use.node == id; });
  }

  /// True iff the group contracts, and its product has one row or one column.
  bool is_of_one_row(GroupId g) const {
    return std::any_of(result_.groups[g].nodes.begin(), result_.groups[g].nodes.end(), [&](NodeId id) {
      const Node& n = node(id);
      return n.is(OpClass::Contract) &&
             (n.shape.numel() == n.shape[n.dim_along(0)] || n.shape.numel() == n.shape[n.dim_along(1)]);
    });
  }

  /// What a group contracts by tiles, if anything.
  NodeId contracted_by(GroupId g) const {
    if (!result_.kernels[g].kernel().tiling.any()) return kNoNode;
    for (const NodeId id : result_.groups[g].nodes)
      if (node(id).is(OpClass::Contract)) return id;
    return kNoNode;
  }

  bool is_slower_behind_tiles(GroupId a, GroupId b) const {
    if (!limits_.tensor_cores.any()) return false;
    const NodeId of_a = contracted_by(a), of_b = contracted_by(b);
    if ((of_a == kNoNode) == (of_b == kNoNode)) return false;
    const GroupId contraction = of_a == kNoNode ? b : a, other = of_a == kNoNode ? a : b;
    const Node& product = node(of_a == kNoNode ? of_b : of_a);
    const Shape& result = product.shape;
    for (const BufferUse& use : result_.kernels[contraction].buffers)
      if (use.read && result_.owners[use.node] == Owner::kernel(other)) return false;  // in front of it
    // All that goes over what the contraction hands on, since it becomes one kernel if it stays apart.
    absl::flat_hash_map<NodeId, double> moved;
    double handed = 0;
    for (const GroupId reader : readers_behind(contraction, other))
      for (const BufferUse& use : result_.kernels[reader].buffers) {
        const Shape& shape = node(use.node).shape;
        if (graph_.checks)
          graph_.checks->compare(SizeChecks::Is::Equal, {{shape, 1}, {result, -1}}, 0,
                                 shape.numel() == result.numel());
        if (shape.numel() != result.numel()) continue;
        const double once = static_cast<double>(size_of(node(use.node).dtype)),
                     bytes = once * ((use.read ? 1 : 0) + (use.written ? 1 : 0));
        if (use.read && may_be_term(use.node, contraction, reader)) continue;
        if (result_.owners[use.node] == Owner::kernel(contraction))
          handed = std::max(handed, once);
        else
          moved[use.node] = std::max(moved[use.node], bytes);
      }
    BehindTiles behind{.handed = handed};
    behind.may_share =
        may_share_in_clusters(result_.kernels[contraction].kernel().tiling, limits_.tensor_cores);
    for (const auto& [buffer, bytes] : moved) behind.moved += bytes;
    return are_slower_behind_tiles(graph_, product, loops_[contraction].domain, behind, options_);
  }

  /// True iff the node is another product along the loops of the contraction, which the reader alone needs:
  /// where it is added, both are one sum, and it is not in memory (ir::Tiling::terms).
  bool may_be_term(NodeId id, GroupId contraction, GroupId reader) const {
    const Owner owner = result_.owners[id];
    return limits_.tensor_cores.has_groups && owner.is_kernel() && owner.group != contraction &&
           contracted_by(owner.group) != kNoNode &&
           may_be_terms(result_.kernels[owner.group].kernel().tiling,
                        result_.kernels[contraction].kernel().tiling) &&
           have_same_loops(owner.group, contraction) && storing_[id] != Storing::Required &&
           !is_read_by_others(id, owner.group, reader);
  }

  bool have_same_loops(GroupId a, GroupId b) const {
    const Loops &of_a = loops_[a], &of_b = loops_[b];
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::Equal, {{of_a.domain, 1}, {of_b.domain, -1}}, 0,
                             of_a.domain.numel() == of_b.domain.numel());
    return of_a.domain == of_b.domain && of_a.reduced == of_b.reduced;
  }

  /// `first`, and others that read something of what it reads of the contraction.
  std::vector<GroupId> readers_behind(GroupId contraction, GroupId first) const {
    std::vector<GroupId> found{first};
    for (const BufferUse& use : result_.kernels[first].buffers) {
      if (result_.owners[use.node] != Owner::kernel(contraction)) continue;
      for (const GroupId reader : readers_[use.node]) {
        const GroupId now = precedence_.find(reader);
        if (now != contraction && found.size() < kMostSiblings &&
            std::find(found.begin(), found.end(), now) == found.end())
          found.push_back(now);
      }
    }
    return found;
  }

  /// True iff both compute scores, and none that the other one computes too.
  bool have_other_scores(GroupId a, GroupId b, const LoweredGroup& merged) const {
    const auto dots = [](const LoweredGroup& lowered) {
      return std::count_if(lowered.kernel().exprs.begin(), lowered.kernel().exprs.end(),
                           [](const ir::Expr& expr) { return expr.kind == ir::ExprKind::Dot; });
    };
    const auto of_a = dots(result_.kernels[a]), of_b = dots(result_.kernels[b]);
    return of_a > 0 && of_b > 0 && dots(merged) == of_a + of_b;
  }

  /// The two groups as one, which stores what others still read.
  Group both(GroupId producer, GroupId consumer, std::string* refusal) const {
    const Group& from = result_.groups[producer];
    const Group& to = result_.groups[consumer];
    const bool reduces = loops_[producer].reduces || loops_[consumer].reduces;
    std::int64_t largest = 0;
    for (const Group* group : {&from, &to})
      for (NodeId id : group->nodes) largest = std::max(largest, node(id).shape.numel());
    Group merged = to;
    for (NodeId id : from.nodes) {
      const bool was_stored = std::binary_search(from.stores.begin(), from.stores.end(), id);
      const bool is_stored =
          was_stored && (storing_[id] == Storing::Required || is_read_by_others(id, producer, consumer));
      if (is_stored) merged.stores.push_back(id);
      if (is_stored || node(id).has_inner_loops()) merged.nodes.push_back(id);
      if (was_stored && !is_stored && storing_[id] == Storing::Expanded && !reduces) {
        if (graph_.checks) check_largest(producer, consumer, id);
        if (node(id).shape.numel() < largest)
          *refusal = "too much work to repeat for each element that shares it";
      }
    }
    std::sort(merged.stores.begin(), merged.stores.end());
    std::sort(merged.nodes.begin(), merged.nodes.end());
    return merged;
  }

  bool is_read_by_others(NodeId id, GroupId producer, GroupId consumer) const {
    return std::any_of(readers_[id].begin(), readers_[id].end(), [&](GroupId reader) {
      const GroupId now = precedence_.find(reader);
      return now != consumer && now != producer;
    });
  }

  /// What lowering the two together would find out too, at a greater price.
  std::string why_never(GroupId producer, GroupId consumer, const Group& merged) const {
    // Beside another result it would go over more than its pieces.
    if (std::any_of(merged.stores.begin(), merged.stores.end(),
                    [&](NodeId id) { return node(id).stands_alone; }))
      return "a part of a long concatenation";
    const Loops &from = loops_[producer], &to = loops_[consumer];
    const bool is_in_front = are_in_front(producer, consumer);
    if (from.reduces && to.reduces && !is_in_front &&
        (from.domain != to.domain || from.reduced != to.reduced))
      return "reductions over different dimensions";
    const Loops& reduction = from.reduces && !is_in_front ? from : to;
    const std::int64_t whole =
        reduction.reduces ? reduction.domain.numel() : node(merged.stores.back()).shape.numel();
    const std::int64_t results = reduction.reduces ? reduction.results().numel() : whole;
    if (graph_.checks) check_elements(reduction, merged);
    const bool may_repeat = limits_.tensor_cores.cluster > 1 &&
                            (contracted_by(producer) != kNoNode || contracted_by(consumer) != kNoNode);
    for (NodeId id : merged.stores)
      if (const std::int64_t numel = node(id).shape.numel();
          numel != whole && numel != results && !node(id).is(OpClass::Combine) &&
          !(may_repeat && repeats(node(id).shape, reduction.results())))
        return "another number of elements";
    const LoweredGroup &a = result_.kernels[producer], &b = result_.kernels[consumer];
    if (exprs(producer) + exprs(consumer) > limits_.max_exprs) return "too many expressions";
    return buffers_of_both(a, b) > static_cast<std::size_t>(limits_.max_buffers) ? "too many buffers" : "";
  }

  /// True iff the shape has each result of a contraction a few times (ChosenLoops::repeats).
  bool repeats(const Shape& shape, const Shape& results) const {
    for (std::int64_t times = 2; times <= kMostRepeats; ++times) {
      const bool is_so = shape.numel() == times * results.numel();
      if (graph_.checks)
        graph_.checks->compare(SizeChecks::Is::Equal, {{shape, 1}, {results, -static_cast<double>(times)}}, 0,
                               is_so);
      if (is_so) return true;
    }
    return false;
  }

  void check_largest(GroupId producer, GroupId consumer, NodeId id) const {
    for (const GroupId group : {producer, consumer})
      for (const NodeId other : result_.groups[group].nodes)
        graph_.checks->compare(SizeChecks::Is::More, {{node(other).shape, 1}, {node(id).shape, -1}}, 0,
                               node(other).shape.numel() > node(id).shape.numel());
  }

  /// What `why_never` and, on devices where groups share reductions, lowering ask about numbers of elements.
  void check_elements(const Loops& reduction, const Group& merged) const {
    const Shape whole = reduction.reduces ? reduction.domain : node(merged.stores.back()).shape;
    const Shape results = reduction.reduces ? reduction.results() : whole;
    if (reduction.reduces) graph_.checks->sharing(whole, results);
    for (const NodeId id : merged.stores)
      for (const Shape* other : {&whole, static_cast<const Shape*>(&results)})
        graph_.checks->compare(SizeChecks::Is::Equal, {{node(id).shape, 1}, {*other, -1}}, 0,
                               node(id).shape.numel() == other->numel());
  }

  bool note(const Group& from, const Group& to, std::string reason) {
    result_.cuts.push_back({from.nodes[0], to.nodes[0], std::move(reason)});
    return false;
  }

  bool is_one_of(Which which, GroupId g) const {
    if (which == Which::All) return true;
    if (graph_.checks && limits_.grid_reductions && loops_[g].reduces) {
      graph_.checks->sharing(loops_[g].domain, loops_[g].results());
    }
    return result_.kernels[g].kernel().split == (which == Which::Shared);
  }

  void merge_producers(Which which) {
    // A kernel is lowered with each one that it takes in. In long chains equals are merged first, so that
    // each operation is lowered a few times, and not once for each that follows.
    merge_producers(which, true);
    merge_producers(which, false);
  }

  void merge_producers(Which which, bool only_equals) {
    std::vector<GroupId> producers;
    absl::flat_hash_set<GroupId> refused;
    for (GroupId g = 0; g < result_.groups.size(); ++g) {
      refused.clear();
      while (result_.groups[g].alive) {
        producers_of(g, which, only_equals, refused, producers);
        if (!merge_one_of(producers, g, refused)) break;
      }
    }
  }

  void producers_of(GroupId g, Which which, bool only_equals, const absl::flat_hash_set<GroupId>& refused,
                    std::vector<GroupId>& producers) const {
    const std::size_t most = only_equals ? std::max(kSmall, 2 * exprs(g)) : limits_.max_exprs;
    producers.clear();
    for (const BufferUse& use : result_.kernels[g].buffers) {
      const Owner owner = result_.owners[use.node];
      if (use.read && owner.is_kernel() && owner.group != g && !refused.contains(owner.group) &&
          exprs(owner.group) <= most && is_one_of(which, owner.group) &&
          std::find(producers.begin(), producers.end(), owner.group) == producers.end())
        producers.push_back(owner.group);
    }
  }

  /// Those that are only in each other's way may be merged after others are.
  bool merge_one_of(std::span<const GroupId> producers, GroupId consumer,
                    absl::flat_hash_set<GroupId>& refused) {
    for (const GroupId producer : producers) {
      if (!precedence_.may_join(producer, consumer)) {
        note(result_.groups[producer], result_.groups[consumer], "another kernel must run between them");
        continue;
      }
      if (try_merge(producer, consumer)) return true;
      refused.insert(producer);
    }
    return false;
  }

  /// Kernels that read the same data over the same loops become one.
  void merge_siblings(Which which) {
    std::vector<GroupId> seen;
    absl::flat_hash_map<std::vector<std::int64_t>, std::vector<GroupId>> alike;  // by their loops
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      if (readers_[id].size() < 2) continue;
      alike.clear();
      seen.clear();
      for (const GroupId reader : readers_[id])
        if (const GroupId now = precedence_.find(reader); is_one_of(which, now)) seen.push_back(now);
      std::sort(seen.begin(), seen.end());
      seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
      for (const GroupId reader : seen) {
        std::vector<GroupId>& others = alike[loops_of(reader)];
        const auto merged = std::find_if(others.begin(), others.end(), [&](GroupId other) {
          return reads_much(id, other, reader) && precedence_.are_independent(other, reader) &&
                 try_merge(other, reader);
        });
        if (merged != others.end()) {
          *merged = reader;
          continue;
        }
        others.push_back(reader);
        if (others.size() > kMostSiblings) others.erase(others.begin());
      }
    }
  }

  /// What a kernel goes over: the dims of its reductions or, without any, of what it stores. Loops as they
  /// are lowered would not do: how many there are may depend on sizes.
  std::vector<std::int64_t> loops_of(GroupId g) const {
    const Loops& of = loops_[g];
    std::int64_t none = 0;
    const Shape shape = of.reduces ? of.domain : without_ones(node(result_.groups[g].stores[0]).shape, none);
    std::vector<std::int64_t> loops{of.reduces ? 1 : 0};
    for (const std::int64_t size : shape) loops.push_back(size);
    return loops;
  }

  /// True iff the node is a good part of what one of two kernels that read it goes over.
  bool reads_much(NodeId id, GroupId a, GroupId b) const {
    const double of_a = largest_bytes(a), of_b = largest_bytes(b);
    const bool much = bytes(id) * 2 >= std::min(of_a, of_b);
    if (!graph_.checks) return much;
    // Of the smaller kernel all buffers are small enough; or both have a larger one.
    if (much) {
      check_buffers(id, of_a < of_b ? a : b);
    } else {
      check_buffers(id, a);
      check_buffers(id, b);
    }
    return much;
  }

  void check_buffers(NodeId id, GroupId g) const {
    for (const BufferUse& use : result_.kernels[g].buffers)
      graph_.checks->compare(SizeChecks::Is::AtLeast,
                             {{node(id).shape, 2 * static_cast<double>(size_of(node(id).dtype))},
                              {node(use.node).shape, -static_cast<double>(size_of(node(use.node).dtype))}},
                             0, bytes(id) * 2 >= bytes(use.node));
  }

  double largest_bytes(GroupId g) const {
    double largest = 0;
    for (const BufferUse& use : result_.kernels[g].buffers) largest = std::max(largest, bytes(use.node));
    return largest;
  }

  Graph& graph_;
  const GroupOptions& options_;
  const LowerLimits& limits_;
  const std::vector<Storing>& storing_;
  Lowerer& lowerer_;
  Grouping& result_;
  Precedence precedence_;
  std::vector<Loops> loops_;  // of each group
  // For each node the groups whose kernels load it from memory, may load it once they are lowered anew, or
  // did before they were merged.
  std::vector<std::vector<GroupId>> readers_;
};

}  // namespace

void merge_kernels(Graph& graph, const GroupOptions& options, const std::vector<Storing>& storing,
                   Lowerer& lowerer, Grouping& grouping) {
  Merger(graph, options, storing, lowerer, grouping).run();
}

}  // namespace sinter::plan
