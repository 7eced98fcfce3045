// Page-locked memory between the host and one GPU, with streams of its own: copies overlap kernels, and a
// read waits for nothing but its value.
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

/// Copies to the device on a stream of its own. Data goes slot by slot; a slot is used again when the copy
/// out of it is done. Uploads are numbered in the order in which they were finished.
class Uploads {
 public:
  static constexpr std::size_t kSlotBytes = std::size_t{2} << 20;
  static constexpr std::size_t kSlots = 8;

  /// The device's context must be current, here and in all functions.
  explicit Uploads(const DriverApi& api);
  ~Uploads();
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;

  Stream stream() const { return stream_; }

  /// Takes the data and hands the copies to the stream; waits only when all slots are in flight. From any
  /// thread. Gives the upload's number.
  std::uint64_t copy(DevicePointer to, std::span<const std::byte> data);
  /// Of an upload that failed half-way: what was handed over counts.
  std::uint64_t abandon();

  /// What `stream` is given from now on starts after all finished uploads; gives the number of the last.
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
  std::size_t used_ = 0;  // of the current slot
};

/// What reads are made with. Each read has a stream and page-locked memory for itself.
class Readers {
 public:
  static constexpr std::size_t kSmallPiece = std::size_t{64} << 10;
  static constexpr std::size_t kLargePiece = std::size_t{4} << 20;

  /// Two pieces: one is copied out while the device fills the other.
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

  /// One that nobody uses, fit to read so many bytes. From any thread, with the context current.
  Reader* take(std::size_t bytes);
  /// Its stream must be idle.
  void give_back(Reader* reader) noexcept;

 private:
  void destroy(Reader& reader) noexcept;

  const DriverApi& api_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Reader>> all_;
  std::vector<Reader*> small_, large_;  // free ones
};

/// Whether an index was out of range, for each submit by itself. Kernels set one word of the device; behind
/// each submit with such kernels it is copied to the host and cleared.
class Faults {
 public:
  Faults(const DriverApi& api, Stream compute);
  ~Faults();
  Faults(const Faults&) = delete;
  Faults& operator=(const Faults&) = delete;

  DevicePointer word() const { return word_; }

  /// Hands the copy to the compute stream, behind the kernels of submit `point`. `completed`: submits up to
  /// this number are done. Waits for the device only if more than kSlots submits were never asked about.
  void close(std::uint64_t point, std::uint64_t completed);

  /// True iff a submit up to `point`, all of which are done, had a fault that nobody was told about. From any
  /// thread.
  bool take(std::uint64_t point);

 private:
  static constexpr std::size_t kSlots = 1024;
  void look(std::uint64_t point);

  const DriverApi& api_;
  Stream compute_;
  DevicePointer word_ = 0;
  std::mutex mutex_;
  std::uint32_t* copies_ = nullptr;
  std::array<std::uint64_t, kSlots> points_{};
  std::uint64_t first_ = 0, end_ = 0;  // submits that nobody has looked at; the slot is the remainder
  std::uint64_t faulted_ = 0;          // the first submit with a fault that was seen but not told; 0: none
};

}  // namespace sinter::runtime::cuda
