// Asks for the cooperative matrices of a device.
#include "src/runtime/vulkan/cooperative_matrices.h"

#include <limits>
#include <optional>

namespace sinter::runtime::vulkan {
namespace {

// Of VkComponentTypeKHR and VkScopeKHR.
constexpr std::int32_t kFloat16 = 0, kFloat32 = 1, kBfloat16 = 1000141000, kSubgroup = 3;

std::optional<DType> dtype_of(std::int32_t component) {
  switch (component) {
    case kFloat16: return DType::f16;
    case kFloat32: return DType::f32;
    case kBfloat16: return DType::bf16;
    default: return std::nullopt;
  }
}

}  // namespace

std::vector<ir::MatrixShape> matrix_shapes(const std::vector<CooperativeMatrixProperties>& properties,
                                           bool has_bf16) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  std::vector<ir::MatrixShape> shapes;
  for (const CooperativeMatrixProperties& of : properties) {
    const std::optional<DType> multiplied = dtype_of(of.AType), added = dtype_of(of.CType);
    if (of.scope != kSubgroup || of.BType != of.AType || of.ResultType != of.CType) continue;
    if (of.MSize > kMost || of.NSize > kMost || of.KSize > kMost) continue;
    if (!multiplied || !added || !is_half(*multiplied) || (*multiplied == DType::bf16 && !has_bf16)) continue;
    shapes.push_back({static_cast<std::uint16_t>(of.MSize), static_cast<std::uint16_t>(of.NSize),
                      static_cast<std::uint16_t>(of.KSize), *multiplied, *added});
  }
  return shapes;
}

std::string describe(const std::vector<ir::MatrixShape>& shapes) {
  std::string text;
  for (const ir::MatrixShape& shape : shapes)
    text += (text.empty() ? ", matrices " : ", ") + std::to_string(shape.m) + "x" + std::to_string(shape.n) +
            "x" + std::to_string(shape.k) + " " + std::string(name_of(shape.multiplied)) + " to " +
            std::string(name_of(shape.added));
  return text;
}

std::vector<CooperativeMatrixProperties> matrix_properties(VkInstance instance, VkPhysicalDevice device) {
  using Ask = VkResult(VKAPI_PTR*)(VkPhysicalDevice, std::uint32_t*, CooperativeMatrixProperties*);
  const auto ask = reinterpret_cast<Ask>(
      vkGetInstanceProcAddr(instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  std::uint32_t count = 0;
  if (!ask || ask(device, &count, nullptr) != VK_SUCCESS) return {};
  std::vector<CooperativeMatrixProperties> properties(count);
  if (ask(device, &count, properties.data()) != VK_SUCCESS) return {};
  properties.resize(count);
  return properties;
}

}  // namespace sinter::runtime::vulkan
