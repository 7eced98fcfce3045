// A device that runs several launches at the same time, as far as a test can tell.
#pragma once

#include <algorithm>
#include <array>
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
/// anew each time among those that are allowed, mostly far from the plan's. Each launch claims to work in
/// some workspace, of which launches that may run at the same time have no byte in common.
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

  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<runtime::ExecutableRef> all = inner().compile(kernels);
    for (runtime::ExecutableRef& each : all) each = std::make_shared<Working>(std::move(each), ++made_);
    return all;
  }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override {
    return std::make_shared<Working>(inner().prepare(op), ++made_);
  }
  void wait_until_ready(runtime::Executable&, std::span<const std::int64_t>, std::size_t) override {}

  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    if (needs.order && refuses_orders)
      throw DeviceError("[test] no memory left for the workspaces of strands");
    inner().begin(state, needs);
    order_ = needs.order;
    workspace_bytes_ = needs.workspace_bytes;
    workspace_ends_.fill(0);
    workspace_begins_.fill(workspace_bytes_);
  }

  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    auto& working = static_cast<Working&>(executable);
    note_workspace(arguments.strand, arguments.workspace_from, working.bytes);
    if (!order_) return inner().launch(*working.inner, arguments);
    Launch& kept = launches_.emplace_back();
    kept.executable = working.inner.get();
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
  struct Working final : runtime::Executable {
    Working(runtime::ExecutableRef inner, std::size_t number)
        : inner(std::move(inner)), bytes(100 + 1000 * (number % 7)) {}
    std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override { return bytes; }
    const runtime::ExecutableRef inner;
    const std::size_t bytes;
  };

  void note_workspace(std::size_t strand, std::size_t from, std::size_t bytes) {
    if (from + bytes > workspace_bytes_) throw Error("[test] a launch works beyond its run's workspace");
    workspace_begins_[strand] = std::min(workspace_begins_[strand], from);
    workspace_ends_[strand] = std::max(workspace_ends_[strand], from + bytes);
    for (std::size_t other = 0; other < workspace_ends_.size(); ++other)
      if (other != strand && workspace_begins_[other] < workspace_ends_[strand] &&
          workspace_begins_[strand] < workspace_ends_[other])
        throw Error("[test] launches of two strands share workspace");
  }

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
  std::size_t made_ = 0;                      // executables
  const plan::LaunchOrder* order_ = nullptr;  // of the open run
  std::size_t workspace_bytes_ = 0;
  std::array<std::size_t, plan::LaunchOrder::kMostStrands> workspace_begins_{}, workspace_ends_{};
  std::vector<Launch> launches_;
  std::mt19937 random_{7};
};

}  // namespace sinter::testing
