// A device that runs several launches at the same time, as far as a test can tell.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "tests/support/forwarding_backend.h"
#include "tests/support/test_device.h"

namespace sinter::testing {

/// Hands the launches of a run that has an order to another backend when the run ends: in an order drawn
/// anew each time among those that are allowed, mostly far from the plan's.
class StrandsBackend final : public ForwardingBackend {
 public:
  explicit StrandsBackend(std::unique_ptr<runtime::Backend> inner)
      : ForwardingBackend(std::move(inner)), traits_(this->inner().traits()) {
    traits_.overlap_bytes = std::size_t{1} << 20;
    traits_.batch_bytes = 4000;
  }

  std::size_t most_strands = plan::LaunchOrder::kMostStrands;
  bool refuses_orders = false;  // runs that have one find no memory
  std::size_t ordered_runs = 0, moved_launches = 0;

  const ir::DeviceTraits& traits() const override { return traits_; }
  std::size_t strands() const override { return most_strands; }

  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    if (needs.order && refuses_orders)
      throw DeviceError("[test] no memory left for the workspaces of strands");
    inner().begin(state, needs);
    order_ = needs.order;
  }

  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (!order_) return inner().launch(executable, arguments);
    Launch& kept = launches_.emplace_back();
    kept.executable = &executable;
    kept.buffers.assign(arguments.buffers.begin(), arguments.buffers.end());
    kept.ints.assign(arguments.ints.begin(), arguments.ints.end());
    kept.scalars.assign(arguments.scalars.begin(), arguments.scalars.end());
    kept.moving.assign(arguments.moving_ints.begin(), arguments.moving_ints.end());
    kept.arguments = arguments;
  }

  runtime::FaultReportRef submit() override {
    if (order_) run_in_another_order();
    forget();
    return inner().submit();
  }
  void abandon() noexcept override {
    forget();
    inner().abandon();
  }

 private:
  struct Launch {
    runtime::Executable* executable = nullptr;
    std::vector<runtime::BufferView> buffers;
    std::vector<std::int64_t> ints;
    std::vector<runtime::ScalarValue> scalars;
    std::vector<std::uint32_t> moving;
    runtime::LaunchArguments arguments;
  };

  void run_in_another_order() {
    ++ordered_runs;
    std::vector<std::vector<std::size_t>> followers(launches_.size());
    std::vector<std::size_t> waits(launches_.size(), 0);
    std::set<std::size_t> ready;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      for (const std::uint32_t before : order_->after_of(i)) followers[before].push_back(i);
      waits[i] = order_->after_of(i).size();
      if (waits[i] == 0) ready.insert(i);
    }
    for (std::size_t count = 0; !ready.empty(); ++count) {
      auto next = std::prev(ready.end());
      if (random_() % 4 == 0) std::advance(next = ready.begin(), random_() % ready.size());
      const std::size_t i = *next;
      ready.erase(next);
      moved_launches += i != count;
      start(launches_[i]);
      for (const std::size_t follower : followers[i])
        if (--waits[follower] == 0) ready.insert(follower);
    }
  }

  void start(Launch& launch) {
    launch.arguments.buffers = launch.buffers;
    launch.arguments.ints = launch.ints;
    launch.arguments.scalars = launch.scalars;
    launch.arguments.moving_ints = launch.moving;
    inner().launch(*launch.executable, launch.arguments);
  }

  void forget() noexcept {
    launches_.clear();
    order_ = nullptr;
  }

  ir::DeviceTraits traits_;
  const plan::LaunchOrder* order_ = nullptr;  // of the open run
  std::vector<Launch> launches_;
  std::mt19937 random_{7};
};

}  // namespace sinter::testing
