// Binds buffers and joins what is written in place.
#include "jit/plan/assemble.h"

#include <algorithm>
#include <utility>

#include "jit/plan/plan_kernels.h"
#include "jit/plan/traffic.h"

namespace sinter::plan {
namespace {

Binding binding_of(const Graph& graph, const Memory& memory, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.kind == NodeKind::External)
    return {Binding::Space::Input, graph.trace->values[node.value].buffer, 0};
  return memory.of_node[id];
}

/// Puts the launches of a plan together.
class Assembler {
 public:
  Assembler(const Graph& graph, const Grouping& grouping, const Memory& memory, Plan& plan, bool verifies)
      : graph_(graph),
        grouping_(grouping),
        memory_(memory),
        plan_(plan),
        traffic_(graph, grouping),
        kernels_(plan.kernels, verifies) {}

  void add_library(const Step& step) {
    Launch& launch = plan_.launches.emplace_back();
    const LibraryCall& call = *step.library;
    for (const BufferUse& use : step.buffers) launch.buffers.push_back(binding_of(graph_, memory_, use.node));
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      const auto& [base, layout] = call.operands[k];
      launch.buffers[k].byte_offset +=
          static_cast<std::size_t>(layout.offset) * size_of(graph_.nodes[base].dtype);
      if (layout.moving.empty()) continue;
      MovingParts bytes;
      bytes.add(layout.moving, static_cast<std::int64_t>(size_of(graph_.nodes[base].dtype)));
      launch.moving_bytes.push_back({static_cast<std::uint32_t>(k), std::move(bytes)});
    }
    launch.what = call.op;
    launch.node = call.results[0];
    launch.records = {graph_.nodes[step.node].record};
    launch.accesses = traffic_.library(call, memory_);
  }

  /// One launch, or several where members turned out to differ: some write in place, others cannot.
  void add_kernel(const Step& step, std::int64_t in_place_bytes) {
    const std::size_t first_launch = plan_.launches.size();
    std::vector<std::uint32_t> kernels;        // of each launch, for one member
    std::vector<std::vector<NodeId>> gathers;  // of each launch
    std::size_t at = 0;
    for (const GroupId member : step.members) {
      const LoweredGroup& lowered = grouping_.kernels[member];
      bindings_.clear();
      for (const std::size_t end = at + lowered.buffers.size(); at < end; ++at)
        bindings_.push_back(binding_of(graph_, memory_, step.buffers[at].node));
      const std::uint32_t kernel = kernels_.joined(*lowered.form, bindings_);
      const auto known = std::find(kernels.begin(), kernels.end(), kernel);
      const auto place = static_cast<std::size_t>(known - kernels.begin());
      if (known == kernels.end()) {
        kernels.push_back(kernel);
        gathers.emplace_back();
        plan_.launches.emplace_back().members = 0;
      }
      Launch& launch = plan_.launches[first_launch + place];
      ++launch.members;
      append(gathers[place], lowered.gathers);
      append(launch.buffers, bindings_);
      for (MovingNumber& number : lowered.moving()) {
        launch.moving_ints.push_back(number.place + static_cast<std::uint32_t>(launch.ints.size()));
        launch.moving_parts.push_back(std::move(number.parts));
      }
      append(launch.ints, lowered.ints());
      append(launch.scalars, lowered.scalars);
      for (const NodeId node : lowered.computed) launch.records.push_back(graph_.nodes[node].record);
      append(launch.accesses, traffic_.kernel(lowered, memory_));
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      Launch& launch = plan_.launches[first_launch + k];
      std::sort(launch.records.begin(), launch.records.end());
      launch.records.erase(std::unique(launch.records.begin(), launch.records.end()), launch.records.end());
      launch.what = kernels_.place_of(kernels[k], launch.members);
      launch.first_fault = static_cast<std::uint32_t>(gathers_.size());
      append(gathers_, gathers[k]);
    }
    plan_.launches[first_launch].in_place_bytes = in_place_bytes;
    plan_.in_place_bytes += static_cast<std::size_t>(in_place_bytes);
  }

  /// Call when all launches are there.
  void finish() {
    plan_.faults = static_cast<std::uint32_t>(gathers_.size());
    plan_.origins = Origins(graph_, std::move(gathers_));
  }

 private:
  template <class T>
  static void append(std::vector<T>& to, const std::vector<T>& more) {
    to.insert(to.end(), more.begin(), more.end());
  }

  const Graph& graph_;
  const Grouping& grouping_;
  const Memory& memory_;
  Plan& plan_;
  Traffic traffic_;
  PlanKernels kernels_;
  std::vector<NodeId> gathers_;    // of each fault word
  std::vector<Binding> bindings_;  // of the member at hand
};

/// Where a value lies that somebody sees afterwards.
Placement placement_of(const Graph& graph, const Grouping& grouping, const Memory& memory,
                       const Result& result) {
  const bool own = grouping.owners[result.node] != kInline;
  const StridedView view = own ? StridedView{result.node, contiguous_layout(graph.nodes[result.node].shape)}
                               : *strided_view(graph, result.node);
  return {result.value, binding_of(graph, memory, view.base), view.layout};
}

}  // namespace

Plan assemble(const Graph& graph, const Grouping& grouping, const std::vector<Step>& steps,
              const Memory& memory, bool verifies) {
  Plan plan;
  plan.constants = graph.constants;
  plan.output_bytes = memory.output_bytes;
  plan.arena_bytes = memory.arena_bytes;
  plan.input_bytes = plan.peak_bytes = input_bytes(*graph.trace);
  for (std::size_t bytes : plan.output_bytes) plan.peak_bytes += bytes;
  plan.peak_bytes += plan.temporary_bytes();
  Assembler assembler(graph, grouping, memory, plan, verifies);
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].library)
      assembler.add_library(steps[s]);
    else
      assembler.add_kernel(steps[s], memory.in_place_bytes[s]);
  }
  assembler.finish();
  for (const Result& result : graph.results)
    plan.placements.push_back(placement_of(graph, grouping, memory, result));
  return plan;
}

}  // namespace sinter::plan
