// Lifetimes and donation.
#include "jit/plan/place.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include <absl/container/flat_hash_map.h>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "jit/plan/arena.h"
#include "jit/plan/order.h"

namespace sinter::plan {
namespace {

std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::size_t bytes_of(const Node& node) {
  return static_cast<std::size_t>(node.shape.numel()) * size_of(node.dtype);
}

/// Inner values are computed again in each phase that needs them, so a load may happen later than its own
/// phase. An outer store comes before the inner values of its phase: for it these count as of the next.
int last_phase_of_loads(const ir::Kernel& kernel, std::size_t r, ir::Level store) {
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

/// Every load of buffer `r` reads the element that the store to `w` writes, in the same lane and no later.
bool same_elements(const ir::Kernel& kernel, std::size_t r, std::size_t w) {
  // Lanes read the rows that other lanes write.
  if (kernel.attention.any() || kernel.lone_rows.any()) return false;
  const ir::Store* store = nullptr;
  for (const ir::Store& candidate : kernel.stores)
    if (candidate.buffer == w) store = &candidate;
  // The lanes of a part write what others may not have read yet.
  if (kernel.exprs[store->value].kind == ir::ExprKind::Partial) return false;
  for (const ir::Expr& expr : kernel.exprs) {
    if (!ir::reads_memory(expr) || expr.buffer != r) continue;
    if (expr.kind != ir::ExprKind::Load || expr.map != store->map) return false;
  }
  return last_phase_of_loads(kernel, r, store->level) <= store->phase;
}

}  // namespace

/// Reads the rules off steps.
class PlaceReader {
 public:
  PlaceReader(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps, PlaceRules& rules)
      : graph_(graph),
        grouping_(grouping),
        steps_(steps),
        rules_(rules),
        depths_(depths_of(steps)),
        last_use_(graph.nodes.size(), -1),
        deepest_use_(graph.nodes.size(), 0),
        deepest_so_far_(graph.nodes.size(), 0),
        last_read_of_input_(graph.trace->buffer_count, -1),
        uses_(graph.nodes.size(), 0),
        uses_of_input_(graph.trace->buffer_count, 0),
        is_seen_(graph.nodes.size(), false),
        is_listed_(graph.nodes.size(), false),
        is_chained_(graph.nodes.size(), false),
        number_of_(graph.nodes.size(), kNoNumber),
        outermost_(graph.nodes.size(), kNoNode) {}

  void run() {
    rules_.inputs_ = graph_.trace->buffer_count;
    read_joins();
    for (const Result& result : graph_.results) {
      const std::optional<StridedView> view = stored_view(result.node);
      if (graph_.nodes[view->base].kind == NodeKind::External) {
        // The value lives on in the input's buffer.
        last_read_of_input_[input_of(view->base)] = static_cast<int>(steps_.size());
      } else {
        is_seen_[view->base] = true;
      }
    }
    read_chains();
    for (int s = 0; s < static_cast<int>(steps_.size()); ++s)
      for (const BufferUse& use : steps_[s].buffers) {
        const NodeId memory = outermost(use.node);
        last_use_[memory] = s;
        deepest_use_[memory] = std::max(deepest_use_[memory], depths_[static_cast<std::size_t>(s)]);
        if (graph_.nodes[use.node].kind == NodeKind::External) {
          const std::uint32_t input = input_of(use.node);
          last_read_of_input_[input] = std::max(last_read_of_input_[input], s);
        }
      }
    for (int s = 0; s < static_cast<int>(steps_.size()); ++s) read_step(s);
    for (const NodeId id : rules_.node_of_) rules_.outermost_.push_back(number_of(outermost(id)));
  }

 private:
  std::uint32_t input_of(NodeId external) const {
    return graph_.trace->values[graph_.nodes[external].value].buffer;
  }

  /// Joins follow their parts, which may be joins.
  void read_joins() {
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      if (!step->is_join()) continue;
      const NodeId whole = step->library->results[0];
      outermost_[whole] = outermost(whole);
      for (const LibraryOperand& part : step->library->operands) outermost_[part.base] = outermost_[whole];
    }
  }
  bool is_joined(NodeId id) const { return outermost_[id] != kNoNode; }

