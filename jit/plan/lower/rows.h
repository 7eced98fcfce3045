// Which lanes of a device hold a row in registers, and how much of it each.
#pragma once

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"

namespace sinter::plan {

/// Rows that fit into the registers of a group, or of a few, are read once. The number is rounded up, so that
/// few texts serve all rows; rows that need no rounding get a text without conditions. Throws Cut where a
/// kernel has Partials and no lanes can hold a row and its sums.
void choose_row_elements(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel);

}  // namespace sinter::plan
