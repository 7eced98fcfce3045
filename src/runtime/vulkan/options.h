// Switches for optional features of a Vulkan device.
#pragma once

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
  bool buffer_addresses = true;  // batched launches, whose kernels access buffers by address

  /// Of tests: asked before each Vulkan call that may fail while the device works ("vkQueueSubmit"). A
  /// VkResult other than 0 is taken for the call's, which is not made.
  int (*result_of)(const char* call) = nullptr;
};

}  // namespace sinter::runtime
