// Stores what has to be in memory, and what takes longer to compute again than to write and read back.
#include "jit/plan/group/storing.h"

#include <algorithm>
#include <utility>

#include "jit/plan/lower/tiles/few_rows.h"

namespace sinter::plan {
namespace {

// A shared value of more work for each element than this is never computed again.
constexpr int kInlineWeight = 256;
// A value that many points share (it is expanded) is computed again for each of them only up to this work.
// The variance of a batch norm by Welford's method, with its root, weighs 12 and is stored.
constexpr int kExpandedWeight = 11;
// More work than this takes longer than to read the value of a row again for each of its elements.
constexpr int kWorkOfRead = 2;
// An expansion to so many times the elements counts as one.
constexpr double kExpands = 4;
// In launches: what it costs to store a value that a kernel has on the way to what it stores in any case. It
// costs none as long as nothing keeps the two apart, which is not known yet.
constexpr double kBeside = 0.25;
// Work for each element of what many small kernels have a slice each of. They are mostly one behind the
// other, steps of a loop: what none of them waits for is computed before them, by all of the device at once.
constexpr int kWorkOfSlice = 4;
constexpr std::size_t kManySlices = 8;
// Work for each piece of a concatenation to find out whether an element is in it.
constexpr int kWorkOfPiece = 8;
// Kernels that would compute a node inline: more of them need not be known.
constexpr std::size_t kMostKernels = 4;

/// Who needs a node; known once all its users have been looked at.
struct Need {
  std::vector<NodeId> kernels;  // stored nodes whose kernels would compute it inline; the first few of them
  bool expanded = false;        // by an expansion, directly or through what is computed inline
  bool beside = false;          // by a kernel that stores one element for each of the node's in any case
  std::size_t slices = 0;       // by how many slices of it, directly or through other views
  NodeId slice = kNoNode;       // the largest of these
};

class StoreChooser {
 public:
  StoreChooser(const Graph& graph, const Users& users, std::span<const LibraryCall> libraries,
               const GroupOptions& options)
      : graph_(graph),
        users_(users),
        libraries_(libraries),
        options_(options),
        storing_(graph.nodes.size(), Storing::Inline),
        needs_(graph.nodes.size()),
        inlined_(graph.nodes.size(), 0),
        is_weighed_(graph.nodes.size()),
        seen_(graph.nodes.size(), 0),
        is_score_(graph.nodes.size()) {}

