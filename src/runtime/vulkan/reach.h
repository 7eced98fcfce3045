// How far into its buffers a launch may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::runtime::vulkan {

/// Derived once from a kernel's index maps. Many buffers of a launch are pieces of one plan's memory, so that
/// how far each reaches decides whether two launches touch the same.
class KernelReach {
 public:
  explicit KernelReach(const ir::Kernel& kernel);

  /// For each buffer the bytes, counted from where it is bound, that hold all that is touched. A load under a
  /// predicate may reach less than is said here, never more.
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
    friend bool operator==(const Use&, const Use&) = default;
  };

  std::vector<Use> uses_;
  std::vector<std::int64_t> element_bytes_;  // of each buffer
};

}  // namespace sinter::runtime::vulkan
