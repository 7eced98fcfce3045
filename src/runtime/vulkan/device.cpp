// Queries a Vulkan device and opens it.
#include "src/runtime/vulkan/device.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/vulkan/instance.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

/// The chained feature structures that we query and enable. Not copyable: they point at each other.
struct Features {
  VkPhysicalDeviceFeatures2 base =
      structure<VkPhysicalDeviceFeatures2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2);
  VkPhysicalDeviceVulkan11Features v11 =
      structure<VkPhysicalDeviceVulkan11Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES);
  VkPhysicalDeviceVulkan12Features v12 =
      structure<VkPhysicalDeviceVulkan12Features>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES);

  VkPhysicalDeviceSubgroupSizeControlFeaturesEXT subgroups =
      structure<VkPhysicalDeviceSubgroupSizeControlFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES_EXT);

  VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics =
      structure<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR);

  CooperativeMatrixFeatures matrices;
  Bfloat16Features bf16;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomic_floats =
      structure<VkPhysicalDeviceShaderAtomicFloatFeaturesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT);

  /// Those of extensions that there are.
  struct Extensions {
    bool subgroup_control = false, statistics = false, matrices = false, bf16 = false, atomic_floats = false;
  };
  explicit Features(const Extensions& has) {
    base.pNext = &v11;
    v11.pNext = &v12;
    void** end = &v12.pNext;
    const auto chain = [&](bool is_there, auto& features) {
      if (!is_there) return;
      *end = &features;
      end = &features.pNext;
    };
    chain(has.subgroup_control, subgroups);
    chain(has.statistics, statistics);
    chain(has.matrices, matrices);
    chain(has.bf16, bf16);
    chain(has.atomic_floats, atomic_floats);
  }
  Features(const Features&) = delete;
  Features& operator=(const Features&) = delete;
};

struct Properties {
  VkPhysicalDeviceProperties2 base =
      structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  VkPhysicalDeviceVulkan11Properties v11 =
      structure<VkPhysicalDeviceVulkan11Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES);
  VkPhysicalDeviceVulkan12Properties v12 =
      structure<VkPhysicalDeviceVulkan12Properties>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES);
  VkPhysicalDevicePushDescriptorPropertiesKHR push = structure<VkPhysicalDevicePushDescriptorPropertiesKHR>(
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PUSH_DESCRIPTOR_PROPERTIES_KHR);
  VkPhysicalDeviceSubgroupSizeControlPropertiesEXT subgroups =
      structure<VkPhysicalDeviceSubgroupSizeControlPropertiesEXT>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES_EXT);
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV cores =
      structure<VkPhysicalDeviceShaderSMBuiltinsPropertiesNV>(
          VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV);

  Properties(bool has_push, bool has_cores, bool has_subgroup_control) {
    base.pNext = &v11;
    v11.pNext = &v12;
    void** end = &v12.pNext;
    if (has_subgroup_control) {
      *end = &subgroups;
      end = &subgroups.pNext;
    }
    if (has_push) {
      *end = &push;
      end = &push.pNext;
    }
    if (has_cores) *end = &cores;
  }
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;
};

VkPhysicalDeviceProperties basic_properties(VkPhysicalDevice device) {
  VkPhysicalDeviceProperties properties;
  vkGetPhysicalDeviceProperties(device, &properties);
  return properties;
}

int compute_family(VkPhysicalDevice device) {
  std::uint32_t count = 0;
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vkGetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  for (std::uint32_t i = 0; i < count; ++i)
    if (families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) return static_cast<int>(i);
  return -1;
}

bool has_extension(VkPhysicalDevice device, const char* name) {
  std::uint32_t count = 0;
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  vkEnumerateDeviceExtensionProperties(device, nullptr, &count, extensions.data());
  return std::any_of(extensions.begin(), extensions.end(),
                     [&](const VkExtensionProperties& e) { return !std::strcmp(e.extensionName, name); });
}

