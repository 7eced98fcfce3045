// Page-locked staging memory between the host and one GPU, with streams of its own: copies overlap kernels,
// and a read waits only for its value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "src/runtime/cuda/driver_api.h"

namespace sinter::runtime::cuda {

/// Copies to the device on a stream of its own, through a ring of slots; a slot is reused when the copy out
/// of it is done. Uploads are numbered in the order in which they finish.
class Uploads {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{2} << 20;
  static constexpr std::size_t kSlots = 8;

  /// The device's context must be current here and in all functions.
  explicit Uploads(const DriverApi& api);
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  Stream stream() const { return stream_; }

  /// Copies the data into slots and enqueues the transfers; waits only when all slots are in flight.
  /// Thread-safe. Returns the upload's number.
  std::uint64_t copy(DevicePointer to, std::span<const std::byte> data);
  /// Numbers an upload that failed half-way: its enqueued copies must still be waited for.
  std::uint64_t abandon();

  /// Makes later work of `stream` wait for all finished uploads; returns the number of the last one.
  std::uint64_t wait_on(Stream stream);

 private:
  struct Slot {
    std::byte* memory = nullptr;
    Event done = nullptr;
    bool in_flight = false;
  };
  void make_room(std::unique_lock<std::mutex>& lock);
  std::size_t copy_piece(DevicePointer to, std::span<const std::byte> data);

  const DriverApi& api_;
  Stream stream_ = nullptr;
  std::mutex mutex_;
  Event finished_event_ = nullptr;
  std::uint64_t finished_ = 0;
  std::array<Slot, kSlots> slots_;
  std::size_t current_ = 0;
  std::size_t used_ = 0;  // bytes of the current slot
};

/// The streams and staging memory of reads; each read in progress has its own.
class Readers {
 public:
  static constexpr std::size_t kSmallPiece = std::size_t{64} << 10;
  static constexpr std::size_t kLargePiece = std::size_t{4} << 20;

  /// Double buffering: the host copies out of one piece while the device fills the other.
  struct Reader {
    Stream stream = nullptr;
    std::size_t piece_bytes = 0;
    std::byte* memory[2] = {};
    Event filled[2] = {};
  };

  explicit Readers(const DriverApi& api) : api_(api) {}
  ~Readers();
  Readers(const Readers&) = delete;
  Readers& operator=(const Readers&) = delete;

  /// Acquires a free reader for a read of this many bytes. Thread-safe; the context must be current.
  Reader* acquire(std::size_t bytes);
  /// The reader's stream must be idle.
  void release(Reader* reader) noexcept;

 private:
  void destroy(Reader& reader) noexcept;

  const DriverApi& api_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> all_;
  std::vector<Reader*> small_, large_;  // free readers
};

}  // namespace sinter::runtime::cuda
