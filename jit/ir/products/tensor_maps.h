// Tensor maps: what the copy engine is told of a factor of products.
#pragma once

#include <cstddef>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Of one of them among a launch's arguments.
inline constexpr std::size_t kTensorMapBytes = 128, kTensorMapAlignment = 64;

/// How many a kernel of such tiles takes: one for each factor that is copied.
inline std::size_t tensor_maps(const Tiling& tiling) {
  if (!tiling.any() || !tiling.has_groups()) return 0;
  return (tiling.a.computed ? 0u : 1u) + (tiling.b.computed ? 0u : 1u) + tiling.others.size() +
         2 * tiling.terms.size();
}

}  // namespace sinter::ir
