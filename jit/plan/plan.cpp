// From trace to plan: the passes, grouping, order, memory; then launches with their arguments.
#include "jit/plan/plan.h"

#include <algorithm>
#include <map>

#include <absl/container/flat_hash_map.h>

#include "jit/library/kinds.h"
#include "jit/plan/cuts.h"
#include "jit/plan/graph.h"
#include "jit/plan/group/group.h"
#include "jit/plan/lower/index_map.h"
#include "jit/plan/order.h"
#include "jit/plan/place.h"
#include "jit/plan/recipes.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/traffic.h"

namespace sinter::plan {
namespace {

/// Joins the store's buffer with the one it overwrites, so that the kernel sees one buffer that is read and
/// written.
void join_in_place(Launch& launch, ir::Kernel& kernel) {
  for (std::size_t w = 0; w < launch.buffers.size(); ++w) {
    if (!kernel.buffers[w].written || kernel.buffers[w].read) continue;
    for (std::size_t r = 0; r < launch.buffers.size(); ++r) {
      if (r == w || !kernel.buffers[r].read || !(launch.buffers[r] == launch.buffers[w])) continue;
      kernel.buffers[r].written = true;
      const auto output = static_cast<std::uint16_t>(w), input = static_cast<std::uint16_t>(r);
      auto rename = [&](std::uint16_t& buffer) {
        if (buffer == output) buffer = input;
        if (buffer > output) --buffer;
      };
      for (ir::Expr& expr : kernel.exprs)
        if (expr.kind == ir::ExprKind::Load || expr.kind == ir::ExprKind::LoadAt) rename(expr.buffer);
      for (ir::Store& store : kernel.stores) rename(store.buffer);
      kernel.buffers.erase(kernel.buffers.begin() + static_cast<std::ptrdiff_t>(w));
      launch.buffers.erase(launch.buffers.begin() + static_cast<std::ptrdiff_t>(w));
      --w;
      break;
    }
  }
}

Binding binding_of(const Graph& graph, const Memory& memory, NodeId id) {
  const Node& node = graph.nodes[id];
  if (node.kind == NodeKind::External)
    return {Binding::Space::Input, graph.trace->values[node.value].buffer, 0};
  return memory.of_node[id];
}

/// Puts the launches of a plan together.
class Assembler {
 public:
  Assembler(const Graph& graph, Grouping& grouping, const Memory& memory, Plan& plan)
      : graph_(graph), grouping_(grouping), memory_(memory), plan_(plan), traffic_(graph, grouping) {}

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
    launch.records = {graph_.nodes[step.node].record};
    launch.accesses = traffic_.library(call, memory_);
  }

