// Allocates from the ring.
#include "src/runtime/vulkan/staging.h"

#include "src/runtime/vulkan/commands.h"

namespace sinter::runtime::vulkan {

StagingRing::StagingRing(const Device& device, Commands& commands, VkDeviceSize bytes,
                         VkMemoryPropertyFlags preferred)
    : commands_(commands),
      block_(MemoryBlock::make(device, bytes,
                               VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                               preferred)) {}

StagingRing::Piece StagingRing::take(VkDeviceSize bytes, VkDeviceSize alignment) {
  std::uint64_t start = (head_ + alignment - 1) / alignment * alignment;
  // A piece is contiguous: skips the rest of the ring where it is too short.
  if (start % block_->bytes() + bytes > block_->bytes())
    start = (start + block_->bytes() - 1) / block_->bytes() * block_->bytes();
  while (start + bytes - tail_ > block_->bytes()) {
    const Used oldest = used_.front();
    commands_.wait(oldest.value);
    tail_ = oldest.end;
    used_.pop_front();
  }
  head_ = start + bytes;
  const std::uint64_t value = commands_.open_value();
  if (!used_.empty() && used_.back().value == value)
    used_.back().end = head_;
  else
    used_.push_back({head_, value});
  const VkDeviceSize offset = start % block_->bytes();
  return {block_->buffer(), offset, block_->mapped() + offset};
}

}  // namespace sinter::runtime::vulkan
