// The streams of one GPU and the order between them: compute, uploads, and one for each read in progress.
// Streams wait for each other through events; the host waits only in `Transfer::finish` and `wait`.
#pragma once

#include <memory>
#include <span>

#include "src/runtime/backend.h"
#include "src/runtime/cuda/memory/memory.h"
#include "src/runtime/cuda/memory/staging.h"
#include "src/runtime/cuda/memory/timeline.h"

namespace sinter::runtime::cuda {

class CudaBuffer final : public Buffer {
 public:
  CudaBuffer(Backend& backend, std::size_t bytes, MemoryPool& pool, MemoryPool::Block block)
      : Buffer(backend, bytes), block(block), pool_(pool) {}
  ~CudaBuffer() override { pool_.release(block); }
  MemoryPool::Block block;    // its points: the last launch that uses it, the last upload to it
  std::uint64_t written = 0;  // number of the submit whose launch wrote it last

 private:
  MemoryPool& pool_;
};

inline CudaBuffer& buffer_of(const BufferView& view) { return *static_cast<CudaBuffer*>(view.buffer); }

inline DevicePointer address_of(const BufferView& view) {
  return buffer_of(view).block.address + view.byte_offset;
}

/// All functions are called with the device's lock held and its context current; any thread may finish
/// transfers.
class Queues {
 public:
  Queues(const DriverApi& api, Context context, Stream compute);
  Queues(const Queues&) = delete;
  Queues& operator=(const Queues&) = delete;

  /// Marks memory as used by the open submit. If an upload to it is in flight, the compute stream waits for
  /// that.
  void use(MemoryPool::Block& block) {
    if (block.points.upload > arrived_) arrived_ = uploads_.wait_on(compute_);
    block.points.compute = timeline_.open();
    timeline_.add_work();
  }
  void use(CudaBuffer& buffer, bool written) {
    use(buffer.block);
    if (written) buffer.written = buffer.block.points.compute;
  }
  /// Marks the buffers of a kernel's launch, and of a library op's, whose last ones are `results`.
  void use(const ir::Kernel& kernel, std::span<const BufferView> buffers);
  void use(std::span<const BufferView> buffers, std::size_t results);

  /// Has what `submit` needs, so that it does not fail for want of memory.
  void reserve() { timeline_.reserve(); }
  /// Ends the open submit.
  void submit() { timeline_.close(); }
  /// True iff the open submit uses the buffer; it must end before a transfer begins.
  bool is_open(const BufferView& view) const {
    return timeline_.is_open(buffer_of(view).block.points.compute);
  }

  std::unique_ptr<Transfer> begin_upload(const BufferView& to, std::span<const std::byte> data);
  /// The transfer waits for the last submit that wrote the buffer.
  std::unique_ptr<Transfer> begin_download(const BufferView& from, std::span<std::byte> data);

  /// Waits for all submitted work. Thread-safe.
  void wait();

  std::uint64_t completed() { return timeline_.completed(); }
  Timeline& timeline() { return timeline_; }

 private:
  class Upload;
  class Download;
  void set_current() const { check(api_.context_set_current(context_), "cuCtxSetCurrent"); }

  const DriverApi& api_;
  const Context context_;
  const Stream compute_;
  Timeline timeline_;
  Uploads uploads_;
  Readers readers_;
  std::uint64_t arrived_ = 0;  // the compute stream has waited for uploads up to this number
};

}  // namespace sinter::runtime::cuda
