// Allocates blocks from the driver and cuts them into slices by best fit.
#include "src/runtime/vulkan/memory/memory.h"

#include <algorithm>
#include <bit>
#include <string>

#include <sinter/error.h>

#include "src/base/env.h"
#include "src/runtime/vulkan/result.h"

namespace sinter::runtime::vulkan {
namespace {

constexpr VkDeviceSize kAlignment = 256;  // no device requires more
constexpr VkDeviceSize kSmall = VkDeviceSize{256} << 10;
constexpr VkDeviceSize kSmallBlock = VkDeviceSize{8} << 20;
constexpr VkDeviceSize kLargeBlock = VkDeviceSize{64} << 20;
constexpr VkDeviceSize kBlockUnit = VkDeviceSize{2} << 20;
constexpr std::uint64_t kAddressesOfBlock = std::uint64_t{1} << 40;  // larger than any block

VkDeviceSize round_up(VkDeviceSize value, VkDeviceSize unit) { return (value + unit - 1) / unit * unit; }

/// Rounds sizes to eight steps per power of two, so that similar requests can reuse each other's slices.
VkDeviceSize size_class(VkDeviceSize bytes) {
  return round_up(std::max<VkDeviceSize>(bytes, 1), std::max(kAlignment, std::bit_floor(bytes) / 8));
}

}  // namespace

std::unique_ptr<MemoryBlock> MemoryBlock::try_make(const Device& device, VkDeviceSize bytes,
                                                   VkMemoryPropertyFlags required,
                                                   VkMemoryPropertyFlags preferred) {
  std::unique_ptr<MemoryBlock> block(new MemoryBlock(device, bytes));
  VkBufferCreateInfo info = structure<VkBufferCreateInfo>(VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO);
  info.size = bytes;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
               VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  const bool has_addresses = device.info().has_addresses;
  if (has_addresses) info.usage |= VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkResult code = device.attempt(
      "vkCreateBuffer", [&] { return vkCreateBuffer(device.handle(), &info, nullptr, &block->buffer_); });
  if (is_out_of_memory(code)) return nullptr;
  check(code, "vkCreateBuffer");
  VkMemoryRequirements requirements;
  vkGetBufferMemoryRequirements(device.handle(), block->buffer_, &requirements);

  const int type = device.memory_type(requirements.memoryTypeBits, required, preferred);
  if (type < 0)
    throw DeviceError("[vulkan] " + device.info().name + " has no memory of the kind buffers need");
  VkMemoryAllocateInfo allocate = structure<VkMemoryAllocateInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO);
  allocate.allocationSize = requirements.size;
  allocate.memoryTypeIndex = static_cast<std::uint32_t>(type);
  VkMemoryAllocateFlagsInfo flags =
      structure<VkMemoryAllocateFlagsInfo>(VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO);
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  if (has_addresses) allocate.pNext = &flags;
  code = device.attempt("vkAllocateMemory", [&] {
    return vkAllocateMemory(device.handle(), &allocate, nullptr, &block->memory_);
  });
  if (is_out_of_memory(code)) return nullptr;
  check(code, "vkAllocateMemory");
  code = vkBindBufferMemory(device.handle(), block->buffer_, block->memory_, 0);
  if (is_out_of_memory(code)) return nullptr;
  check(code, "vkBindBufferMemory");
  if (has_addresses) {
    VkBufferDeviceAddressInfo of =
        structure<VkBufferDeviceAddressInfo>(VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO);
    of.buffer = block->buffer_;
    block->device_address_ = vkGetBufferDeviceAddress(device.handle(), &of);
  }
  // Host access requires coherent memory: nothing flushes mapped ranges.
  const VkMemoryPropertyFlags host =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if (((required | preferred) & host) == host && (device.memory_flags(type) & host) == host) {
    void* address = nullptr;
    code = vkMapMemory(device.handle(), block->memory_, 0, VK_WHOLE_SIZE, 0, &address);
    if (is_out_of_memory(code)) return nullptr;
    check(code, "vkMapMemory");
    block->mapped_ = static_cast<std::byte*>(address);
  }
  return block;
}

std::unique_ptr<MemoryBlock> MemoryBlock::make(const Device& device, VkDeviceSize bytes,
                                               VkMemoryPropertyFlags required,
                                               VkMemoryPropertyFlags preferred) {
  std::unique_ptr<MemoryBlock> block = try_make(device, bytes, required, preferred);
  if (!block)
    throw DeviceError("[vulkan] " + device.info().name + " has no memory left for " + std::to_string(bytes) +
                      " bytes that the library itself needs");
  return block;
}

MemoryBlock::~MemoryBlock() {
  vkDestroyBuffer(device_.handle(), buffer_, nullptr);
  vkFreeMemory(device_.handle(), memory_, nullptr);
}

