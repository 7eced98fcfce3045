// Device memory of one GPU: a caching pool, and page-locked memory that uploads go through.
#pragma once

#include <array>
#include <map>
#include <mutex>
#include <span>
#include <vector>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// Hands out memory and keeps what comes back for the next one of about that size. All work of the device is
/// on one stream, so memory may be handed out again while the work that used it is still in flight.
class MemoryPool {
 public:
  explicit MemoryPool(const DriverApi& api) : api_(api) {}
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  struct Block {
    DevicePointer address = 0;
    std::size_t bytes = 0;  // of its size class
  };

  /// Aligned to 512 bytes. The device's context must be current. Waits for `stream` and gives memory back to
  /// the driver before it throws DeviceError for want of memory.
  Block allocate(std::size_t bytes, Stream stream);

  /// From any thread.
  void release(const Block& block);

  std::size_t bytes_in_use() const;
  std::size_t bytes_reserved() const;
  std::size_t peak_bytes_in_use() const;

 private:
  DevicePointer carve(std::size_t bytes);
  DevicePointer from_driver(std::size_t bytes);
  bool give_back(Stream stream);

  const DriverApi& api_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::vector<DevicePointer>> free_;  // by size class
  std::vector<DevicePointer> slabs_;                        // small blocks are cut from these
  DevicePointer slab_at_ = 0;
  std::size_t slab_left_ = 0;
  std::size_t in_use_ = 0, reserved_ = 0, peak_ = 0;
};

/// Page-locked memory in slots; a slot is used again when the copies out of it are done.
class StagingRing {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{4} << 20;
  static constexpr std::size_t kSlots = 4;

  StagingRing(const DriverApi& api, Stream stream) : api_(api), stream_(stream) {}
  ~StagingRing();
  StagingRing(const StagingRing&) = delete;
  StagingRing& operator=(const StagingRing&) = delete;

  void upload(DevicePointer to, std::span<const std::byte> data);
  /// Waits for the stream.
  void download(DevicePointer from, std::span<std::byte> data);

 private:
  struct Slot {
    std::byte* memory = nullptr;
    Event done = nullptr;
    bool in_flight = false;
  };
  Slot& ready(std::size_t index);

  const DriverApi& api_;
  Stream stream_;
  std::array<Slot, kSlots> slots_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;  // of the current slot
};

}  // namespace sinter::runtime::cuda
