// Records dispatches and copies with as few barriers as their memory allows.
#include "src/runtime/vulkan/commands.h"

#include <algorithm>

#include <sinter/error.h>

#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

// Submitting early keeps the device busy while a long plan is still being recorded.
constexpr std::uint32_t kLargeBatch = 128;
// The device idles some 15 us between two batches, so small consecutive plans share a batch while earlier
// batches keep the device busy.
constexpr std::uint32_t kSmallBatch = 32;
constexpr std::size_t kEnoughBatches = 2;
constexpr std::uint32_t kSetsOfPool = 64;
constexpr std::uint32_t kDescriptorsOfPool = 1024;

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

}  // namespace

Commands::Commands(const Device& device) : device_(device) {
  VkCommandPoolCreateInfo pool =
      structure<VkCommandPoolCreateInfo>(VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO);
  pool.flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT;
  pool.queueFamilyIndex = device.queue_family();
  check(vkCreateCommandPool(device.handle(), &pool, nullptr, &pool_), "vkCreateCommandPool");
  VkSemaphoreTypeCreateInfo type =
      structure<VkSemaphoreTypeCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO);
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo semaphore = structure<VkSemaphoreCreateInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO);
  semaphore.pNext = &type;
  check(vkCreateSemaphore(device.handle(), &semaphore, nullptr, &timeline_), "vkCreateSemaphore");
}

Commands::~Commands() {
  vkDeviceWaitIdle(device_.handle());
  for (Batch& batch : in_flight_)
    for (VkDescriptorPool pool : batch.pools) vkDestroyDescriptorPool(device_.handle(), pool, nullptr);
  for (VkDescriptorPool pool : open_.pools) vkDestroyDescriptorPool(device_.handle(), pool, nullptr);
  for (VkDescriptorPool pool : free_pools_) vkDestroyDescriptorPool(device_.handle(), pool, nullptr);
  vkDestroySemaphore(device_.handle(), timeline_, nullptr);
  vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

std::uint64_t Commands::completed() {
  if (completed_ < submitted_)
    check(vkGetSemaphoreCounterValue(device_.handle(), timeline_, &completed_), "vkGetSemaphoreCounterValue");
  return completed_;
}

void Commands::retire() {
  const std::uint64_t done = completed();
  while (!in_flight_.empty() && in_flight_.front().value <= done) {
    Batch& batch = in_flight_.front();
    free_buffers_.push_back(batch.commands);
    for (VkDescriptorPool pool : batch.pools) {
      vkResetDescriptorPool(device_.handle(), pool, 0);
      free_pools_.push_back(pool);
    }
    in_flight_.pop_front();
  }
}

void Commands::begin() {
  if (open_.commands) return;
  if (lost_) throw DeviceError("[vulkan] " + device_.info().name + " was lost before and takes no more work");
  retire();
  if (free_buffers_.empty()) {
    VkCommandBufferAllocateInfo info =
        structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    check(vkAllocateCommandBuffers(device_.handle(), &info, &made), "vkAllocateCommandBuffers");
    free_buffers_.push_back(made);
  }
  VkCommandBufferBeginInfo info =
      structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(vkBeginCommandBuffer(free_buffers_.back(), &info), "vkBeginCommandBuffer");
  open_.commands = free_buffers_.back();
  free_buffers_.pop_back();
  bound_ = VK_NULL_HANDLE;
}

void Commands::barrier(VkPipelineStageFlags to_stages, VkAccessFlags to_access) {
  // A barrier over all memory: drivers do the same for one over a range.
  VkMemoryBarrier all = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  all.srcAccessMask = kWrites;
  all.dstAccessMask = to_access;
  vkCmdPipelineBarrier(open_.commands, kStages, to_stages, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Commands::order(std::span<const Access> accesses) {
  // Covers earlier batches too: a barrier orders all commands submitted to the queue before it.
  if (hazards_.conflicts(accesses)) {
    barrier(kStages, kReads | kWrites);
    hazards_.clear();
  }
  hazards_.add(accesses);
}

VkDescriptorPool Commands::descriptor_pool() {
  if (!free_pools_.empty()) {
    VkDescriptorPool pool = free_pools_.back();
    free_pools_.pop_back();
    return pool;
  }
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kDescriptorsOfPool};
  VkDescriptorPoolCreateInfo info =
      structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  info.maxSets = kSetsOfPool;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  VkDescriptorPool pool = VK_NULL_HANDLE;
  check(vkCreateDescriptorPool(device_.handle(), &info, nullptr, &pool), "vkCreateDescriptorPool");
  return pool;
}

VkDescriptorSet Commands::descriptor_set(VkDescriptorSetLayout layout) {
  VkDescriptorSet set = VK_NULL_HANDLE;
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (open_.pools.empty() || attempt) open_.pools.push_back(descriptor_pool());
    VkDescriptorSetAllocateInfo info =
        structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
    info.descriptorPool = open_.pools.back();
    info.descriptorSetCount = 1;
    info.pSetLayouts = &layout;
    const VkResult code = vkAllocateDescriptorSets(device_.handle(), &info, &set);
    if (code == VK_SUCCESS) break;
    const bool full = code == VK_ERROR_OUT_OF_POOL_MEMORY || code == VK_ERROR_FRAGMENTED_POOL;
    if (attempt || !full) check(code, "vkAllocateDescriptorSets");
  }
  return set;
}

void Commands::bind(const Pipeline& pipeline, std::span<const Binding> bindings) {
  if (bound_ != pipeline.handle)
    vkCmdBindPipeline(open_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound_ = pipeline.handle);
  infos_.clear();
  for (const Binding& b : bindings) infos_.push_back({b.buffer, b.offset, b.bytes});
  writes_.clear();
  for (std::uint32_t i = 0; i < infos_.size(); ++i) {
    VkWriteDescriptorSet write = structure<VkWriteDescriptorSet>(VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET);
    write.dstBinding = i;
    write.descriptorCount = 1;
    write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    write.pBufferInfo = &infos_[i];
    writes_.push_back(write);
  }
  const auto count = static_cast<std::uint32_t>(writes_.size());
  if (pipeline.push) {
    device_.push_descriptor_set(open_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, count,
                                writes_.data());
    return;
  }
  VkDescriptorSet set = descriptor_set(pipeline.set_layout);
  for (VkWriteDescriptorSet& write : writes_) write.dstSet = set;
  vkUpdateDescriptorSets(device_.handle(), count, writes_.data(), 0, nullptr);
  vkCmdBindDescriptorSets(open_.commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0,
                          nullptr);
}

void Commands::dispatch(const Pipeline& pipeline, std::span<const Binding> bindings,
                        std::span<const Access> accesses, std::uint32_t groups_x, std::uint32_t groups_y) {
  begin();
  order(accesses);
  bind(pipeline, bindings);
  vkCmdDispatch(open_.commands, groups_x, groups_y, 1);
  if (++recorded_ >= kLargeBatch) submit();
}

void Commands::copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset,
                    VkDeviceSize bytes, std::span<const Access> accesses) {
  begin();
  order(accesses);
  const VkBufferCopy region{from_offset, to_offset, bytes};
  vkCmdCopyBuffer(open_.commands, from, to, 1, &region);
  ++recorded_;
}

