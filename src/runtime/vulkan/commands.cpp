// Records dispatches and copies with as few barriers as their memory allows.
#include "src/runtime/vulkan/commands.h"

#include <algorithm>

#include <sinter/error.h>

#include "src/runtime/vulkan/process_end.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

// Submitting early keeps the device busy while a long plan is still being recorded.
constexpr std::uint32_t kLargeBatch = 128;
constexpr std::uint32_t kSetsOfPool = 64;
constexpr std::uint32_t kDescriptorsOfPool = 1024;

constexpr VkPipelineStageFlags kStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kReads = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_TRANSFER_READ_BIT;
constexpr VkAccessFlags kWrites = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

}  // namespace

Commands::Commands(const Device& device, std::uint64_t most_work) : device_(device), most_work_(most_work) {
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
  const VkResult code = vkCreateSemaphore(device.handle(), &semaphore, nullptr, &timeline_);
  if (code != VK_SUCCESS) vkDestroyCommandPool(device.handle(), pool_, nullptr);
  check(code, "vkCreateSemaphore");
  finish_with_process(*this);
}

Commands::~Commands() {
  close();
  in_flight_.push_back(std::move(open_));
  for (Batch& batch : in_flight_)
    for (const Pool& pool : batch.pools) vkDestroyDescriptorPool(device_.handle(), pool.handle, nullptr);
  for (VkDescriptorPool pool : free_pools_) vkDestroyDescriptorPool(device_.handle(), pool, nullptr);
  vkDestroySemaphore(device_.handle(), timeline_, nullptr);
  vkDestroyCommandPool(device_.handle(), pool_, nullptr);
}

void Commands::retire() {
  const std::uint64_t done = completed();
  while (!in_flight_.empty() && in_flight_.front().value <= done) {
    Batch& batch = in_flight_.front();
    free_buffers_.push_back(batch.commands);
    for (const Pool& pool : batch.pools) {
      vkResetDescriptorPool(device_.handle(), pool.handle, 0);
      free_pools_.push_back(pool.handle);
    }
    in_flight_.pop_front();
  }
}

/// Waits for the oldest batch in flight and takes back what it used. False: there is none.
bool Commands::wait_for_oldest() {
  if (in_flight_.empty()) return false;
  wait_submitted(in_flight_.front().value);
  retire();
  return true;
}

VkCommandBuffer Commands::free_command_buffer() {
  retire();
  while (free_buffers_.empty()) {
    VkCommandBufferAllocateInfo info =
        structure<VkCommandBufferAllocateInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO);
    info.commandPool = pool_;
    info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
    info.commandBufferCount = 1;
    VkCommandBuffer made = VK_NULL_HANDLE;
    const VkResult code = device_.attempt(
        "vkAllocateCommandBuffers", [&] { return vkAllocateCommandBuffers(device_.handle(), &info, &made); });
    if (code == VK_SUCCESS)
      free_buffers_.push_back(made);
    else if (!is_out_of_memory(code) || !wait_for_oldest())
      check(code, "vkAllocateCommandBuffers");
  }
  return free_buffers_.back();
}

/// The command buffer to record into. Runs share it: a GPU rests some 5 us between two of one submit.
VkCommandBuffer Commands::begin() {
  throw_if_failed();
  if (open_.commands) return open_.commands;
  const VkCommandBuffer next = free_command_buffer();
  VkCommandBufferBeginInfo info =
      structure<VkCommandBufferBeginInfo>(VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO);
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  check(device_.attempt("vkBeginCommandBuffer", [&] { return vkBeginCommandBuffer(next, &info); }),
        "vkBeginCommandBuffer");
  free_buffers_.pop_back();
  bound_ = VK_NULL_HANDLE;
  return open_.commands = next;
}

void Commands::begin_run() {
  begin();
  if (pools_made_ > 0) return;
  free_pools_.reserve(1);
  Pool pool;
  check(make_pool(pool), "vkCreateDescriptorPool");
  free_pools_.push_back(pool.handle);
}

void Commands::barrier(VkCommandBuffer commands, VkPipelineStageFlags to_stages, VkAccessFlags to_access) {
  // A barrier over all memory: drivers do the same for one over a range.
  VkMemoryBarrier all = structure<VkMemoryBarrier>(VK_STRUCTURE_TYPE_MEMORY_BARRIER);
  all.srcAccessMask = kWrites;
  all.dstAccessMask = to_access;
  vkCmdPipelineBarrier(commands, kStages, to_stages, 0, 1, &all, 0, nullptr, 0, nullptr);
}

void Commands::order(std::span<const Access> accesses) {
  // Covers earlier batches too: a barrier orders all commands submitted to the queue before it.
  if (hazards_.conflicts(accesses)) {
    barrier(open_.commands, kStages, kReads | kWrites);
    hazards_.clear();
  }
  hazards_.add(accesses);
}

