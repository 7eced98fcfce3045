// Numbers that the columns of scores have.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// Of a kernel with an Attention: the loads of f32 that depend on the column and on no row. All rows of a
/// tile read the same ones, so a warp brings them to shared memory beside the columns.
/// `loops`: dependence(kernel).
std::vector<ExprId> column_values(const Kernel& kernel, std::span<const std::uint32_t> loops);

}  // namespace sinter::ir
