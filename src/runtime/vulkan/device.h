// One Vulkan device: its features and limits, its logical device and its queue.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/cooperative_matrices.h"
#include "src/runtime/vulkan/options.h"

namespace sinter::runtime::vulkan {

/// The features and limits of a device, as far as they are used, as plain data.
struct DeviceInfo {
  std::string name;          // "llvmpipe (LLVM 15.0.6, 256 bits)"
  std::string driver;        // "Mesa 22.3.6 (LLVM 15.0.6)", with the driver's version number
  bool is_cpu = false;       // runs on the host's cores
  bool cpu_kernels = false;  // generate kernels without shared memory and barriers
  bool unified = false;      // the host reads and writes buffers in place
  bool has_f64 = false;
  bool has_halves = false;  // buffers of 16-bit elements
  bool has_bytes = false;   // buffers of 8-bit elements
  bool has_i64 = false;
  bool adds_floats = false, adds_wide = false;  // atomically, in buffers: f32, integers of 64 bits
  bool push_descriptors = false;
  bool has_addresses = false;      // kernels can access buffers by address
  bool fuses_fma = false;          // fma rounds once, in one instruction
  bool casts_f16 = false;          // emit::Target::casts_f16
  bool full_subgroups = false;     // subgroups can be required to be full, and have shuffles
  bool chooses_subgroups = false;  // kernels require `subgroup_size`; else it is what the driver takes
  bool has_statistics = false;     // pipeline statistics; used where compilation is logged
  std::uint32_t subgroup_size = 1;
  std::uint32_t max_push_descriptors = 0;
  std::uint32_t max_storage_buffers = 0;  // per kernel
  std::uint32_t max_invocations = 0;      // per workgroup
  std::uint32_t shared_bytes = 0;
  std::uint32_t max_groups[3] = {0, 0, 0};
  std::int64_t lanes = 0;  // resident invocations; a guess where the driver does not report it
  int compute_units = 1;   // likewise
  /// That subgroups multiply, where VulkanOptions::cooperative_matrices asks for them.
  std::vector<ir::MatrixShape> matrices;
  VkDeviceSize max_storage_range = 0;  // bytes of one binding
  VkDeviceSize max_allocation = 0;
  VkDeviceSize storage_alignment = 16;  // of a binding's offset
  VkDeviceSize local_bytes = 0;         // size of the device's own memory
};

/// Names the device and the missing features that every kernel needs; empty if none is missing.
std::string missing_features(VkPhysicalDevice device, const VulkanOptions& options = {});

/// The size of subgroups for a device that has sizes from `least` to `most`, powers of two, where `usual` is
/// what its driver takes. 32 where it can be: the smallest workgroups have 32 lanes, and a subgroup should
/// not be larger; more lanes exchange values without memory.
std::uint32_t choose_subgroup(std::uint32_t least, std::uint32_t most, std::uint32_t usual);

bool is_hardware(VkPhysicalDevice device);

class Device {
 public:
  /// `index` is an index of instance().devices. Throws DeviceError.
  Device(int index, const VulkanOptions& options);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  VkDevice handle() const { return handle_; }
  VkQueue queue() const { return queue_; }
  std::uint32_t queue_family() const { return queue_family_; }
  const DeviceInfo& info() const { return info_; }
  VkPhysicalDevice physical() const { return physical_; }

  /// A memory type among the bits of `allowed` with all `required` properties, and with all `preferred` ones
  /// if such a type exists. -1: none.
  int memory_type(std::uint32_t allowed, VkMemoryPropertyFlags required,
                  VkMemoryPropertyFlags preferred) const;
  VkMemoryPropertyFlags memory_flags(int type) const { return memory_.memoryTypes[type].propertyFlags; }

  PFN_vkCmdPushDescriptorSetKHR push_descriptor_set = nullptr;

  /// Makes a Vulkan call, unless a test wants it to fail (VulkanOptions::result_of).
  template <class Call>
  VkResult attempt(const char* name, Call call) const {
    if (result_of_)
      if (const int result = result_of_(name)) return static_cast<VkResult>(result);
    return call();
  }

 private:
  int (*result_of_)(const char* call) = nullptr;
  VkPhysicalDevice physical_;
  VkPhysicalDeviceMemoryProperties memory_{};
  DeviceInfo info_;
  VkDevice handle_ = VK_NULL_HANDLE;
  VkQueue queue_ = VK_NULL_HANDLE;
  std::uint32_t queue_family_ = 0;
};

}  // namespace sinter::runtime::vulkan
