// Compiles kernels for a Vulkan device: kernel IR to GLSL, SPIR-V and pipelines, each made once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/compile/kernel_cache.h"
#include "jit/emit/emit.h"
#include "src/runtime/backend.h"
#include "src/runtime/vulkan/kernels/once_map.h"
#include "src/runtime/vulkan/kernels/pipelines.h"

namespace sinter::runtime::vulkan {

/// A compiled source with its pipelines, one for each workgroup size it was launched with.
struct CompiledText {
  std::vector<std::uint32_t> spirv;
  std::uint32_t bindings = 0;
  // By the lanes of a workgroup and of a row.
  OnceMap<std::pair<std::uint32_t, std::uint32_t>, OwnedPipeline> pipelines;

  /// About how much memory it takes with its pipelines.
  std::size_t held_bytes() const;
};
using CompiledTextRef = std::shared_ptr<CompiledText>;

/// Keeps what somebody refers to; equal sources of different kernels share one entry. Thread-safe: two
/// threads that want the same source compile it once, and those that want others do not wait.
class KernelCompiler {
 public:
  explicit KernelCompiler(const Device& device);

  const emit::Target& target() const { return target_; }

  /// A target with shared memory and barriers, also on a device whose usual kernels avoid them.
  const emit::Target& grouped_target() const { return grouped_target_; }

  std::vector<CompiledTextRef> compile(std::span<const ir::Kernel* const> kernels);
  CompiledTextRef compile(const ir::Kernel& kernel, const emit::Target& target);
  /// A hand-written kernel that is launched with workgroups of `lanes`.
  CompiledTextRef compile(const std::string& source, std::uint32_t bindings, std::uint32_t lanes);

  const Pipeline& pipeline(CompiledText& text, std::uint32_t lanes, std::uint32_t row);
  const Pipeline& pipeline(CompiledText& text, std::uint32_t lanes) { return pipeline(text, lanes, lanes); }
  const Pipeline& pipeline(CompiledText& text, const emit::Geometry& geometry) {
    return pipeline(text, geometry.lanes * geometry.rows, geometry.lanes);
  }

  /// As Pipelines::end_unused.
  void end_unused(std::uint64_t open, std::uint64_t completed) noexcept {
    pipelines_.end_unused(open, completed);
  }

  /// Writes what the driver made to disk, now and then.
  void save() { pipelines_.cache().save(); }

  const compile::OriginCounts& counts() const { return counts_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;  // 128-bit hash of the source
  CompiledTextRef build(const std::string& source, std::uint32_t bindings, std::uint32_t lanes);

  Pipelines pipelines_;
  emit::Target target_, grouped_target_;
  SharedOnceMap<Key, CompiledText> texts_;
  compile::OriginCounts counts_;
};

/// Packs a kernel's arguments into the 32-bit words of its arguments buffer, in the layout of
/// jit/emit/emit.h.
void pack_words(const ir::Kernel& kernel, const LaunchArguments& arguments,
                std::vector<std::uint32_t>& words);

}  // namespace sinter::runtime::vulkan
