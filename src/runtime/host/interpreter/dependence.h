// The loops that each expression of a kernel depends on, and the expressions that any result needs.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/kernel.h"
#include "src/runtime/host/interpreter/space.h"

namespace sinter::runtime::host {

/// How often a value is computed: once per launch, per unit of outer points, or per block of inner points.
enum class Scope { Constant, Unit, Inner };

class Dependence {
 public:
  Dependence(const ir::Kernel& kernel, const Space& space);

  Scope scope_of(ir::ExprId id) const {
    if (dims_[id] == 0) return Scope::Constant;
    return (dims_[id] & inner_) == 0 ? Scope::Unit : Scope::Inner;
  }
  /// True iff the value is the same for all points along `dims`.
  bool single(ir::ExprId id, std::uint32_t dims) const { return (dims_[id] & dims) == 0; }
  /// True iff a store or a needed reduction depends on it.
  bool needed(ir::ExprId id) const { return needed_[id]; }

 private:
  void find_dims(const ir::Kernel& kernel, const Space& space);
  void find_needed(const ir::Kernel& kernel, bool any_inner);

  std::uint32_t inner_;
  std::vector<std::uint32_t> dims_;
  std::vector<bool> needed_;
};

}  // namespace sinter::runtime::host