  /// One launch, or several where members turned out to differ: some write in place, others cannot.
  void add_kernel(const Step& step, std::int64_t in_place_bytes) {
    std::map<std::string, std::size_t> launch_of;  // kernel text to its launch
    const std::size_t first_launch = plan_.launches.size();
    std::vector<ir::Kernel> kernels;
    std::vector<std::string> texts;            // of each kernel for one member
    std::vector<std::vector<NodeId>> gathers;  // of each launch
    std::size_t at = 0;
    for (GroupId member : step.members) {
      Lowered lowered = std::move(grouping_.kernels[member]);
      Launch part;
      for (std::size_t end = at + lowered.buffers.size(); at < end; ++at)
        part.buffers.push_back(binding_of(graph_, memory_, step.buffers[at].node));
      part.accesses = traffic_.kernel(lowered, memory_);
      join_in_place(part, lowered.kernel);
      std::string text = ir::to_string(lowered.kernel);
      const auto [it, added] = launch_of.try_emplace(text, kernels.size());
      if (added) {
        kernels.push_back(std::move(lowered.kernel));
        texts.push_back(std::move(text));
        gathers.emplace_back();
        plan_.launches.emplace_back().members = 0;
      }
      Launch& launch = plan_.launches[first_launch + it->second];
      ++launch.members;
      append(gathers[it->second], lowered.gathers);
      append(launch.buffers, part.buffers);
      for (MovingNumber& number : lowered.moving) {
        launch.moving_ints.push_back(number.place + static_cast<std::uint32_t>(launch.ints.size()));
        launch.moving_parts.push_back(std::move(number.parts));
      }
      append(launch.ints, lowered.ints);
      append(launch.scalars, lowered.scalars);
      append(launch.records, lowered.records);
      append(launch.accesses, part.accesses);
    }
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      Launch& launch = plan_.launches[first_launch + k];
      if (launch.members > 1) {
        kernels[k].members = static_cast<std::uint16_t>(table_size(launch.members));
        kernels[k].tile = ir::Kernel::kNoTile;
        texts[k] = ir::to_string(kernels[k]);
      }
      std::sort(launch.records.begin(), launch.records.end());
      launch.records.erase(std::unique(launch.records.begin(), launch.records.end()), launch.records.end());
      launch.what = number_of(std::move(kernels[k]), std::move(texts[k]));
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

  std::uint32_t number_of(ir::Kernel kernel, std::string text) {
    const auto next = static_cast<std::uint32_t>(plan_.kernels.size());
    const auto [it, added] = known_.try_emplace(std::move(text), next);
    if (added) {
      ir::verify(kernel);
      plan_.kernels.push_back(std::move(kernel));
    }
    return it->second;
  }

  const Graph& graph_;
  Grouping& grouping_;
  const Memory& memory_;
  Plan& plan_;
  Traffic traffic_;
  absl::flat_hash_map<std::string, std::uint32_t> known_;
  std::vector<NodeId> gathers_;  // of each fault word
};

Graph rewritten_graph(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
                      std::span<const Pass> passes, KeepOrCompute& held) {
  Graph graph = make_graph(trace);
  held = keep_or_compute(graph, traits, options);
  for (const Pass& pass : passes)
    if (pass.wanted(traits, options)) pass.run(graph, traits);
  return graph;
}

GroupOptions group_options(const ir::DeviceTraits& traits, const PlanOptions& options) {
  return {.fusion = options.fusion,
          .limits = limits_of(traits),
          .launch_bytes = traits.launch_bytes,
          .work_per_byte = traits.work_per_byte};
}

/// Where a value lies that somebody sees afterwards.
Placement placement_of(const Graph& graph, const Grouping& grouping, const Memory& memory,
                       const Result& result) {
  const bool own = grouping.owners[result.node] != kInline;
  const StridedView view = own ? StridedView{result.node, contiguous_layout(graph.nodes[result.node].shape)}
                               : *strided_view(graph, result.node);
  return {result.value, binding_of(graph, memory, view.base), view.layout};
}

Plan assemble(const Graph& graph, Grouping& grouping, const std::vector<Step>& steps, const Memory& memory) {
  Plan plan;
  plan.constants = graph.constants;
  plan.output_bytes = memory.output_bytes;
  plan.arena_bytes = memory.arena_bytes;
  plan.cuts = cuts_of(graph, grouping);
  plan.input_bytes = plan.peak_bytes = input_bytes(*graph.trace);
  for (std::size_t bytes : plan.output_bytes) plan.peak_bytes += bytes;
  plan.peak_bytes += plan.temporary_bytes();
  Assembler assembler(graph, grouping, memory, plan);
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

}  // namespace

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
               std::span<const Pass> passes) {
  KeepOrCompute held;
  const Graph graph = rewritten_graph(trace, traits, options, passes, held);
  Grouping grouping = group(graph, group_options(traits, options));
  std::vector<Step> steps = make_steps(grouping);
  if (options.fusion) batch(graph, grouping, traits, steps);
  const Memory memory = place(graph, grouping, steps, traits.most_buffer_bytes);
  Plan plan = assemble(graph, grouping, steps, memory);
  plan.held = std::move(held.held);
  plan.unstored = std::move(held.unstored);
  return plan;
}

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options) {
  return make_plan(trace, traits, options, passes());
}

