// Vulkan devices: their list, and a backend for each.
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

/// The devices that can run Sinter's kernels, in the loader's order; may be empty.
std::vector<VulkanDeviceInfo> vulkan_devices();

/// Why there is no usable device and what to do; empty when there is one.
std::string vulkan_unavailable_reason();

/// Throws DeviceError when there is no such device or it cannot be opened.
std::unique_ptr<Backend> make_vulkan_backend(int index, const VulkanOptions& options);

/// With all features of the device. Under SINTER_VULKAN_VALIDATION=1 push descriptors are off: the validation
/// layer cannot track them when it looks for missing barriers.
std::unique_ptr<Backend> make_vulkan_backend(int index);

/// Number of warnings and errors of the validation layer since the process started
/// (SINTER_VULKAN_VALIDATION=1). The next `synchronize` of a Vulkan device throws each as a DeviceError.
std::uint64_t vulkan_validation_messages();

}  // namespace sinter::runtime
