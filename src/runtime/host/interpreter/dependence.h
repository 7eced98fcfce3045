// On which loops the expressions of a kernel depend, and which of them are needed at all.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/kernel.h"
#include "src/runtime/host/interpreter/space.h"

namespace sinter::runtime::host {

/// Where a value is computed: once for the launch, for each unit of outer points, or for each block of inner
/// points.
enum class Place { Constant, Unit, Inner };

class Dependence {
 public:
  Dependence(const ir::Kernel& kernel, const Space& space);

  Place place_of(ir::ExprId id) const {
    if (dims_[id] == 0) return Place::Constant;
    return (dims_[id] & inner_) == 0 ? Place::Unit : Place::Inner;
  }
  /// True iff the value is the same for all points along `dims`.
  bool single(ir::ExprId id, std::uint32_t dims) const { return (dims_[id] & dims) == 0; }
  /// True iff a store or a reduction that is made asks for it.
  bool needed(ir::ExprId id) const { return needed_[id]; }

 private:
  void find_dims(const ir::Kernel& kernel, const Space& space);
  void find_needed(const ir::Kernel& kernel, bool any_inner);

  std::uint32_t inner_;
  std::vector<std::uint32_t> dims_;
  std::vector<bool> needed_;
};

}  // namespace sinter::runtime::host
