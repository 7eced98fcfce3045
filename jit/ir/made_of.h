// Which expressions a value is made of.
#pragma once

#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// The value and all that it is computed from, predicates included, operands first.
std::vector<ExprId> made_of(const Kernel& kernel, ExprId value);

}  // namespace sinter::ir