MemoryPool::MemoryPool(const Device& device, std::size_t limit)
    : device_(device), limit_(limit), required_(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT), preferred_(0) {
  // Requires cached memory: reading uncached memory in place is slower than a copy.
  if (device.info().unified)
    preferred_ = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT |
                 VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
}

MemoryPool::Arena& MemoryPool::arena_of(VkDeviceSize bytes) { return bytes < kSmall ? small_ : large_; }

void MemoryPool::add(Arena& arena, std::uint64_t address, Free range) {
  arena.free.emplace(address, range);
  arena.sizes.emplace(range.bytes, address);
}

void MemoryPool::remove(Arena& arena, FreeMap::iterator at) {
  arena.sizes.erase({at->second.bytes, at->first});
  arena.free.erase(at);
}

bool MemoryPool::grow(Arena& arena, VkDeviceSize bytes) {
  VkDeviceSize wanted = &arena == &small_ ? kSmallBlock : std::max(kLargeBlock, round_up(bytes, kBlockUnit));
  if (bytes > kLargeBlock / 2) wanted = round_up(bytes, kBlockUnit);
  const auto make = [&]() -> std::unique_ptr<MemoryBlock> {
    if (limit_ && reserved_ + wanted > limit_) return nullptr;
    return MemoryBlock::try_make(device_, wanted, required_, preferred_);
  };
  std::unique_ptr<MemoryBlock> block = make();
  // When memory is nearly used up, a block of exactly the requested size may still fit.
  if (!block && wanted > bytes) {
    wanted = bytes;
    block = make();
  }
  if (!block) return false;
  const std::uint64_t address = next_address_;
  next_address_ += kAddressesOfBlock;
  blocks_.emplace(address, std::move(block));
  reserved_ += wanted;
  add(arena, address, {wanted, 0});
  if (base::logs("memory"))
    base::log_line("memory", "vulkan takes " + std::to_string(wanted >> 10) + " KiB from the driver, " +
                                 std::to_string(reserved_ >> 10) + " KiB in all");
  return true;
}

std::optional<Slice> MemoryPool::try_allocate(VkDeviceSize requested) {
  const VkDeviceSize bytes = size_class(requested);
  std::lock_guard lock(mutex_);
  Arena& arena = arena_of(bytes);
  auto fit = arena.sizes.lower_bound({bytes, 0});
  if (fit == arena.sizes.end()) {
    if (!grow(arena, bytes)) return std::nullopt;
    fit = arena.sizes.lower_bound({bytes, 0});
  }
  const auto found = arena.free.find(fit->second);
  const auto [address, range] = *found;
  remove(arena, found);
  if (range.bytes > bytes) add(arena, address + bytes, {range.bytes - bytes, range.last_use});

  const auto& [start, block] = *std::prev(blocks_.upper_bound(address));
  in_use_ += bytes;
  peak_ = std::max(peak_, in_use_);
  const VkDeviceSize offset = address - start;
  return Slice{block->buffer(),
               offset,
               bytes,
               address,
               block->device_address() + offset,
               block->mapped() ? block->mapped() + offset : nullptr,
               range.last_use,
               0};
}

void MemoryPool::release(const Slice& slice) {
  std::lock_guard lock(mutex_);
  in_use_ -= slice.bytes;
  Arena& arena = arena_of(slice.bytes);
  std::uint64_t address = slice.address;
  Free range{slice.bytes, slice.last_use};
  auto join = [&](FreeMap::iterator neighbour) {
    range.bytes += neighbour->second.bytes;
    range.last_use = std::max(range.last_use, neighbour->second.last_use);
    remove(arena, neighbour);
  };
  // Address ranges of blocks have gaps between them, so ranges with adjacent addresses are in one block.
  if (auto after = arena.free.find(address + slice.bytes); after != arena.free.end()) join(after);
  if (auto next = arena.free.lower_bound(address); next != arena.free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second.bytes == address) {
      address = before->first;
      join(before);
    }
  }
  add(arena, address, range);
}

std::size_t MemoryPool::trim(std::uint64_t completed) {
  std::lock_guard lock(mutex_);
  const std::size_t before = reserved_;
  for (Arena* arena : {&small_, &large_}) {
    for (auto range = arena->free.begin(); range != arena->free.end();) {
      auto here = range++;
      auto block = blocks_.find(here->first);
      if (block == blocks_.end() || block->second->bytes() != here->second.bytes) continue;
      if (here->second.last_use > completed) continue;
      reserved_ -= block->second->bytes();
      blocks_.erase(block);
      remove(*arena, here);
    }
  }
  return before - reserved_;
}

std::size_t MemoryPool::bytes_in_use() const {
  std::lock_guard lock(mutex_);
  return in_use_;
}

std::size_t MemoryPool::bytes_reserved() const {
  std::lock_guard lock(mutex_);
  return reserved_;
}

std::size_t MemoryPool::peak_bytes_in_use() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace sinter::runtime::vulkan