/// Why no cooperative matrices are multiplied, where they may be; empty: they are, `shapes`.
std::string find_matrices(VkPhysicalDevice device, const Features& features, const DeviceInfo& info,
                          std::vector<ir::MatrixShape>& shapes) {
  if (!has_extension(device, kCooperativeMatrixExtension) || !features.matrices.cooperativeMatrix)
    return kCooperativeMatrixExtension;
  CooperativeMatrixStages stages;
  VkPhysicalDeviceProperties2 properties =
      structure<VkPhysicalDeviceProperties2>(VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2);
  properties.pNext = &stages;
  vkGetPhysicalDeviceProperties2(device, &properties);
  if (!(stages.cooperativeMatrixSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT))
    return "cooperative matrices in compute shaders";
  if (!features.v12.vulkanMemoryModel) return "vulkanMemoryModel";
  if (!features.v12.shaderFloat16) return "shaderFloat16";
  if (!info.has_halves) return "storageBuffer16BitAccess";
  constexpr std::uint32_t kMostLanes = 128;
  if (!info.full_subgroups || info.subgroup_size > kMostLanes) return "full subgroups of up to 128 lanes";
  shapes = matrix_shapes(matrix_properties(instance().handle, device),
                         features.bf16.shaderBFloat16Type && features.bf16.shaderBFloat16CooperativeMatrix);
  const bool has_any = std::any_of(shapes.begin(), shapes.end(),
                                   [](const ir::MatrixShape& shape) { return shape.added == DType::f32; });
  return has_any ? "" : "matrices of 16-bit floats whose products are added up in f32";
}

/// True iff kernels may ask that conversions to f16 round to the nearest, and that f16 has subnormal numbers,
/// both signs of zero, infinity and NaN, whatever holds for f32.
bool controls_f16(const VkPhysicalDeviceVulkan12Properties& properties) {
  return properties.shaderRoundingModeRTEFloat16 && properties.shaderDenormPreserveFloat16 &&
         properties.shaderSignedZeroInfNanPreserveFloat16 &&
         properties.roundingModeIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE &&
         properties.denormBehaviorIndependence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
}

