// Binds buffers and joins what is written in place.
#include "jit/plan/assemble.h"

#include <algorithm>
#include <utility>

#include "jit/plan/plan_kernels.h"
#include "jit/plan/traffic.h"

namespace sinter::plan {
namespace {

/// Puts the launches of a plan together.
class Assembler {
 public:
  Assembler(const Graph& graph, const Grouping& grouping, const Memory& memory, Assembled& made,
            bool verifies)
      : graph_(graph),
        grouping_(grouping),
        memory_(memory),
        made_(made),
        plan_(made.plan),
        kernels_(plan_.kernels, verifies),
        value_of_(graph.nodes.size(), kNoValue) {}

  void add_library(const Step& step) {
    const LibraryCall& call = *step.library;
    Launch& launch = start_launch();
    for (std::size_t k = 0; k < step.buffers.size(); ++k) {
      Binding binding = binding_of(graph_, memory_, step.buffers[k].node);
      if (k < call.operands.size()) binding.byte_offset += offset_bytes(graph_, call.operands[k]);
      add_buffer(step.buffers[k].node, binding);
      add_use(step.buffers[k], k);
    }
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      const auto& [base, layout] = call.operands[k];
      if (layout.moving.empty()) continue;
      MovingParts bytes;
      bytes.add(layout.moving, static_cast<std::int64_t>(size_of(graph_.nodes[base].dtype)));
      launch.moving_bytes.push_back({static_cast<std::uint32_t>(k), std::move(bytes)});
    }
    launch.what = call.op;
    launch.reads = call.reads;
    launch.node = call.results[0];
    structure_.records.push_back(graph_.nodes[step.node].record);
  }

  /// One launch, or several where members turned out to differ: some write in place, others cannot.
  void add_kernel(const Step& step, std::int64_t in_place_bytes) {
    members_.clear();
    std::size_t at = 0;
    for (const GroupId group : step.members) {
      const LoweredGroup& lowered = grouping_.kernels[group];
      Member& member = members_.emplace_back(Member{group, at, 0, false, {}, {}});
      for (std::size_t b = 0; b < lowered.buffers.size(); ++b)
        member.bindings.push_back(binding_of(graph_, memory_, step.buffers[at++].node));
      member.kernel = kernels_.joined(*lowered.form, member.bindings);
      member.in_place = kernels_.is_in_place();
      member.places = kernels_.places_after_joins(lowered.buffers.size());
    }
    const std::size_t first_launch = plan_.launches.size();
    for (std::size_t m = 0; m < members_.size(); ++m) {
      const std::uint32_t kernel = members_[m].kernel;
      const auto is_of_launch = [&](const Member& member) { return member.kernel == kernel; };
      if (std::any_of(members_.begin(), members_.begin() + static_cast<std::ptrdiff_t>(m), is_of_launch))
        continue;
      Launch& launch = start_launch();
      launch.members = 0;
      launch.first_fault = static_cast<std::uint32_t>(gathers_.size());
      for (const Member& member : members_)
        if (is_of_launch(member)) add_member(launch, step, member);
      const auto records = structure_.records.begin() + static_cast<std::ptrdiff_t>(lists_.back().records);
      std::sort(records, structure_.records.end());
      structure_.records.erase(std::unique(records, structure_.records.end()), structure_.records.end());
      launch.what = kernels_.place_of(kernel, launch.members);
    }
    plan_.launches[first_launch].in_place_bytes = in_place_bytes;
    plan_.in_place_bytes += static_cast<std::size_t>(in_place_bytes);
  }

  /// A join is no launch.
  void add_join(const LibraryCall& call) {
    JoinedValue& joined = structure_.joins.emplace_back();
    for (const LibraryOperand& part : call.operands) joined.parts.push_back(value_of(part.base));
    joined.whole = value_of(call.results[0]);
  }

  /// Call when all launches are there.
  void finish() {
    lists_.push_back(ends());
    plan_.faults = static_cast<std::uint32_t>(gathers_.size());
    plan_.origins = Origins(graph_, std::move(gathers_));
    plan_.arguments = std::make_shared<const LaunchArguments>(std::move(arguments_));
    plan_.structure = std::make_shared<const LaunchStructure>(std::move(structure_));
    for (std::size_t i = 0; i < plan_.launches.size(); ++i) {
      const auto part_of = [&](const auto& list, std::size_t Ends::*end) {
        return std::span(list).subspan(lists_[i].*end, lists_[i + 1].*end - lists_[i].*end);
      };
      Launch& launch = plan_.launches[i];
      launch.buffers = part_of(plan_.arguments->buffers, &Ends::buffers);
      launch.ints = part_of(plan_.arguments->ints, &Ends::ints);
      launch.scalars = part_of(plan_.structure->scalars, &Ends::scalars);
      launch.records = part_of(plan_.structure->records, &Ends::records);
      launch.uses = part_of(plan_.structure->uses, &Ends::uses);
    }
  }

