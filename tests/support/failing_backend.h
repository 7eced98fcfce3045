// A device whose memory or launches fail when a test says so.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <sinter/error.h>

#include "src/runtime/host/host_backend.h"
#include "tests/support/forwarding_backend.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#ifdef SINTER_HAS_CUDA
#include "src/runtime/cuda/cuda_backend.h"
#endif
#ifdef SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif

namespace sinter::testing {

/// Hands everything to another backend but what is to fail.
class FailingBackend final : public ForwardingBackend {
 public:
  using ForwardingBackend::ForwardingBackend;

  /// The so many-th allocation or opening of a run from now on fails, once; 0: the next one; -1: none.
  int fail_at = -1;
  /// The same for launches.
  int fail_launch_at = -1;
  /// Single buffers above this fail, each time.
  std::size_t most_bytes = ~std::size_t{0};

  runtime::BufferRef allocate(std::size_t bytes) override {
    may_fail(bytes);
    return inner().allocate(bytes);
  }
  runtime::BufferRef allocate_for_upload(std::size_t bytes) override {
    may_fail(bytes);
    return inner().allocate_for_upload(bytes);
  }
  void begin(std::unique_ptr<runtime::PlanState>* state, const runtime::RunNeeds& needs) override {
    may_fail(needs.workspace_bytes);
    inner().begin(state, needs);
  }
  void launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments) override {
    if (fail_launch_at >= 0 && fail_launch_at-- == 0) throw DeviceError("[test] a launch failed");
    inner().launch(executable, arguments);
  }

 private:
  void may_fail(std::size_t bytes) {
    if (bytes > most_bytes || (fail_at >= 0 && fail_at-- == 0))
      throw DeviceError("[test] no memory left for " + std::to_string(bytes) + " bytes");
  }
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
