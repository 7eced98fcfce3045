// The process's one Vulkan instance: loader, drivers, validation messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// The Vulkan instance and its devices. Made at first use and never destroyed: unloading drivers while the
/// program's own destructors still run is unsafe.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;  // in the loader's order; only those that can run Sinter's kernels
  bool validation = false;
  std::uint32_t layer_version = 0;  // of the specification that the validation layer knows
  std::string reason;               // why `devices` is empty and what to do; else empty
};

/// Never throws for a missing driver, or for a missing layer that SINTER_VULKAN_VALIDATION requests: `reason`
/// says so.
const Instance& instance();

/// True iff what validates knows cooperative matrices, or nothing does: older layers refuse what they do not
/// know.
bool may_validate_matrices();

/// Number of warnings and errors of the validation layer since the process started.
std::uint64_t validation_message_count();

/// Throws DeviceError with the validation messages since the last call, if there are any.
void throw_validation_messages();

}  // namespace sinter::runtime::vulkan
