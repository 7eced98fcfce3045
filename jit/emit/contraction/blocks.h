// Sums of groups that stand side by side.
#pragma once

#include <string>

#include "jit/emit/contraction/loops.h"
#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

/// Where the kernel's groups stand side by side (ir::Tiling::Blocks): adds up again those of `width` sums
/// that are not finite, of a group's own factors alone. An infinite element would make sums of other groups
/// NaN, where it meets a 0. The sums are `sums`[0] and so on, of row to_m and the columns from to_n on, whose
/// coordinates the text has; where there are no such groups, nothing is written.
void write_sums_of_blocks(Expressions& e, const TiledLoops& loops, const std::string& sums, int width);

}  // namespace sinter::emit
