// Bounds how far into its buffers a launch can access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::runtime::vulkan {

/// Derived once from a kernel's index maps. Many buffers of a launch are parts of the plan's arena, so the
/// extent of their accesses decides whether two launches conflict.
class KernelReach {
 public:
  explicit KernelReach(const ir::Kernel& kernel);

  /// For each buffer, the number of bytes from its binding offset that cover all accesses: an upper bound,
  /// since a predicate may exclude some.
  void compute(std::span<const std::int64_t> ints, std::vector<std::int64_t>& bytes) const;

 private:
  struct Term {
    ir::IntRef stride, extent;
    friend bool operator==(const Term&, const Term&) = default;
  };
  struct Use {
    std::size_t buffer;
    ir::IntRef offset;
    std::vector<Term> terms;
    bool has_parts = false;   // as many times as there are parts, one behind the other
    std::int64_t length = 1;  // of a vector, whose elements are so far apart
    ir::IntRef apart;
    friend bool operator==(const Use&, const Use&) = default;
  };

  std::vector<Use> uses_;
  ir::IntRef parts_;                         // Kernel::parts
  std::vector<ir::IntRef> columns_;          // the sizes of the inner loops
  std::vector<std::int64_t> element_bytes_;  // of each buffer
};

}  // namespace sinter::runtime::vulkan
