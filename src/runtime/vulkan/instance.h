// The process's one Vulkan instance: loader, drivers, validation messages.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// What the loader gave. Made at first use, kept until the process ends: drivers do not like to be unloaded
/// while the program's own destructors still run.
struct Instance {
  VkInstance handle = VK_NULL_HANDLE;
  std::vector<VkPhysicalDevice> devices;  // in the loader's order, only those that can run our kernels
  bool validation = false;
  std::string reason;  // why `devices` is empty, and what to do about it; else empty
};

/// Never throws for a missing driver, or a missing layer that SINTER_VULKAN_VALIDATION asks for: the reason
/// is in the instance.
const Instance& instance();

/// Messages of warning or error severity from the validation layer since the process started.
std::uint64_t validation_message_count();

/// Throws DeviceError with the validation messages that came since the last call, if there are any.
void throw_validation_messages();

}  // namespace sinter::runtime::vulkan
