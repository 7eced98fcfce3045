// The streams of one GPU, and who waits for whom: compute, uploads, and one for each read under way. Only
// streams wait for each other here, the host waits in `Transfer::finish` and `wait`.
#pragma once

#include <memory>
#include <span>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/memory.h"
#include "src/runtime/cuda/staging.h"
#include "src/runtime/cuda/timeline.h"

namespace sinter::runtime::cuda {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(Backend& backend, std::size_t bytes, MemoryPool& pool, MemoryPool::Block block)
      : Buffer(backend, bytes), block(block), pool_(pool) {}
  ~CudaBuffer() override { pool_.release(block); }
  MemoryPool::Block block;    // its points: the last launch that was given it, the last upload to it
  std::uint64_t written = 0;  // the submit of the last launch that wrote it

 private:
  MemoryPool& pool_;
};

inline CudaBuffer& buffer_of(const BufferView& view) { return *static_cast<CudaBuffer*>(view.buffer); }

inline DevicePointer address_of(const BufferView& view) {
  return buffer_of(view).block.address + view.byte_offset;
}

/// Functions are called with the device's lock held and its context current; transfers may be finished by any
/// thread.
class Queues {
 public:
  Queues(const DriverApi& api, Context context, Stream compute);
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  /// The open submit is given this memory; what is on its way to it comes first.
  void use(MemoryPool::Block& block) {
    if (block.points.upload > arrived_) arrived_ = uploads_.wait_on(compute_);
    block.points.compute = timeline_.open();
    timeline_.add_work();
  }
  void use(CudaBuffer& buffer, bool written) {
    use(buffer.block);
    if (written) buffer.written = buffer.block.points.compute;
  }
  /// The buffers of a launch. `kernel` is null for library ops, which have their output last.
  void use(const ir::Kernel* kernel, std::span<const BufferView> buffers);

  /// Ends the open submit. `may_fault`: its kernels may have set `fault_word`.
  void submit(bool may_fault);
  /// True iff the open submit uses the buffer: it must be ended before a transfer begins.
  bool is_open(const BufferView& view) const {
    return timeline_.is_open(buffer_of(view).block.points.compute);
  }

  std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data);
  /// Waits for the last submit that wrote the buffer, and throws its fault and those before it.
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data);

  /// Waits for everything that was handed over.
  void wait();
  /// Throws ShapeError if a submit that ended had a fault that nobody was told. After `wait`.
  void throw_faults() { throw_faults(timeline_.open() - 1); }

  std::uint64_t completed() { return timeline_.completed(); }
  DevicePointer fault_word() const { return faults_.word(); }

 private:
  class Upload;
  class Download;
  void throw_faults(std::uint64_t point);
  void set_current() const { check(api_.context_set_current(context_), "cuCtxSetCurrent"); }

  const DriverApi& api_;
  const Context context_;
  const Stream compute_;
  Timeline timeline_;
  Uploads uploads_;
  Readers readers_;
  Faults faults_;
  std::uint64_t arrived_ = 0;  // uploads up to this number come before what the compute stream is given now
};

}  // namespace sinter::runtime::cuda
