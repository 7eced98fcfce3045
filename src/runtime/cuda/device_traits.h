// What the driver says of a device, and what the planner needs to know of it.
#pragma once

#include <cstddef>
#include <string>

#include "jit/emit/emit.h"
#include "jit/ir/kernel.h"
#include "jit/ir/traits.h"
#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

struct DeviceFacts {
  std::string name;
  int index = 0, multiprocessors = 1;
  int major = 0, minor = 0;  // compute capability
  std::size_t memory_bytes = 0, cache_bytes = 0;
  std::size_t shared_bytes = 0;  // that a launch may ask for; 0: the driver has no way to ask
  bool has_clusters = false;
};
/// Throws DeviceError where the driver fails.
DeviceFacts facts_of(const DriverApi& api, DeviceId device, int index);

/// All but batch_bytes, which depends on the driver's version.
ir::DeviceTraits traits_of(const DriverApi& api, const DeviceFacts& facts);

/// The target of a kernel that is compiled. Where several workgroups share the work of one, as many are
/// wanted as the device runs of this function at once: with a few more, all would wait for these.
emit::Target target_of(const DriverApi& api, const ir::Kernel& kernel, Function function,
                       const emit::Target& target, int multiprocessors);

}  // namespace sinter::runtime::cuda
