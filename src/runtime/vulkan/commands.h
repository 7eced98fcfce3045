// Command buffers: recorded launch by launch, submitted in batches, recycled when their work is done.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/device.h"
#include "src/runtime/vulkan/kernels/pipelines.h"
#include "src/runtime/vulkan/memory/hazards.h"

namespace sinter::runtime::vulkan {

/// A buffer range bound to a kernel.
struct Binding {
  VkBuffer buffer;
  VkDeviceSize offset, bytes;
};

/// Work is numbered by batch: everything recorded up to a submit has one number, which the queue's timeline
/// semaphore reaches when the work is done.
///
/// Any thread may record and submit: whoever records holds `lock`, so that nobody submits the batch between
/// asking for its number and recording. Waiting and asking what is done take no lock.
///
/// Where the device is lost or refuses recorded work, every later call that records or waits throws the same
/// DeviceError.
class Commands {
 public:
  /// A batch is submitted when it moves about `most_work` bytes.
  Commands(const Device& device, std::uint64_t most_work);
  ~Commands();
  /// Ends the thread that starts work and waits for what was submitted. Nothing is recorded afterwards.
  void close() noexcept;
  /// Submits what was recorded, and is done with all of it when it returns.
  void finish() noexcept;
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  using Lock = std::unique_lock<std::mutex>;
  Lock lock() { return Lock(mutex_); }

  // With the lock held:

  /// The number of work recorded now.
  std::uint64_t open_value() const { return submitted_ + 1; }
  /// The number of the work recorded last.
  std::uint64_t last_value() const { return recorded_ ? open_value() : submitted_.load(); }

  /// A run that has begun never lacks a command buffer or a descriptor pool: where the driver gives no more,
  /// it waits for earlier work.
  void begin_run();

  /// Makes room in the open batch for so many dispatches by descriptor sets, with so many bindings in all;
  /// may submit.
  void reserve(std::uint32_t dispatches, std::uint32_t bindings);
  /// Records a dispatch that `reserve` made room for. `work`: its arithmetic, as bytes that take as long.
  void dispatch(const Pipeline& pipeline, std::span<const Binding> bindings, std::span<const Access> accesses,
                std::uint32_t groups_x, std::uint32_t groups_y, std::uint64_t work);
  void copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset, VkDeviceSize bytes,
            std::span<const Access> accesses);
  void fill_with_zeros(VkBuffer buffer, VkDeviceSize bytes, std::span<const Access> accesses);

  /// Submits the open batch to the queue.
  void submit();
  /// Submits the open batch where it is large: the device works on it while more is recorded.
  void submit_if_large();
  /// Submits the open batch, unless it is small and the device has enough to do: then a thread submits it
  /// before the device runs out of work.
  void end_plan();
  /// As `wait`.
  void wait_with_lock(std::uint64_t value);

  // Without the lock:

  /// All work up to this number is done.
  std::uint64_t completed();
  /// Waits for work up to `value`; submits it first if it is still open.
  void wait(std::uint64_t value);
  void wait_all();
  /// Waits for what was submitted up to `value`, or until the device is lost; for a device that failed some
  /// seconds at most.
  void wait_quietly(std::uint64_t value) noexcept;
  /// Throws DeviceError where the device failed before.
  void throw_if_failed() const;
  bool failed() const { return failed_; }

 private:
  struct Pool {
    VkDescriptorPool handle = VK_NULL_HANDLE;
    std::uint32_t sets = 0, descriptors = 0;  // that are left
  };
  struct Batch {
    VkCommandBuffer commands = VK_NULL_HANDLE;  // not null once anything was recorded
    std::vector<Pool> pools;
    std::uint64_t value = 0;
  };

  VkCommandBuffer begin();
  VkCommandBuffer free_command_buffer();
  bool wait_for_oldest();
  void order(std::span<const Access> accesses);
  void barrier(VkCommandBuffer commands, VkPipelineStageFlags to_stages, VkAccessFlags to_access);
  void bind(VkCommandBuffer commands, const Pipeline& pipeline, std::span<const Binding> bindings);
  VkResult make_pool(Pool& pool);
  void retire();
  VkResult submit_batch();
  void count(std::span<const Access> accesses, std::uint64_t work);
  void wait_submitted(std::uint64_t value);
  [[noreturn]] void fail(VkResult code, const char* call);
  bool leave_to_starter();
  void start_held_batches();

  const Device& device_;
  const std::uint64_t most_work_;
  std::mutex mutex_;
  VkCommandPool pool_ = VK_NULL_HANDLE;
  VkSemaphore timeline_ = VK_NULL_HANDLE;
  std::atomic<std::uint64_t> submitted_{0}, completed_{0};
  std::uint32_t recorded_ = 0;  // commands in the open batch
  std::uint64_t work_ = 0;      // of the open batch
  VkPipeline bound_ = VK_NULL_HANDLE;
  Batch open_;
  std::deque<Batch> in_flight_;
  std::vector<VkCommandBuffer> free_buffers_;
  std::vector<VkDescriptorPool> free_pools_;
  std::size_t pools_made_ = 0;
  HazardTracker hazards_;
  std::vector<VkDescriptorBufferInfo> infos_;
  std::vector<VkWriteDescriptorSet> writes_;

  std::atomic<bool> failed_{false};
  mutable std::mutex failure_mutex_;
  std::string failure_;

  // The thread that submits a batch which `end_plan` left open, at the latest when `held_after_` is done.
  std::thread starter_;
  std::condition_variable held_changed_;
  std::uint64_t held_ = 0, held_after_ = 0;
  bool starter_waits_ = false;
  std::atomic<bool> stop_{false};
};

}  // namespace sinter::runtime::vulkan
