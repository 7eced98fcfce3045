// Uploads and downloads.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include <sinter/error.h>

#include "src/runtime/vulkan/device_backend.h"
#include "src/runtime/vulkan/instance.h"

namespace sinter::runtime::vulkan {
namespace {

constexpr std::size_t kSmallUpload = std::size_t{64} << 10;  // copied at once

/// Copies into a mapped buffer that no work uses.
class MappedUpload final : public Transfer {
 public:
  MappedUpload(std::byte* to, std::span<const std::byte> data) : to_(to), data_(data) {}
  void finish() override { std::memcpy(to_, data_.data(), data_.size()); }

 private:
  std::byte* const to_;
  const std::span<const std::byte> data_;
};

/// Copies out of a mapped buffer when what is written there is done.
class MappedDownload final : public Transfer {
 public:
  MappedDownload(Commands& commands, const std::byte* from, std::uint64_t value, std::span<std::byte> data)
      : commands_(commands), from_(from), value_(value), data_(data) {}
  void finish() override {
    commands_.wait(value_);
    std::memcpy(data_.data(), from_, data_.size());
    throw_validation_messages();
  }

 private:
  Commands& commands_;
  const std::byte* const from_;
  const std::uint64_t value_;
  const std::span<std::byte> data_;
};

/// A copy through two blocks: the device works on one while the host works on the other.
class StagedTransfer : public Transfer {
 public:
  StagedTransfer(Commands& commands, StagingPool& pool, Slice& slice, std::size_t offset, std::size_t bytes)
      : commands_(commands), pool_(pool), slice_(slice), offset_(offset), bytes_(bytes) {
    const std::size_t blocks = bytes > StagingPool::kMost ? 2 : 1;
    for (std::size_t i = 0; i < blocks; ++i) blocks_[i].memory = pool.take(bytes);
    piece_ = std::min<std::size_t>(blocks_[0].memory->bytes(), StagingPool::kMost);
  }
  // The caller's memory and the buffer may be gone afterwards.
  ~StagedTransfer() override {
    for (Block& block : blocks_) {
      if (!finished_) commands_.wait_quietly(block.value);
      pool_.give_back(std::move(block.memory), block.value);
    }
  }

 protected:
  struct Block {
    std::unique_ptr<MemoryBlock> memory;
    std::uint64_t value = 0;  // the last work that uses it
  };
  std::size_t pieces() const { return (bytes_ + piece_ - 1) / piece_; }
  std::size_t bytes_of(std::size_t piece) const { return std::min(piece_, bytes_ - piece * piece_); }
  Block& block_of(std::size_t piece) { return blocks_[piece % 2]; }

  /// Records the copy of a piece between its block and the buffer, and submits it but for the last of an
  /// upload.
  void copy(std::size_t piece, bool to_device) {
    const std::size_t at = offset_ + piece * piece_, bytes = bytes_of(piece);
    const Access access{slice_.address + at, slice_.address + at + bytes, to_device};
    Block& block = block_of(piece);
    const Commands::Lock lock = commands_.lock();
    if (to_device)
      commands_.copy(block.memory->buffer(), 0, slice_.buffer, slice_.offset + at, bytes, {&access, 1});
    else
      commands_.copy(slice_.buffer, slice_.offset + at, block.memory->buffer(), 0, bytes, {&access, 1});
    slice_.last_use = block.value = commands_.open_value();
    if (to_device) slice_.last_write = slice_.last_use;
    if (!to_device || piece + 1 < pieces()) commands_.submit();
  }

  Commands& commands_;
  StagingPool& pool_;
  Slice& slice_;
  const std::size_t offset_, bytes_;
  std::size_t piece_ = 0;
  Block blocks_[2];
  bool finished_ = false;
};

class StagedUpload final : public StagedTransfer {
 public:
  StagedUpload(Commands& commands, StagingPool& pool, Slice& slice, std::size_t offset,
               std::span<const std::byte> data)
      : StagedTransfer(commands, pool, slice, offset, data.size()), data_(data) {}

  void finish() override {
    for (std::size_t piece = 0; piece < pieces(); ++piece) {
      commands_.wait(block_of(piece).value);
      std::memcpy(block_of(piece).memory->mapped(), data_.data() + piece * piece_, bytes_of(piece));
      copy(piece, true);
    }
    finished_ = true;
  }

