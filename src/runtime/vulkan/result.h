// Results of Vulkan calls, turned into exceptions.
#pragma once

#include <string>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// A Vulkan structure with its type set and all else zero.
template <class T>
T structure(VkStructureType type) {
  T result{};
  result.sType = type;
  return result;
}

/// "VK_ERROR_DEVICE_LOST"
std::string name_of(VkResult result);

/// Throws DeviceError for an error code: what was tried, the code's name, and what can be done where that is
/// known.
void check(VkResult result, const char* what);

}  // namespace sinter::runtime::vulkan
