// Reductions along columns: neighbouring results, each over elements that lie far apart.
#pragma once

#include "jit/emit/expressions.h"

namespace sinter::emit {

/// Writes the body of the entry point of a kernel whose lanes have several results (Kernel::lane_results == kVector): loads
/// along the results are whole vectors. Such kernels are split, whose parts keep the device busy although lanes are fewer.
void write_wide_columns(Expressions& e);

}  // namespace sinter::emit