 private:
  const std::span<const std::byte> data_;
};

class StagedDownload final : public StagedTransfer {
 public:
  StagedDownload(Commands& commands, StagingPool& pool, Slice& slice, std::size_t offset,
                 std::span<std::byte> data)
      : StagedTransfer(commands, pool, slice, offset, data.size()), data_(data) {
    for (std::size_t piece = 0; piece < std::min<std::size_t>(pieces(), 2); ++piece) copy(piece, false);
  }

  void finish() override {
    for (std::size_t piece = 0; piece < pieces(); ++piece) {
      commands_.wait(block_of(piece).value);
      std::memcpy(data_.data() + piece * piece_, block_of(piece).memory->mapped(), bytes_of(piece));
      if (piece + 2 < pieces()) copy(piece + 2, false);
    }
    finished_ = true;
    throw_validation_messages();
  }

 private:
  const std::span<std::byte> data_;
};

}  // namespace

VulkanBuffer& VulkanBackend::checked(const BufferView& view, std::size_t bytes, const char* what) const {
  if (view.byte_offset > view.buffer->bytes() || bytes > view.buffer->bytes() - view.byte_offset)
    throw DeviceError(std::string("[vulkan] ") + what + " needs " + std::to_string(bytes) +
                      " bytes from byte " + std::to_string(view.byte_offset) + " on of a buffer of " +
                      std::to_string(view.buffer->bytes()));
  return static_cast<VulkanBuffer&>(*view.buffer);
}

std::unique_ptr<Transfer> VulkanBackend::begin_upload(const BufferView& to, std::span<const std::byte> data) {
  if (data.empty()) return nullptr;
  Slice& slice = checked(to, data.size(), "an upload").slice;
  const bool in_place = slice.mapped && slice.last_use <= commands_.completed();
  if (data.size() > kSmallUpload) {
    if (in_place) return std::make_unique<MappedUpload>(slice.mapped + to.byte_offset, data);
    return std::make_unique<StagedUpload>(commands_, staging_, slice, to.byte_offset, data);
  }
  if (in_place) {
    std::memcpy(slice.mapped + to.byte_offset, data.data(), data.size());
    return nullptr;
  }
  constexpr VkDeviceSize kAlignment = 16;
  const Commands::Lock lock = commands_.lock();
  std::uint64_t value = 0;
  do {
    value = commands_.open_value();
    uploads_.make_room(data.size() + kAlignment);
    commands_.reserve(0, 0);
  } while (commands_.open_value() != value);
  const StagingRing::Piece piece = uploads_.take(data.size(), kAlignment);
  std::memcpy(piece.data, data.data(), data.size());
  const std::uint64_t begin = slice.address + to.byte_offset;
  const Access access{begin, begin + data.size(), true};
  slice.last_use = slice.last_write = value;
  commands_.copy(piece.buffer, piece.offset, slice.buffer, slice.offset + to.byte_offset, data.size(),
                 {&access, 1});
  commands_.submit_if_large();
  return nullptr;
}

std::unique_ptr<Transfer> VulkanBackend::begin_download(const BufferView& from, std::span<std::byte> data) {
  Slice& slice = checked(from, data.size(), "a download").slice;
  if (data.empty()) return nullptr;
  if (!slice.mapped)
    return std::make_unique<StagedDownload>(commands_, staging_, slice, from.byte_offset, data);
  {
    const Commands::Lock lock = commands_.lock();
    if (slice.last_write >= commands_.open_value()) commands_.submit();
  }
  return std::make_unique<MappedDownload>(commands_, slice.mapped + from.byte_offset, slice.last_write, data);
}

void VulkanBackend::upload(const BufferView& to, std::span<const std::byte> data) {
  if (const std::unique_ptr<Transfer> transfer = begin_upload(to, data)) transfer->finish();
}

void VulkanBackend::download(const BufferView& from, std::span<std::byte> data) {
  if (const std::unique_ptr<Transfer> transfer = begin_download(from, data)) transfer->finish();
}

}  // namespace sinter::runtime::vulkan
