// Device memory of one GPU.
#include "src/runtime/cuda/memory.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include <sinter/error.h>

namespace sinter::runtime::cuda {

namespace {

constexpr std::size_t kAlignment = 512;
constexpr std::size_t kSmall = std::size_t{1} << 20;  // up to this, blocks are cut from slabs
constexpr std::size_t kSlab = std::size_t{32} << 20;

/// Four classes for each power of two: at most a quarter is wasted, and sizes that differ little share
/// blocks.
std::size_t size_class(std::size_t bytes) {
  bytes = std::max(bytes, kAlignment);
  const std::size_t step = std::max(std::bit_floor(bytes) / 4, kAlignment);
  return (bytes + step - 1) / step * step;
}

}  // namespace

MemoryPool::~MemoryPool() {
  for (const auto& [bytes, blocks] : free_)
    if (bytes > kSmall)
      for (DevicePointer block : blocks) api_.memory_free(block);
  for (DevicePointer slab : slabs_) api_.memory_free(slab);
}

DevicePointer MemoryPool::from_driver(std::size_t bytes) {
  DevicePointer address = 0;
  const Result result = api_.memory_allocate(&address, bytes);
  if (result == kOutOfMemory) return 0;
  check(result, "cuMemAlloc");
  reserved_ += bytes;
  return address;
}

DevicePointer MemoryPool::carve(std::size_t bytes) {
  if (slab_left_ < bytes) {
    const DevicePointer slab = from_driver(kSlab);
    if (!slab) return 0;
    slabs_.push_back(slab);
    slab_at_ = slab;
    slab_left_ = kSlab;
  }
  const DevicePointer address = slab_at_;
  slab_at_ += bytes;
  slab_left_ -= bytes;
  return address;
}

bool MemoryPool::give_back(Stream stream) {
  check(api_.stream_synchronize(stream), "cuStreamSynchronize");
  bool any = false;
  for (auto& [bytes, blocks] : free_) {
    if (bytes <= kSmall) continue;
    for (DevicePointer block : blocks) {
      check(api_.memory_free(block), "cuMemFree");
      reserved_ -= bytes;
      any = true;
    }
    blocks.clear();
  }
  return any;
}

MemoryPool::Block MemoryPool::allocate(std::size_t bytes, Stream stream) {
  std::lock_guard lock(mutex_);
  Block block{0, size_class(bytes)};
  std::vector<DevicePointer>& kept = free_[block.bytes];
  if (!kept.empty()) {
    block.address = kept.back();
    kept.pop_back();
  } else {
    auto fresh = [&] { return block.bytes <= kSmall ? carve(block.bytes) : from_driver(block.bytes); };
    block.address = fresh();
    if (!block.address && give_back(stream)) block.address = fresh();
    if (!block.address)
      throw DeviceError("[cuda] there is no memory for " + std::to_string(bytes) +
                        " bytes more: " + std::to_string(in_use_) + " bytes are in use, " +
                        std::to_string(reserved_) + " held from the driver");
  }
  in_use_ += block.bytes;
  peak_ = std::max(peak_, in_use_);
  return block;
}

void MemoryPool::release(const Block& block) {
  std::lock_guard lock(mutex_);
  free_[block.bytes].push_back(block.address);
  in_use_ -= block.bytes;
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

StagingRing::~StagingRing() {
  for (Slot& slot : slots_) {
    if (slot.done) api_.event_destroy(slot.done);
    if (slot.memory) api_.host_free(slot.memory);
  }
}

StagingRing::Slot& StagingRing::ready(std::size_t index) {
  Slot& slot = slots_[index];
  if (!slot.memory) {
    void* memory = nullptr;
    check(api_.host_allocate(&memory, kSlotBytes, 0), "cuMemHostAlloc");
    slot.memory = static_cast<std::byte*>(memory);
    check(api_.event_create(&slot.done, kEventDisableTiming), "cuEventCreate");
  }
  if (slot.in_flight) {
    check(api_.event_synchronize(slot.done), "cuEventSynchronize");
    slot.in_flight = false;
  }
  return slot;
}

void StagingRing::upload(DevicePointer to, std::span<const std::byte> data) {
  while (!data.empty()) {
    if (used_ == kSlotBytes) {
      Slot& full = slots_[current_];
      check(api_.event_record(full.done, stream_), "cuEventRecord");
      full.in_flight = true;
      current_ = (current_ + 1) % kSlots;
      used_ = 0;
    }
    Slot& slot = ready(current_);
    const std::size_t bytes = std::min(data.size(), kSlotBytes - used_);
    std::memcpy(slot.memory + used_, data.data(), bytes);
    check(api_.copy_to_device(to, slot.memory + used_, bytes, stream_), "cuMemcpyHtoDAsync");
    // Pieces start on cache lines, so that two copies in flight share none.
    used_ = std::min(kSlotBytes, (used_ + bytes + 255) / 256 * 256);
    to += bytes;
    data = data.subspan(bytes);
  }
}

void StagingRing::download(DevicePointer from, std::span<std::byte> data) {
  // Two slots in turn: one is copied out while the device fills the other.
  struct Piece {
    std::size_t slot = 0;
    std::span<std::byte> to;
  };
  if (used_ > 0) {  // what uploads still read from the current slot must not be written over
    Slot& partial = ready(current_);
    check(api_.event_record(partial.done, stream_), "cuEventRecord");
    partial.in_flight = true;
    current_ = (current_ + 1) % kSlots;
    used_ = 0;
  }
  Piece before;
  auto finish = [&](const Piece& piece) {
    Slot& slot = ready(piece.slot);
    std::memcpy(piece.to.data(), slot.memory, piece.to.size());
  };
  while (!data.empty()) {
    Slot& slot = ready(current_);
    const std::size_t bytes = std::min(data.size(), kSlotBytes);
    check(api_.copy_to_host(slot.memory, from, bytes, stream_), "cuMemcpyDtoHAsync");
    check(api_.event_record(slot.done, stream_), "cuEventRecord");
    slot.in_flight = true;
    const Piece piece{current_, data.first(bytes)};
    if (!before.to.empty()) finish(before);
    before = piece;
    current_ = (current_ + 1) % kSlots;
    from += bytes;
    data = data.subspan(bytes);
  }
  if (!before.to.empty()) finish(before);
  check(api_.stream_synchronize(stream_), "cuStreamSynchronize");
}

}  // namespace sinter::runtime::cuda