void Commands::submit() {
  if (!recorded_) return;
  // Makes writes visible to the host, which reads mapped buffers and the fault flag in place.
  barrier(VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  open_.value = open_value();
  recorded_ = 0;
  VkTimelineSemaphoreSubmitInfo timeline =
      structure<VkTimelineSemaphoreSubmitInfo>(VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO);
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &open_.value;
  VkSubmitInfo info = structure<VkSubmitInfo>(VK_STRUCTURE_TYPE_SUBMIT_INFO);
  info.pNext = &timeline;
  info.commandBufferCount = 1;
  info.pCommandBuffers = &open_.commands;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &timeline_;
  VkResult code = vkEndCommandBuffer(open_.commands);
  if (code == VK_SUCCESS) code = vkQueueSubmit(device_.queue(), 1, &info, VK_NULL_HANDLE);
  // Work that the queue rejected never completes: nothing may wait for it.
  if (code != VK_SUCCESS) lost_ = true;
  check(code, "vkQueueSubmit");
  submitted_ = open_.value;
  in_flight_.push_back(std::move(open_));
  open_ = {};
}

void Commands::end_plan() {
  if (recorded_ < kSmallBatch && in_flight_.size() >= kEnoughBatches) {
    retire();
    if (in_flight_.size() >= kEnoughBatches) return;
  }
  submit();
}

void Commands::wait(std::uint64_t value) {
  if (lost_)
    throw DeviceError("[vulkan] " + device_.info().name + " was lost before: its work has no results");
  if (value > submitted_) submit();
  if (value > submitted_ || value <= completed_) return;
  VkSemaphoreWaitInfo info = structure<VkSemaphoreWaitInfo>(VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO);
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline_;
  info.pValues = &value;
  const VkResult code = vkWaitSemaphores(device_.handle(), &info, UINT64_MAX);
  if (code == VK_ERROR_DEVICE_LOST) lost_ = true;
  check(code, "vkWaitSemaphores");
  completed_ = std::max(completed_, value);
}

}  // namespace sinter::runtime::vulkan
