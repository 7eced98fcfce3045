// Vulkan pipelines of compiled kernels, and the layouts they share.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/kernels/pipeline_cache.h"

namespace sinter::runtime::vulkan {

struct Pipeline {
  VkPipeline handle = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
  VkDescriptorSetLayout set_layout = VK_NULL_HANDLE;
  std::uint32_t bindings = 0;
  bool push = false;  // push descriptors instead of a descriptor set
};

class Pipelines;

/// A pipeline that ends some time after this does: when no work uses it any more.
class OwnedPipeline : public Pipeline {
 public:
  OwnedPipeline(Pipelines& owner, const Pipeline& pipeline) : Pipeline(pipeline), owner_(&owner) {}
  OwnedPipeline(OwnedPipeline&& other) noexcept
      : Pipeline(other), owner_(std::exchange(other.owner_, nullptr)) {}
  OwnedPipeline& operator=(OwnedPipeline&&) = delete;
  ~OwnedPipeline();

 private:
  Pipelines* owner_;
};

/// Makes pipelines. Thread-safe. Outlives them; at its end all work is done.
class Pipelines {
 public:
  explicit Pipelines(const Device& device) : device_(device), cache_(device) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// `bindings` storage buffers, numbered from 0; specialization constant 0 is `lanes`, constant 1 how
  /// many of them are a row. Throws DeviceError.
  OwnedPipeline make(std::span<const std::uint32_t> spirv, std::uint32_t bindings, std::uint32_t lanes,
                     std::uint32_t row);

  /// Ends pipelines that nobody refers to, once the work that was recorded since is done: `open` is the
  /// number of work recorded now, `completed` the last number that is done.
  void end_unused(std::uint64_t open, std::uint64_t completed) noexcept;

  PipelineCache& cache() { return cache_; }

 private:
  friend class OwnedPipeline;
  struct Layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
  };
  struct Unused {
    VkPipeline pipeline;
    std::uint64_t value;  // of the work after which it ends; 0: not known yet
  };
  Layout layout(std::uint32_t bindings);
  void let_go(VkPipeline pipeline) noexcept;

  const Device& device_;
  PipelineCache cache_;
  std::mutex mutex_;
  std::map<std::uint32_t, Layout> layouts_;  // by number of bindings
  std::vector<Unused> unused_;               // with room for all pipelines
  std::size_t alive_ = 0;                    // that somebody refers to
};

}  // namespace sinter::runtime::vulkan
