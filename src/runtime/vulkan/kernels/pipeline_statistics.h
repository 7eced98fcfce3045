// The driver's statistics of a compiled kernel.
#pragma once

#include <string>

#include <vulkan/vulkan.h>

namespace sinter::runtime::vulkan {

/// "Register Count 62, Local Memory Size 0", in the driver's words. The pipeline must be made with
/// VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR.
std::string pipeline_statistics(VkDevice device, VkPipeline pipeline);

}  // namespace sinter::runtime::vulkan
