// Contiguous layouts, and what a reshape does to strides.
#include "src/trace/layout.h"

namespace sinter::trace {

Layout contiguous_layout(const Shape& shape) { return {contiguous_strides(shape), 0}; }

bool is_contiguous(const Shape& shape, const Layout& layout) {
  if (layout.offset != 0) return false;
  std::int64_t expected = 1;
  for (std::size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && layout.strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

bool reshape_layout(const Shape& shape, const Layout& layout, const Shape& to, Layout& result) {
  result.offset = layout.offset;
  result.strides = Dims::filled(to.rank(), 0);
  if (to.numel() == 0) return true;
  // Walk both shapes from the inside; a run of source dims that joins into one stride covers whole target
  // dims.
  std::size_t source = shape.rank(), target = to.rank();
  while (target > 0) {
    if (to[target - 1] == 1) {
      result.strides[--target] = 0;
      continue;
    }
    while (source > 0 && shape[source - 1] == 1) --source;
    if (source == 0) return false;
    const std::int64_t stride = layout.strides[source - 1];
    std::int64_t run = shape[source - 1];
    --source;
    std::int64_t covered = 1;
    while (true) {
      while (target > 0 && covered * to[target - 1] <= run && run % (covered * to[target - 1]) == 0) {
        result.strides[target - 1] = to[target - 1] == 1 ? 0 : stride * covered;
        covered *= to[--target];
      }
      if (covered == run) break;
      while (source > 0 && shape[source - 1] == 1) --source;
      if (source == 0 || target == 0) return false;
      if (layout.strides[source - 1] != stride * run) return false;
      run *= shape[--source];
    }
  }
  return true;
}

}  // namespace sinter::trace
