// Command buffers: recorded launch by launch, submitted in batches, recycled when their work is done.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/hazards.h"
#include "src/runtime/vulkan/pipelines.h"

namespace sinter::runtime::vulkan {

/// A buffer range bound to a kernel.
struct Binding {
  VkBuffer buffer;
  VkDeviceSize offset, bytes;
};

/// Work is numbered by batch: everything recorded up to a submit has one number, which the queue's timeline
/// semaphore reaches when the work is done. Used by one thread at a time.
class Commands {
 public:
  explicit Commands(const Device& device);
  ~Commands();
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// The number of work recorded now.
  std::uint64_t open_value() const { return submitted_ + 1; }
  /// All work up to this number is done.
  std::uint64_t completed();

  void dispatch(const Pipeline& pipeline, std::span<const Binding> bindings, std::span<const Access> accesses,
                std::uint32_t groups_x, std::uint32_t groups_y);
  void copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes,
            std::span<const Access> accesses);

  /// Submits the open batch to the queue.
  void submit();
  /// Submits the open batch, unless the device is busy long enough to record more first.
  void end_plan();
  /// Waits for work up to `value`; submits it first if it is still open. Throws DeviceError when the device
  /// is lost.
  void wait(std::uint64_t value);
  void wait_all() { wait(recorded_ ? open_value() : submitted_); }

 private:
  struct Batch {
    VkCommandBuffer commands = VK_NULL_HANDLE;
    std::vector<VkDescriptorPool> pools;
    std::uint64_t value = 0;
  };

  void begin();
  void order(std::span<const Access> accesses);
  void barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_access);
  void bind(const Pipeline& pipeline, std::span<const Binding> bindings);
  VkDescriptorSet descriptor_set(VkDescriptorSetLayout layout);
  VkDescriptorPool descriptor_pool();
  void retire();

  const Device& device_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::uint64_t submitted_ = 0, completed_ = 0;
  std::uint32_t recorded_ = 0;  // commands in the open batch
  bool lost_ = false;
  VkPipeline bound_ = VK_NULL_HANDLE;
  Batch open_;
  std::deque<Batch> in_flight_;
  std::vector<VkCommandBuffer> free_buffers_;
  std::vector<VkDescriptorPool> free_pools_;
  HazardTracker hazards_;
  std::vector<VkDescriptorBufferInfo> infos_;
  std::vector<VkWriteDescriptorSet> writes_;
};

}  // namespace sinter::runtime::vulkan
