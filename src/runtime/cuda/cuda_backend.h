// NVIDIA GPUs through the CUDA driver.
#pragma once

#include <memory>
#include <string>

#include "src/runtime/backend.h"

namespace sinter::runtime {

/// GPUs that kernels can be compiled for and run on; 0 where the driver or NVRTC is missing.
int cuda_device_count();

/// Why there are none, and what to do; empty where there are some.
std::string cuda_unavailable_reason();

/// Throws DeviceError when there is no such device.
std::unique_ptr<Backend> make_cuda_backend(int index);

/// With a bound on the plans that are kept as CUDA graphs at a time; 0: none. For tests.
std::unique_ptr<Backend> make_cuda_backend(int index, std::size_t most_graphs);

}  // namespace sinter::runtime
