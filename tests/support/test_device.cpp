// Devices of tests.
#include "tests/support/test_device.h"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "jit/ir/traits.h"
#include "src/runtime/backend.h"
#if SINTER_HAS_VULKAN
#include "src/runtime/vulkan/vulkan_backend.h"
#endif
#include "tests/support/reference/oracle_backend.h"

namespace sinter::testing {

Device device_over(std::unique_ptr<runtime::Backend> backend) {
  static auto* cores = new std::vector<runtime::DeviceCore*>;
  return Device(cores->emplace_back(new runtime::DeviceCore(std::move(backend))));
}

Device test_device() {
  if (const char* oracle = std::getenv("SINTER_TEST_ORACLE"); oracle && std::string(oracle) == "1") {
    static const Device evaluated = device_over(make_oracle_backend());
    return evaluated;
  }
#if SINTER_HAS_VULKAN
  // The kernels of GPUs on a device that is a processor: by workgroups, vectors and barriers.
  if (const char* groups = std::getenv("SINTER_TEST_VULKAN_GROUPS"); groups && std::string(groups) == "1") {
    static const Device vulkan = device_over(runtime::make_vulkan_backend(0, {.cpu_kernels = false}));
    return vulkan;
  }
#endif
  const char* name = std::getenv("SINTER_DEVICE");
  return name ? Device::parse(name) : Device::host();
}

bool is_vulkan(const Device& device) { return device.name().starts_with("vulkan"); }

bool compiles_slowly(const Device& device) { return is_vulkan(device) && device.core().traits().is_cpu; }

Precision precision_of(const Device& device) {
  Precision precision;
  precision.flushes_denormals = is_vulkan(device);
  return precision;
}

bool has_dtype(const Device& device, DType dtype) { return device.core().traits().supports(dtype); }

}  // namespace sinter::testing
