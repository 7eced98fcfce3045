// Whether a kernel multiplies one row by many.
#pragma once

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// True iff the workgroups or subgroups of the kernel have an outer point each, and what they add up last is
/// products of two factors: one that depends on the outer point, and one, the only row, that does not.
bool is_row_product(const Kernel& kernel);

}  // namespace sinter::ir
