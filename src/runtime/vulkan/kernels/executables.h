// What the Vulkan backend hands out: buffers, and kernels and products that are ready to launch.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "jit/emit/emit.h"
#include "jit/ir/kernel.h"
#include "src/runtime/backend.h"
#include "src/runtime/passes/passes.h"
#include "src/runtime/vulkan/kernels/compiler.h"
#include "src/runtime/vulkan/kernels/products.h"
#include "src/runtime/vulkan/kernels/reach.h"
#include "src/runtime/vulkan/memory/memory.h"

namespace sinter::runtime::vulkan {

class VulkanBuffer final : public Buffer {
 public:
  VulkanBuffer(Backend& backend, std::size_t bytes, MemoryPool& pool, const Slice& slice)
      : Buffer(backend, bytes), slice(slice), pool_(pool) {}
  ~VulkanBuffer() override { pool_.release(slice); }

  Slice slice;

 private:
  MemoryPool& pool_;
};

/// A way to launch a kernel.
struct KernelForm {
  const ir::Kernel* kernel = nullptr;
  const emit::Target* target = nullptr;
  CompiledTextRef text;
};

class KernelExecutable final : public Executable {
 public:
  /// `most_bytes`: what one binding reaches, where kernels can reach more by addresses; else 0.
  KernelExecutable(const ir::Kernel& kernel, KernelCompiler& compiler, CompiledTextRef text,
                   VkDeviceSize most_bytes)
      : kernel(kernel),
        members(emit::member_layout(kernel)),
        reach(kernel),
        compiler_(compiler),
        most_bytes_(most_bytes) {
    usual_ = {&this->kernel, &compiler.target(), std::move(text)};
  }

  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t members) const override;

  std::size_t held_bytes() const override;

  /// True iff a launch names its buffers by addresses: all launches of several members do, and those that
  /// reach farther than a binding.
  bool uses_addresses(std::span<const std::int64_t> reaches) const;

  /// The kernel as it is, or by addresses. `shared_loops`: for launches whose loops are too long for a
  /// CPU-type device, lanes share the loops. Compiled at first use, by any thread.
  const KernelForm& form(bool by_address, bool shared_loops);

  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const KernelReach reach;

 private:
  struct Other {
    std::once_flag once;
    ir::Kernel kernel;
    KernelForm form;
    std::atomic<bool> is_made{false};
  };

  KernelCompiler& compiler_;
  const VkDeviceSize most_bytes_;
  KernelForm usual_;
  Other others_[2][2];  // [by_address][shared_loops]
};

class ProductExecutable final : public Executable {
 public:
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return plan.partial_bytes;
  }
  /// Without the code: there are few texts, which many products share.
  std::size_t held_bytes() const override {
    return sizeof *this + 4 * (plan.product.words.size() + plan.combine.words.size());
  }

  ProductPlan plan;  // without its sources
  CompiledTextRef product, combine;
};

/// A library op of several passes.
class PassesExecutable final : public Executable {
 public:
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return list.workspace_bytes;
  }
  std::size_t held_bytes() const override { return sizeof *this + list.passes.size() * 2 * sizeof(Pass); }

  PassList list;  // the passes that have something to do
  std::vector<CompiledTextRef> texts;
};

}  // namespace sinter::runtime::vulkan
