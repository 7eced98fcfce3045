// Which reductions may stand in front of a product of one row.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/shape.h>

namespace sinter::plan {

/// True iff a reduction of everything, over `domain`, goes over the loops that another one reduces over, and
/// over no others: the mean of the row that a product is of. Bits say which dims are reduced.
inline bool is_over_inner_loops(const Shape& domain, std::int64_t reduced, const Shape& whole,
                                std::int64_t reduced_of_whole) {
  if (reduced != (std::int64_t{1} << domain.rank()) - 1) return false;
  Shape inner;
  for (std::size_t d = 0; d < whole.rank(); ++d)
    if (reduced_of_whole >> d & 1) inner.push_back(whole[d]);
  return inner == domain && inner.rank() < whole.rank();
}

}  // namespace sinter::plan
