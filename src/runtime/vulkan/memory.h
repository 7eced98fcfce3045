// Device memory: big blocks taken from the driver, cut into slices, joined again when slices come back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include <vulkan/vulkan.h>

#include "src/runtime/vulkan/device.h"

namespace sinter::runtime::vulkan {

/// One allocation of the driver with one VkBuffer over all of it; mapped for good where the host can see it.
class MemoryBlock {
 public:
  /// Properties as in Device::memory_type. Throws DeviceError; `try_make` returns null when memory has run
  /// out.
  static std::unique_ptr<MemoryBlock> try_make(const Device& device, VkDeviceSize bytes,
                                               VkMemoryPropertyFlags required,
                                               VkMemoryPropertyFlags preferred);
  static std::unique_ptr<MemoryBlock> make(const Device& device, VkDeviceSize bytes,
                                           VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred);
  ~MemoryBlock();
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  VkBuffer buffer() const { return buffer_; }
  /// Of its first byte, for kernels; 0 where the device has no addresses.
  VkDeviceAddress device_address() const { return device_address_; }
  VkDeviceSize bytes() const { return bytes_; }
  std::byte* mapped() const { return mapped_; }

 private:
  MemoryBlock(const Device& device, VkDeviceSize bytes) : device_(device), bytes_(bytes) {}

  const Device& device_;
  VkDeviceSize bytes_;
  VkBuffer buffer_ = VK_NULL_HANDLE;
  VkDeviceAddress device_address_ = 0;
  VkDeviceMemory memory_ = VK_NULL_HANDLE;
  std::byte* mapped_ = nullptr;
};

/// A part of a block. `address` numbers all bytes of a pool, block after block, so that two slices overlap
/// iff their addresses do.
struct Slice {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0, bytes = 0;
  std::uint64_t address = 0;
  VkDeviceAddress device_address = 0;  // for kernels that reach buffers through addresses
  std::byte* mapped = nullptr;         // null: the host cannot touch it in place
  std::uint64_t last_use = 0;          // work up to this number (Commands::open_value) may still touch it
};

/// Slices for buffers. A slice that comes back can be handed out at once although queued work still uses it:
/// whatever is queued later runs after a barrier (HazardTracker works on addresses, not on buffers). Only the
/// host must look at `last_use` before it touches a slice in place. All functions may be called from any
/// thread.
class MemoryPool {
 public:
  /// `limit`: the most bytes to hold from the driver; 0: as many as it gives.
  MemoryPool(const Device& device, std::size_t limit);

  /// None: the driver has no memory left.
  std::optional<Slice> try_allocate(VkDeviceSize bytes);
  void release(const Slice& slice);
  /// Gives blocks that nobody uses back to the driver; the number of bytes. The caller has waited for all
  /// work.
  std::size_t trim();

  std::size_t bytes_in_use() const;
  std::size_t bytes_reserved() const;
  std::size_t peak_bytes_in_use() const;

 private:
  struct Free {
    VkDeviceSize bytes;
    std::uint64_t last_use;
  };
  using FreeMap = std::map<std::uint64_t, Free>;

  /// Big slices have blocks of their own kind, so that a small one with a long life does not keep a big
  /// block.
  struct Arena {
    FreeMap free;  // by address; neighbours are always joined
    std::set<std::pair<VkDeviceSize, std::uint64_t>>
        sizes;  // (bytes, address) of each: smallest that fits first
  };

  Arena& arena_of(VkDeviceSize bytes);
  bool grow(Arena& arena, VkDeviceSize bytes);
  void add(Arena& arena, std::uint64_t address, Free range);
  void remove(Arena& arena, FreeMap::iterator at);

  const Device& device_;
  const std::size_t limit_;
  VkMemoryPropertyFlags required_, preferred_;
  mutable std::mutex mutex_;
  Arena small_, large_;
  std::map<std::uint64_t, std::unique_ptr<MemoryBlock>> blocks_;  // by the address of the first byte
  std::uint64_t next_address_ = 0;
  std::size_t in_use_ = 0, reserved_ = 0, peak_ = 0;
};

}  // namespace sinter::runtime::vulkan