std::int64_t Launch::bytes_read() const {
  std::int64_t bytes = 0;
  for (const Access& access : accesses) bytes += access.bytes_read;
  return bytes;
}

std::int64_t Launch::bytes_written() const {
  std::int64_t bytes = 0;
  for (const Access& access : accesses) bytes += access.bytes_written;
  return bytes;
}

std::int64_t Plan::bytes_moved() const {
  std::int64_t bytes = 0;
  for (const Launch& launch : launches) bytes += launch.bytes_read() + launch.bytes_written();
  return bytes;
}

std::size_t Plan::temporary_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t segment : arena_bytes) bytes += segment;
  return bytes;
}

std::int64_t Plan::least_bytes() const {
  std::int64_t bytes = 0;
  for (const Launch& launch : launches)
    for (const Access& access : launch.accesses) bytes += access.least_bytes;
  return bytes;
}

std::string describe(const Launch& launch, const trace::Trace& trace) {
  constexpr std::size_t kMostNames = 12;
  std::string text;
  for (std::size_t r = 0; r < launch.records.size() && r < kMostNames; ++r)
    text += (r ? " " : "") + std::string(library::name_of(trace, trace.ops[launch.records[r]]));
  if (launch.records.size() > kMostNames) text += " ... (" + std::to_string(launch.records.size()) + " ops)";
  if (!launch.records.empty()) {
    const trace::OpRecord& first = trace.ops[launch.records.front()];
    const std::string file = first.file ? first.file : "?";
    text += "  [" + file.substr(file.rfind('/') + 1) + ":" + std::to_string(first.line) + "]";
  }
  return text;
}

std::string to_string(const Plan& plan, const trace::Trace& trace) {
  std::string text = std::to_string(trace.ops.size()) + " ops, " + std::to_string(plan.launches.size()) +
                     " launches, " + std::to_string(plan.kernels.size()) + " distinct kernels, " +
                     std::to_string(plan.temporary_bytes()) + " B of temporaries, " +
                     std::to_string(plan.in_place_bytes) + " B in place, " + std::to_string(plan.peak_bytes) +
                     " B at the peak, moves " + std::to_string(plan.bytes_moved()) + " B (least possible " +
                     std::to_string(plan.least_bytes()) + ")\n";
  auto name = [](const Binding& binding) {
    switch (binding.space) {
      case Binding::Space::Input: return "in" + std::to_string(binding.index);
      case Binding::Space::Output: return "out" + std::to_string(binding.index);
      case Binding::Space::Temporary:
        return "temp" + (binding.index > 0 ? std::to_string(binding.index) : std::string()) + "+" +
               std::to_string(binding.byte_offset);
    }
    return std::string();
  };
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    text += "  " + std::to_string(i) + ". ";
    const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
    text += kernel ? "kernel " + std::to_string(*kernel) : "library";
    if (launch.members > 1) text += " for " + std::to_string(launch.members) + " members";
    for (const Binding& binding : launch.buffers) text += " " + name(binding);
    if (launch.in_place_bytes) text += " (in place)";
    text += ": " + describe(launch, trace) + " reads " + std::to_string(launch.bytes_read()) + " B, writes " +
            std::to_string(launch.bytes_written()) + " B\n";
  }
  for (const HeldValue& held : plan.held) {
    if (held.stored) continue;
    text += "  not stored: " + std::string(name_of(trace.ops[held.record].op)) + " " +
            to_string(trace.values[held.value].shape) + ", " + held.reason + "\n";
  }
  for (const PlanCut& cut : plan.cuts) {
    text += "  cut " + std::string(name_of(trace.ops[cut.producer].op)) + " | " +
            std::string(name_of(trace.ops[cut.consumer].op)) + ": " + cut.reason;
    if (cut.count > 1) text += " (" + std::to_string(cut.count) + " times)";
    text += "\n";
  }
  return text;
}

}  // namespace sinter::plan
