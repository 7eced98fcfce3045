// A backend whose launches may stand outside of a run: each is then a run of its own, and an index out of
// range is thrown by whatever waits next.
#pragma once

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "src/runtime/backend.h"

namespace sinter::testing {

class RunsOfOneLaunch final : public runtime::Backend {
 public:
  explicit RunsOfOneLaunch(runtime::Backend& backend) : backend_(backend) {}

  const ir::DeviceTraits& traits() const override { return backend_.traits(); }
  runtime::BufferRef allocate(std::size_t bytes) override { return backend_.allocate(bytes); }
  void upload(const runtime::BufferView& to, std::span<const std::byte> data) override {
    backend_.upload(to, data);
  }
  void download(const runtime::BufferView& from, std::span<std::byte> data) override {
    backend_.download(from, data);
    throw_faults();
  }
  std::size_t trim() override { return backend_.trim(); }
  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<runtime::ExecutableRef> compiled = backend_.compile(kernels);
    for (std::size_t i = 0; i < compiled.size(); ++i) faults_[compiled[i].get()] = kernels[i]->faults;
    return compiled;
  }
  bool computes(const library::Kind& kind) const override { return backend_.computes(kind); }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override { return backend_.prepare(op); }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    backend_.begin(state, needs);
    is_open_ = true;
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (is_open_) return backend_.launch(executable, arguments);
    backend_.wait_until_ready(executable, arguments.ints, arguments.members);
    const auto faults = faults_[&executable] * static_cast<std::uint32_t>(arguments.members);
    backend_.begin(nullptr, {executable.workspace_bytes(arguments.ints, arguments.members), faults});
    try {
      backend_.launch(executable, arguments);
    } catch (...) {
      backend_.abandon();
      throw;
    }
    if (auto report = backend_.submit()) reports_.push_back(std::move(report));
  }
  runtime::FaultReportRef submit() override {
    return std::exchange(is_open_, false) ? backend_.submit() : nullptr;
  }
  void abandon() noexcept override {
    if (std::exchange(is_open_, false)) backend_.abandon();
  }
  void synchronize() override {
    backend_.synchronize();
    throw_faults();
  }
  runtime::BackendStatistics statistics() const override { return backend_.statistics(); }

 private:
  void throw_faults() {
    for (const auto& report : std::exchange(reports_, {}))
      for (const std::uint32_t word : report->words())
        if (word) throw ShapeError("[gather] an index was out of range");
  }

  runtime::Backend& backend_;
  std::map<const runtime::Executable*, std::uint32_t> faults_;
  std::vector<runtime::FaultReportRef> reports_;
  bool is_open_ = false;
};

}  // namespace sinter::testing
