// What the Vulkan backend hands out: buffers, and kernels and products that are ready to launch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "jit/emit/emit.h"
#include "jit/ir/kernel.h"
#include "src/runtime/backend.h"
#include "src/runtime/vulkan/compiler.h"
#include "src/runtime/vulkan/memory.h"
#include "src/runtime/vulkan/products.h"
#include "src/runtime/vulkan/reach.h"

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
  CompiledText* text = nullptr;
};

class KernelExecutable final : public Executable {
 public:
  KernelExecutable(const ir::Kernel& kernel, KernelCompiler& compiler, CompiledText& text)
      : kernel(kernel), members(emit::member_layout(kernel)), reach(kernel), compiler_(compiler) {
    usual_ = {&this->kernel, &compiler.target(), &text};
  }

  std::size_t workspace_bytes(std::span<const std::int64_t> ints, std::size_t /*members*/) const override {
    if (!kernel.split) return 0;
    const emit::Geometry geometry = emit::geometry(kernel, compiler_.target(), ints);
    return geometry.workgroups == 0 ? 0 : emit::split_scratch_bytes(kernel, geometry, ints);
  }

  const KernelForm& usual() const { return usual_; }
  /// For launches whose loops are too long for a CPU-type device: lanes share the loops. Compiled at first
  /// use, by any thread.
  const KernelForm& with_shared_loops();

  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const KernelReach reach;

 private:
  KernelCompiler& compiler_;
  KernelForm usual_, shared_;
  std::once_flag shared_once_;
  ir::Kernel shared_kernel_;
};

class ProductExecutable final : public Executable {
 public:
  std::size_t workspace_bytes(std::span<const std::int64_t>, std::size_t) const override {
    return plan.partial_bytes;
  }

  ProductPlan plan;
  CompiledText* product = nullptr;
  CompiledText* combine = nullptr;
};

}  // namespace sinter::runtime::vulkan
