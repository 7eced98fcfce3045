// Counts what a row is made of.
#include "jit/ir/row_words.h"

#include <algorithm>

namespace sinter::ir {

bool is_load_of_row(const Kernel& kernel, const Expr& expr) {
  if (expr.kind != ExprKind::Load || expr.level != Level::Inner) return false;
  const std::vector<IntRef>& strides = kernel.maps[expr.map].steps.front().strides;
  const auto moves = [](const IntRef& stride) { return !stride.is_zero(); };
  return std::any_of(strides.begin(), strides.begin() + kernel.outer_rank, moves) &&
         std::all_of(strides.begin() + kernel.outer_rank, strides.end(), moves);
}

std::int64_t words_of_row(const Kernel& kernel, std::int64_t elements) {
  // Two elements of 16 bits share a register; of rows that begin within a vector as many are needed again for
  // what lies around the row.
  const std::int64_t of_half = kernel.part_step > 1 ? 2 : 1;
  std::int64_t halves = 0;
  for (const Expr& expr : kernel.exprs) {
    if (is_load_of_row(kernel, expr))
      halves += is_half(expr.dtype) ? of_half : size_of(expr.dtype) == 8 ? 4 : 2;
    if (expr.kind == ExprKind::Partial) halves += 2;
  }
  return elements * halves / 2;
}

}  // namespace sinter::ir
