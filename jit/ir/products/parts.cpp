// Counts parts of sums.
#include "jit/ir/products/parts.h"

#include <algorithm>

namespace sinter::ir {

std::int64_t tiles_in_parts(std::int64_t tiles, std::int64_t rounds, std::int64_t at_once, bool exact) {
  // A part of fewer rounds is done before its data have come, and what is left of the device is not worth it.
  const std::int64_t fewest_rounds = exact ? 4 : 6;
  if (tiles <= 0 || 2 * tiles > at_once) return 1;
  return std::max<std::int64_t>(std::min(at_once / tiles, rounds / fewest_rounds), 1);
}

std::int64_t parts_read_in_turn(std::int64_t parts) {
  if (parts < kManyParts) return parts;
  std::int64_t each = 1;
  while (each * each < parts) ++each;
  return each + (parts + each - 1) / each;
}

}  // namespace sinter::ir
