// Elementwise kernels that read some operands across their rows: square tiles in memory that the lanes of a
// workgroup share (Kernel::tile).
#pragma once

#include <cstdint>
#include <span>

#include "jit/emit/walker/expressions.h"
#include "jit/emit/walker/work.h"

namespace sinter::emit {

/// Elements along each side of the kernel's tiles; 0: it has none on this target, and its points are dealt
/// out as those of other elementwise kernels.
int tile_edge(const ir::Kernel& kernel, const Target& target);

/// How many tiles the points of a launch make.
std::int64_t tile_count(const ir::Kernel& kernel, int edge, std::span<const std::int64_t> ints);

/// Writes the loop over tiles: all lanes bring in the operands that lie along Kernel::tile, then each
/// computes points of the tile, neighbours along the last loop. `live`: expressions that some store needs.
void write_tiles(Expressions& e, const InnerWork& work, const std::vector<bool>& live, int edge);

}  // namespace sinter::emit
