// Staging memory for uploads: a ring buffer of host memory that the device can read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/memory.h"

namespace sinter::runtime::vulkan {

class Commands;

/// A ring buffer of pieces for data that the work recorded next reads. A piece is free again when that work
/// is done.
class StagingRing {
 public:
  StagingRing(const Device& device, Commands& commands, VkDeviceSize bytes, VkMemoryPropertyFlags preferred);

  struct Piece {
    VkBuffer buffer;
    VkDeviceSize offset;
    std::byte* data;
  };
  /// Allocates a piece of at most `bytes()` bytes; submits and waits when the ring is full. The work recorded
  /// next, before any submit, must use the piece.
  Piece take(VkDeviceSize bytes, VkDeviceSize alignment);
  VkDeviceSize bytes() const { return block_->bytes(); }

 private:
  struct Used {
    std::uint64_t end;    // bytes up to here ...
    std::uint64_t value;  // ... are free when this work is done
  };

  Commands& commands_;
  std::unique_ptr<MemoryBlock> block_;
  std::uint64_t head_ = 0, tail_ = 0;  // count bytes without wrapping; modulo the size: offset in the ring
  std::deque<Used> used_;
};

}  // namespace sinter::runtime::vulkan