  std::vector<Storing> run() {
    pin_what_must_be_stored();
    find_scores();
    // Users before operands, so that it is known in which kernels a node would be computed.
    for (NodeId id = static_cast<NodeId>(graph_.nodes.size()); id-- > 0;)
      if (node(id).kind == NodeKind::Op) choose(id);
    // What is shared further down was not known to be in memory, so that some values seemed to take more to
    // compute again than they do: those of a norm of what a block adds, say, as much as all blocks before it.
    // Operands before users, so that it is known what is in memory.
    knows_memory_ = true;
    for (NodeId id = 0; id < graph_.nodes.size(); ++id)
      if (is_weighed_[id] && storing_[id] == Storing::Chosen && !still_pays(id))
        storing_[id] = Storing::Inline;
    return std::move(storing_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[id]; }
  // Not an integer: views that repeat their elements may have 2^62 bytes each.
  double bytes(NodeId id) const {
    return static_cast<double>(node(id).shape.numel()) * static_cast<double>(size_of(node(id).dtype));
  }
  bool is_pinned(NodeId id) const {
    return storing_[id] == Storing::Required || storing_[id] == Storing::Factor;
  }
  bool is_in_memory(NodeId id) const {
    return knows_memory_ ? storing_[id] != Storing::Inline : is_pinned(id);
  }

  /// Memory for a node that a kernel computes; externals have theirs.
  void pin(NodeId id, Storing why = Storing::Required) {
    if (node(id).kind == NodeKind::Op) storing_[id] = std::max(storing_[id], why);
  }

  void pin_below_views(NodeId id, Storing why = Storing::Required) {
    pin(strided_view(graph_, id) ? base_of(graph_, id) : id, why);
  }

  /// `is_inlined`: kernels compute what views and frames make of it where they need it.
  void pin_factor(NodeId id, bool is_inlined, Storing why = Storing::Required) {
    if (is_inlined) {
      while (node(id).is(OpClass::View) || node(id).op == Op::Pad) id = node(id).operands[0];
    } else if (strided_view(graph_, id)) {
      return pin_below_views(id, why);
    } else {  // views above a copy are strides
      while (node(id).op != Op::Reshape) id = node(id).operands[0];
    }
    pin(id, why);
  }

  void pin_shown(NodeId id) {
    const NodeId shown = shown_by(graph_, id);
    if (!node(shown).is(OpClass::Source)) pin(shown);
  }

  /// What a frame or a slice shows has other loops than the product that it is rounded from, which no kernel
  /// of theirs computes; and it is half as much.
  void pin_half_of_product(NodeId id, std::span<const NodeId> shown) {
    const NodeId half = shown[id];
    if (node(half).op != Op::Cast || !is_half(node(half).dtype)) return;
    if (node(shown[node(half).operands[0]]).is(OpClass::Contract)) pin(half);
  }

  /// What views show: of each node the first one below that is no view. Found once, since a trace may be one
  /// long chain of them.
  std::vector<NodeId> shown_by_views() const {
    std::vector<NodeId> shown(graph_.nodes.size());
    for (NodeId id = 0; id < shown.size(); ++id)
      shown[id] = node(id).is(OpClass::View) ? shown[node(id).operands[0]] : id;
    return shown;
  }

  /// How the product's first or second factor is stored.
  Storing storing_of_factor(const Node& product, std::size_t which) const {
    if (!options_.limits.lone_rows) return Storing::Required;
    const bool is_only_row = product.shape.numel() == product.shape[product.dim_along(1 - which)];
    return is_only_row || has_few_readers(graph_, product, which) ? Storing::Factor : Storing::Required;
  }

  void pin_what_must_be_stored() {
    for (const LibraryCall& call : libraries_) {
      for (NodeId result : call.results) pin(result);
      for (const LibraryOperand& operand : call.operands) pin(operand.base);
    }
    const std::vector<NodeId> shown = shown_by_views();
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = node(id);
      if (n.is_stored_copy() || n.stands_alone) pin(id);
      for (std::size_t k = 0; k < n.operands.size(); ++k)
        if (n.reads_many_times(k)) pin_shown(n.operands[k]);
      if (n.is(OpClass::Gather)) pin_below_views(n.operands[0]);
      // Each element of a factor is read many times.
      if (n.is(OpClass::Contract))
        for (std::size_t k = 0; k < n.operands.size(); ++k)
          pin_factor(n.operands[k], n.ints[1] >> k & 1, storing_of_factor(n, k));
      if (n.op == Op::Pad || n.op == Op::Slice) pin_half_of_product(n.operands[0], shown);
      if (n.is(OpClass::Dot)) pin_factor(n.operands[0], false);
      if (n.is(OpClass::Dot) || n.is(OpClass::Combine)) pin_factor(n.operands[1], false);
    }
    // Results that are views share the memory of what they look at, unless that would hold more memory than
    // they show.
    for (const Result& result : graph_.results) {
      if (!node(result.node).is(OpClass::View)) {
        pin(result.node);
        continue;
      }
      const std::optional<StridedView> view = strided_view(graph_, result.node);
      if (!view) {
        pin(result.node);
      } else if (node(view->base).kind == NodeKind::Op && storing_[view->base] != Storing::Required) {
        const Shape &shown = node(result.node).shape, &whole = node(view->base).shape;
        const bool holds_more = shown.numel() < whole.numel();
        if (graph_.checks)
          graph_.checks->compare(SizeChecks::Is::More, {{whole, 1}, {shown, -1}}, 0, holds_more);
        pin(holds_more ? result.node : view->base);
      }
    }
  }

  /// What is made of Dots alone is computed wherever it is needed: that it is not in memory is what they are
  /// for.
  void find_scores() {
    for (NodeId id = 0; id < graph_.nodes.size(); ++id) {
      const Node& n = node(id);
      if (n.kind != NodeKind::Op || n.has_inner_loops() || is_pinned(id)) continue;
      is_score_[id] = n.is(OpClass::Dot) || std::any_of(n.operands.begin(), n.operands.end(),
                                                        [&](NodeId operand) { return is_score_[operand]; });
    }
  }

