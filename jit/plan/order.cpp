// Which step follows which.
#include "jit/plan/order.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "jit/ir/products/tensor_maps.h"
#include "jit/plan/precedence.h"

namespace sinter::plan {
namespace {

/// Steps that read what a step writes.
using Followers = std::vector<std::vector<std::size_t>>;

Followers followers_of(const std::vector<Step>& steps) {
  absl::flat_hash_map<NodeId, std::size_t> writer;
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const BufferUse& use : steps[s].buffers)
      if (use.written) writer[use.node] = s;
  Followers followers(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const BufferUse& use : steps[s].buffers)
      if (auto it = writer.find(use.node); use.read && it != writer.end() && it->second != s) {
        std::vector<std::size_t>& after = followers[it->second];
        if (after.empty() || after.back() != s) after.push_back(s);
      }
  return followers;
}

/// Of each step the longest chains that it ends and begins, itself counted in both.
struct Chains {
  explicit Chains(const std::vector<Step>& steps) : before(steps.size(), 1), behind(steps.size(), 1) {
    const Followers followers = followers_of(steps);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (const std::size_t after : followers[s]) before[after] = std::max(before[after], before[s] + 1);
    for (std::size_t s = steps.size(); s-- > 0;) {
      for (const std::size_t after : followers[s]) behind[s] = std::max(behind[s], behind[after] + 1);
      longest = std::max(longest, behind[s]);
    }
  }
  std::vector<std::uint32_t> before, behind;
  std::uint32_t longest = 0;
};

/// Steps whose results a step reads.
Followers leaders_of(const Followers& followers) {
  Followers leaders(followers.size());
  for (std::size_t s = 0; s < followers.size(); ++s)
    for (const std::size_t after : followers[s]) leaders[after].push_back(s);
  return leaders;
}

/// Producers first, otherwise by the last node that a step computes.
std::vector<Step> in_order(std::vector<Step> steps, const Followers& followers) {
  std::vector<int> waiting(steps.size(), 0);
  for (const auto& after : followers)
    for (std::size_t s : after) ++waiting[s];
  using Item = std::pair<NodeId, std::size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (waiting[s] == 0) ready.emplace(steps[s].node, s);
  std::vector<Step> ordered;
  while (!ready.empty()) {
    const std::size_t s = ready.top().second;
    ready.pop();
    for (std::size_t after : followers[s])
      if (--waiting[after] == 0) ready.emplace(steps[after].node, after);
    ordered.push_back(std::move(steps[s]));
  }
  if (ordered.size() != steps.size())
    throw std::logic_error("plan: kernels depend on each other in a circle");
  return ordered;
}

std::vector<Step> in_order(std::vector<Step> steps) {
  const Followers followers = followers_of(steps);
  return in_order(std::move(steps), followers);
}

/// Edges from the last reader of an input to steps that had better write over it afterwards: to such alone
/// whose results nobody waits for. They lead back in the order, others onwards, so that no circle closes.
/// True iff there is one.
bool add_edges_to_updates(const Graph& graph, const std::vector<Step>& steps, Followers& followers) {
  // Steps that one is put behind at most: what it reads lives so much longer.
  constexpr std::size_t kNear = 8;
  const auto input_of = [&](NodeId id) { return graph.trace->values[graph.nodes[id].value].buffer; };
  absl::flat_hash_map<std::uint32_t, std::size_t> last_reader;
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const BufferUse& use : steps[s].buffers)
      if (use.read && graph.nodes[use.node].kind == NodeKind::External) last_reader[input_of(use.node)] = s;
  const auto may_write_over = [&](const Step& step, NodeId id) {
    const Node& node = graph.nodes[id];
    if (node.kind != NodeKind::External || !graph.trace->values[node.value].dying) return false;
    return std::any_of(step.buffers.begin(), step.buffers.end(), [&](const BufferUse& use) {
      const Node& result = graph.nodes[use.node];
      return use.written && result.dtype == node.dtype && result.shape == node.shape;
    });
  };
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].library || !followers[s].empty()) continue;
    for (const BufferUse& use : steps[s].buffers) {
      if (!use.read || !may_write_over(steps[s], use.node)) continue;
      const std::size_t reader = last_reader.at(input_of(use.node));
      if (reader > s && reader - s <= kNear) edges.emplace_back(reader, s);
    }
  }
  for (const auto& [reader, update] : edges) followers[reader].push_back(update);
  return !edges.empty();
}

// A launch costs little beside the work of a kernel that moves more than this, and waiting for its likes
// would keep memory.
constexpr double kSmall = 64 << 20;
// Of a kernel that transposes by tiles, which only a launch of its own does: without, it reads whole sectors
// of the second-level cache for each element.
constexpr double kSmallTransposed = 4 << 20;

// From the first to the last product of a launch: what they read lives so many steps longer. Those whose
// results nobody reads, mostly parameters, may wait for all that are like them, as far as they have so many
// bytes together.
constexpr std::size_t kNearProducts = 8;
constexpr double kMostOfProducts = 0x1p30;

