// Whether two kernels are one.
#pragma once

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// True iff the kernels are equal in all their parts, and so in their texts. Much faster than to compare
/// texts.
bool is_same(const Kernel& a, const Kernel& b);

}  // namespace sinter::ir
