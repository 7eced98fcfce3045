// Forms of a kernel's text that follow from its sizes and mean the same: how indices are found, which loops
// are written out.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/plan/lower/finish.h"

namespace sinter::plan {

/// True iff the inner loops go over windows of few elements, which one lane takes best.
bool has_small_windows(const Draft& draft, const ir::Kernel& kernel);

/// Marks a kernel whose lanes go over few inner points each (Kernel::inner_sizes).
void choose_inner_sizes(const Draft& draft, ir::Kernel& kernel);

/// Marks an elementwise kernel whose rows are no whole vectors, and whose results and most of its operands
/// are row-major all the same (Kernel::flat_maps).
void choose_flat_maps(const Draft& draft, ir::Kernel& kernel);

/// Adds what multiplies instead of dividing for all sizes that indices are divided by.
void add_reciprocals(ir::Kernel& kernel, std::vector<std::int64_t>& ints);

}  // namespace sinter::plan