  /// What somebody sees afterwards cannot be written over a temporary, which would have to stay. But where
  /// most of the temporary stays as it is, and the step reads it alone, it lies in the result's memory from
  /// the beginning, and what it was written over as well.
  void read_chains() {
    std::vector<int> readers(graph_.nodes.size(), 0);
    for (const Step& step : steps_)
      for (const BufferUse& use : step.buffers) readers[use.node] += use.read ? 1 : 0;
    for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
      std::size_t first = 0;
      for (const GroupId member : step->members) {
        const std::size_t end = first + grouping_.kernels[member].buffers.size();
        for (std::size_t w = first; w < end; ++w) {
          const BufferUse& to = step->buffers[w];
          const std::size_t r = first + spares_points(member, w - first);
          if (!to.written || r >= end || !(is_seen_[to.node] || is_chained_[to.node])) continue;
          const BufferUse& from = step->buffers[r];
          const Node &before = graph_.nodes[from.node], &after = graph_.nodes[to.node];
          if (before.kind != NodeKind::Op || before.dtype != after.dtype || before.shape != after.shape ||
              readers[from.node] > 1 || is_seen_[from.node] || from.written || is_joined(from.node) ||
              (is_joined(to.node) && !is_chained_[to.node]) ||
              !same_elements(grouping_.kernels[member].kernel(), r - first, w - first))
            continue;
          outermost_[to.node] = outermost(to.node);
          outermost_[from.node] = outermost_[to.node];
          is_chained_[from.node] = true;
        }
        first = end;
      }
    }
  }
  /// Whose memory a node's is a part of.
  NodeId outermost(NodeId id) const { return is_joined(id) ? outermost_[id] : id; }

  /// A result's view over what is stored: the node itself if it has memory of its own.
  std::optional<StridedView> stored_view(NodeId id) const {
    if (grouping_.owners[id] != kInline) return StridedView{id, {}};
    return strided_view(graph_, id);
  }

  void read_step(int s) {
    const Step& step = steps_[s];
    count_uses(step, 1);
    if (step.library)
      for (const NodeId result : step.library->results) add_result(result);
    if (step.is_join()) {
      for (const LibraryOperand& part : step.library->operands) rules_.parts_.push_back(number_of(part.base));
      rules_.joins_.push_back(
          {number_of(step.library->results[0]), static_cast<std::uint32_t>(rules_.parts_.size())});
    }
    std::size_t first = 0;
    for (const GroupId member : step.members) {
      const std::size_t end = first + grouping_.kernels[member].buffers.size();
      for (std::size_t w = first; w < end; ++w) {
        if (!step.buffers[w].written) continue;
        const std::size_t best = first + spares_points(member, w - first);
        if (best < end) add_candidate(s, member, first, best, w);
        for (std::size_t r = first; r < end; ++r)
          if (r != best) add_candidate(s, member, first, r, w);
        add_result(step.buffers[w].node);
      }
      first = end;
    }
    for (const BufferUse& use : step.buffers) {
      const NodeId memory = outermost(use.node);
      const bool temporary = graph_.nodes[memory].kind == NodeKind::Op && !is_seen_[memory];
      // Once, though a library op may name it twice: a product with its own transpose.
      if (!temporary || last_use_[memory] != s || is_listed_[memory]) continue;
      is_listed_[memory] = true;
      rules_.last_uses_.push_back({number_of(memory), deepest_use_[memory]});
    }
    count_uses(step, -1);
    for (const BufferUse& use : step.buffers)
      deepest_so_far_[use.node] = std::max(deepest_so_far_[use.node], depths_[static_cast<std::size_t>(s)]);
    rules_.steps_.push_back({static_cast<std::uint32_t>(rules_.results_.size()),
                             static_cast<std::uint32_t>(rules_.last_uses_.size()),
                             depths_[static_cast<std::size_t>(s)]});
  }

  /// The operand that result `w` had best be written over: the rest of it stays. As a place among the
  /// kernel's buffers, all of them where there is none.
  std::size_t spares_points(GroupId member, std::size_t w) const {
    const LoweredGroup& lowered = grouping_.kernels[member];
    if (lowered.form->in_place)
      for (const Overwrite& pair : lowered.form->in_place->over)
        if (pair.result == w) return pair.operand;
    return lowered.buffers.size();
  }

  void count_uses(const Step& step, int more) {
    for (const BufferUse& use : step.buffers) {
      uses_[use.node] += more;
      if (graph_.nodes[use.node].kind == NodeKind::External) uses_of_input_[input_of(use.node)] += more;
    }
  }