DeviceInfo describe(VkPhysicalDevice device, const Features& features, const VulkanOptions& options) {
  const bool push = has_extension(device, VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  const bool cores = has_extension(device, VK_NV_SHADER_SM_BUILTINS_EXTENSION_NAME);
  const bool sizes = has_extension(device, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  Properties properties(push, cores, sizes);
  vkGetPhysicalDeviceProperties2(device, &properties.base);
  const VkPhysicalDeviceProperties& p = properties.base.properties;
  const VkPhysicalDeviceLimits& limits = p.limits;

  DeviceInfo info;
  info.name = p.deviceName;
  info.driver = std::string(properties.v12.driverName) + " " + properties.v12.driverInfo + " " +
                std::to_string(p.driverVersion);
  // Vulkan allows fma to round twice and has no feature bit for drivers that do not.
  info.fuses_fma = properties.v12.driverID == VK_DRIVER_ID_NVIDIA_PROPRIETARY;
  info.is_cpu = p.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  info.casts_f16 = !info.is_cpu && features.v12.shaderFloat16 && controls_f16(properties.v12);
  info.cpu_kernels = info.is_cpu && options.cpu_kernels;
  info.unified =
      options.mapped_memory && (info.is_cpu || p.deviceType == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU);
  info.has_f64 = features.base.features.shaderFloat64 && options.float64;
  info.has_i64 = features.base.features.shaderInt64 && options.int64;
  info.adds_wide = info.has_i64 && features.v12.shaderBufferInt64Atomics;
  info.has_bytes = features.v12.storageBuffer8BitAccess && options.bytes;
  info.has_halves = features.v11.storageBuffer16BitAccess && options.halves;
  info.has_addresses = features.v12.bufferDeviceAddress && options.buffer_addresses;
  info.push_descriptors = push && options.push_descriptors;
  info.max_push_descriptors = info.push_descriptors ? properties.push.maxPushDescriptors : 0;
  // Two bindings of each kernel are its arguments and the fault flag; the cap keeps descriptor sets small.
  info.max_storage_buffers =
      std::min({limits.maxPerStageDescriptorStorageBuffers, limits.maxPerStageResources,
                limits.maxDescriptorSetStorageBuffers, options.max_buffers ? options.max_buffers : 64u});
  info.max_invocations = std::min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0]);
  if (options.max_invocations) info.max_invocations = std::min(info.max_invocations, options.max_invocations);
  info.shared_bytes = limits.maxComputeSharedMemorySize;
  std::copy(limits.maxComputeWorkGroupCount, limits.maxComputeWorkGroupCount + 3, info.max_groups);
  if (options.max_groups) info.max_groups[0] = std::min(info.max_groups[0], options.max_groups);
  info.max_storage_range = limits.maxStorageBufferRange;
  if (options.max_storage_range)
    info.max_storage_range = std::min<VkDeviceSize>(info.max_storage_range, options.max_storage_range);
  info.max_allocation = properties.v11.maxMemoryAllocationSize;
  info.storage_alignment = std::max<VkDeviceSize>(limits.minStorageBufferOffsetAlignment, 4);

  info.subgroup_size = properties.v11.subgroupSize;
  constexpr VkSubgroupFeatureFlags kExchange =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT;
  info.full_subgroups = options.subgroups && features.subgroups.computeFullSubgroups &&
                        (properties.v11.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT) &&
                        (properties.v11.subgroupSupportedOperations & kExchange) == kExchange;
  info.chooses_subgroups =
      info.full_subgroups && features.subgroups.subgroupSizeControl &&
      (properties.subgroups.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0;
  if (info.chooses_subgroups) {
    const std::uint32_t least = properties.subgroups.minSubgroupSize,
                        most = properties.subgroups.maxSubgroupSize;
    const std::uint32_t wanted = options.subgroup_size;
    if (wanted && (wanted < least || wanted > most || (wanted & (wanted - 1))))
      throw DeviceError("[vulkan] " + info.name + " has subgroups of " + std::to_string(least) + " to " +
                        std::to_string(most) + " lanes, not of " + std::to_string(wanted));
    info.subgroup_size = wanted ? wanted : choose_subgroup(least, most, info.subgroup_size);
    info.max_invocations = std::min(info.max_invocations,
                                    info.subgroup_size * properties.subgroups.maxComputeWorkgroupSubgroups);
  }
  if (info.cpu_kernels)
    info.lanes = 1024;
  else if (cores)
    info.lanes =
        std::int64_t{properties.cores.shaderSMCount} * properties.cores.shaderWarpsPerSM * info.subgroup_size;
  else
    info.lanes = p.deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU ? 132 * 1024 : 16 * 1024;

  info.compute_units = cores ? static_cast<int>(properties.cores.shaderSMCount)
                             : std::max(1, static_cast<int>(info.lanes / 1024));
  if (options.compute_units) info.compute_units = options.compute_units;
  if (options.cooperative_matrices)
    if (const std::string missing = find_matrices(device, features, info, info.matrices); !missing.empty()) {
      info.matrices.clear();
      if (base::logs("device"))
        base::log_line("device",
                       "no cooperative matrices are used on " + info.name + ", which lacks " + missing);
    }

  VkPhysicalDeviceMemoryProperties memory;
  vkGetPhysicalDeviceMemoryProperties(device, &memory);
  for (std::uint32_t i = 0; i < memory.memoryHeapCount; ++i)
    if (memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      info.local_bytes = std::max(info.local_bytes, memory.memoryHeaps[i].size);
  return info;
}

}  // namespace

std::uint32_t choose_subgroup(std::uint32_t least, std::uint32_t most, std::uint32_t usual) {
  constexpr std::uint32_t kWanted = 32;
  if (least == 0 || least > most) return usual;
  return std::clamp(kWanted, least, most);
}

std::string missing_features(VkPhysicalDevice device, const VulkanOptions& options) {
  const VkPhysicalDeviceProperties properties = basic_properties(device);
  std::string missing;
  auto need = [&](bool has, const char* what) {
    if (!has) missing += (missing.empty() ? "" : ", ") + std::string(what);
  };
  need(compute_family(device) >= 0, "a compute queue");
  need(properties.apiVersion >= VK_API_VERSION_1_2, "Vulkan 1.2");
  if (properties.apiVersion >= VK_API_VERSION_1_2) {
    Features features({});
    vkGetPhysicalDeviceFeatures2(device, &features.base);
    need(features.v12.timelineSemaphore && options.timeline, "timelineSemaphore");
  }
  const VkPhysicalDeviceLimits& limits = properties.limits;
  // Arguments, fault words, partial results and counters take four.
  constexpr std::uint32_t kLeastBuffers = 8, kLeastInvocations = 128;
  const std::uint32_t buffers = std::min({limits.maxPerStageDescriptorStorageBuffers,
                                          limits.maxPerStageResources, limits.maxDescriptorSetStorageBuffers,
                                          options.max_buffers ? options.max_buffers : ~std::uint32_t{0}});
  need(buffers >= kLeastBuffers, "8 storage buffers for a kernel");
  const std::uint32_t lanes =
      std::min({limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0],
                options.max_invocations ? options.max_invocations : ~std::uint32_t{0}});
  need(lanes >= kLeastInvocations, "workgroups of 128 invocations");
  return missing.empty() ? "" : std::string(properties.deviceName) + " lacks " + missing;
}

