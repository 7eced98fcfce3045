// A device whose memory or launches fail when a test says so.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/error.h>

#include "src/runtime/host/host_backend.h"
#include "tests/support/test_device.h"
#ifdef SINTER_HAS_CUDA
#include "src/runtime/cuda/cuda_backend.h"
#endif
#ifdef SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif

namespace sinter::testing {

/// Hands everything to another backend but what is to fail.
class FailingBackend final : public runtime::Backend {
 public:
  explicit FailingBackend(std::unique_ptr<runtime::Backend> inner) : inner_(std::move(inner)) {}

  /// The so many-th allocation or opening of a run from now on fails, once; 0: the next one; -1: none.
  int fail_at = -1;
  /// The same for launches.
  int fail_launch_at = -1;
  /// Single buffers above this fail, each time.
  std::size_t most_bytes = ~std::size_t{0};

  const ir::DeviceTraits& traits() const override { return inner_->traits(); }
  runtime::BufferRef allocate(std::size_t bytes) override {
    may_fail(bytes);
    return inner_->allocate(bytes);
  }
  runtime::BufferRef allocate_for_upload(std::size_t bytes) override {
    may_fail(bytes);
    return inner_->allocate_for_upload(bytes);
  }
  void upload(const runtime::BufferView& to, std::span<const std::byte> data) override {
    inner_->upload(to, data);
  }
  std::unique_ptr<runtime::Transfer> begin_upload(const runtime::BufferView& to,
                                                  std::span<const std::byte> data) override {
    return inner_->begin_upload(to, data);
  }
  void download(const runtime::BufferView& from, std::span<std::byte> data) override {
    inner_->download(from, data);
  }
  std::unique_ptr<runtime::Transfer> begin_download(const runtime::BufferView& from,
                                                    std::span<std::byte> data) override {
    return inner_->begin_download(from, data);
  }
  std::size_t trim() override { return inner_->trim(); }
  std::vector<runtime::ExecutableRef> compile(std::span<const ir::Kernel* const> kernels) override {
    return inner_->compile(kernels);
  }
  bool computes(const library::Kind& kind) const override { return inner_->computes(kind); }
  runtime::ExecutableRef prepare(const library::LibraryOp& op) override { return inner_->prepare(op); }
  bool runs_concurrently() const override { return inner_->runs_concurrently(); }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    may_fail(needs.workspace_bytes);
    inner_->begin(state, needs);
  }
  void wait_until_ready(runtime::Executable& executable, std::span<const std::int64_t> ints,
                        std::size_t members) override {
    inner_->wait_until_ready(executable, ints, members);
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (fail_launch_at >= 0 && fail_launch_at-- == 0) throw DeviceError("[test] a launch failed");
    inner_->launch(executable, arguments);
  }
  runtime::FaultReportRef submit() override { return inner_->submit(); }
  void abandon() noexcept override { inner_->abandon(); }
  void synchronize() override { inner_->synchronize(); }
  runtime::BackendStatistics statistics() const override { return inner_->statistics(); }

 private:
  void may_fail(std::size_t bytes) {
    if (bytes > most_bytes || (fail_at >= 0 && fail_at-- == 0))
      throw DeviceError("[test] no memory left for " + std::to_string(bytes) + " bytes");
  }

  std::unique_ptr<runtime::Backend> inner_;
};

/// A device of the kind that the test runs on, which fails at will.
struct FailingDevice {
  FailingDevice() {
    std::unique_ptr<runtime::Backend> inner;
    const std::string name = test_device().name();
    if (name == "oracle") inner = make_oracle_backend();
#ifdef SINTER_HAS_CUDA
    if (name.starts_with("cuda")) inner = runtime::make_cuda_backend(0);
#endif
#ifdef SINTER_HAS_VULKAN
    if (name.starts_with("vulkan")) inner = runtime::make_vulkan_backend(0);
#endif
    if (!inner) inner = runtime::make_host_backend();
    auto failing = std::make_unique<FailingBackend>(std::move(inner));
    backend = failing.get();
    device = device_over(std::move(failing));
  }
  FailingBackend* backend = nullptr;
  Device device{nullptr};
};

}  // namespace sinter::testing