  void add_result(NodeId id) {
    rules_.results_.push_back(
        {number_of(id), is_seen_[outermost(id)], static_cast<std::uint32_t>(rules_.candidates_.size())});
  }

  /// Notes operand `r` of step `s`, a buffer of `member`, if result `w` may be written over it: it dies here,
  /// and is read at exactly the same elements.
  void add_candidate(int s, GroupId member, std::size_t first, std::size_t r, std::size_t w) {
    const Step& step = steps_[s];
    const BufferUse &from = step.buffers[r], &to = step.buffers[w];
    const Node& node = graph_.nodes[from.node];
    // Of another dtype it would be a binding of its own, and a kernel may rely on its bindings not to
    // overlap. Another member of the step may read the node: each has it once.
    if (!from.read || from.written || node.dtype != graph_.nodes[to.node].dtype || uses_[from.node] > 1)
      return;
    // Its place is given, or others lie in the same memory.
    if (is_joined(from.node) || is_joined(to.node)) return;
    std::uint32_t input = PlaceRules::kNoInput;
    if (node.kind == NodeKind::External) {
      const trace::TraceValue& value = graph_.trace->values[node.value];
      input = value.buffer;
      if (!is_seen_[to.node] || !value.dying || graph_.trace->layout_of(value).offset != 0 ||
          last_read_of_input_[input] != s || uses_of_input_[input] > 1)
        return;
    } else if (is_seen_[to.node] || is_seen_[from.node] || last_use_[from.node] != s) {
      return;
    }
    if (same_elements(grouping_.kernels[member].kernel(), r - first, w - first))
      rules_.candidates_.push_back({number_of(from.node), input, deepest_so_far_[from.node]});
  }

  PlaceRules::Number number_of(NodeId id) {
    std::uint32_t& number = number_of_[id];
    if (number == kNoNumber) {
      number = static_cast<std::uint32_t>(rules_.node_of_.size());
      rules_.node_of_.push_back(id);
      const Node& node = graph_.nodes[id];
      std::vector<std::int64_t> key(node.shape.begin(), node.shape.end());
      key.push_back(static_cast<std::int64_t>(node.dtype));
      const auto next = static_cast<std::uint32_t>(rules_.representatives_.size());
      const auto [known, added] = place_of_key_.try_emplace(std::move(key), next);
      if (added) rules_.representatives_.push_back(id);
      rules_.like_.push_back(known->second);
    }
    return number;
  }

  static constexpr PlaceRules::Number kNoNumber = 0xffffffff;

  const Graph& graph_;
  const Grouping& grouping_;
  const std::vector<Step>& steps_;
  PlaceRules& rules_;
  const std::vector<std::uint32_t> depths_;  // of steps
  std::vector<int> last_use_;                // for nodes in memory: the last step that touches them
  std::vector<std::uint32_t> deepest_use_, deepest_so_far_;  // of nodes: of all steps, of those before
  std::vector<int> last_read_of_input_;                      // for the trace's buffers
  std::vector<int> uses_, uses_of_input_;  // by buffers of the step at hand: of nodes, of the trace's buffers
  std::vector<bool> is_seen_;              // stored nodes that somebody sees afterwards
  std::vector<bool> is_listed_;            // among last uses
  std::vector<bool> is_chained_;           // in the memory of a result that is written over them
  std::vector<PlaceRules::Number> number_of_;
  std::vector<NodeId> outermost_;  // of joins and their parts the join that they lie in; else kNoNode
  absl::flat_hash_map<std::vector<std::int64_t>, std::uint32_t> place_of_key_;  // shapes with dtypes
};

PlaceRules::PlaceRules(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps) {
  PlaceReader(graph, grouping, steps, *this).run();
}

Memory PlaceRules::place(const Graph& graph, const ArenaLimits& limits) const {
  const auto bytes_of = [](const Memory& memory) {
    return std::accumulate(memory.arena_bytes.begin(), memory.arena_bytes.end(), std::size_t{0});
  };
  ArenaLimits serial = limits;
  serial.spare_bytes = 0;
  Memory least = placed(graph, serial);
  // Small pieces may leave large ones without a place, which no piece by itself pays for: a second attempt
  // spares less.
  for (ArenaLimits attempt = limits; attempt.spare_bytes > limits.spare_bytes / 64;
       attempt.spare_bytes /= 8) {
    Memory memory = placed(graph, attempt);
    if (bytes_of(memory) <= bytes_of(least) + limits.spare_bytes) return memory;
  }
  return least;
}

