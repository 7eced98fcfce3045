// Hands out pieces for fault words and reads them.
#include "src/runtime/vulkan/memory/faults.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include <sinter/error.h>

namespace sinter::runtime::vulkan {
namespace {

constexpr VkDeviceSize kBlock = VkDeviceSize{64} << 10;
constexpr VkDeviceSize kLeast = 256;  // of a piece; no device wants bindings to begin at more

}  // namespace

FaultMemory::Piece FaultMemory::take(VkDeviceSize bytes) {
  const VkDeviceSize wanted = std::bit_ceil(std::max(bytes, kLeast));
  const std::uint64_t completed = commands_.completed();
  std::lock_guard lock(mutex_);
  Piece piece;
  const auto fits = std::find_if(free_.begin(), free_.end(), [&](const Free& f) {
    return f.value <= completed && f.piece.bytes == wanted;
  });
  if (fits != free_.end()) {
    piece = fits->piece;
    *fits = free_.back();
    free_.pop_back();
  } else {
    if (blocks_.empty() || used_ + wanted > blocks_.back()->bytes()) {
      blocks_.reserve(blocks_.size() + 1);
      // Cached where there is such memory: the host reads every word.
      blocks_.push_back(
          MemoryBlock::make(device_, std::max(kBlock, wanted),
                            VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                            VK_MEMORY_PROPERTY_HOST_CACHED_BIT));
      used_ = 0;
    }
    const MemoryBlock& block = *blocks_.back();
    piece = {block.buffer(), used_, wanted, block.mapped() + used_};
    used_ += wanted;
    free_.reserve(blocks_.size() * (kBlock / kLeast));  // so that `give_back` cannot fail
  }
  std::memset(piece.data, 0, piece.bytes);
  return piece;
}

void FaultMemory::give_back(const Piece& piece, std::uint64_t value) noexcept {
  if (!piece.data) return;
  std::lock_guard lock(mutex_);
  free_.push_back({piece, value});
}

std::size_t FaultMemory::bytes() const {
  std::lock_guard lock(mutex_);
  std::size_t sum = 0;
  for (const auto& block : blocks_) sum += block->bytes();
  return sum;
}

RunFaults::RunFaults(std::shared_ptr<FaultMemory> memory, std::uint32_t words, VkDeviceSize alignment)
    : memory_(std::move(memory)), alignment_(alignment), words_(words) {
  // At worst each word belongs to a launch of its own.
  piece_ = memory_->take(words * std::max<VkDeviceSize>(alignment, sizeof(std::uint32_t)));
}

RunFaults::~RunFaults() { memory_->give_back(piece_, value_); }

Binding RunFaults::bind(std::uint32_t first, std::size_t count) {
  const VkDeviceSize bytes = count * sizeof(std::uint32_t);
  if (first > words_.size() || count > words_.size() - first || used_ + bytes > piece_.bytes)
    throw DeviceError("[vulkan] a launch has fault words " + std::to_string(first) + " to " +
                      std::to_string(first + count) + " of a run that began with " +
                      std::to_string(words_.size()));
  ranges_.push_back({first, static_cast<std::uint32_t>(count), used_});
  const Binding binding{piece_.buffer, piece_.offset + used_, bytes};
  used_ = (used_ + bytes + alignment_ - 1) / alignment_ * alignment_;
  return binding;
}

bool RunFaults::done() {
  {
    std::lock_guard lock(mutex_);
    if (read_) return true;
  }
  if (memory_->commands().failed()) return true;
  try {
    return memory_->commands().completed() >= value_;
  } catch (const DeviceError&) {
    return true;  // `words` does not wait: it throws
  }
}

std::span<const std::uint32_t> RunFaults::words() {
  std::lock_guard lock(mutex_);
  if (read_) return words_;
  memory_->commands().wait(value_);
  for (const Range& range : ranges_)
    std::memcpy(words_.data() + range.first, piece_.data + range.offset, range.count * sizeof(std::uint32_t));
  memory_->give_back(std::exchange(piece_, {}), value_);
  read_ = true;
  return words_;
}

}  // namespace sinter::runtime::vulkan
