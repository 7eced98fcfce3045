// What becomes of oneDNN when the process ends: its static objects end, and threads may go on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/base/exit_gate.h"
#include "src/runtime/host/products/product.h"
#include "src/runtime/host/threads/workers.h"

namespace sinter::runtime::host {

/// oneDNN has code that it has made in static objects.
inline base::ExitGate& gate() {
  static base::ExitGate& instance = *new base::ExitGate([] { gate().close(); });
  return instance;
}

/// A program's first run may make more of them. Each renewal stays in a list until the process ends; a
/// thousand programs have run all there is.
class RenewAfterFirst {
 public:
  explicit RenewAfterFirst(std::atomic<bool>& has_run)
      : is_first_(!has_run.load(std::memory_order_relaxed) && !has_run.exchange(true) &&
                  renewals().fetch_add(1, std::memory_order_relaxed) < kMostRenewals) {}
  ~RenewAfterFirst() {
    if (is_first_) gate().renew();
  }
  RenewAfterFirst(const RenewAfterFirst&) = delete;
  RenewAfterFirst& operator=(const RenewAfterFirst&) = delete;

 private:
  static constexpr std::uint32_t kMostRenewals = 1000;
  static std::atomic<std::uint32_t>& renewals() {
    static std::atomic<std::uint32_t> all{0};
    return all;
  }
  const bool is_first_;
};

/// What a program of ours computes instead once the process ends.
inline void run_at_exit(ProductProgram& own, std::size_t threads, ThreadPool& pool, const ProductData& data) {
  own.use_threads(threads);
  const std::size_t bytes = own.workspace_bytes({}, 1);
  std::vector<std::byte> memory(bytes + kMemoryUnit);
  void* begin = memory.data();
  std::size_t space = memory.size();
  std::align(kMemoryUnit, bytes, begin, space);
  Workers workers(pool, {static_cast<std::byte*>(begin), bytes});
  own.compute(workers, data);
}

}  // namespace sinter::runtime::host
