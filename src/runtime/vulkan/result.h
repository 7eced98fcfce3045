// Vulkan result codes as exceptions.
#pragma once

#include <string>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// A Vulkan structure with its type set and all other members zero.
template <class T>
T structure(VkStructureType type) {
  T result{};
  result.sType = type;
  return result;
}

/// "VK_ERROR_DEVICE_LOST"
std::string name_of(VkResult result);

/// Throws DeviceError for an error code: the failed call, the code's name, and a remedy where there is one.
void check(VkResult result, const char* what);

}  // namespace sinter::runtime::vulkan
