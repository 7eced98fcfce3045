// A small GPU, so that tests see with small tensors what GPUs do with large ones.
#pragma once

#include <memory>

#include "tests/support/forwarding_backend.h"
#include "tests/support/reference/oracle_backend.h"
#include "tests/support/test_device.h"
#if SINTER_HAS_CUDA
#include "src/runtime/cuda/cuda_backend.h"
#endif
#if SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif

namespace sinter::testing {

/// A device that plans as a small GPU, for which launches and waiting cost nothing: sums are added up in
/// parts wherever that saves traffic at all. `memory_bytes`: not 0, planned for as if it had so much.
class SmallGpu final : public ForwardingBackend {
 public:
  explicit SmallGpu(std::unique_ptr<runtime::Backend> inner, std::size_t memory_bytes = 0)
      : ForwardingBackend(std::move(inner)), traits_(this->inner().traits()) {
    if (memory_bytes > 0) traits_.memory_bytes = memory_bytes;
    traits_.launch_bytes = traits_.wait_bytes = 0;
    traits_.groups = 4 * 8;
    traits_.lanes = 8 * 2048;
    if (traits_.row_lanes == 0) {  // of the oracle
      traits_.row_lanes = 1024;
      traits_.short_row_lanes = 32;
    }
  }
  const ir::DeviceTraits& traits() const override { return traits_; }

 private:
  ir::DeviceTraits traits_;
};

/// On the CUDA or Vulkan device, where tests run on one, with the kernels of a GPU; else the oracle evaluates
/// kernels.
inline Device small_gpu() {
#if SINTER_HAS_CUDA
  if (test_device().name().starts_with("cuda")) {
    static const Device cuda = device_over(std::make_unique<SmallGpu>(runtime::make_cuda_backend(0, 16)));
    return cuda;
  }
#endif
#if SINTER_HAS_VULKAN
  if (is_vulkan(test_device())) {
    static const Device vulkan =
        device_over(std::make_unique<SmallGpu>(runtime::make_vulkan_backend(0, {.cpu_kernels = false})));
    return vulkan;
  }
#endif
  static const Device evaluated = device_over(std::make_unique<SmallGpu>(make_oracle_backend()));
  return evaluated;
}

}  // namespace sinter::testing