  void choose(NodeId id) {
    const Node& n = node(id);
    const bool computes = n.op_class() != OpClass::View;
    needs_[id] = need_of(id);
    if (is_pinned(id) || !computes) return;
    if (!options_.fusion || n.has_inner_loops() || is_smaller_form(id)) storing_[id] = Storing::Chosen;
    if (storing_[id] != Storing::Inline || n.is(OpClass::Source) || is_score_[id]) return;

    const Need& need = needs_[id];
    for (NodeId kernel : need.kernels)
      if (++inlined_[kernel] > options_.limits.max_exprs / 2) storing_[id] = Storing::Chosen;
    if (n.op == Op::SliceAssign && windows_search_pieces(id)) storing_[id] = Storing::Expanded;
    if (need.kernels.size() < 2 && !need.expanded) return;  // most nodes: nothing to weigh
    const Below sum = below(id);
    if (need.kernels.size() > 1) {
      is_weighed_[id] = storing_pays(id, sum, options_.launch_bytes) && !stands_for_reductions(id, sum);
      if (is_weighed_[id] || stands_for_reductions(id, sum)) storing_[id] = Storing::Chosen;
    }
    if (need.expanded && sum.weight > kExpandedWeight) storing_[id] = Storing::Expanded;
    if (sum.weight > kWorkOfSlice && is_read_in_small_slices(id, need)) storing_[id] = Storing::Chosen;
  }

  /// True iff overlapping windows show elements of a concatenation so often that finding each one's piece
  /// takes longer than writing the concatenation and reading it back, such as a signal with its edges.
  bool windows_search_pieces(NodeId id) const {
    const auto is_windows = [&](NodeId user) { return node(user).op == Op::Windows; };
    if (std::none_of(users_[id].begin(), users_[id].end(), is_windows))
      return false;  // most links of a chain
    double work = 0;
    for (NodeId piece = id; node(piece).kind == NodeKind::Op && node(piece).op == Op::SliceAssign;
         piece = node(piece).operands[0])
      work += kWorkOfPiece / options_.work_per_byte;
    const Shape& whole = node(id).shape;
    const double elements = static_cast<double>(whole.numel());
    const double once = work + 2 * static_cast<double>(size_of(node(id).dtype));
    return std::any_of(users_[id].begin(), users_[id].end(), [&](NodeId user) {
      if (!is_windows(user)) return false;
      const Shape& shown = node(user).shape;
      const bool pays = work * static_cast<double>(shown.numel()) > once * elements + options_.launch_bytes;
      if (graph_.checks)
        graph_.checks->compare(SizeChecks::Is::More, {{shown, work}, {whole, -once}}, -options_.launch_bytes,
                               pays);
      return pays;
    });
  }

  /// True iff many kernels need a slice each, and wait longer for it than all of it takes to move.
  bool is_read_in_small_slices(NodeId id, const Need& need) const {
    if (options_.wait_bytes == 0 || need.slices < kManySlices || need.kernels.size() < kMostKernels)
      return false;
    const auto size = static_cast<double>(size_of(node(id).dtype));
    const Shape& slice = node(need.slice).shape;
    const bool are_small = static_cast<double>(slice.numel()) * size < options_.wait_bytes;
    if (graph_.checks)
      graph_.checks->compare(SizeChecks::Is::AtLeast, {{slice, size}}, -options_.wait_bytes, !are_small);
    return are_small;
  }

  /// True iff all that is read of a reduction or a contraction is read through this cast to fewer bytes: what
  /// is in memory for other kernels is the cast, then.
  bool is_smaller_form(NodeId id) const {
    const Node& n = node(id);
    if (n.kind != NodeKind::Op || n.op != Op::Cast) return false;
    const Node& whole = node(n.operands[0]);
    return whole.kind == NodeKind::Op && whole.has_inner_loops() && size_of(n.dtype) < size_of(whole.dtype) &&
           users_[n.operands[0]].size() == 1 && !is_pinned(n.operands[0]);
  }

