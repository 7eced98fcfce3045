// Allocates from the ring, and from the pool.
#include "src/runtime/vulkan/memory/staging.h"

#include <algorithm>
#include <bit>

#include "src/runtime/vulkan/commands.h"

namespace sinter::runtime::vulkan {
namespace {

constexpr VkDeviceSize kLeast = VkDeviceSize{256} << 10;  // of a block
constexpr std::size_t kMostFree = 8;                      // blocks that are kept

}  // namespace

StagingRing::StagingRing(const Device& device, Commands& commands, VkDeviceSize bytes,
                         VkMemoryPropertyFlags preferred)
    : commands_(commands),
      block_(MemoryBlock::make(device, bytes,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                               preferred)) {}

void StagingRing::make_room(VkDeviceSize bytes) {
  // Pieces are contiguous: skips the rest of the ring where it is too short.
  std::uint64_t start = head_;
  if (start % block_->bytes() + bytes > block_->bytes())
    start = (start + block_->bytes() - 1) / block_->bytes() * block_->bytes();
  while (start + bytes - tail_ > block_->bytes() && !used_.empty()) {
    commands_.wait_with_lock(used_.front().value);
    tail_ = used_.front().end;
    used_.pop_front();
  }
  // With nothing in use all is free, also what was skipped.
  if (used_.empty()) tail_ = start;
  head_ = start;
}

StagingRing::Piece StagingRing::take(VkDeviceSize bytes, VkDeviceSize alignment) {
  const std::uint64_t start = (head_ + alignment - 1) / alignment * alignment;
  head_ = start + bytes;
  const std::uint64_t value = commands_.open_value();
  if (!used_.empty() && used_.back().value == value)
    used_.back().end = head_;
  else
    used_.push_back({head_, value});
  const VkDeviceSize offset = start % block_->bytes();
  return {block_->buffer(), offset, block_->mapped() + offset};
}

std::unique_ptr<MemoryBlock> StagingPool::take(VkDeviceSize bytes) {
  const VkDeviceSize wanted = std::bit_ceil(std::clamp(bytes, kLeast, kMost));
  {
    const std::uint64_t completed = commands_.completed();
    std::lock_guard lock(mutex_);
    auto best = free_.end();
    for (auto at = free_.begin(); at != free_.end(); ++at)
      if (at->value <= completed && at->block->bytes() >= wanted &&
          (best == free_.end() || at->block->bytes() < best->block->bytes()))
        best = at;
    if (best != free_.end()) {
      std::unique_ptr<MemoryBlock> block = std::move(best->block);
      free_.erase(best);
      return block;
    }
  }
  return MemoryBlock::make(device_, wanted,
                           VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                           VK_MEMORY_PROPERTY_HOST_CACHED_BIT);
}

void StagingPool::give_back(std::unique_ptr<MemoryBlock> block, std::uint64_t value) noexcept {
  if (!block) return;
  std::unique_ptr<MemoryBlock> surplus;
  try {
    const std::uint64_t completed = commands_.completed();
    std::lock_guard lock(mutex_);
    free_.push_back({std::move(block), value});
    const auto done =
        std::find_if(free_.begin(), free_.end(), [&](const Free& f) { return f.value <= completed; });
    if (free_.size() > kMostFree && done != free_.end()) {
      surplus = std::move(done->block);
      free_.erase(done);
    }
  } catch (const std::exception&) {
    // No memory for the list, or a lost device: work that still uses the block is waited for instead.
    commands_.wait_quietly(value);
  }
}

std::size_t StagingPool::bytes() const {
  std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const Free& f : free_) bytes += f.block->bytes();
  return bytes;
}

std::size_t StagingPool::trim() {
  const std::uint64_t completed = commands_.completed();
  std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  std::erase_if(free_, [&](const Free& f) {
    if (f.value > completed) return false;
    bytes += f.block->bytes();
    return true;
  });
  return bytes;
}

}  // namespace sinter::runtime::vulkan
