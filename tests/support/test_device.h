// The device that a test runs on, and its accuracy.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <sinter/device.h>

#include "src/runtime/device_core.h"
#include "tests/support/reference/ir_reference.h"
#include "tests/support/reference/oracle_backend.h"

namespace sinter::testing {

/// A device over `backend`. Never destroyed, since values refer to it, like every device.
inline Device device_over(std::unique_ptr<runtime::Backend> backend) {
  static auto* cores = new std::vector<runtime::DeviceCore*>;
  return Device(cores->emplace_back(new runtime::DeviceCore(std::move(backend))));
}

/// The device that SINTER_DEVICE names, otherwise the host; with SINTER_TEST_ORACLE=1 the oracle, which
/// evaluates kernels itself.
inline Device test_device() {
  if (const char* oracle = std::getenv("SINTER_TEST_ORACLE"); oracle && std::string(oracle) == "1") {
    static const Device evaluated = device_over(make_oracle_backend());
    return evaluated;
  }
  const char* name = std::getenv("SINTER_DEVICE");
  return name ? Device::parse(name) : Device::host();
}

inline bool is_vulkan(const Device& device) { return device.name().starts_with("vulkan"); }

/// True where every distinct kernel costs the driver tens of milliseconds: tests use fewer.
inline bool compiles_slowly(const Device& device) {
  return is_vulkan(device) && device.core().traits().is_cpu;
}

inline Precision precision_of(const Device& device) {
  Precision precision;
  precision.flushes_denormals = is_vulkan(device);
  return precision;
}

/// True iff the device supports tensors of this dtype.
inline bool has_dtype(const Device& device, DType dtype) { return device.core().traits().supports(dtype); }

}  // namespace sinter::testing
