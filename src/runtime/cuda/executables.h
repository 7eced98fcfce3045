// What the CUDA backend launches: compiled kernels and prepared products.
#pragma once

#include <mutex>
#include <utility>

#include "jit/emit/emit.h"
#include "src/runtime/backend.h"
#include "src/runtime/cuda/modules.h"
#include "src/runtime/cuda/products.h"

namespace sinter::runtime::cuda {

/// Arrival counters that the launches of a device share, one for each group of a split kernel.
inline constexpr std::uint32_t kCounters = 1 << 16;

struct CudaExecutable : Executable {
  explicit CudaExecutable(bool is_product) : is_product(is_product) {}
  const bool is_product;
};

struct KernelExecutable final : CudaExecutable {
  /// The target outlives it.
  KernelExecutable(const ir::Kernel& kernel, const emit::Target& target, ModuleRef code, Function function)
      : CudaExecutable(false),
        kernel(kernel),
        members(emit::member_layout(kernel)),
        target(target),
        code(std::move(code)),
        function(function) {}
  std::size_t held_bytes() const override;
  /// Throws DeviceError where a split kernel has more groups than there are counters.
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;

  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const emit::Target& target;
  const ModuleRef code;
  const Function function;
};

/// A matrix product or convolution. It compiles in the background until `wait_until_ready`: a plan prepares
/// its ops one after the other, and their compilations overlap.
struct ProductExecutable final : CudaExecutable {
  ProductExecutable() : CudaExecutable(true) {}
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return plan.blocks == 0 ? 0 : plan.workspace_bytes();
  }
  /// Without the code: there are few texts, which many products share.
  std::size_t held_bytes() const override { return sizeof *this; }
  ProductPlan plan;  // without its source
  ModuleRef code;
  std::mutex waiting;
  Function product = nullptr, sum_splits = nullptr;  // written once, with the mutex held
};

}  // namespace sinter::runtime::cuda
