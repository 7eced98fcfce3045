// The kernels of a plan, each distinct one once.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_map.h>

#include "jit/plan/lower/lowerer.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// Finds a launch's kernel by the form of its group, by the buffers that it writes in place and by its
/// members. Text is made and compared once for each such combination, not for each launch.
class PlanKernels {
 public:
  PlanKernels(std::vector<PlanKernel>& kernels, bool verifies) : kernels_(kernels), verifies_(verifies) {}

  /// The kernel for one member, by a number of its own: two launches have the same number iff their kernels
  /// have the same text. Joins each store's buffer with the one that it overwrites, in `buffers` too, so that
  /// the kernel sees one buffer that is read and written. Where the form has a kernel for what is
  /// overwritten, it is that one.
  std::uint32_t joined(const KernelForm& form, std::vector<Binding>& buffers);

  /// Whether `joined` has last taken the form's kernel in place.
  bool is_in_place() const { return in_place_ != nullptr; }

  /// For each buffer of the form that `joined` was called with last its place afterwards.
  std::vector<std::uint16_t> places_after_joins(std::size_t buffers) const;

  /// The place among the plan's kernels of what `joined` has returned, for so many members.
  std::uint32_t place_of(std::uint32_t joined, std::uint32_t members);

 private:
  using Join = std::pair<std::uint16_t, std::uint16_t>;  // of a written buffer with a read one
  struct Joined {
    ir::Kernel kernel;
    std::string text;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> places;  // by the size of the table of members
  };

  std::uint32_t add(ir::Kernel kernel, std::string text);

  std::vector<PlanKernel>& kernels_;
  [[maybe_unused]] const bool verifies_;
  std::vector<Joined> joined_;
  absl::flat_hash_map<std::string, std::uint32_t> by_text_;
  absl::flat_hash_map<std::pair<std::uint32_t, std::vector<Join>>, std::uint32_t> by_form_;
  absl::flat_hash_map<std::uint32_t, std::uint32_t> by_form_in_place_;
  // Of the launch at hand.
  std::vector<Join> joins_;
  const InPlaceKernel* in_place_ = nullptr;
};

}  // namespace sinter::plan
