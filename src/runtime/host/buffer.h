// A buffer of the host device: a block of its memory pool, or a part of a launch's working memory.
#pragma once

#include <cstddef>
#include <span>

#include "src/runtime/backend.h"
#include "src/runtime/host/memory_pool.h"

namespace sinter::runtime::host {

class HostBuffer final : public Buffer {
 public:
  HostBuffer(Backend& backend, MemoryPool& pool, std::size_t bytes)
      : Buffer(backend, bytes), pool_(&pool), data_(pool.allocate(bytes)) {}
  /// Memory that somebody else owns.
  HostBuffer(Backend& backend, std::span<std::byte> memory)
      : Buffer(backend, memory.size()), data_(memory.data()) {}
  ~HostBuffer() override {
    if (pool_ != nullptr) pool_->release(data_, bytes());
  }

  std::byte* data() const { return data_; }
  /// Of memory of its own.
  MemoryPool& pool() const { return *pool_; }

 private:
  MemoryPool* pool_ = nullptr;  // lives as long as its blocks, which may be longer than the backend
  std::byte* data_;
};

inline std::byte* data_of(const BufferView& view) {
  return static_cast<const HostBuffer*>(view.buffer)->data() + view.byte_offset;
}

}  // namespace sinter::runtime::host
