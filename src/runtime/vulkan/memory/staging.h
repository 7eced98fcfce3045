// Staging memory: host memory that the device reads arguments and uploads from and writes downloads to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/memory/memory.h"

namespace sinter::runtime::vulkan {

class Commands;

/// A ring buffer of pieces for data that the work recorded next reads. A piece is free again when that work
/// is done. Used with the lock of `commands` held.
class StagingRing {
 public:
  StagingRing(const Device& device, Commands& commands, VkDeviceSize bytes, VkMemoryPropertyFlags preferred);

  struct Piece {
    VkBuffer buffer;
    VkDeviceSize offset;
    std::byte* data;
  };
  /// Makes room for pieces of so many bytes in all, gaps for their alignment included, at most `bytes()`;
  /// submits and waits when the ring is full.
  void make_room(VkDeviceSize bytes);
  /// Takes a piece that there is room for. The work recorded next, before any submit, must use it.
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

/// Mapped blocks for transfers: each transfer has its own. Thread-safe.
class StagingPool {
 public:
  /// A transfer of more bytes goes through several blocks.
  static constexpr VkDeviceSize kMost = VkDeviceSize{8} << 20;

  StagingPool(const Device& device, Commands& commands) : device_(device), commands_(commands) {}

  /// A block that no work uses, of at least min(bytes, kMost) bytes. Throws DeviceError.
  std::unique_ptr<MemoryBlock> take(VkDeviceSize bytes);
  /// `value`: the last work that uses the block.
  void give_back(std::unique_ptr<MemoryBlock> block, std::uint64_t value) noexcept;
  /// Returns unused blocks to the driver; the number of bytes.
  std::size_t trim();
  /// Bytes of blocks that no transfer uses.
  std::size_t bytes() const;

 private:
  struct Free {
    std::unique_ptr<MemoryBlock> block;
    std::uint64_t value;
  };

  const Device& device_;
  Commands& commands_;
  mutable std::mutex mutex_;
  std::vector<Free> free_;
};

}  // namespace sinter::runtime::vulkan
