// What is written for tiles whose subgroups multiply each by itself:
// kernels/tensor_cores/contraction_sm80.cu.
#pragma once

#include <string>

#include "jit/emit/contraction/loops.h"
#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

// Columns of a tile that a subgroup multiplies, and lanes of a subgroup.
inline constexpr int kSubgroupColumns = 64, kSubgroupLanes = 32;

/// Of a workgroup.
inline int subgroup_lanes(const ir::Tiling& t) {
  return t.rows / t.subgroup_rows * (t.columns / kSubgroupColumns) * kSubgroupLanes;
}

/// A function (d, a, b), one instruction of a subgroup: 16 x 8 sums of factors of this dtype, f32 as tf32.
std::string multiplication(DType multiplied, const std::string& name = "tc_multiply");

/// A line for each number of the template that belongs to subgroups, and its tc_multiply.
std::string subgroup_definitions(const ir::Tiling& t);

/// What each lane does for a slot of the factors that are copied.
void write_lane_copies(Expressions& e, const TiledLoops& loops);

}  // namespace sinter::emit
