// A device in front of another one whose launches take the time that a test makes up, by their tilings, and
// fail as it likes.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "jit/tune/parameters.h"
#include "src/runtime/backend.h"

namespace sinter::testing {

/// What a test makes up, and what it is told. Outlives the backend.
struct TimedControl {
  std::function<double(const ir::Tiling&)> time = [](const ir::Tiling&) { return 100e3; };
  std::function<bool(const ir::Tiling&)> refuses = [](const ir::Tiling&) { return false; };
  std::function<bool(const ir::Tiling&)> fails = refuses, is_wrong = refuses, does_nothing = refuses;
  std::string identity = "made-up GPU, driver 1";
  std::atomic<std::size_t> timed{0};
  std::mutex mutex;
  std::vector<std::string> compiled;  // descriptions of tilings
};

class TimedBackend final : public runtime::Backend {
 public:
  TimedBackend(std::unique_ptr<Backend> device, TimedControl& control)
      : device_(std::move(device)), control_(control) {}

  const ir::DeviceTraits& traits() const override { return device_->traits(); }
  runtime::BufferRef allocate(std::size_t bytes) override { return device_->allocate(bytes); }
  void upload(const runtime::BufferView& to, std::span<const std::byte> data) override {
    device_->upload(to, data);
  }
  void download(const runtime::BufferView& from, std::span<std::byte> data) override {
    device_->download(from, data);
  }
  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    std::vector<runtime::ExecutableRef> executables;
    for (const ir::Kernel* kernel : kernels) {
      const ir::Tiling& tiling = kernel->tiling;
      if (tiling.any()) {
        const std::lock_guard lock(control_.mutex);
        control_.compiled.push_back(tune::describe(tiling));
        if (control_.refuses(tiling)) throw CompileError("[made up] refused");
      }
      executables.push_back(std::make_shared<Executable>(device_->compile({&kernel, 1}).front(), tiling));
    }
    return executables;
  }
  bool computes(const library::Kind& kind) const override { return device_->computes(kind); }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override {
    return std::make_shared<Executable>(device_->prepare(op), ir::Tiling{});
  }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    device_->begin(state, needs);
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    const auto& what = static_cast<Executable&>(executable);
    if (what.tiling.any() && control_.fails(what.tiling)) throw DeviceError("[made up] the launch failed");
    if (what.tiling.any() && control_.does_nothing(what.tiling)) return;
    device_->launch(*what.executable, arguments);
    if (!what.tiling.any() || !control_.is_wrong(what.tiling)) return;
    // The last buffer of a product is its result; the run has to end before it can be read.
    wrong_ = arguments.buffers.back();
  }
  runtime::FaultReportRef submit() override {
    runtime::FaultReportRef report = device_->submit();
    if (wrong_.buffer != nullptr) {
      const std::vector<std::byte> bytes(4, std::byte{0x42});
      device_->upload(std::exchange(wrong_, {}), bytes);
    }
    return report;
  }
  void abandon() noexcept override { device_->abandon(); }
  std::string timing_identity() const override { return control_.identity; }
  double time_launch(runtime::Executable& executable, const runtime::LaunchArguments&,
                     const runtime::RunNeeds&) override {
    ++control_.timed;
    return control_.time(static_cast<Executable&>(executable).tiling);
  }
  void synchronize() override { device_->synchronize(); }
  runtime::BackendStatistics statistics() const override { return device_->statistics(); }

 private:
  struct Executable final : runtime::Executable {
    Executable(runtime::ExecutableRef executable, const ir::Tiling& tiling)
        : executable(std::move(executable)), tiling(tiling) {}
    const runtime::ExecutableRef executable;
    const ir::Tiling tiling;
  };

  const std::unique_ptr<Backend> device_;
  TimedControl& control_;
  runtime::BufferView wrong_;
};

}  // namespace sinter::testing
