// How factors of products get to tensor cores.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {

/// What is known of a kernel before its tiles are chosen.
struct Product {
  const Draft& draft;
  const ir::TensorCores& cores;
  const DraftInts& numbers;
  const ir::Kernel& kernel;
  std::vector<std::uint32_t> loops;  // that each expression depends on
  ir::Tiling tiling;
};

/// True iff the position of the map's first element is a multiple of so many elements in every run.
bool begins_at_multiple(const MapStep& step, std::int64_t elements);

/// The value of 16 or 8 bits below a cast to f32, or else the value itself.
ir::ExprId below_cast(const ir::Kernel& kernel, ir::ExprId id);

/// How a factor is brought; nothing where it cannot be. `own`: its loops.
std::optional<ir::TiledFactor> tiled_factor(const Product& product, ir::ExprId value, std::uint32_t own);

/// True iff the value can be copied as the factor is, by a tensor map of the same dims. `own`: the factor's
/// loops.
bool is_copied_like(const Product& product, ir::ExprId value, const ir::TiledFactor& factor,
                    std::uint32_t own);

}  // namespace sinter::plan