  Need need_of(NodeId id) const {
    Need need;
    for (NodeId user : users_[id]) {
      const bool expands =
          node(user).op == Op::Expand && static_cast<double>(node(user).shape.numel()) >
                                             kExpands * static_cast<double>(node(id).shape.numel());
      if (graph_.checks && node(user).op == Op::Expand)
        graph_.checks->compare(SizeChecks::Is::More, {{node(user).shape, 1}, {node(id).shape, -kExpands}}, 0,
                               expands);
      const bool is_inline = storing_[user] == Storing::Inline;
      if (node(user).is(OpClass::Elementwise) && (is_pinned(user) || needs_[user].beside)) need.beside = true;
      if (expands || (is_inline && needs_[user].expanded)) need.expanded = true;
      count_slices(user, need);
      const std::vector<NodeId> itself{user};
      for (NodeId kernel : is_inline ? needs_[user].kernels : itself)
        if (need.kernels.size() < kMostKernels &&
            std::find(need.kernels.begin(), need.kernels.end(), kernel) == need.kernels.end())
          need.kernels.push_back(kernel);
    }
    return need;
  }

  void count_slices(NodeId user, Need& need) const {
    const Node& n = node(user);
    if (!n.is(OpClass::View)) return;
    const bool is_slice = n.op == Op::Slice;
    const NodeId slice = is_slice ? user : needs_[user].slice;
    need.slices += is_slice ? 1 : needs_[user].slices;
    if (slice == kNoNode) return;
    if (need.slice == kNoNode || node(slice).shape.numel() > node(need.slice).shape.numel())
      need.slice = slice;
  }

  /// Leaves and work below a node, down to what is in memory as far as is known.
  struct Below {
    double leaf_bytes = 0;
    double read_bytes = 0;  // the same, and for leaves that are waited for what moves meanwhile
    int weight = 0;
    double reduced_bytes = 0;                    // of the leaves that are reductions
    double merged_bytes = 0;                     // of those that are in memory unless the node itself is
    double waits = 0;                            // what read_bytes has for leaves that are waited for
    std::vector<SizeChecks::Term> leaves;        // the others, where checks want them
    std::vector<SizeChecks::Term> other_leaves;  // that are no reductions
    std::vector<SizeChecks::Term> merged_leaves;
  };
  Below below(NodeId id) {
    Below sum;
    ++searches_;
    todo_.assign(1, id);
    while (!todo_.empty() && sum.weight <= kInlineWeight) {
      const NodeId at = todo_.back();
      todo_.pop_back();
      if (std::exchange(seen_[at], searches_) == searches_) continue;
      const Node& n = node(at);
      if (n.kind == NodeKind::External || (at != id && (is_in_memory(at) || n.has_inner_loops()))) {
        sum.leaf_bytes += bytes(at);
        const bool is_short = is_waited_for(at, id);
        sum.read_bytes += is_short ? options_.wait_bytes : bytes(at);
        if (is_short) sum.waits += options_.wait_bytes;
        const bool is_merged = n.kind == NodeKind::Op && !is_pinned(at) && users_[at].size() == 1;
        if (is_merged) sum.merged_bytes += bytes(at);
        const bool is_reduced = n.kind == NodeKind::Op && n.is(OpClass::Reduce);
        if (is_reduced) sum.reduced_bytes += bytes(at);
        if (graph_.checks) {
          const SizeChecks::Term leaf{n.shape, static_cast<double>(size_of(n.dtype))};
          if (!is_short) sum.leaves.push_back(leaf);
          if (!is_reduced) sum.other_leaves.push_back(leaf);
          if (is_merged) sum.merged_leaves.push_back(leaf);
        }
        continue;
      }
      sum.weight += weight_of(n);
      for (NodeId operand : n.operands) todo_.push_back(operand);
    }
    return sum;
  }

  /// True iff an element of the leaf is read for each element of the node, and a lane waits longer for its
  /// own than all of them take to move.
  bool is_waited_for(NodeId leaf, NodeId id) {
    if (options_.wait_bytes == 0) return false;
    const Shape &read = node(leaf).shape, &computed = node(id).shape;
    const bool has_each = read.numel() >= computed.numel(), is_short = bytes(leaf) < options_.wait_bytes;
    if (graph_.checks) {
      graph_.checks->compare(SizeChecks::Is::AtLeast, {{read, 1}, {computed, -1}}, 0, has_each);
      graph_.checks->compare(SizeChecks::Is::AtLeast,
                             {{read, static_cast<double>(size_of(node(leaf).dtype))}}, -options_.wait_bytes,
                             !is_short);
    }
    return has_each && is_short;
  }

