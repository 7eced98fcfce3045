// Names of Vulkan result codes and what they mean to a user.
#include "src/runtime/vulkan/result.h"

#include <sinter/error.h>

namespace sinter::runtime::vulkan {

std::string name_of(VkResult result) {
  switch (result) {
#define SINTER_RESULT(name) \
  case name: return #name;
    SINTER_RESULT(VK_SUCCESS)
    SINTER_RESULT(VK_NOT_READY)
    SINTER_RESULT(VK_TIMEOUT)
    SINTER_RESULT(VK_INCOMPLETE)
    SINTER_RESULT(VK_ERROR_OUT_OF_HOST_MEMORY)
    SINTER_RESULT(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    SINTER_RESULT(VK_ERROR_INITIALIZATION_FAILED)
    SINTER_RESULT(VK_ERROR_DEVICE_LOST)
    SINTER_RESULT(VK_ERROR_MEMORY_MAP_FAILED)
    SINTER_RESULT(VK_ERROR_LAYER_NOT_PRESENT)
    SINTER_RESULT(VK_ERROR_EXTENSION_NOT_PRESENT)
    SINTER_RESULT(VK_ERROR_FEATURE_NOT_PRESENT)
    SINTER_RESULT(VK_ERROR_INCOMPATIBLE_DRIVER)
    SINTER_RESULT(VK_ERROR_TOO_MANY_OBJECTS)
    SINTER_RESULT(VK_ERROR_FRAGMENTED_POOL)
    SINTER_RESULT(VK_ERROR_OUT_OF_POOL_MEMORY)
    SINTER_RESULT(VK_ERROR_INVALID_EXTERNAL_HANDLE)
    SINTER_RESULT(VK_ERROR_FRAGMENTATION)
    SINTER_RESULT(VK_ERROR_INVALID_SHADER_NV)
    SINTER_RESULT(VK_ERROR_UNKNOWN)
#undef SINTER_RESULT
    default: return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

void check(VkResult result, const char* what) {
  if (result >= 0) return;
  std::string text = std::string("[vulkan] ") + what + " failed with " + name_of(result);
  if (result == VK_ERROR_DEVICE_LOST)
    text +=
        ": the driver gave the device up, because a kernel ran too long or the driver itself failed; "
        "nothing on it can be read any more";
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY) text += ": this computer's memory is used up";
  if (result == VK_ERROR_OUT_OF_DEVICE_MEMORY) text += ": the device's memory is used up";
  throw DeviceError(text);
}

}  // namespace sinter::runtime::vulkan
