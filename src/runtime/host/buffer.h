// A buffer of the host device: a block of its memory pool.
#pragma once

#include "src/runtime/backend.h"
#include "src/runtime/host/memory_pool.h"

namespace sinter::runtime::host {

class HostBuffer final : public Buffer {
 public:
  HostBuffer(Backend& backend, MemoryPool& pool, std::size_t bytes)
      : Buffer(backend, bytes), pool_(pool), data_(pool_.allocate(bytes)) {}
  ~HostBuffer() override { pool_.release(data_, bytes()); }

  std::byte* data() const { return data_; }
  MemoryPool& pool() const { return pool_; }

 private:
  MemoryPool& pool_;  // lives as long as its blocks, which may be longer than the backend
  std::byte* data_;
};

inline std::byte* data_of(const BufferView& view) {
  return static_cast<const HostBuffer*>(view.buffer)->data() + view.byte_offset;
}

}  // namespace sinter::runtime::host
