// Lifetimes, donation and arena offsets.
#include "jit/plan/place.h"

#include <algorithm>
#include <limits>
#include <optional>

#include <absl/container/flat_hash_set.h>

#include <sinter/error.h>

namespace sinter::plan {
namespace {

constexpr std::size_t kAlignment = 256;
constexpr std::size_t kMostBytes = std::numeric_limits<std::int64_t>::max();

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// A segment of the arena and its free stretches, first fit.
class Segment {
 public:
  std::optional<std::size_t> take_free(std::size_t bytes) {
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i].second < bytes) continue;
      const std::size_t offset = free_[i].first;
      free_[i].first += bytes;
      free_[i].second -= bytes;
      if (free_[i].second == 0) free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      return offset;
    }
    return std::nullopt;
  }
  /// Takes what lies at the end, up to `most` bytes in all. Nothing where that is too little.
  std::optional<std::size_t> grow(std::size_t bytes, std::size_t most) {
    // The last free stretch may reach the end: it grows instead of being left behind.
    const bool is_free = !free_.empty() && free_.back().first + free_.back().second == end_;
    const std::size_t offset = is_free ? free_.back().first : end_;
    if (offset > most || bytes > most - offset) return std::nullopt;
    if (is_free) free_.pop_back();
    end_ = offset + bytes;
    return offset;
  }
  void give_back(std::size_t offset, std::size_t bytes) {
    auto at = std::lower_bound(free_.begin(), free_.end(), std::make_pair(offset, std::size_t{0}));
    at = free_.insert(at, {offset, bytes});
    if (auto next = at + 1; next != free_.end() && at->first + at->second == next->first) {
      at->second += next->second;
      at = free_.erase(next) - 1;
    }
    if (at != free_.begin())
      if (auto before = at - 1; before->first + before->second == at->first) {
        before->second += at->second;
        free_.erase(at);
      }
  }
  std::size_t end() const { return end_; }

 private:
  std::vector<std::pair<std::size_t, std::size_t>> free_;  // offset, bytes; sorted
  std::size_t end_ = 0;
};

class Arena {
 public:
  /// No segment gets larger than `most` bytes, unless a single piece is; 0: no limit.
  explicit Arena(std::size_t most) : most_(most == 0 ? kMostBytes : most) {}

  Binding take(std::size_t bytes) {
    for (Segment& segment : segments_)
      if (const auto offset = segment.take_free(bytes)) return binding(segment, *offset);
    for (Segment& segment : segments_)
      if (const auto offset = segment.grow(bytes, most_)) return binding(segment, *offset);
    segments_.emplace_back().grow(bytes, kMostBytes);
    return binding(segments_.back(), 0);
  }
  void give_back(const Binding& at, std::size_t bytes) {
    segments_[at.index].give_back(at.byte_offset, bytes);
  }
  std::vector<std::size_t> ends() const {
    std::vector<std::size_t> bytes;
    std::size_t all = 0;
    for (const Segment& segment : segments_) {
      bytes.push_back(segment.end());
      if (segment.end() > kMostBytes - all)
        throw DeviceError("[plan] the temporaries of one trace take more than 2^63 bytes");
      all += segment.end();
    }
    return bytes;
  }

 private:
  Binding binding(const Segment& segment, std::size_t offset) const {
    return {Binding::Space::Temporary, static_cast<std::uint32_t>(&segment - segments_.data()), offset};
  }

  std::size_t most_;
  std::vector<Segment> segments_;
};

class Placer {
 public:
  Placer(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps, std::size_t most_bytes)
      : graph_(graph), grouping_(grouping), steps_(steps), arena_(most_bytes) {}

