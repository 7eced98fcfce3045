// Looks for a sum of products of a row that all outer points share.
#include "jit/ir/row_product.h"

namespace sinter::ir {

bool is_row_product(const Kernel& kernel) {
  if (kernel.schedule != Schedule::LanesInner || kernel.inner_rank == 0 || kernel.phases < 2) return false;
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1;
  const std::vector<std::uint32_t> loops = dependence(kernel);
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
