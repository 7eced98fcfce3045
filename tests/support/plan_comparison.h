// Plans that are made with what is known of other sizes, beside those that are made from nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "jit/plan/reuse/reuse.h"
#include "src/runtime/explain/observe.h"

namespace sinter::testing {

inline std::string text_of(const plan::MovingParts& parts) {
  std::string text;
  for (const plan::Moving& part : parts)
    text += " moves " + std::to_string(part.factor) + " for start " + std::to_string(part.by.start) +
            " from " + std::to_string(part.by.low) + " by " + std::to_string(part.by.reach);
  return text;
}

/// All of a plan that runs of it depend on, and what reports say.
inline std::string text_of(const plan::Plan& plan, const trace::Trace& trace) {
  std::string text = to_string(plan, trace);
  for (const ir::Kernel& kernel : plan.kernels) text += ir::to_string(kernel);
  for (const plan::Launch& launch : plan.launches) {
    text += "\nlaunch " + std::to_string(launch.first_fault) + " ints";
    for (const std::int64_t number : launch.ints) text += " " + std::to_string(number);
    if (const auto* op = std::get_if<library::LibraryOpRef>(&launch.what)) text += (*op)->key();
    for (std::size_t k = 0; k < launch.moving_ints.size(); ++k)
      text += " i" + std::to_string(launch.moving_ints[k]) + text_of(launch.moving_parts[k]);
    for (const plan::MovingNumber& bytes : launch.moving_bytes)
      text += " b" + std::to_string(bytes.place) + text_of(bytes.parts);
    for (const plan::ScalarArgument& scalar : launch.scalars)
      text += " s" + std::to_string(scalar.number.index) + std::string(name_of(scalar.dtype));
    for (const std::uint32_t record : launch.records) text += " r" + std::to_string(record);
  }
  for (const plan::Placement& placement : plan.placements)
    text += "\nvalue " + std::to_string(placement.value) + " " + std::to_string(placement.memory.index) +
            " " + to_string(placement.layout.strides) + " " + std::to_string(placement.layout.offset) +
            text_of(placement.layout.moving);
  for (const std::size_t bytes : plan.output_bytes) text += " " + std::to_string(bytes);
  for (const trace::Unstored& unstored : plan.unstored) text += " left out " + std::to_string(unstored.value);
  return text;
}

/// About as a GPU.
inline ir::DeviceTraits sharing() {
  ir::DeviceTraits traits;
  traits.grid_reductions = traits.reciprocals = traits.fixed_windows = traits.flat_vectors = true;
  traits.short_row_lanes = 32;
  traits.row_lanes = 1024;
  traits.batch_bytes = 4000;
  traits.split_members = true;
  traits.shared_elements = 64;
  traits.launch_bytes = 1 << 12;
  return traits;
}

/// About as a processor.
inline ir::DeviceTraits cutting() {
  ir::DeviceTraits traits;
  traits.is_cpu = true;
  traits.lanes = traits.groups = 4;
  traits.launch_bytes = 1 << 10;
  return traits;
}

inline ir::DeviceTraits contracting() {
  ir::DeviceTraits traits = sharing();
  traits.tensor_cores = {132, std::size_t{227} << 10};
  return traits;
}

/// Plans every trace of its lifetime with what is known of earlier ones and from nothing, as different
/// devices would.
class Comparison : public runtime::TraceObserver {
 public:
  explicit Comparison(const std::vector<ir::DeviceTraits>& devices = {sharing(), cutting()}) {
    for (const ir::DeviceTraits& traits : devices) {
      traits_.push_back(std::make_unique<ir::DeviceTraits>(traits));
      planners_.push_back(std::make_unique<plan::PlanReuse>(*traits_.back()));
    }
    add_observer(*this);
  }
  ~Comparison() override { remove_observer(*this); }

  void runs(const runtime::TraceRun& run) override {
    for (std::size_t i = 0; i < planners_.size(); ++i) {
      plan::PlanOptions options;
      options.fusion = run.fused;
      const plan::Plan fresh = make_plan(run.trace, *traits_[i], options);
      const std::uint64_t reused_before = planners_[i]->reused();
      const plan::Plan known = planners_[i]->plan(run.trace, options);
      was_reused = planners_[i]->reused() > reused_before;
      for (const ir::Kernel& kernel : known.kernels) {
        kernels_of_scores += kernel.attention.any() ? 1 : 0;
        kernels_of_parts += ir::has_parts(kernel) ? 1 : 0;
        parts_reused += was_reused && ir::has_parts(kernel) ? 1 : 0;
        if (!kernel.tiling.any()) continue;
        tiles.insert({kernel.tiling.rows, kernel.tiling.columns});
        if (was_reused) tiles_reused.insert({kernel.tiling.rows, kernel.tiling.columns});
      }
      for (const plan::Launch& launch : known.launches)
        if (was_reused) moving_reused += launch.moving_ints.size() + launch.moving_bytes.size();
      if (text_of(fresh, run.trace) == text_of(known, run.trace)) continue;
      ++differing;
      INFO("from nothing: " << text_of(fresh, run.trace));
      INFO("with what is known: " << text_of(known, run.trace));
      CHECK(text_of(fresh, run.trace) == text_of(known, run.trace));
    }
  }
  std::uint64_t reused() const {
    std::uint64_t sum = 0;
    for (const auto& planner : planners_) sum += planner->reused();
    return sum;
  }
  /// Kernels that all planners have lowered for new sizes.
  std::uint64_t lowered() const {
    std::uint64_t sum = 0;
    for (const auto& planner : planners_) sum += planner->lowered();
    return sum;
  }
  int differing = 0;
  int kernels_of_scores = 0, kernels_of_parts = 0;    // in all plans
  int parts_reused = 0;                               // kernels of parts, in plans that were reused
  bool was_reused = false;                            // the last plan
  std::set<std::pair<int, int>> tiles, tiles_reused;  // of kernels, and of those of plans that were reused
  std::size_t moving_reused = 0;                      // numbers of these that move

 private:
  std::vector<std::unique_ptr<ir::DeviceTraits>> traits_;
  std::vector<std::unique_ptr<plan::PlanReuse>> planners_;
};

}  // namespace sinter::testing
