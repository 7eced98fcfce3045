// What lanes that hold rows and sums of their columns need registers for.
#pragma once

#include <cstdint>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// True iff the load brings elements that each row has of its own.
bool is_load_of_row(const Kernel& kernel, const Expr& expr);

/// Registers of 32 bits, about, that a lane of a kernel with Partials takes for `elements` of a row and for
/// the sums of its columns. Planner and emitters go by this number (lanes_at_once), so that as many groups of
/// lanes are there at once as there are parts.
std::int64_t words_of_row(const Kernel& kernel, std::int64_t elements);

}  // namespace sinter::ir
