// The device that a test runs on, and its accuracy.
#pragma once

#include <memory>

#include <sinter/device.h>
#include <sinter/dtype.h>

#include "src/runtime/device_core.h"
#include "tests/support/reference/precision.h"

namespace sinter::testing {

/// A device over `backend`. Never destroyed, since values refer to it, like every device.
Device device_over(std::unique_ptr<runtime::Backend> backend);

/// The device that SINTER_DEVICE names, otherwise the host; with SINTER_TEST_ORACLE=1 the oracle, which
/// evaluates kernels itself.
Device test_device();

bool is_vulkan(const Device& device);

/// True where every distinct kernel costs the driver tens of milliseconds: tests use fewer.
bool compiles_slowly(const Device& device);

Precision precision_of(const Device& device);

/// True iff the device supports tensors of this dtype.
bool has_dtype(const Device& device, DType dtype);

}  // namespace sinter::testing
