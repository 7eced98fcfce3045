// From trace to plan: the passes, grouping, order, memory; then launches with their arguments.
#include "jit/plan/plan.h"

#include <utility>

#include "jit/library/kinds.h"
#include "jit/plan/assemble.h"
#include "jit/plan/cuts.h"
#include "jit/plan/graph.h"
#include "jit/plan/group/group.h"
#include "jit/plan/order.h"
#include "jit/plan/place.h"
#include "jit/plan/recipes.h"
#include "jit/plan/reuse/plan_template.h"
#include "jit/plan/rewrite/passes.h"
#include "jit/plan/traffic.h"

namespace sinter::plan {
namespace {

Graph rewritten_graph(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
                      std::span<const Pass> passes, SizeChecks* checks, KeepOrCompute& held) {
  Graph graph = make_graph(trace);
  graph.checks = checks;
  held = keep_or_compute(graph, traits, options);
  for (const Pass& pass : passes)
    if (pass.wanted(traits, options)) pass.run(graph, traits);
  for (const Result& result : graph.results) graph.nodes[result.node].feeds_recipe |= result.feeds_recipe;
  return graph;
}

GroupOptions group_options(const ir::DeviceTraits& traits, const PlanOptions& options) {
  return {.fusion = options.fusion,
          .limits = limits_of(traits),
          .launch_bytes = traits.launch_bytes,
          .work_per_byte = traits.work_per_byte,
          .wait_bytes = traits.wait_bytes};
}

}  // namespace

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
               std::span<const Pass> passes, Planned* kept) {
  std::unique_ptr<SizeChecks> checks = kept ? std::make_unique<SizeChecks>(traits) : nullptr;
  KeepOrCompute held;
  Graph graph = rewritten_graph(trace, traits, options, passes, checks.get(), held);
  Grouping grouping = group(graph, group_options(traits, options));
  std::vector<Step> steps = make_steps(grouping);
  if (options.fusion) batch(graph, grouping, traits, steps);
  put_updates_last(graph, steps);
  const Memory memory = PlaceRules(graph, grouping, steps).place(graph, ArenaLimits(traits));
  Plan plan = assemble(graph, grouping, steps, memory, true).plan;
  plan.cuts = cuts_of(graph, grouping);
  plan.held = std::move(held.held);
  plan.unstored = std::move(held.unstored);
  if (kept)
    *kept = {std::move(checks), std::move(graph), std::move(grouping), std::move(steps),
             plan.cuts,         plan.held,        plan.unstored};
  return plan;
}

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options,
               std::span<const Pass> passes) {
  return make_plan(trace, traits, options, passes, nullptr);
}

Plan make_plan(const trace::Trace& trace, const ir::DeviceTraits& traits, const PlanOptions& options) {
  return make_plan(trace, traits, options, passes());
}

std::size_t Plan::temporary_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t segment : arena_bytes) bytes += segment;
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
  const Traffic traffic = traffic_of(plan, trace);
  std::string text = std::to_string(trace.ops.size()) + " ops, " + std::to_string(plan.launches.size()) +
                     " launches, " + std::to_string(plan.kernels.size()) + " distinct kernels, " +
                     std::to_string(plan.temporary_bytes()) + " B of temporaries, " +
                     std::to_string(plan.in_place_bytes) + " B in place, " + std::to_string(plan.peak_bytes) +
                     " B at the peak, moves " + std::to_string(traffic.bytes_moved()) +
                     " B (least possible " + std::to_string(traffic.least_bytes()) + ")\n";
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
    text += ": " + describe(launch, trace) + " reads " + std::to_string(traffic.launches[i].bytes_read()) +
            " B, writes " + std::to_string(traffic.launches[i].bytes_written()) + " B\n";
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