bool is_hardware(VkPhysicalDevice device) {
  return basic_properties(device).deviceType != VK_PHYSICAL_DEVICE_TYPE_CPU;
}

Device::Device(int index, const VulkanOptions& options) : result_of_(options.result_of) {
  const Instance& all = instance();
  if (all.devices.empty()) throw DeviceError("[vulkan] " + all.reason);
  if (index < 0 || static_cast<std::size_t>(index) >= all.devices.size())
    throw DeviceError("[vulkan] there is no device " + std::to_string(index) + ": this computer has " +
                      std::to_string(all.devices.size()) + " Vulkan device(s), counted from 0");
  physical_ = all.devices[index];
  if (const std::string missing = missing_features(physical_, options); !missing.empty())
    throw DeviceError("[vulkan] " + missing + ", which every kernel needs");
  vkGetPhysicalDeviceMemoryProperties(physical_, &memory_);

  Features have(
      {.subgroup_control = has_extension(physical_, VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME),
       .matrices = options.cooperative_matrices && has_extension(physical_, kCooperativeMatrixExtension),
       .bf16 = options.cooperative_matrices && has_extension(physical_, kBfloat16Extension),
       .atomic_floats =
           options.atomic_floats && has_extension(physical_, VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME)});
  vkGetPhysicalDeviceFeatures2(physical_, &have.base);
  info_ = describe(physical_, have, options);

  info_.has_statistics =
      base::logs("compile") && has_extension(physical_, VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);

  const bool has_matrices = !info_.matrices.empty();
  const bool has_bf16 =
      std::any_of(info_.matrices.begin(), info_.matrices.end(),
                  [](const ir::MatrixShape& shape) { return shape.multiplied == DType::bf16; });
  info_.adds_floats = have.atomic_floats.shaderBufferFloat32AtomicAdd;
  Features use({info_.full_subgroups, info_.has_statistics, has_matrices, has_bf16, info_.adds_floats});
  use.atomic_floats.shaderBufferFloat32AtomicAdd = info_.adds_floats;
  use.matrices.cooperativeMatrix = has_matrices;
  use.bf16.shaderBFloat16Type = use.bf16.shaderBFloat16CooperativeMatrix = has_bf16;
  use.v12.vulkanMemoryModel = has_matrices;
  use.v12.shaderFloat16 = has_matrices || info_.casts_f16;
  use.statistics.pipelineExecutableInfo = info_.has_statistics;
  use.subgroups.computeFullSubgroups = info_.full_subgroups;
  use.subgroups.subgroupSizeControl = info_.chooses_subgroups;
  use.base.features.shaderInt64 = info_.has_i64;
  use.v12.shaderBufferInt64Atomics = info_.adds_wide;
  use.base.features.shaderFloat64 = info_.has_f64;
  use.v11.storageBuffer16BitAccess = info_.has_halves;
  use.v12.timelineSemaphore = VK_TRUE;
  use.v12.bufferDeviceAddress = info_.has_addresses;
  use.v12.storageBuffer8BitAccess = info_.has_bytes;

  queue_family_ = static_cast<std::uint32_t>(compute_family(physical_));
  const float priority = 1.0f;
  VkDeviceQueueCreateInfo queue =
      structure<VkDeviceQueueCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO);
  queue.queueFamilyIndex = queue_family_;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  std::vector<const char*> extensions;
  if (info_.push_descriptors) extensions.push_back(VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME);
  if (info_.full_subgroups) extensions.push_back(VK_EXT_SUBGROUP_SIZE_CONTROL_EXTENSION_NAME);
  if (has_matrices) extensions.push_back(kCooperativeMatrixExtension);
  if (has_bf16) extensions.push_back(kBfloat16Extension);
  if (info_.adds_floats) extensions.push_back(VK_EXT_SHADER_ATOMIC_FLOAT_EXTENSION_NAME);
  // A device that is only a part of Vulkan, such as MoltenVK's, wants to hear that this is known.
  constexpr const char* kPortabilitySubset = "VK_KHR_portability_subset";
  if (has_extension(physical_, kPortabilitySubset)) extensions.push_back(kPortabilitySubset);
  if (info_.has_statistics) extensions.push_back(VK_KHR_PIPELINE_EXECUTABLE_PROPERTIES_EXTENSION_NAME);
  VkDeviceCreateInfo create = structure<VkDeviceCreateInfo>(VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO);
  create.pNext = &use.base;
  create.queueCreateInfoCount = 1;
  create.pQueueCreateInfos = &queue;
  create.enabledExtensionCount = static_cast<std::uint32_t>(extensions.size());
  create.ppEnabledExtensionNames = extensions.data();
  check(vkCreateDevice(physical_, &create, nullptr, &handle_), ("opening " + info_.name).c_str());
  vkGetDeviceQueue(handle_, queue_family_, 0, &queue_);
  if (info_.push_descriptors)
    push_descriptor_set = reinterpret_cast<PFN_vkCmdPushDescriptorSetKHR>(
        vkGetDeviceProcAddr(handle_, "vkCmdPushDescriptorSetKHR"));
  if (base::logs("device"))
    base::log_line("device", "vulkan:" + std::to_string(index) + " is " + info_.name + ", " + info_.driver +
                                 ", subgroup " + std::to_string(info_.subgroup_size) +
                                 (info_.cpu_kernels ? ", kernels without barriers" : "") +
                                 describe(info_.matrices));
}

Device::~Device() {
  vkDeviceWaitIdle(handle_);
  vkDestroyDevice(handle_, nullptr);
}

int Device::memory_type(std::uint32_t allowed, VkMemoryPropertyFlags required,
                        VkMemoryPropertyFlags preferred) const {
  for (VkMemoryPropertyFlags wanted : {required | preferred, required})
    for (std::uint32_t i = 0; i < memory_.memoryTypeCount; ++i)
      if ((allowed >> i & 1) && (memory_.memoryTypes[i].propertyFlags & wanted) == wanted)
        return static_cast<int>(i);
  return -1;
}

}  // namespace sinter::runtime::vulkan
