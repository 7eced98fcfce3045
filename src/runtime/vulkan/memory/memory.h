// The memory pool of a Vulkan device: cuts blocks of the driver's memory into slices and joins free
// neighbours.
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

/// One allocation of the driver with one VkBuffer over all of it; persistently mapped where it is
/// host-visible.
class MemoryBlock {
 public:
  /// Properties as in Device::memory_type. Throws DeviceError; `try_make` returns null when no memory is
  /// left.
  static std::unique_ptr<MemoryBlock> try_make(const Device& device, VkDeviceSize bytes,
                                               VkMemoryPropertyFlags required,
                                               VkMemoryPropertyFlags preferred);
  static std::unique_ptr<MemoryBlock> make(const Device& device, VkDeviceSize bytes,
                                           VkMemoryPropertyFlags required, VkMemoryPropertyFlags preferred);
  ~MemoryBlock();
  MemoryBlock(const MemoryBlock&) = delete;
  MemoryBlock& operator=(const MemoryBlock&) = delete;

  VkBuffer buffer() const { return buffer_; }
  /// Address of the first byte, for kernels; 0 where the device has no buffer addresses.
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
/// iff their address ranges do.
struct Slice {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceSize offset = 0, bytes = 0;
  std::uint64_t address = 0;
  VkDeviceAddress device_address = 0;  // for kernels that access buffers by address
  std::byte* mapped = nullptr;         // null: not mapped
  std::uint64_t last_use = 0;          // work up to this number (Commands::open_value) may still use it
  std::uint64_t last_write = 0;        // work up to this number may still write what its owner reads
};

/// Allocates slices for buffers. A released slice can be allocated again at once, although submitted work
/// still uses it: later work runs after a barrier (HazardTracker works on addresses, not on buffers). Only
/// the host must wait for `last_use` before it accesses a slice in place. Thread-safe.
class MemoryPool {
 public:
  /// `limit`: the most bytes to hold from the driver; 0: no limit.
  MemoryPool(const Device& device, std::size_t limit);

  /// nullopt: the driver has no memory left.
  std::optional<Slice> try_allocate(VkDeviceSize bytes);
  void release(const Slice& slice);
  /// Returns unused blocks to the driver; the number of bytes. `completed`: work up to this number is done.
  std::size_t trim(std::uint64_t completed);

  std::size_t bytes_in_use() const;
  std::size_t bytes_reserved() const;
  std::size_t peak_bytes_in_use() const;

 private:
  struct Free {
    VkDeviceSize bytes;
    std::uint64_t last_use;
  };
  using FreeMap = std::map<std::uint64_t, Free>;

  /// Large slices have blocks of their own, so that a small slice with a long lifetime does not pin a large
  /// block.
  struct Arena {
    FreeMap free;                                            // by address; adjacent ranges are always joined
    std::set<std::pair<VkDeviceSize, std::uint64_t>> sizes;  // (bytes, address) of each, for best fit
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