Memory PlaceRules::placed(const Graph& graph, const ArenaLimits& limits) const {
  Memory memory;
  memory.of_node.resize(graph.nodes.size());
  memory.in_place_bytes.assign(steps_.size(), 0);
  memory.written_over.reserve(results_.size());
  Arena arena(limits);
  // Shapes are few, nodes are many and seldom in the cache.
  std::vector<std::size_t> bytes_of_like;
  bytes_of_like.reserve(representatives_.size());
  for (const NodeId id : representatives_) bytes_of_like.push_back(bytes_of(graph.nodes[id]));
  const auto bytes_of_value = [&](Number value) { return bytes_of_like[like_[value]]; };
  std::vector<bool> is_taken(node_of_.size(), false), is_donated(inputs_, false);
  // Of values that were written over others: the deepest step that used those.
  std::vector<std::uint32_t> used_before(node_of_.size(), 0);
  const auto room_of = [&](Number value) { return std::max(aligned(bytes_of_value(value)), kAlignment); };
  const auto memory_of = [&](Number value) -> Binding& { return memory.of_node[node_of_[value]]; };
  // Of what lies in a join, from where that begins.
  std::vector<std::size_t> begins(node_of_.size(), 0);
  for (std::size_t j = joins_.size(); j-- > 0;) {
    std::size_t begin = begins[joins_[j].whole];
    for (std::size_t p = j == 0 ? 0 : joins_[j - 1].end_parts; p < joins_[j].end_parts; ++p) {
      begins[parts_[p]] = begin;
      begin += bytes_of_value(parts_[p]);
    }
  }
  std::vector<bool> has_memory(node_of_.size(), false);
  const auto take = [&](const Result& result, std::size_t s) {
    const Number whole = outermost_[result.value];
    if (has_memory[whole]) return;
    has_memory[whole] = true;
    if (result.is_seen) {
      memory_of(whole) = {Binding::Space::Output, static_cast<std::uint32_t>(memory.output_bytes.size()), 0};
      memory.output_bytes.push_back(bytes_of_value(whole));
    } else {
      memory_of(whole) = arena.take(room_of(whole), steps_[s].depth);
    }
  };

  std::size_t at = 0, candidate = 0, last_use = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    for (; at < steps_[s].results; ++at) {
      const Result& result = results_[at];
      const std::size_t bytes = bytes_of_value(result.value);
      NodeId over = kNoNode;
      for (std::size_t c = candidate; c < result.end_candidates && over == kNoNode; ++c) {
        const Candidate& from = candidates_[c];
        if (bytes_of_value(from.value) != bytes || is_taken[from.value]) continue;
        // Its step would wait for whoever else reads what it writes over.
        if (limits.spare_bytes > 0 && from.input == kNoInput && from.depth >= steps_[s].depth) continue;
        if (from.input != kNoInput) {
          if (is_donated[from.input]) continue;
          is_donated[from.input] = true;
          memory_of(result.value) = {Binding::Space::Input, from.input, 0};
        } else {
          memory_of(result.value) = memory_of(from.value);
        }
        is_taken[from.value] = true;
        used_before[result.value] = std::max(used_before[from.value], from.depth);
        over = node_of_[from.value];
      }
      candidate = result.end_candidates;
      memory.written_over.push_back(over);
      if (over != kNoNode) {
        memory.in_place_bytes[s] += static_cast<std::int64_t>(bytes);
      } else {
        take(result, s);
        Binding binding = memory_of(outermost_[result.value]);
        binding.byte_offset += begins[result.value];
        memory_of(result.value) = binding;
      }
    }
    for (; last_use < steps_[s].last_uses; ++last_use)
      if (const auto& [value, depth] = last_uses_[last_use]; !is_taken[value])
        arena.give_back(memory_of(value), room_of(value), std::max(depth, used_before[value]));
  }
  memory.arena_bytes = arena.ends();
  return memory;
}

std::size_t PlaceRules::held_bytes() const {
  return ir::held_bytes(steps_) + ir::held_bytes(node_of_) + ir::held_bytes(like_) +
         ir::held_bytes(representatives_) + ir::held_bytes(results_) + ir::held_bytes(candidates_) +
         ir::held_bytes(last_uses_) + ir::held_bytes(joins_) + ir::held_bytes(parts_) +
         ir::held_bytes(outermost_);
}

}  // namespace sinter::plan
