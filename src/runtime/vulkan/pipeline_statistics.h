// What a driver tells about the code it made of a kernel.
#pragma once

#include <string>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// "Register Count 62, Local Memory Size 0", as the driver names them, of a pipeline that was made with
/// VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR.
std::string pipeline_statistics(VkDevice device, VkPipeline pipeline);

}  // namespace sinter::runtime::vulkan
