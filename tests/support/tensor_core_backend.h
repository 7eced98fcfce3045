// A CUDA device that plans as one with tensor cores, whatever it has: kernels with tiles run by plain loops
// where it has none, so that the emulated driver runs all that stands around them.
#pragma once

#include <cstddef>
#include <string>

#include "src/runtime/cuda/cuda_backend.h"
#include "tests/support/forwarding_backend.h"

namespace sinter::testing {

class TensorCoreBackend final : public ForwardingBackend {
 public:
  explicit TensorCoreBackend(std::size_t most_graphs = 16)
      : ForwardingBackend(runtime::make_cuda_backend(0, most_graphs)), traits_(inner().traits()) {
    if (!traits_.tensor_cores.any()) traits_.tensor_cores = {132, std::size_t{227} << 10};
  }

  const ir::DeviceTraits& traits() const override { return traits_; }
  std::string timing_identity() const override { return inner().timing_identity(); }
  double time_launch(runtime::Executable& executable, const runtime::LaunchArguments& arguments,
                     const runtime::RunNeeds& needs) override {
    return inner().time_launch(executable, arguments, needs);
  }

 private:
  ir::DeviceTraits traits_;
};

}  // namespace sinter::testing
