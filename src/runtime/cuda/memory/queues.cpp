// Transfers that begin under the device's lock and finish outside of it.
#include "src/runtime/cuda/memory/queues.h"

#include <algorithm>
#include <cstring>

namespace sinter::runtime::cuda {

Queues::Queues(const DriverApi& api, Context context, Stream compute)
    : api_(api),
      context_(context),
      compute_(compute),
      timeline_(api, compute),
      uploads_(api),
      readers_(api) {}

void Queues::use(const ir::Kernel& kernel, std::span<const BufferView> buffers) {
  for (std::size_t i = 0, argument = 0; i < buffers.size(); ++i) {
    use(buffer_of(buffers[i]), kernel.buffers[argument].written);
    if (++argument == kernel.buffers.size()) argument = 0;
  }
}

void Queues::use(std::span<const BufferView> buffers, std::size_t results) {
  for (std::size_t i = 0; i < buffers.size(); ++i) use(buffer_of(buffers[i]), i + results >= buffers.size());
}

void Queues::wait() {
  const std::uint64_t last = timeline_.open() - 1;
  check(api_.stream_synchronize(compute_), "cuStreamSynchronize");
  check(api_.stream_synchronize(uploads_.stream()), "cuStreamSynchronize");
  timeline_.completed_by(last);
}

/// An upload. The upload stream waits for earlier work on the memory.
class Queues::Upload final : public Transfer {
 public:
  Upload(Queues& queues, const BufferView& to, std::span<const std::byte> data)
      : queues_(queues), buffer_(buffer_of(to)), to_(address_of(to)), data_(data) {
    queues_.timeline_.wait(queues_.uploads_.stream(), buffer_.block.points.compute);
  }
  void finish() override {
    queues_.set_current();
    try {
      buffer_.block.points.upload = queues_.uploads_.copy(to_, data_);
    } catch (...) {
      buffer_.block.points.upload = queues_.uploads_.abandon();
      throw;
    }
  }

 private:
  Queues& queues_;
  CudaBuffer& buffer_;
  DevicePointer to_;
  std::span<const std::byte> data_;
};

/// A download. The first piece is in flight after the work that wrote the memory.
class Queues::Download final : public Transfer {
 public:
  Download(Queues& queues, const BufferView& from, std::span<std::byte> data)
      : queues_(queues), point_(buffer_of(from).written), from_(address_of(from)), data_(data) {
    reader_ = queues_.readers_.acquire(data.size());
    try {
      queues_.timeline_.wait(reader_->stream, point_);
      if (buffer_of(from).block.points.upload > 0) queues_.uploads_.wait_on(reader_->stream);
      start_piece();
    } catch (...) {
      end();
      throw;
    }
  }
  ~Download() override { end(); }

  void finish() override {
    queues_.set_current();
    for (std::size_t piece = 0; copied_ < data_.size(); piece ^= 1) {
      if (started_ < data_.size()) start_piece();
      check(queues_.api_.event_synchronize(reader_->filled[piece]), "cuEventSynchronize");
      const std::size_t bytes = std::min(data_.size() - copied_, reader_->piece_bytes);
      std::memcpy(data_.data() + copied_, reader_->memory[piece], bytes);
      copied_ += bytes;
    }
    queues_.timeline_.completed_by(point_);
  }

 private:
  void start_piece() {
    const std::size_t bytes = std::min(data_.size() - started_, reader_->piece_bytes);
    check(queues_.api_.copy_to_host(reader_->memory[next_], from_ + started_, bytes, reader_->stream),
          "cuMemcpyDtoHAsync");
    check(queues_.api_.event_record(reader_->filled[next_], reader_->stream), "cuEventRecord");
    started_ += bytes;
    next_ ^= 1;
  }
  /// Returns the reader, which must have nothing in flight.
  void end() noexcept {
    if (copied_ < data_.size()) {
      queues_.api_.context_set_current(queues_.context_);
      queues_.api_.stream_synchronize(reader_->stream);
    }
    queues_.readers_.release(reader_);
  }

  Queues& queues_;
  std::uint64_t point_;
  DevicePointer from_;
  std::span<std::byte> data_;
  Readers::Reader* reader_ = nullptr;
  std::size_t started_ = 0, copied_ = 0, next_ = 0;
};

std::unique_ptr<Transfer> Queues::begin_upload(const BufferView& to, std::span<const std::byte> data) {
  return std::make_unique<Upload>(*this, to, data);
}

std::unique_ptr<Transfer> Queues::begin_download(const BufferView& from, std::span<std::byte> data) {
  return std::make_unique<Download>(*this, from, data);
}

}  // namespace sinter::runtime::cuda
