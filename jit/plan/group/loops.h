// What the reductions of a group go over.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/shape.h>

namespace sinter::plan {

/// Of a group without reductions there is nothing.
struct Loops {
  bool reduces = false;
  Shape domain;  // without dims of size 1
  std::int64_t reduced = 0;

  /// The dims that are left.
  Shape results() const {
    Shape left;
    for (std::size_t d = 0; d < domain.rank(); ++d)
      if (!(reduced >> d & 1)) left.push_back(domain[d]);
    return left;
  }
};

}  // namespace sinter::plan
