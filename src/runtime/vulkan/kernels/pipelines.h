// Vulkan pipelines of compiled kernels, and the layouts they share.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
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

/// Makes pipelines and owns them. Thread-safe.
class Pipelines {
 public:
  explicit Pipelines(const Device& device) : device_(device), cache_(device) {}
  ~Pipelines();
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  /// `bindings` storage buffers, numbered from 0; specialization constant 0 is `lanes`. Throws DeviceError.
  Pipeline make(std::span<const std::uint32_t> spirv, std::uint32_t bindings, std::uint32_t lanes);

  PipelineCache& cache() { return cache_; }

 private:
  struct Layout {
    VkDescriptorSetLayout set;
    VkPipelineLayout pipeline;
  };
  Layout layout(std::uint32_t bindings);

  const Device& device_;
  PipelineCache cache_;
  std::mutex mutex_;
  std::map<std::uint32_t, Layout> layouts_;  // by number of bindings
  std::vector<VkPipeline> pipelines_;
};

}  // namespace sinter::runtime::vulkan
