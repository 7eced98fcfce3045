#include "jit/ir/scores/column_values.h"

namespace sinter::ir {

std::vector<ExprId> column_values(const Kernel& kernel, std::span<const std::uint32_t> loops) {
  const std::uint32_t row = 1u << (kernel.outer_rank - 1u), column = 1u << kernel.outer_rank;
  std::vector<ExprId> found;
  for (ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const Expr& e = kernel.exprs[id];
    if (e.kind == ExprKind::Load && e.dtype == DType::f32 && e.predicate == kNone &&
        kernel.maps[e.map].steps.size() == 1 && (loops[id] & (row | column)) == column)
      found.push_back(id);
  }
  return found;
}

}  // namespace sinter::ir
