// Which of a Vulkan device's abilities are used.
#pragma once

namespace sinter::runtime {

/// A field set to false makes the backend do without, as if the device lacked it; true uses it where the
/// device has it. By these, one machine tests the paths that other machines take.
struct VulkanOptions {
  bool cpu_kernels = true;       // on a CPU-type device: kernels without shared memory and barriers
  bool push_descriptors = true;  // descriptors written into the command buffer, not taken from pools
  bool mapped_memory = true;     // on devices that share the host's memory: read and write buffers in place
  bool float64 = true;
  bool halves = true;
  bool subgroups = true;         // reductions of a group by exchange between lanes
  bool buffer_addresses = true;  // kernels for several members, which reach buffers through addresses
};

}  // namespace sinter::runtime
