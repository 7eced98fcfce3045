// Switches for optional features of a Vulkan device.
#pragma once

#include <cstdint>

namespace sinter::runtime {

/// A feature that is set to false is not used, as if the device lacked it; true uses it where the device has
/// it. With these, one machine tests the code paths of other machines.
struct VulkanOptions {
  bool cpu_kernels = true;       // on a CPU-type device: kernels without shared memory and barriers
  bool push_descriptors = true;  // descriptors in the command buffer instead of descriptor sets from pools
  bool mapped_memory = true;     // on devices that share the host's memory: read and write buffers in place
  bool float64 = true;
  bool halves = true;
  bool subgroups = true;         // workgroup reductions by subgroup shuffles
  bool bytes = true;             // buffers of bool and u8
  bool int64 = true;             // arithmetic of 64-bit integers
  bool atomic_floats = true;     // atomic additions of f32 in buffers
  bool timeline = true;          // timeline semaphores, which no device can do without
  bool buffer_addresses = true;  // batched launches, whose kernels access buffers by address

  bool cooperative_matrices = false;  // as SINTER_COOPERATIVE_MATRICES: products on tensor cores
  bool matrix_layout = true;          // as SINTER_MATRIX_LAYOUT: find out which lanes have what of matrices

  // The most that is used of what the device has; 0: all.
  std::uint32_t max_invocations = 0;    // of a workgroup
  std::uint32_t max_buffers = 0;        // bindings of a kernel
  std::uint32_t max_groups = 0;         // workgroups of a launch
  std::uint64_t max_storage_range = 0;  // bytes of a binding
  std::uint32_t subgroup_size = 0;      // lanes of a subgroup, where the device lets a kernel choose

  int compute_units = 0;  // as if the device had so many; 0: what it has

  /// Of tests: asked before each Vulkan call that may fail while the device works ("vkQueueSubmit"). A
  /// VkResult other than 0 is taken for the call's, which is not made.
  int (*result_of)(const char* call) = nullptr;
};

}  // namespace sinter::runtime
