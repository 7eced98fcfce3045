// What is asked of a kernel in several places.
#include "jit/ir/kernel.h"

namespace sinter::ir {

std::size_t argument_bytes(const Kernel& kernel) {
  std::size_t bytes = 8 * kernel.buffers.size() + (kernel.wide ? 8u : 4u) * kernel.ints;
  for (DType dtype : kernel.scalars) bytes += size_of(dtype) == 8 ? 8 : 4;
  return bytes;
}

std::int64_t tiles_in_parts(std::int64_t tiles, std::int64_t rounds, std::int64_t at_once) {
  // A part of fewer rounds is done before its data have come, and what is left of the device is not worth it.
  constexpr std::int64_t kFewestRounds = 6;
  if (tiles <= 0 || 2 * tiles > at_once) return 1;
  return std::max<std::int64_t>(std::min(at_once / tiles, rounds / kFewestRounds), 1);
}

std::size_t divisions(const Kernel& kernel) {
  std::size_t count = 0;
  for (const IndexMap& map : kernel.maps)
    for (std::size_t step = 1; step < map.steps.size(); ++step) count += map.steps[step].extents.size() - 1;
  for (const Expr& expr : kernel.exprs)
    if (expr.kind == ExprKind::InBounds) count += expr.bounds.size() - 1;
  return count;
}

bool lies_along_tile(const Kernel& kernel, const Expr& expr) {
  if (kernel.tile == Kernel::kNoTile || expr.kind != ExprKind::Load || expr.predicate != kNone) return false;
  const IndexMap& map = kernel.maps[expr.map];
  const std::vector<IntRef>& strides = map.steps.front().strides;
  return map.steps.size() == 1 && strides[kernel.tile].is_one() &&
         strides[kernel.outer_rank - 1u].kind == IntRef::Kind::Argument;
}

}  // namespace sinter::ir