  /// True iff it takes less time to write a value that several kernels need and to read it back than to
  /// compute it in each of them. Storing it costs a launch too, unless it merges with a neighbour: that is
  /// not known yet.
  bool storing_pays(NodeId id, const Below& below, double launch_bytes) const {
    if (below.weight > kInlineWeight) return true;
    const double uses = static_cast<double>(needs_[id].kernels.size()), size = bytes(id);
    const double work = below.weight * static_cast<double>(node(id).shape.numel()) / options_.work_per_byte;
    const bool pays = (uses - 1) * (below.read_bytes + work) > (uses + 1) * size + launch_bytes;
    if (graph_.checks) {
      std::vector<SizeChecks::Term> terms = below.leaves;
      for (SizeChecks::Term& leaf : terms) leaf.times *= uses - 1;
      const double of_element = (uses - 1) * below.weight / options_.work_per_byte -
                                (uses + 1) * static_cast<double>(size_of(node(id).dtype));
      terms.push_back({node(id).shape, of_element});
      graph_.checks->compare(SizeChecks::Is::More, std::move(terms), (uses - 1) * below.waits - launch_bytes,
                             pays);
    }
    return pays;
  }

  /// As storing_pays, where operands are known to be in memory or not. The kernel that reduces something for
  /// this value alone stores it instead: neither is that written and read, nor is there another launch. There
  /// is seldom one (kBeside) where a kernel has the value on its way, such as the cell of an LSTM beside its
  /// hidden state.
  bool still_pays(NodeId id) {
    Below sum = below(id);
    const double uses = static_cast<double>(needs_[id].kernels.size());
    sum.read_bytes += 2 * sum.merged_bytes / (uses - 1);
    for (SizeChecks::Term& leaf : sum.merged_leaves) {
      leaf.times *= 2 / (uses - 1);
      sum.leaves.push_back(std::move(leaf));
    }
    const double launch = sum.merged_bytes > 0 ? 0 : needs_[id].beside ? kBeside : 1;
    return storing_pays(id, sum, launch * options_.launch_bytes);
  }

  /// True iff the value comes of reductions alone and is expanded, such as the root of a row's variance. It
  /// is stored in their place: the kernel that reduces has it once for each row, and one that goes down
  /// columns need not find it for each element.
  bool stands_for_reductions(NodeId id, const Below& below) const {
    if (!needs_[id].expanded || below.weight <= kWorkOfRead || below.reduced_bytes <= 0) return false;
    const bool alone = below.leaf_bytes - below.reduced_bytes <= bytes(id) / kExpands;
    if (graph_.checks) {
      std::vector<SizeChecks::Term> terms = below.other_leaves;
      terms.push_back({node(id).shape, -static_cast<double>(size_of(node(id).dtype)) / kExpands});
      graph_.checks->compare(SizeChecks::Is::More, std::move(terms), 0, !alone);
    }
    return alone;
  }

  const Graph& graph_;
  const Users& users_;
  const std::span<const LibraryCall> libraries_;
  const GroupOptions& options_;
  std::vector<Storing> storing_;
  std::vector<Need> needs_;
  std::vector<std::size_t> inlined_;  // for stored nodes: how many nodes their kernels compute inline
  std::vector<bool> is_weighed_;      // stored for that alone
  bool knows_memory_ = false;         // ... for all operands of what is looked at
  std::vector<std::uint32_t> seen_;   // the last search below that has seen a node
  std::uint32_t searches_ = 0;
  std::vector<NodeId> todo_;
  std::vector<bool> is_score_;
};

}  // namespace

int weight_of(const Node& node) {
  if (node.kind != NodeKind::Op || node.op_class() == OpClass::View) return 0;
  // A random number takes ten rounds of multiplications.
  if (node.op_class() == OpClass::Source) return node.is_random() ? 16 : 1;
  // What only floats have is a function of several steps.
  return info(node.op).rule == DTypeRule::Float ? 4 : 1;
}

Users users_of(const Graph& graph) {
  Users users(graph.nodes.size());
  for (NodeId id = 0; id < graph.nodes.size(); ++id)
    for (NodeId operand : graph.nodes[id].operands) users[operand].push_back(id);
  return users;
}

std::vector<Storing> choose_stored(const Graph& graph, const Users& users,
                                   std::span<const LibraryCall> libraries, const GroupOptions& options) {
  return StoreChooser(graph, users, libraries, options).run();
}

}  // namespace sinter::plan
