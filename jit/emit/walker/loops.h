// The loops of a kernel: how its points are dealt out to lanes, in which order reductions are summed.
#pragma once

#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

/// Writes the body of the entry point.
void write_loops(Expressions& e, ir::Schedule schedule);

}  // namespace sinter::emit