  Memory run() {
    memory_.of_node.resize(graph_.nodes.size());
    memory_.in_place_bytes.assign(steps_.size(), 0);
    last_use_.assign(graph_.nodes.size(), -1);
    last_read_of_input_.assign(graph_.trace->buffer_count, -1);
    uses_.assign(graph_.nodes.size(), 0);
    uses_of_input_.assign(graph_.trace->buffer_count, 0);
    keeps_.assign(graph_.nodes.size(), false);
    for (const Result& result : graph_.results) {
      const std::optional<StridedView> view = stored_view(result.node);
      if (graph_.nodes[view->base].kind == NodeKind::External) {
        // The value lives on in the input's buffer.
        last_read_of_input_[input_of(view->base)] = static_cast<int>(steps_.size());
      } else {
        keeps_[view->base] = true;
      }
    }
    for (int s = 0; s < static_cast<int>(steps_.size()); ++s)
      for (const BufferUse& use : steps_[s].buffers) {
        last_use_[use.node] = s;
        if (graph_.nodes[use.node].kind == NodeKind::External) {
          const std::uint32_t input = input_of(use.node);
          last_read_of_input_[input] = std::max(last_read_of_input_[input], s);
        }
      }
    donated_.assign(graph_.trace->buffer_count, false);
    for (int s = 0; s < static_cast<int>(steps_.size()); ++s) place_step(s);
    memory_.arena_bytes = arena_.ends();
    return std::move(memory_);
  }

 private:
  std::uint32_t input_of(NodeId external) const {
    return graph_.trace->values[graph_.nodes[external].value].buffer;
  }
  std::size_t bytes(NodeId id) const {
    return static_cast<std::size_t>(graph_.nodes[id].shape.numel()) * size_of(graph_.nodes[id].dtype);
  }

  /// A result's view over what is stored: the node itself if it has memory of its own.
  std::optional<StridedView> stored_view(NodeId id) const {
    if (grouping_.owners[id] != kInline) return StridedView{id, {}};
    return strided_view(graph_, id);
  }

  void place_step(int s) {
    const Step& step = steps_[s];
    absl::flat_hash_set<NodeId> taken;
    count_uses(step, 1);
    if (step.library)
      for (NodeId result : step.library->results) give_memory(result);
    std::size_t first = 0;
    for (GroupId member : step.members) {
      const std::size_t end = first + grouping_.kernels[member].buffers.size();
      for (std::size_t w = first; w < end; ++w) {
        const NodeId id = step.buffers[w].node;
        if (!step.buffers[w].written) continue;
        if (reuse(s, {member, first, end}, w, taken))
          memory_.in_place_bytes[s] += static_cast<std::int64_t>(bytes(id));
        else
          give_memory(id);
      }
      first = end;
    }
    for (const BufferUse& use : step.buffers) {
      const Binding& binding = memory_.of_node[use.node];
      const bool temporary =
          graph_.nodes[use.node].kind == NodeKind::Op && binding.space == Binding::Space::Temporary;
      // Once, though a library op may name it twice: a product with its own transpose.
      if (temporary && last_use_[use.node] == s && taken.insert(use.node).second)
        arena_.give_back(binding, std::max(aligned(bytes(use.node)), kAlignment));
    }
    count_uses(step, -1);
  }

  void count_uses(const Step& step, int more) {
    for (const BufferUse& use : step.buffers) {
      uses_[use.node] += more;
      if (graph_.nodes[use.node].kind == NodeKind::External) uses_of_input_[input_of(use.node)] += more;
    }
  }

  /// Memory of its own.
  void give_memory(NodeId id) {
    if (keeps_[id]) {
      memory_.of_node[id] = {Binding::Space::Output, static_cast<std::uint32_t>(memory_.output_bytes.size()),
                             0};
      memory_.output_bytes.push_back(bytes(id));
    } else {
      memory_.of_node[id] = arena_.take(std::max(aligned(bytes(id)), kAlignment));
    }
  }

  /// One member of a step and its buffers.
  struct Member {
    GroupId group;
    std::size_t first, end;
  };

