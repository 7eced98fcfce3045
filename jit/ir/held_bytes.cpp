// Adds up the lists of a kernel.
#include "jit/ir/held_bytes.h"

namespace sinter::ir {

std::size_t held_bytes(const Kernel& kernel) {
  std::size_t bytes = held_bytes(kernel.extents) + held_bytes(kernel.buffers) + held_bytes(kernel.scalars) +
                      held_bytes(kernel.maps) + held_bytes(kernel.exprs) + held_bytes(kernel.stores) +
                      held_bytes(kernel.reciprocals) + held_bytes(kernel.flat_maps) +
                      held_bytes(kernel.inner_sizes);
  for (const IndexMap& map : kernel.maps) {
    bytes += held_bytes(map.steps);
    for (const MapStep& step : map.steps)
      bytes += held_bytes(step.extents) + held_bytes(step.strides) + held_bytes(step.maps);
  }
  for (const Expr& expr : kernel.exprs) bytes += held_bytes(expr.bounds);
  return bytes;
}

}  // namespace sinter::ir
