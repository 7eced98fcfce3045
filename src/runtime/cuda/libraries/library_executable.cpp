// Finds what launches of a library's products take.
#include <algorithm>
#include <optional>
#include <string>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "jit/ir/products/plain_product.h"
#include "src/runtime/cuda/executables.h"

namespace sinter::runtime::cuda {

std::size_t LibraryExecutable::Steps::sum_bytes() const {
  if (rest_ints.empty()) return 0;
  const ir::PlainProduct& p = product->product();
  const std::size_t bytes =
      static_cast<std::size_t>(p.batches * p.rows * p.columns) * size_of(p.result.dtype);
  constexpr std::size_t kAlignment = MemoryPool::kAlignment;
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

std::shared_ptr<const LibraryExecutable::Steps> LibraryExecutable::steps(
    std::span<const std::int64_t> ints) const {
  const std::lock_guard lock(mutex_);
  for (const auto& known : known_)
    if (std::equal(ints.begin(), ints.end(), known->ints.begin(), known->ints.end())) return known;
  const std::optional<ir::PlainProduct> product = ir::library_product(kernel, ints);
  if (!product) throw Error("[cuda] a library is to compute a kernel that has no plain product");
  Steps steps{{ints.begin(), ints.end()}, products_.prepare(*product), {}};
  if (steps.product->ways() < kernel.tiling.library)
    throw DeviceError("[cuda] cuBLASLt computes a product of " + std::to_string(product->rows) + " x " +
                      std::to_string(product->columns) + " x " + std::to_string(product->depth) + " in " +
                      std::to_string(steps.product->ways()) + " ways, not in " +
                      std::to_string(kernel.tiling.library));
  if (product->has_rest) {
    steps.rest_ints = ir::rest_ints(kernel, ints);
    if (!rest_) rest_ = make_rest_(ir::rest_of(kernel));
  }
  if (known_.size() >= kMostKnown) known_.clear();
  return known_.emplace_back(std::make_shared<const Steps>(std::move(steps)));
}

std::size_t LibraryExecutable::workspace_bytes(std::span<const std::int64_t> ints, std::size_t) const {
  const auto needed = steps(ints);
  return needed->sum_bytes() + needed->product->workspace_bytes(kernel.tiling.library);
}

std::string LibraryExecutable::how(std::span<const std::int64_t> ints, std::size_t) {
  const auto taken = steps(ints);
  return "by cuBLASLt " + cublaslt_name(kernel.tiling.library_version) + ", algorithm " +
         std::to_string(kernel.tiling.library) + " of " + std::to_string(taken->product->ways()) +
         (taken->rest_ints.empty() ? "" : ", and a kernel for the rest");
}

std::size_t LibraryExecutable::held_bytes() const {
  constexpr std::size_t kDescriptors = 2048;
  const std::lock_guard lock(mutex_);
  return sizeof *this + ir::held_bytes(kernel) + known_.size() * kDescriptors +
         (rest_ ? rest_->held_bytes() : 0);
}

}  // namespace sinter::runtime::cuda
