// NVIDIA GPUs through the CUDA driver.
#pragma once

#include <memory>
#include <string>

#include "src/runtime/backend.h"

namespace sinter::runtime {

/// Number of GPUs that kernels can be compiled for and run on; 0 where the driver or NVRTC is missing.
int cuda_device_count();

/// Why there is no usable GPU and what to do; empty where there is one.
std::string cuda_unavailable_reason();

/// Throws DeviceError when there is no such device.
std::unique_ptr<Backend> make_cuda_backend(int index);

/// For tests: with at most `most_graphs` CUDA graphs at a time; 0: none.
std::unique_ptr<Backend> make_cuda_backend(int index, std::size_t most_graphs);

}  // namespace sinter::runtime
