// Host memory that the device can read: a ring for what goes to the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/memory.h"

namespace sinter::runtime::vulkan {

class Commands;

/// Pieces of a ring buffer for data that the work recorded next reads. A piece is free again when that work
/// is done.
class StagingRing {
 public:
  StagingRing(const Device& device, Commands& commands, VkDeviceSize bytes, VkMemoryPropertyFlags preferred);

  struct Piece {
    VkBuffer buffer;
    VkDeviceSize offset;
    std::byte* data;
  };
  /// Submits and waits when the ring is full. The piece must be used by the work recorded next, before any
  /// submit. At most `bytes()` bytes.
  Piece take(VkDeviceSize bytes, VkDeviceSize alignment);
  VkDeviceSize bytes() const { return block_->bytes(); }

 private:
  struct Used {
    std::uint64_t end;    // bytes up to here ...
    std::uint64_t value;  // ... are free when this work is done
  };

  Commands& commands_;
  std::unique_ptr<MemoryBlock> block_;
  std::uint64_t head_ = 0, tail_ = 0;  // count bytes for ever; the place in the ring is the remainder
  std::deque<Used> used_;
};

}  // namespace sinter::runtime::vulkan
