// Fills numbers into launches.
#include "jit/plan/reuse/outline.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/held_bytes.h"
#include "jit/plan/traffic.h"

namespace sinter::plan {

Outline::Outline(const Graph& graph, const Grouping& grouping, std::vector<Step> steps,
                 std::vector<const KernelForm*> kernels, const ArenaLimits& limits)
    : kernels_(std::move(kernels)),
      steps_(std::move(steps)),
      rules_(graph, grouping, steps_),
      limits_(limits) {}

Plan Outline::plan(const Graph& graph, const Grouping& grouping) {
  Memory memory = rules_.place(graph, limits_);
  if (!made_ || moves_ || memory.written_over != written_over_) {
    made_ = assemble(graph, grouping, steps_, memory, false);
    written_over_ = std::move(memory.written_over);
    note(graph, grouping);
    held_bytes_ = plan::held_bytes(made_->plan) + rules_.held_bytes();
    Plan plan = made_->plan;
    made_->plan.placements.clear();  // each plan is given its own
    made_->plan.shapes.clear();
    return plan;
  }
  return filled(graph, grouping, memory);
}

/// Looks at nodes once, so that further sizes need not: there are thousands, seldom in the cache.
void Outline::note(const Graph& graph, const Grouping& grouping) {
  shape_like_.clear();
  absl::flat_hash_map<std::vector<std::int64_t>, NodeId> first_like;
  for (const NodeId node : made_->node_of_value) {
    const Shape& shape = graph.nodes[node].shape;
    shape_like_.push_back(first_like.try_emplace({shape.begin(), shape.end()}, node).first->second);
  }
  inputs_.assign(made_->node_of_buffer.size(), {});
  stored_.clear();
  for (std::size_t b = 0; b < inputs_.size(); ++b) {
    const Node& node = graph.nodes[made_->node_of_buffer[b]];
    if (node.kind == NodeKind::External)
      inputs_[b] = {Binding::Space::Input, graph.trace->values[node.value].buffer, 0};
    else
      stored_.push_back(b);
  }
  results_.clear();
  result_shapes_.clear();
  first_like.clear();
  for (const Result& result : graph.results) {
    if (grouping.owners[result.node] == kInline) {
      results_.push_back({kNoNode, 0});
      continue;
    }
    const Shape& shape = graph.nodes[result.node].shape;
    const auto [known, added] =
        first_like.try_emplace({shape.begin(), shape.end()}, static_cast<NodeId>(result_shapes_.size()));
    if (added) result_shapes_.push_back(result.node);
    results_.push_back({result.node, known->second});
  }
  values_in_memory_.clear();
  for (trace::ValueId v = 0; v < graph.trace->values.size(); ++v)
    if (graph.trace->values[v].external) values_in_memory_.push_back(v);
  // Nodes of calls are in the order of the graph, as calls are.
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
  add_up(memory, input_bytes(*graph.trace, values_in_memory_), plan);
  plan.shapes.reserve(shape_like_.size());
  for (const NodeId node : shape_like_) plan.shapes.push_back(graph.nodes[node].shape);
  const LaunchArguments& before = *made_->plan.arguments;
  auto arguments = std::make_shared<LaunchArguments>();
  arguments->buffers = inputs_;
  for (const std::size_t b : stored_) arguments->buffers[b] = memory.of_node[made_->node_of_buffer[b]];
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
      if (call->operands[k].layout.offset != 0)
        arguments->buffers[first + k].byte_offset += offset_bytes(graph, call->operands[k]);
  }
  // The launches of a step follow each other, and the first has its bytes.
  std::size_t at = 0;
  for (std::size_t s = 0; s < steps_.size(); ++s) {
    if (steps_[s].is_join()) continue;
    std::size_t members = steps_[s].library ? 1 : steps_[s].members.size();
    plan.launches[at].in_place_bytes = memory.in_place_bytes[s];
    plan.in_place_bytes += static_cast<std::size_t>(memory.in_place_bytes[s]);
    for (; members > 0; ++at) members -= plan.launches[at].members;
  }
  plan.arguments = std::move(arguments);
  std::vector<ViewLayout> layouts;
  layouts.reserve(result_shapes_.size());
  for (const NodeId node : result_shapes_) layouts.emplace_back(contiguous_layout(graph.nodes[node].shape));
  plan.placements.reserve(results_.size());
  for (std::size_t r = 0; r < results_.size(); ++r) {
    const Result& result = graph.results[r];
    const auto [node, like] = results_[r];
    if (node == kNoNode)
      plan.placements.push_back(placement_of(graph, grouping, memory, result));
    else
      plan.placements.push_back({result.value, memory.of_node[node], layouts[like]});
  }
  return plan;
}

}  // namespace sinter::plan