 private:
  /// One of a launch.
  struct Member {
    GroupId group;
    std::size_t first;                  // of its buffers among the step's
    std::uint32_t kernel;               // as PlanKernels numbers them
    bool in_place;                      // its form's kernel in place
    std::vector<Binding> bindings;      // joined
    std::vector<std::uint16_t> places;  // of the buffers among these
  };
  /// Where the lists end so far.
  struct Ends {
    std::size_t buffers, ints, scalars, records, uses;
  };
  Ends ends() const {
    return {arguments_.buffers.size(), arguments_.ints.size(), structure_.scalars.size(),
            structure_.records.size(), structure_.uses.size()};
  }

  Launch& start_launch() {
    lists_.push_back(ends());
    return plan_.launches.emplace_back();
  }

  void add_member(Launch& launch, const Step& step, const Member& member) {
    const LoweredGroup& lowered = grouping_.kernels[member.group];
    const std::size_t first_int = arguments_.ints.size();
    ++launch.members;
    for (std::size_t b = 0; b < lowered.buffers.size(); ++b)
      add_use(step.buffers[member.first + b], member.places[b]);
    for (std::size_t k = 0; k < member.bindings.size(); ++k) {
      std::size_t b = 0;
      while (member.places[b] != k) ++b;
      add_buffer(step.buffers[member.first + b].node, member.bindings[k]);
    }
    for (MovingNumber& number : lowered.moving(member.in_place)) {
      launch.moving_ints.push_back(number.place + static_cast<std::uint32_t>(first_int - lists_.back().ints));
      launch.moving_parts.push_back(std::move(number.parts));
    }
    made_.ints.push_back({member.group, first_int, member.in_place});
    append(arguments_.ints, lowered.ints(member.in_place));
    append(structure_.scalars, lowered.scalars);
    append(gathers_, lowered.gathers);
    for (const NodeId node : lowered.computed) structure_.records.push_back(graph_.nodes[node].record);
  }

  void add_buffer(NodeId node, const Binding& binding) {
    made_.node_of_buffer.push_back(node);
    arguments_.buffers.push_back(binding);
  }

  void add_use(const BufferUse& use, std::size_t buffer) {
    structure_.uses.push_back(
        {value_of(use.node), static_cast<std::uint16_t>(buffer), use.read, use.written});
  }

  std::uint32_t value_of(NodeId id) {
    std::uint32_t& value = value_of_[id];
    if (value != kNoValue) return value;
    value = static_cast<std::uint32_t>(structure_.values.size());
    const Node& node = graph_.nodes[id];
    structure_.values.push_back({node.record, node.value, node.kind == NodeKind::External, node.dtype});
    plan_.shapes.push_back(node.shape);
    made_.node_of_value.push_back(id);
    return value;
  }

  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  static constexpr std::uint32_t kNoValue = 0xffffffff;

  const Graph& graph_;
  const Grouping& grouping_;
  const Memory& memory_;
  Assembled& made_;
  Plan& plan_;
  PlanKernels kernels_;
  LaunchArguments arguments_;
  LaunchStructure structure_;
  std::vector<Ends> lists_;              // where those of each launch begin
  std::vector<std::uint32_t> value_of_;  // place of each node among the values
  std::vector<NodeId> gathers_;          // of each fault word
  std::vector<Member> members_;          // of the step at hand
};

}  // namespace

std::size_t offset_bytes(const Graph& graph, const LibraryOperand& operand) {
  return static_cast<std::size_t>(operand.layout.offset) * size_of(graph.nodes[operand.base].dtype);
}

Binding binding_of(const Graph& graph, const Memory& memory, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.kind == NodeKind::External)
    return {Binding::Space::Input, graph.trace->values[node.value].buffer, 0};
  return memory.of_node[id];
}

void add_up(const Memory& memory, std::size_t input_bytes, Plan& plan) {
  plan.output_bytes = memory.output_bytes;
  plan.arena_bytes = memory.arena_bytes;
  plan.input_bytes = plan.peak_bytes = input_bytes;
  for (const std::size_t bytes : plan.output_bytes) plan.peak_bytes += bytes;
  plan.peak_bytes += plan.temporary_bytes();
}

Placement placement_of(const Graph& graph, const Grouping& grouping, const Memory& memory,
                       const Result& result) {
  const bool own = grouping.owners[result.node] != kInline;
  const StridedView view = own ? StridedView{result.node, contiguous_layout(graph.nodes[result.node].shape)}
                               : *strided_view(graph, result.node);
  return {result.value, binding_of(graph, memory, view.base), view.layout};
}

Assembled assemble(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
                   const Memory& memory, bool verifies) {
  Assembled made;
  Plan& plan = made.plan;
  plan.constants = graph.constants;
  add_up(memory, input_bytes(*graph.trace), plan);
  Assembler assembler(graph, grouping, memory, made, verifies);
  plan.launches.reserve(steps.size());
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].is_join())
      assembler.add_join(*steps[s].library);
    else if (steps[s].library)
      assembler.add_library(steps[s]);
    else
      assembler.add_kernel(steps[s], memory.in_place_bytes[s]);
  }
  assembler.finish();
  plan.placements.reserve(graph.results.size());
  for (const Result& result : graph.results)
    plan.placements.push_back(placement_of(graph, grouping, memory, result));
  return made;
}

}  // namespace sinter::plan