  /// Writes result `w` of step `s` over an operand of its member that dies here and is read at exactly the
  /// same elements.
  bool reuse(int s, const Member& member, std::size_t w, absl::flat_hash_set<NodeId>& taken) {
    const Step& step = steps_[s];
    const LoweredGroup& lowered = grouping_.kernels[member.group];
    const NodeId id = step.buffers[w].node;
    for (std::size_t r = member.first; r < member.end; ++r) {
      const NodeId from = step.buffers[r].node;
      // Of another dtype it would be a binding of its own, and a kernel may rely on its bindings not to
      // overlap.
      if (!step.buffers[r].read || step.buffers[r].written || taken.contains(from) ||
          bytes(from) != bytes(id) || graph_.nodes[from].dtype != graph_.nodes[id].dtype)
        continue;
      // Another member of the step reads the node: each has it once.
      if (uses_[from] > 1 || !same_elements(lowered.kernel(), r - member.first, w - member.first)) continue;
      if (graph_.nodes[from].kind == NodeKind::External) {
        const trace::TraceValue& value = graph_.trace->values[graph_.nodes[from].value];
        if (!keeps_[id] || !value.dying || value.layout.offset != 0 || donated_[value.buffer] ||
            last_read_of_input_[value.buffer] != s || uses_of_input_[value.buffer] > 1)
          continue;
        donated_[value.buffer] = true;
        memory_.of_node[id] = {Binding::Space::Input, value.buffer, 0};
      } else {
        const Binding& binding = memory_.of_node[from];
        if (keeps_[id] || binding.space != Binding::Space::Temporary || last_use_[from] != s) continue;
        memory_.of_node[id] = binding;
      }
      taken.insert(from);
      return true;
    }
    return false;
  }

  /// Every load of buffer `r` reads the element that the store to `w` writes, in the same lane and no later.
  static bool same_elements(const ir::Kernel& kernel, std::size_t r, std::size_t w) {
    // Lanes read the rows that other lanes write.
    if (kernel.attention.any()) return false;
    const ir::Store* store = nullptr;
    for (const ir::Store& candidate : kernel.stores)
      if (candidate.buffer == w) store = &candidate;
    for (const ir::Expr& expr : kernel.exprs) {
      if (!ir::reads_memory(expr) || expr.buffer != r) continue;
      if (expr.kind != ir::ExprKind::Load || expr.map != store->map) return false;
    }
    return last_phase_of_loads(kernel, r, store->level) <= store->phase;
  }

  /// Inner values are computed again in each phase that needs them, so a load may happen later than its own
  /// phase. An outer store comes before the inner values of its phase: for it these count as of the next.
  static int last_phase_of_loads(const ir::Kernel& kernel, std::size_t r, ir::Level store) {
    std::vector<int> phase(kernel.exprs.size(), -1);  // the last phase that computes the expression
    for (const ir::Store& store : kernel.stores)
      phase[store.value] = std::max<int>(phase[store.value], store.phase);
    int last = 0;
    for (std::size_t i = kernel.exprs.size(); i-- > 0;) {
      const ir::Expr& expr = kernel.exprs[i];
      // A reduction is computed in its operand's phase, an outer value once, in its own.
      int own = phase[i];
      if (expr.kind == ir::ExprKind::Reduce)
        own = expr.phase - 1;
      else if (expr.level == ir::Level::Outer)
        own = expr.phase;
      auto pass = [&](ir::ExprId arg) {
        if (arg != ir::kNone) phase[arg] = std::max(phase[arg], own);
      };
      for (ir::ExprId arg : expr.args) pass(arg);
      pass(expr.predicate);
      const bool after = store == ir::Level::Outer && expr.level == ir::Level::Inner;
      if (expr.kind == ir::ExprKind::Load && expr.buffer == r) last = std::max(last, own + after);
    }
    return last;
  }

  const Graph& graph_;
  const Grouping& grouping_;
  const std::vector<Step>& steps_;
  Memory memory_;
  Arena arena_;
  std::vector<int> last_use_;              // for nodes in memory: the last step that touches them
  std::vector<int> last_read_of_input_;    // for the trace's buffers
  std::vector<int> uses_, uses_of_input_;  // by buffers of the step at hand: of nodes, of the trace's buffers
  std::vector<bool> donated_;
  std::vector<bool> keeps_;  // stored nodes that somebody sees afterwards
};

}  // namespace

Memory place(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
             std::size_t most_bytes) {
  return Placer(graph, grouping, steps, most_bytes).run();
}

}  // namespace sinter::plan
