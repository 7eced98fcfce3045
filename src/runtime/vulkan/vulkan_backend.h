// Vulkan devices: which there are, and a backend for each.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/runtime/backend.h"
#include "src/runtime/vulkan/options.h"

namespace sinter::runtime {

struct VulkanDeviceInfo {
  std::string name;
  bool hardware;  // false: a software device on the host's cores, such as llvmpipe
};

/// The devices that can run Sinter's kernels, in the loader's order; empty when there are none.
std::vector<VulkanDeviceInfo> vulkan_devices();

/// Why there are none and what to do about it; empty when there are some.
std::string vulkan_unavailable_reason();

/// Throws DeviceError when there is no such device or it cannot be opened.
std::unique_ptr<Backend> make_vulkan_backend(int index, const VulkanOptions& options);

/// Everything the device can do, except that under SINTER_VULKAN_VALIDATION=1 no descriptors are pushed: the
/// layer does not see through them when it looks for missing barriers.
std::unique_ptr<Backend> make_vulkan_backend(int index);

/// Warnings and errors of the validation layer since the process started (SINTER_VULKAN_VALIDATION=1). Each
/// is also thrown as a DeviceError by the next `synchronize` of a Vulkan device.
std::uint64_t vulkan_validation_messages();

}  // namespace sinter::runtime
