// Fills numbers into launches.
#include "jit/plan/reuse/outline.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include "jit/plan/held_bytes.h"

namespace sinter::plan {

Outline::Outline(const Graph& graph, const Grouping& grouping, std::vector<Step> steps,
                 std::vector<const KernelForm*> kernels, std::size_t most_bytes)
    : kernels_(std::move(kernels)),
      steps_(std::move(steps)),
      rules_(graph, grouping, steps_),
      most_bytes_(most_bytes) {}

Plan Outline::plan(const Graph& graph, const Grouping& grouping) {
  Memory memory = rules_.place(graph, most_bytes_);
  if (!made_ || moves_ || memory.written_over != written_over_) {
    made_ = assemble(graph, grouping, steps_, memory, false);
    written_over_ = std::move(memory.written_over);
    note(grouping);
    held_bytes_ = plan::held_bytes(made_->plan) + rules_.held_bytes();
    return made_->plan;
  }
  return filled(graph, grouping, memory);
}

/// Finds the calls of launches: their nodes are in the order of the graph, as calls are.
void Outline::note(const Grouping& grouping) {
  calls_.clear();
  moves_ = false;
  for (std::size_t i = 0; i < made_->plan.launches.size(); ++i) {
    const Launch& launch = made_->plan.launches[i];
    moves_ |= !launch.moving_ints.empty() || !launch.moving_bytes.empty();
    if (!std::holds_alternative<library::LibraryOpRef>(launch.what)) continue;
    const auto call =
        std::lower_bound(grouping.libraries.begin(), grouping.libraries.end(), launch.node,
                         [](const LibraryCall& call, NodeId node) { return call.results[0] < node; });
    calls_.push_back({i, &*call});
  }
}

Plan Outline::filled(const Graph& graph, const Grouping& grouping, const Memory& memory) const {
  Plan plan = made_->plan;
  add_up(graph, memory, plan);
  for (std::size_t v = 0; v < made_->node_of_value.size(); ++v)
    plan.shapes[v] = graph.nodes[made_->node_of_value[v]].shape;
  const LaunchArguments& before = *made_->plan.arguments;
  auto arguments = std::make_shared<LaunchArguments>();
  arguments->buffers.reserve(before.buffers.size());
  for (const NodeId node : made_->node_of_buffer)
    arguments->buffers.push_back(binding_of(graph, memory, node));
  arguments->ints.resize(before.ints.size());
  for (const auto& [group, first, in_place] : made_->ints) {
    const std::vector<std::int64_t>& ints = grouping.kernels[group].ints(in_place);
    std::copy(ints.begin(), ints.end(), arguments->ints.begin() + static_cast<std::ptrdiff_t>(first));
  }
  std::size_t buffer = 0, number = 0;
  for (Launch& launch : plan.launches) {
    launch.buffers = std::span(arguments->buffers).subspan(buffer, launch.buffers.size());
    launch.ints = std::span(arguments->ints).subspan(number, launch.ints.size());
    buffer += launch.buffers.size();
    number += launch.ints.size();
  }
  plan.in_place_bytes = 0;
  for (const auto& [i, call] : calls_) {
    Launch& launch = plan.launches[i];
    launch.what = call->op;
    launch.reads = call->reads;
    const auto first = static_cast<std::size_t>(launch.buffers.data() - arguments->buffers.data());
    for (std::size_t k = 0; k < call->operands.size(); ++k)
      arguments->buffers[first + k].byte_offset += offset_bytes(graph, call->operands[k]);
  }
  // The launches of a step follow each other, and the first has its bytes.
  std::size_t at = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    std::size_t members = steps_[s].library ? 1 : steps_[s].members.size();
    plan.launches[at].in_place_bytes = memory.in_place_bytes[s];
    plan.in_place_bytes += static_cast<std::size_t>(memory.in_place_bytes[s]);
    for (; members > 0; ++at) members -= plan.launches[at].members;
  }
  plan.arguments = std::move(arguments);
  place_results(graph, grouping, memory, plan);
  return plan;
}

}  // namespace sinter::plan
