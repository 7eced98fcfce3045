// Slots, streams and events of copies.
#include "src/runtime/cuda/memory/staging.h"

#include <algorithm>
#include <cstring>

namespace sinter::runtime::cuda {

namespace {

std::byte* locked_memory(const DriverApi& api, std::size_t bytes) {
  void* memory = nullptr;
  check(api.host_allocate(&memory, bytes, 0), "cuMemHostAlloc");
  return static_cast<std::byte*>(memory);
}

Event make_event(const DriverApi& api) {
  Event event = nullptr;
  check(api.event_create(&event, kEventDisableTiming), "cuEventCreate");
  return event;
}

}  // namespace

Uploads::Uploads(const DriverApi& api) : api_(api) {
  check(api_.stream_create(&stream_, kStreamNonBlocking), "cuStreamCreate");
  const Result result = api_.event_create(&finished_event_, kEventDisableTiming);
  if (result != kSuccess) api_.stream_destroy(stream_);
  check(result, "cuEventCreate");
}

Uploads::~Uploads() {
  api_.stream_synchronize(stream_);
  for (Slot& slot : slots_) {
    if (slot.done) api_.event_destroy(slot.done);
    if (slot.memory) api_.host_free(slot.memory);
  }
  api_.event_destroy(finished_event_);
  api_.stream_destroy(stream_);
}

/// Ensures that the current slot has room. Does not hold the lock while it waits, since a launch may need it.
void Uploads::make_room(std::unique_lock<std::mutex>& lock) {
  while (true) {
    if (used_ == kSlotBytes) {
      Slot& full = slots_[current_];
      check(api_.event_record(full.done, stream_), "cuEventRecord");
      full.in_flight = true;
      current_ = (current_ + 1) % kSlots;
      used_ = 0;
    }
    Slot& slot = slots_[current_];
    if (!slot.in_flight) return;
    const Result done = api_.event_query(slot.done);
    if (done != kNotReady) {
      check(done, "cuEventQuery");
      slot.in_flight = false;
      return;
    }
    lock.unlock();
    const Result result = api_.event_synchronize(slot.done);
    lock.lock();
    check(result, "cuEventSynchronize");
  }
}

/// Copies data into the rest of the current slot and enqueues its transfer.
std::size_t Uploads::copy_piece(DevicePointer to, std::span<const std::byte> data) {
  Slot& slot = slots_[current_];
  if (!slot.done) slot.done = make_event(api_);
  if (!slot.memory) slot.memory = locked_memory(api_, kSlotBytes);
  const std::size_t bytes = std::min(data.size(), kSlotBytes - used_);
  std::memcpy(slot.memory + used_, data.data(), bytes);
  check(api_.copy_to_device(to, slot.memory + used_, bytes, stream_), "cuMemcpyHtoDAsync");
  // Aligns pieces so that two copies in flight share no cache line.
  used_ = std::min(kSlotBytes, (used_ + bytes + 255) / 256 * 256);
  return bytes;
}

std::uint64_t Uploads::copy(DevicePointer to, std::span<const std::byte> data) {
  while (true) {
    // Releases the lock between pieces, so that small uploads of other threads need not wait for large ones.
    std::unique_lock lock(mutex_);
    make_room(lock);
    const std::size_t bytes = copy_piece(to, data);
    to += bytes;
    data = data.subspan(bytes);
    if (data.empty()) return ++finished_;
  }
}

std::uint64_t Uploads::abandon() {
  std::lock_guard lock(mutex_);
  return ++finished_;
}

std::uint64_t Uploads::wait_on(Stream stream) {
  std::lock_guard lock(mutex_);
  check(api_.event_record(finished_event_, stream_), "cuEventRecord");
  check(api_.stream_wait_event(stream, finished_event_, 0), "cuStreamWaitEvent");
  return finished_;
}

Readers::~Readers() {
  for (const auto& reader : all_) destroy(*reader);
}

void Readers::destroy(Reader& reader) noexcept {
  for (int i = 0; i < 2; ++i) {
    if (reader.filled[i]) api_.event_destroy(reader.filled[i]);
    if (reader.memory[i]) api_.host_free(reader.memory[i]);
  }
  if (reader.stream) api_.stream_destroy(reader.stream);
}

Readers::Reader* Readers::acquire(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  std::vector<Reader*>& free = bytes <= kSmallPiece ? small_ : large_;
  if (!free.empty()) {
    Reader* reader = free.back();
    free.pop_back();
    return reader;
  }
  all_.push_back(std::make_unique<Reader>());
  Reader& reader = *all_.back();
  try {
    small_.reserve(all_.size());  // so that `release` cannot fail
    large_.reserve(all_.size());
    reader.piece_bytes = bytes <= kSmallPiece ? kSmallPiece : kLargePiece;
    check(api_.stream_create(&reader.stream, kStreamNonBlocking), "cuStreamCreate");
    for (int i = 0; i < (bytes <= kSmallPiece ? 1 : 2); ++i) {
      reader.memory[i] = locked_memory(api_, reader.piece_bytes);
      reader.filled[i] = make_event(api_);
    }
  } catch (...) {
    destroy(reader);
    all_.pop_back();
    throw;
  }
  return &reader;
}

void Readers::release(Reader* reader) noexcept {
  std::lock_guard lock(mutex_);
  (reader->piece_bytes == kSmallPiece ? small_ : large_).push_back(reader);
}

}  // namespace sinter::runtime::cuda
