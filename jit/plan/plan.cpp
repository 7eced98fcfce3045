// Runs the passes and puts the plan together.
#include "jit/plan/plan.h"

#include <algorithm>
#include <queue>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/graph.h"
#include "jit/plan/group.h"
#include "jit/plan/index_map.h"
#include "jit/plan/library.h"
#include "jit/plan/place.h"

namespace sinter::plan {
namespace {

/// Pass `order`: steps so that producers run first, otherwise in the order of the program.
std::vector<Step> make_steps(const Graph& graph, const Grouping& grouping) {
  std::vector<Step> steps;
  for (GroupId g = 0; g < grouping.groups.size(); ++g) {
    if (!grouping.groups[g].alive) continue;
    Step step;
    step.group = g;
    step.node = *std::max_element(grouping.groups[g].stores.begin(), grouping.groups[g].stores.end());
    step.buffers = grouping.kernels[g].buffers;
    steps.push_back(std::move(step));
  }
  for (NodeId id : grouping.libraries) {
    if (!graph.nodes[id].live) continue;
    Step step;
    step.library = true;
    step.node = id;
    bool copied[2] = {false, false};
    for (std::size_t k = 0; k < 2; ++k) {
      const NodeId operand = graph.nodes[id].operands[k];
      copied[k] = grouping.owners[operand] != kInline || !reads_in_place(graph, id, k);
      const StridedView view = copied[k] ? StridedView{operand, {}} : *strided_view(graph, operand);
      step.buffers.push_back({view.base, true, false});
      step.layouts.push_back(view.layout);
    }
    step.op = make_library_op(graph, id, copied);
    step.buffers.push_back({id, false, true});
    step.layouts.push_back({});
    steps.push_back(std::move(step));
  }

  absl::flat_hash_map<NodeId, std::size_t> writer;
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const BufferUse& use : steps[s].buffers)
      if (use.written) writer[use.node] = s;
  std::vector<std::vector<std::size_t>> next(steps.size());
  std::vector<int> waiting(steps.size(), 0);
  for (std::size_t s = 0; s < steps.size(); ++s)
    for (const BufferUse& use : steps[s].buffers)
      if (auto it = writer.find(use.node); use.read && it != writer.end() && it->second != s) {
        next[it->second].push_back(s);
        ++waiting[s];
      }
  using Item = std::pair<NodeId, std::size_t>;
  std::priority_queue<Item, std::vector<Item>, std::greater<>> ready;
  for (std::size_t s = 0; s < steps.size(); ++s)
    if (waiting[s] == 0) ready.emplace(steps[s].node, s);
  std::vector<Step> ordered;
  while (!ready.empty()) {
    const std::size_t s = ready.top().second;
    ready.pop();
    for (std::size_t after : next[s])
      if (--waiting[after] == 0) ready.emplace(steps[after].node, after);
    ordered.push_back(std::move(steps[s]));
  }
  if (ordered.size() != steps.size()) throw std::logic_error("plan: kernels depend on each other in a circle");
  return ordered;
}

/// Joins the store's buffer with the one it overwrites, so that the kernel sees one buffer that is read and written.
void join_in_place(Launch& launch, ir::Kernel& kernel) {
  for (std::size_t w = 0; w < launch.buffers.size(); ++w) {
    if (!kernel.buffers[w].written || kernel.buffers[w].read) continue;
    for (std::size_t r = 0; r < launch.buffers.size(); ++r) {
      if (r == w || !kernel.buffers[r].read || !(launch.buffers[r] == launch.buffers[w])) continue;
      kernel.buffers[r].written = true;
      const auto gone = static_cast<std::uint16_t>(w), kept = static_cast<std::uint16_t>(r);
      auto rename = [&](std::uint16_t& buffer) {
        if (buffer == gone) buffer = kept;
        if (buffer > gone) --buffer;
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
  if (node.kind == NodeKind::External) return {Binding::Space::Input, graph.trace->values[node.value].buffer, 0};
  return memory.of_node[id];
}

}  // namespace

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options) {
  Graph graph = make_graph(trace);
  simplify(graph);
  split_reductions(graph, traits.groups, traits.lanes);
  GroupOptions group_options;
  group_options.fusion = options.fusion;
  group_options.limits.max_buffers = traits.max_buffers;
  Grouping grouping = group(graph, group_options);
  const std::vector<Step> steps = make_steps(graph, grouping);
  const Memory memory = place(graph, grouping, steps);

  Plan plan;
  plan.output_bytes = memory.output_bytes;
  plan.arena_bytes = memory.arena_bytes;
  for (const CutNote& cut : grouping.cuts)
    plan.cuts.push_back(std::string(name_of(graph.nodes[cut.producer].op)) + " | " +
                        std::string(name_of(graph.nodes[cut.consumer].op)) + ": " + cut.reason);
  absl::flat_hash_map<std::string, std::uint32_t> known;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Step& step = steps[s];
    Launch& launch = plan.launches.emplace_back();
    launch.in_place_bytes = memory.in_place_bytes[s];
    plan.in_place_bytes += static_cast<std::size_t>(launch.in_place_bytes);
    for (const BufferUse& use : step.buffers) launch.buffers.push_back(binding_of(graph, memory, use.node));
    if (step.library) {
      for (std::size_t k = 0; k < 2; ++k)
        launch.buffers[k].byte_offset +=
            static_cast<std::size_t>(step.layouts[k].offset) * size_of(graph.nodes[step.buffers[k].node].dtype);
      launch.what = step.op;
      launch.records = {graph.nodes[step.node].record};
      continue;
    }
    Lowered lowered = std::move(grouping.kernels[step.group]);
    join_in_place(launch, lowered.kernel);
    launch.ints = std::move(lowered.ints);
    launch.scalars = std::move(lowered.scalars);
    launch.records = std::move(lowered.records);
    ir::verify(lowered.kernel);
    auto [it, added] = known.try_emplace(ir::to_string(lowered.kernel), static_cast<std::uint32_t>(plan.kernels.size()));
    if (added) plan.kernels.push_back(std::move(lowered.kernel));
    launch.what = it->second;
  }
  for (const Result& result : graph.results) {
    Placement& placement = plan.placements.emplace_back();
    placement.value = result.value;
    const bool own = grouping.owners[result.node] != kInline;
    const StridedView view = own ? StridedView{result.node, contiguous_layout(graph.nodes[result.node].shape)}
                                 : *strided_view(graph, result.node);
    placement.memory = binding_of(graph, memory, view.base);
    placement.layout = view.layout;
  }
  return plan;
}

std::string describe(const Launch& launch, const trace::Trace& trace) {
  constexpr std::size_t kMostNames = 12;
  std::string text;
  for (std::size_t r = 0; r < launch.records.size() && r < kMostNames; ++r)
    text += (r ? " " : "") + std::string(name_of(trace.ops[launch.records[r]].op));
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
                     std::to_string(plan.arena_bytes) + " B of temporaries, " + std::to_string(plan.in_place_bytes) +
                     " B in place\n";
  auto name = [](const Binding& binding) {
    switch (binding.space) {
      case Binding::Space::Input: return "in" + std::to_string(binding.index);
      case Binding::Space::Output: return "out" + std::to_string(binding.index);
      case Binding::Space::Temporary: return "temp+" + std::to_string(binding.byte_offset);
    }
    return std::string();
  };
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    text += "  " + std::to_string(i) + ". ";
    const auto* kernel = std::get_if<std::uint32_t>(&launch.what);
    text += kernel ? "kernel " + std::to_string(*kernel) : "library";
    for (const Binding& binding : launch.buffers) text += " " + name(binding);
    if (launch.in_place_bytes) text += " (in place)";
    text += ": " + describe(launch, trace);
    text += "\n";
  }
  for (const std::string& cut : plan.cuts) text += "  cut " + cut + "\n";
  return text;
}

}  // namespace sinter::plan
