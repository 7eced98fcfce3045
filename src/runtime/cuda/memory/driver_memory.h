// The memory pool's source: device memory of the driver.
#pragma once

#include <cstddef>

#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/memory/memory.h"
#include "src/runtime/cuda/memory/queues.h"

namespace sinter::runtime::cuda {

/// Makes the context current itself, as the pool rarely comes here: most allocations call no driver.
class DriverMemory final : public MemorySource {
 public:
  DriverMemory(const DriverApi& api, Context context, Queues& queues)
      : api_(api), context_(context), queues_(queues) {}
  DevicePointer allocate_memory(std::size_t bytes) override {
    make_current();
    DevicePointer address = 0;
    const Result result = api_.memory_allocate(&address, bytes);
    if (result == kOutOfMemory) return 0;
    check(result, "cuMemAlloc");
    return address;
  }
  void free_memory(DevicePointer address) noexcept override {
    api_.context_set_current(context_);
    api_.memory_free(address);
  }
  std::size_t available() override {
    make_current();
    std::size_t free = 0, total = 0;
    check(api_.memory_info(&free, &total), "cuMemGetInfo");
    return free;
  }
  void wait() override {
    make_current();
    queues_.wait();
  }

 private:
  void make_current() const { check(api_.context_set_current(context_), "cuCtxSetCurrent"); }

  const DriverApi& api_;
  const Context context_;
  Queues& queues_;
};

}  // namespace sinter::runtime::cuda
