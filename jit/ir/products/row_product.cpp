// Looks for a sum of products of a row that all outer points share.
#include "jit/ir/products/row_product.h"

namespace sinter::ir {

bool is_row_product(const Kernel& kernel) {
  if (kernel.schedule != Schedule::LanesInner || kernel.inner_rank == 0 || kernel.phases < 2) return false;
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1;
  const std::vector<std::uint32_t> loops = dependence(kernel);
  // A kernel of many rows that weighs each of them last reduces the rows before: of a product's only row that
  // is the same at all outer points.
  for (ExprId id = 0; id < kernel.exprs.size(); ++id)
    if (kernel.exprs[id].kind == ExprKind::Reduce && kernel.exprs[id].phase + 1 < kernel.phases &&
        (loops[id] & outer) != 0)
      return false;
  for (const Expr& sum : kernel.exprs) {
    if (sum.kind != ExprKind::Reduce || sum.op != Op::Sum || sum.phase + 1 != kernel.phases) continue;
    const Expr& product = kernel.exprs[sum.args[0]];
    if (product.kind != ExprKind::Elementwise || product.op != Op::Mul) continue;
    const std::uint32_t a = loops[product.args[0]], b = loops[product.args[1]];
    const bool a_is_row = (a & outer) == 0 && a != 0, b_is_row = (b & outer) == 0 && b != 0;
    if (a_is_row != b_is_row) return true;
  }
  return false;
}

}  // namespace sinter::ir
