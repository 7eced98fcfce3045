// Fault words: which index of which launch was out of range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <vulkan/vulkan.h>

#include "src/runtime/backend.h"
#include "src/runtime/vulkan/commands.h"
#include "src/runtime/vulkan/memory/memory.h"

namespace sinter::runtime::vulkan {

/// Pieces of host memory that kernels write to; each run has its own. Thread-safe.
class FaultMemory {
 public:
  FaultMemory(const Device& device, Commands& commands) : device_(device), commands_(commands) {}

  struct Piece {
    VkBuffer buffer = VK_NULL_HANDLE;
    VkDeviceSize offset = 0, bytes = 0;
    std::byte* data = nullptr;
  };
  /// At least so many bytes, all zero, which no work uses. Throws DeviceError.
  Piece take(VkDeviceSize bytes);
  /// `value`: the last work that uses the piece.
  void give_back(const Piece& piece, std::uint64_t value) noexcept;
  /// Bytes of all pieces.
  std::size_t bytes() const;

  Commands& commands() { return commands_; }

 private:
  struct Free {
    Piece piece;
    std::uint64_t value;
  };

  const Device& device_;
  Commands& commands_;
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<MemoryBlock>> blocks_;
  VkDeviceSize used_ = 0;  // of the last block
  std::vector<Free> free_;
};

/// The words of one run. Each launch's words begin where a binding may begin; `words` gives them without the
/// gaps.
class RunFaults final : public FaultReport {
 public:
  /// Throws DeviceError where there is no memory left.
  RunFaults(std::shared_ptr<FaultMemory> memory, std::uint32_t words, VkDeviceSize alignment);
  ~RunFaults() override;

  /// The binding of a launch's words `first` to `first + count - 1` of the run. Throws DeviceError for words
  /// that the run does not have.
  Binding bind(std::uint32_t first, std::size_t count);
  /// `value`: the work that ends the run.
  void end_run(std::uint64_t value) { value_ = value; }

  bool done() override;
  std::span<const std::uint32_t> words() override;

 private:
  struct Range {
    std::uint32_t first, count;
    VkDeviceSize offset;  // in the piece
  };

  const std::shared_ptr<FaultMemory> memory_;
  const VkDeviceSize alignment_;
  FaultMemory::Piece piece_;
  VkDeviceSize used_ = 0;
  std::vector<Range> ranges_;
  std::uint64_t value_ = 0;
  std::mutex mutex_;
  bool read_ = false;
  std::vector<std::uint32_t> words_;
};

}  // namespace sinter::runtime::vulkan
