// Queries and formats pipeline statistics.
#include "src/runtime/vulkan/kernels/pipeline_statistics.h"

#include <cstdint>
#include <vector>

#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

std::string text_of(const VkPipelineExecutableStatisticKHR& statistic) {
  switch (statistic.format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR: return statistic.value.b32 ? "yes" : "no";
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR: return std::to_string(statistic.value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR: return std::to_string(statistic.value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR: return std::to_string(statistic.value.f64);
    default: return "?";
  }
}

}  // namespace

std::string pipeline_statistics(VkDevice device, VkPipeline pipeline) {
  const auto get = reinterpret_cast<PFN_vkGetPipelineExecutableStatisticsKHR>(
      vkGetDeviceProcAddr(device, "vkGetPipelineExecutableStatisticsKHR"));
  if (!get) return "";
  // A compute pipeline has one executable.
  VkPipelineExecutableInfoKHR which =
      structure<VkPipelineExecutableInfoKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR);
  which.pipeline = pipeline;
  std::uint32_t count = 0;
  check(get(device, &which, &count, nullptr), "vkGetPipelineExecutableStatisticsKHR");
  std::vector<VkPipelineExecutableStatisticKHR> all(
      count,
      structure<VkPipelineExecutableStatisticKHR>(VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR));
  check(get(device, &which, &count, all.data()), "vkGetPipelineExecutableStatisticsKHR");
  std::string text;
  for (std::uint32_t i = 0; i < count; ++i)
    text += (text.empty() ? "" : ", ") + std::string(all[i].name) + " " + text_of(all[i]);
  return text;
}

}  // namespace sinter::runtime::vulkan
