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

/// True iff the call changed nothing for want of memory, so that it may be tried again.
inline bool is_out_of_memory(VkResult result) {
  return result == VK_ERROR_OUT_OF_DEVICE_MEMORY || result == VK_ERROR_OUT_OF_HOST_MEMORY ||
         result == VK_ERROR_TOO_MANY_OBJECTS || result == VK_ERROR_MEMORY_MAP_FAILED ||
         result == VK_ERROR_OUT_OF_POOL_MEMORY || result == VK_ERROR_FRAGMENTED_POOL;
}

/// Throws DeviceError for an error code: the failed call, the code's name, and a remedy where there is one.
void check(VkResult result, const char* what);

}  // namespace sinter::runtime::vulkan