// Sizes of the table of members: each is a text of its own.
constexpr std::size_t kTables[] = {4, 16, 64, 256, 1024};
// Of a kernel whose workgroups share their work: each member counts up to some 4,096 groups of them, and a
// device has so many counters.
constexpr std::size_t kMostSplitMembers = 64;

/// Joins steps into batches. A batch is one vertex of the graph of steps: joining must not close a circle.
class Batcher {
 public:
  Batcher(const Graph& graph, const Grouping& grouping, const ir::DeviceTraits& traits,
          std::vector<Step>& steps)
      : graph_(graph),
        grouping_(grouping),
        traits_(traits),
        steps_(steps),
        precedence_(precedence_of(steps)),
        chains_(steps),
        followers_(followers_of(steps)),
        leaders_(leaders_of(followers_)),
        batches_(steps.size()),
        batch_of_(steps.size()) {
    for (std::size_t s = 0; s < steps.size(); ++s) batches_[s] = {s};
    std::iota(batch_of_.begin(), batch_of_.end(), std::size_t{0});
  }

  void run() {
    absl::flat_hash_map<std::string_view, std::vector<std::size_t>> alike;  // kernel text to open batches
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (steps_[s].library || is_large(steps_[s])) continue;
      const ir::Kernel& kernel = kernel_of(steps_[s]);
      if (!ir::may_have_members(kernel) || (kernel.split && !traits_.split_members)) continue;
      const std::size_t most = most_members(kernel, traits_);
      if (most < 2) continue;
      std::vector<std::size_t>& open = alike[grouping_.kernels[steps_[s].members[0]].form->text()];
      auto to = std::find_if(open.begin(), open.end(), [&](std::size_t b) {
        return batches_[b].size() < most && may_share_tiles(b, s) && !lengthens(b, s) &&
               precedence_.are_independent(static_cast<Precedence::Vertex>(b),
                                           static_cast<Precedence::Vertex>(s));
      });
      if (to == open.end()) {
        open.push_back(s);
        // Few are worth trying: what depends on one batch of a kind often depends on the others too.
        if (open.size() > 8) open.erase(open.begin());
        continue;
      }
      precedence_.join(static_cast<Precedence::Vertex>(s), static_cast<Precedence::Vertex>(*to));
      batches_[*to].push_back(s);
      batches_[s].clear();
      batch_of_[s] = *to;
      if (traits_.overlap_bytes > 0) {
        join(chains_.before, followers_, *to, s);
        join(chains_.behind, leaders_, *to, s);
      }
    }
    write();
  }

 private:
  const KernelForm* form_of(const Step& step) const { return grouping_.kernels[step.members[0]].form.get(); }

  /// Products share a launch as if they were one of a batch: their sizes are the same, and stay so. Not those
  /// that tell of faults, nor those that a vendor's library may be faster at (prefers_library).
  bool may_share_tiles(std::size_t batch, std::size_t step) const {
    const std::vector<std::size_t>& members = batches_[batch];
    const KernelForm* form = form_of(steps_[step]);
    const ir::Tiling& t = form->kernel.tiling;
    if (!t.any()) return true;
    if (form != form_of(steps_[members.back()]) || !form->moving.empty()) return false;
    const bool turns_over = (t.a.computed && t.a.across) || (t.b.computed && t.b.across);
    if (form->kernel.faults > 0 || (t.multiplied == DType::f32 && !t.exact && turns_over)) return false;
    const bool may_wait = followers_[step].empty() && followers_[members.back()].empty();
    return step - members.front() <= kNearProducts || (may_wait && are_few(step, members.size() + 1));
  }

  /// True iff so many of a step have few enough bytes.
  bool are_few(std::size_t step, std::size_t members) const {
    return !is_more(steps_[step], kMostOfProducts / static_cast<double>(members));
  }

  /// True iff the longest chain would be longer if these waited for what both read, and what follows them for
  /// both; or where so much has been moved about already that it would take long to tell.
  bool lengthens(std::size_t batch, std::size_t step) const {
    if (traits_.overlap_bytes == 0) return false;
    if (visits_ > kMostVisits * steps_.size())
      return chains_.before[batch] != chains_.before[step] || chains_.behind[batch] != chains_.behind[step];
    return std::max(chains_.before[batch], chains_.before[step]) +
               std::max(chains_.behind[batch], chains_.behind[step]) >
           chains_.longest + 1;
  }

  /// `step` has become part of `batch`: so are their chains, and those of all that come next to them.
  void join(std::vector<std::uint32_t>& chains, const Followers& next, std::size_t batch, std::size_t step) {
    chains[batch] = std::max(chains[batch], chains[step]);
    std::vector<std::size_t> open{batch};
    while (!open.empty()) {
      const std::size_t from = open.back();
      open.pop_back();
      for (const std::size_t member : batches_[from])
        for (const std::size_t follower : next[member]) {
          ++visits_;
          const std::size_t to = batch_of_[follower];
          if (chains[to] > chains[from]) continue;
          chains[to] = chains[from] + 1;
          open.push_back(to);
        }
    }
  }

  static Precedence precedence_of(const std::vector<Step>& steps) {
    std::vector<Precedence::Vertex> order(steps.size());
    std::iota(order.begin(), order.end(), Precedence::Vertex{0});
    Precedence precedence(order);
    const Followers followers = followers_of(steps);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (const std::size_t after : followers[s])
        precedence.add_edge(static_cast<Precedence::Vertex>(s), static_cast<Precedence::Vertex>(after));
    return precedence;
  }

  const ir::Kernel& kernel_of(const Step& step) const { return grouping_.kernels[step.members[0]].kernel(); }

  // Not an integer: views that repeat their elements may have 2^62 bytes each.
  double bytes_of(const Step& step) const {
    double bytes = 0;
    for (const BufferUse& use : step.buffers)
      bytes += static_cast<double>(graph_.nodes[use.node].shape.numel()) *
               static_cast<double>(size_of(graph_.nodes[use.node].dtype));
    return bytes;
  }

  bool is_large(const Step& step) const {
    return is_more(step, kernel_of(step).tile == ir::Kernel::kNoTile ? kSmall : kSmallTransposed);
  }

  bool is_more(const Step& step, double most) const {
    const bool is = bytes_of(step) > most;
    if (graph_.checks) {
      std::vector<SizeChecks::Term> terms;
      for (const BufferUse& use : step.buffers)
        terms.push_back(
            {graph_.nodes[use.node].shape, static_cast<double>(size_of(graph_.nodes[use.node].dtype))});
      graph_.checks->compare(SizeChecks::Is::More, std::move(terms), -most, is);
    }
    return is;
  }

  void write() {
    std::vector<Step> joined;
    for (const std::vector<std::size_t>& members : batches_) {
      if (members.empty()) continue;
      Step step = std::move(steps_[members[0]]);
      for (std::size_t m = 1; m < members.size(); ++m) {
        const Step& other = steps_[members[m]];
        step.members.push_back(other.members[0]);
        step.buffers.insert(step.buffers.end(), other.buffers.begin(), other.buffers.end());
        step.node = std::max(step.node, other.node);
      }
      joined.push_back(std::move(step));
    }
    steps_ = in_order(std::move(joined));
  }

  const Graph& graph_;
  const Grouping& grouping_;
  const ir::DeviceTraits& traits_;
  std::vector<Step>& steps_;
  Precedence precedence_;                          // of batches, each named after its first step
  Chains chains_;                                  // likewise
  const Followers followers_, leaders_;            // of steps
  std::vector<std::vector<std::size_t>> batches_;  // steps; empty when joined to another
  std::vector<std::size_t> batch_of_;              // of each step
  static constexpr std::size_t kMostVisits = 64;   // for each step
  std::size_t visits_ = 0;
};

}  // namespace