VkResult Commands::make_pool(Pool& pool) {
  pool.sets = kSetsOfPool;
  pool.descriptors = kDescriptorsOfPool;
  if (!free_pools_.empty()) {
    pool.handle = free_pools_.back();
    free_pools_.pop_back();
    return VK_SUCCESS;
  }
  const VkDescriptorPoolSize size{VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, kDescriptorsOfPool};
  VkDescriptorPoolCreateInfo info =
      structure<VkDescriptorPoolCreateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO);
  info.maxSets = kSetsOfPool;
  info.poolSizeCount = 1;
  info.pPoolSizes = &size;
  const VkResult code = device_.attempt("vkCreateDescriptorPool", [&] {
    return vkCreateDescriptorPool(device_.handle(), &info, nullptr, &pool.handle);
  });
  if (code == VK_SUCCESS) ++pools_made_;
  return code;
}

void Commands::reserve(std::uint32_t dispatches, std::uint32_t bindings) {
  begin();
  const auto fits = [&] {
    if (dispatches == 0) return true;
    return !open_.pools.empty() && open_.pools.back().sets >= dispatches &&
           open_.pools.back().descriptors >= bindings;
  };
  while (!fits()) {
    open_.pools.reserve(open_.pools.size() + 1);
    Pool pool;
    const VkResult code = make_pool(pool);
    if (code == VK_SUCCESS) {
      open_.pools.push_back(pool);
      continue;
    }
    // Where the driver gives no more pools, those in flight are waited for, and last the open batch's own.
    if (!is_out_of_memory(code) || (in_flight_.empty() && recorded_ == 0))
      check(code, "vkCreateDescriptorPool");
    if (in_flight_.empty()) submit();
    wait_for_oldest();
    begin();
  }
}

void Commands::bind(VkCommandBuffer commands, const Pipeline& pipeline, std::span<const Binding> bindings) {
  if (bound_ != pipeline.handle)
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, bound_ = pipeline.handle);
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
    device_.push_descriptor_set(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, count,
                                writes_.data());
    return;
  }
  Pool& pool = open_.pools.back();
  VkDescriptorSetAllocateInfo info =
      structure<VkDescriptorSetAllocateInfo>(VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO);
  info.descriptorPool = pool.handle;
  info.descriptorSetCount = 1;
  info.pSetLayouts = &pipeline.set_layout;
  VkDescriptorSet set = VK_NULL_HANDLE;
  check(vkAllocateDescriptorSets(device_.handle(), &info, &set), "vkAllocateDescriptorSets");
  --pool.sets;
  pool.descriptors -= count;
  for (VkWriteDescriptorSet& write : writes_) write.dstSet = set;
  vkUpdateDescriptorSets(device_.handle(), count, writes_.data(), 0, nullptr);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.layout, 0, 1, &set, 0, nullptr);
}

void Commands::count(std::span<const Access> accesses, std::uint64_t work) {
  ++recorded_;
  for (const Access& access : accesses) work_ += access.end - access.begin;
  work_ += work;
}

void Commands::dispatch(const Pipeline& pipeline, std::span<const Binding> bindings,
                        std::span<const Access> accesses, std::uint32_t groups_x, std::uint32_t groups_y,
                        std::uint64_t work) {
  const VkCommandBuffer commands = begin();
  order(accesses);
  bind(commands, pipeline, bindings);
  vkCmdDispatch(commands, groups_x, groups_y, 1);
  count(accesses, work);
}

void Commands::copy(VkBuffer from, VkDeviceSize from_offset, VkBuffer to, VkDeviceSize to_offset,
                    VkDeviceSize bytes, std::span<const Access> accesses) {
  const VkCommandBuffer commands = begin();
  order(accesses);
  const VkBufferCopy region{from_offset, to_offset, bytes};
  vkCmdCopyBuffer(commands, from, to, 1, &region);
  count(accesses, 0);
}

void Commands::fill_with_zeros(VkBuffer buffer, VkDeviceSize bytes, std::span<const Access> accesses) {
  const VkCommandBuffer commands = begin();
  order(accesses);
  vkCmdFillBuffer(commands, buffer, 0, bytes, 0);
  count(accesses, 0);
}

VkResult Commands::submit_batch() {
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
  return device_.attempt("vkQueueSubmit",
                         [&] { return vkQueueSubmit(device_.queue(), 1, &info, VK_NULL_HANDLE); });
}

void Commands::submit() {
  throw_if_failed();
  if (!recorded_) return;
  // Makes writes visible to the host, which reads mapped buffers and fault words in place.
  barrier(begin(), VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  in_flight_.emplace_back();
  open_.value = open_value();
  VkResult code = device_.attempt("vkEndCommandBuffer", [&] { return vkEndCommandBuffer(open_.commands); });
  if (code != VK_SUCCESS) {
    in_flight_.pop_back();
    fail(code, "vkEndCommandBuffer");
  }
  code = submit_batch();
  if (is_out_of_memory(code)) {
    // Such a submit changed nothing. What is in flight may be what the memory is used up by.
    wait_submitted(submitted_);
    code = submit_batch();
  }
  // Values that others count on are in work that the queue rejected: there is no way on.
  if (code != VK_SUCCESS) {
    in_flight_.pop_back();
    fail(code, "vkQueueSubmit");
  }
  std::swap(in_flight_.back(), open_);
  recorded_ = 0;
  work_ = 0;
  submitted_ = in_flight_.back().value;
}

void Commands::submit_if_large() {
  if (recorded_ >= kLargeBatch || work_ >= most_work_) submit();
}

}  // namespace sinter::runtime::vulkan
