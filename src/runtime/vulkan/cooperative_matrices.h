// What is needed of VK_KHR_cooperative_matrix and VK_KHR_shader_bfloat16, which the headers of Debian 12
// (1.3.239) lack, and what a device has of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "jit/ir/traits.h"

namespace sinter::runtime::vulkan {

inline constexpr const char* kCooperativeMatrixExtension = "VK_KHR_cooperative_matrix";
inline constexpr const char* kBfloat16Extension = "VK_KHR_shader_bfloat16";

/// VkPhysicalDeviceCooperativeMatrixFeaturesKHR.
struct CooperativeMatrixFeatures {
  VkStructureType sType = static_cast<VkStructureType>(1000506000);
  void* pNext = nullptr;
  VkBool32 cooperativeMatrix = VK_FALSE, cooperativeMatrixRobustBufferAccess = VK_FALSE;
};

/// VkPhysicalDeviceCooperativeMatrixPropertiesKHR.
struct CooperativeMatrixStages {
  VkStructureType sType = static_cast<VkStructureType>(1000506002);
  void* pNext = nullptr;
  VkShaderStageFlags cooperativeMatrixSupportedStages = 0;
};

/// VkPhysicalDeviceShaderBfloat16FeaturesKHR.
struct Bfloat16Features {
  VkStructureType sType = static_cast<VkStructureType>(1000141000);
  void* pNext = nullptr;
  VkBool32 shaderBFloat16Type = VK_FALSE, shaderBFloat16DotProduct = VK_FALSE,
           shaderBFloat16CooperativeMatrix = VK_FALSE;
};

/// VkCooperativeMatrixPropertiesKHR; types and scope are numbers of VkComponentTypeKHR and VkScopeKHR.
struct CooperativeMatrixProperties {
  VkStructureType sType = static_cast<VkStructureType>(1000506001);
  void* pNext = nullptr;
  std::uint32_t MSize = 0, NSize = 0, KSize = 0;
  std::int32_t AType = 0, BType = 0, CType = 0, ResultType = 0;
  VkBool32 saturatingAccumulation = VK_FALSE;
  std::int32_t scope = 0;
};

/// Those of a subgroup that multiply f16 or bf16 and add to what they result in.
std::vector<ir::MatrixShape> matrix_shapes(const std::vector<CooperativeMatrixProperties>& properties,
                                           bool has_bf16);

/// ", matrices 16x16x16 f16 to f32, ..."; empty where there are none.
std::string describe(const std::vector<ir::MatrixShape>& shapes);

/// Asks the driver for them.
std::vector<CooperativeMatrixProperties> matrix_properties(VkInstance instance, VkPhysicalDevice device);

}  // namespace sinter::runtime::vulkan
