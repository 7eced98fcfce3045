// What the CUDA backend launches: compiled kernels, prepared products and passes, and the products of a
// vendor's library.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "jit/emit/emit.h"
#include "src/runtime/backend.h"
#include "src/runtime/cuda/libraries/lt_products.h"
#include "src/runtime/cuda/memory/memory.h"
#include "src/runtime/cuda/modules.h"
#include "src/runtime/cuda/products/products.h"
#include "src/runtime/passes/passes.h"

namespace sinter::runtime::cuda {

/// Arrival counters that the launches of a strand share, one for each group of a split kernel, of which 64
/// members may have 4,096 each, and those of all strands.
inline constexpr std::uint32_t kCounters = 1 << 18;
inline constexpr std::size_t kAllCounters = kCounters * plan::LaunchOrder::kMostStrands;

struct CudaExecutable : Executable {
  enum class Kind : std::uint8_t { Kernel, Product, Passes, Library, Solver };
  explicit CudaExecutable(Kind kind) : kind(kind) {}
  const Kind kind;
};

struct KernelExecutable final : CudaExecutable {
  KernelExecutable(const ir::Kernel& kernel, const emit::Target& target, ModuleRef code, Function function)
      : CudaExecutable(Kind::Kernel),
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
  const emit::Target target;
  const ModuleRef code;
  const Function function;
};

/// A matrix product or convolution. It compiles in the background until `wait_until_ready`: a plan prepares
/// its ops one after the other, and their compilations overlap.
struct ProductExecutable final : CudaExecutable {
  ProductExecutable() : CudaExecutable(Kind::Product) {}
  std::string how(std::span<const std::int64_t>, std::size_t) override {
    return library ? "by cuBLASLt " + cublaslt_name(cublaslt()->version) : "";
  }
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    if (library) return library->workspace_bytes(1);
    return plan.blocks == 0 ? 0 : plan.workspace_bytes();
  }
  /// Without the code: there are few texts, which many products share.
  std::size_t held_bytes() const override { return sizeof *this; }
  std::shared_ptr<const LtProduct> library;  // that computes it, in place of all below
  ProductPlan plan;                          // without its source
  ModuleRef code;
  std::mutex waiting;
  Function product = nullptr, sum_splits = nullptr;  // written once, with the mutex held
};

/// A library op of several passes; it compiles in the background as a product does.
struct PassesExecutable final : CudaExecutable {
  PassesExecutable() : CudaExecutable(Kind::Passes) {}
  std::size_t results = 1;  // of the op: its last buffers
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return list.workspace_bytes;
  }
  std::size_t held_bytes() const override { return sizeof *this + list.passes.size() * 2 * sizeof(Pass); }
  PassList list;  // the passes that have something to do
  ModuleRef code;
  std::mutex waiting;
  std::vector<Function> functions;  // of each pass; written once, with the mutex held
};

/// A kernel that a vendor's library computes (ir::Tiling::library), or whose sums it computes, which one of
/// our own makes the results of. The library is asked once for each list of ints.
struct LibraryExecutable final : CudaExecutable {
  /// What a launch with some ints does.
  struct Steps {
    std::vector<std::int64_t> ints;
    std::shared_ptr<const LtProduct> product;
    std::vector<std::int64_t> rest_ints;  // of the kernel for the rest; empty: there is none

    /// The sums come first in the workspace, then what the library works in.
    std::size_t sum_bytes() const;
  };

  /// The products outlive it. `make_rest` compiles the kernel for the rest.
  LibraryExecutable(const ir::Kernel& kernel, LtProducts& products,
                    std::function<std::unique_ptr<KernelExecutable>(const ir::Kernel&)> make_rest)
      : CudaExecutable(Kind::Library),
        kernel(kernel),
        products_(products),
        make_rest_(std::move(make_rest)) {}

  std::string how(std::span<const std::int64_t> ints, std::size_t members) override;
  std::size_t held_bytes() const override;
  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;
  /// Throws DeviceError where the library cannot, and CompileError.
  std::shared_ptr<const Steps> steps(std::span<const std::int64_t> ints) const;
  /// Of steps that have a rest.
  KernelExecutable& rest() const { return *rest_; }

  const ir::Kernel kernel;

 private:
  static constexpr std::size_t kMostKnown = 64;
  LtProducts& products_;
  const std::function<std::unique_ptr<KernelExecutable>(const ir::Kernel&)> make_rest_;
  mutable std::mutex mutex_;
  mutable std::vector<std::shared_ptr<const Steps>> known_;
  mutable std::unique_ptr<KernelExecutable> rest_;  // written once, with the mutex held
};

}  // namespace sinter::runtime::cuda
