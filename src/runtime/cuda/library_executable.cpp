// Finds the products of launches.
#include <algorithm>
#include <optional>
#include <string>

#include <sinter/error.h>

#include "jit/ir/held_bytes.h"
#include "jit/ir/plain_product.h"
#include "src/runtime/cuda/executables.h"

namespace sinter::runtime::cuda {

std::shared_ptr<const LtProduct> LibraryExecutable::product(std::span<const std::int64_t> ints) const {
  const std::lock_guard lock(mutex_);
  for (const Known& known : known_)
    if (std::equal(ints.begin(), ints.end(), known.ints.begin(), known.ints.end())) return known.product;
  const std::optional<ir::PlainProduct> plain = ir::plain_product(kernel, ints);
  if (!plain) throw Error("[cuda] a library is to compute a kernel that is no plain product");
  std::shared_ptr<const LtProduct> product = products_.prepare(*plain);
  if (product->ways() < kernel.tiling.library)
    throw DeviceError("[cuda] cuBLASLt computes a product of " + std::to_string(plain->rows) + " x " +
                      std::to_string(plain->columns) + " x " + std::to_string(plain->depth) + " in " +
                      std::to_string(product->ways()) + " ways, not in " +
                      std::to_string(kernel.tiling.library));
  if (known_.size() >= kMostKnown) known_.clear();
  known_.push_back({{ints.begin(), ints.end()}, product});
  return product;
}

std::string LibraryExecutable::how(std::span<const std::int64_t> ints, std::size_t) {
  return "by cuBLASLt " + cublaslt_name(kernel.tiling.library_version) + ", algorithm " +
         std::to_string(kernel.tiling.library) + " of " + std::to_string(product(ints)->ways());
}

std::size_t LibraryExecutable::held_bytes() const {
  constexpr std::size_t kDescriptors = 2048;
  const std::lock_guard lock(mutex_);
  return sizeof *this + ir::held_bytes(kernel) + known_.size() * kDescriptors;
}

}  // namespace sinter::runtime::cuda