std::vector<Step> make_steps(const Grouping& grouping) {
  std::vector<Step> steps;
  for (GroupId g = 0; g < grouping.groups.size(); ++g) {
    if (!grouping.groups[g].alive) continue;
    Step step;
    step.members = {g};
    step.node = *std::max_element(grouping.groups[g].stores.begin(), grouping.groups[g].stores.end());
    step.buffers = grouping.kernels[g].buffers;
    steps.push_back(std::move(step));
  }
  for (const LibraryCall& call : grouping.libraries) {
    Step step;
    step.library = &call;
    step.node = *std::max_element(call.results.begin(), call.results.end());
    for (const LibraryOperand& operand : call.operands) step.buffers.push_back({operand.base, true, false});
    for (NodeId result : call.results) step.buffers.push_back({result, false, true});
    steps.push_back(std::move(step));
  }
  return in_order(std::move(steps));
}

std::vector<std::uint32_t> depths_of(const std::vector<Step>& steps) { return Chains(steps).before; }

void batch(const Graph& graph, const Grouping& grouping, const ir::DeviceTraits& traits,
           std::vector<Step>& steps) {
  if (traits.batch_bytes == 0) return;
  Batcher(graph, grouping, traits, steps).run();
}

void put_updates_last(const Graph& graph, std::vector<Step>& steps) {
  Followers followers = followers_of(steps);
  if (add_edges_to_updates(graph, steps, followers)) steps = in_order(std::move(steps), followers);
}

std::size_t most_members(const ir::Kernel& kernel, const ir::DeviceTraits& traits) {
  // And what a device adds for itself, to each member and to all of them.
  const std::size_t alignment = ir::tensor_maps(kernel.tiling) > 0 ? ir::kTensorMapAlignment : 1,
                    of_one = ir::argument_bytes(kernel) + (kernel.split ? 24 : 8) + alignment - 1,
                    of_all = kernel.split          ? 16
                             : kernel.tiling.any() ? 256
                                                   : 0;
  std::size_t most = 1;
  for (std::size_t table : kTables)
    if (table * of_one + of_all <= traits.batch_bytes && (!kernel.split || table <= kMostSplitMembers))
      most = table;
  return most;
}

std::size_t table_size(std::size_t members) {
  for (std::size_t table : kTables)
    if (members <= table) return table;
  throw std::logic_error("plan: a launch of " + std::to_string(members) + " members");
}

}  // namespace sinter::plan
