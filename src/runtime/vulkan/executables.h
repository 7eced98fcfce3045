// What the Vulkan backend hands out: buffers, and kernels and products that are ready to launch.
#pragma once

#include <cstddef>
#include <memory>

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

class KernelExecutable final : public Executable {
 public:
  KernelExecutable(const ir::Kernel& kernel, CompiledText& text)
      : kernel(kernel), members(emit::member_layout(kernel)), reach(kernel), text(text) {}
  const ir::Kernel kernel;
  const emit::MemberLayout members;
  const KernelReach reach;
  CompiledText& text;
  // For launches whose loops are too long for a CPU-type device: lanes share the loops.
  std::unique_ptr<ir::Kernel> shared_kernel;
  CompiledText* shared_text = nullptr;
};

class ProductExecutable final : public Executable {
 public:
  ProductPlan plan;
  CompiledText* product = nullptr;
  CompiledText* combine = nullptr;
};

}  // namespace sinter::runtime::vulkan
