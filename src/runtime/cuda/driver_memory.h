// The memory pool's source: device memory of the driver.
#pragma once

#include <cstddef>

#include "src/runtime/cuda/driver_api.h"
#include "src/runtime/cuda/memory.h"
#include "src/runtime/cuda/queues.h"

namespace sinter::runtime::cuda {

class DriverMemory final : public MemorySource {
 public:
  DriverMemory(const DriverApi& api, Queues& queues) : api_(api), queues_(queues) {}
  DevicePointer allocate_memory(std::size_t bytes) override {
    DevicePointer address = 0;
    const Result result = api_.memory_allocate(&address, bytes);
    if (result == kOutOfMemory) return 0;
    check(result, "cuMemAlloc");
    return address;
  }
  void free_memory(DevicePointer address) noexcept override { api_.memory_free(address); }
  std::size_t available() override {
    std::size_t free = 0, total = 0;
    check(api_.memory_info(&free, &total), "cuMemGetInfo");
    return free;
  }
  void wait() override { queues_.wait(); }

 private:
  const DriverApi& api_;
  Queues& queues_;
};

}  // namespace sinter::runtime::cuda
