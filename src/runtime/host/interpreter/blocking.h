// Which loops of a kernel the vectors walk, and how those loops are cut into blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/host/interpreter/code.h"

namespace sinter::runtime::host {

struct Layout {
  bool lanes_inner = false;
  bool keep = false;           // a row is one block, whose values are kept from phase to phase
  BlockSpace blocks;           // the block size is still open, but for blocks that lie alike
  std::uint32_t row_dims = 0;  // bit set of the dims that a block moves along, or would if it were longer
};

/// Depends on the kernel's text, the sizes and the strides only. Without `keep_rows`, no row is kept.
Layout choose_layout(const ir::Kernel& kernel, const Space& space, bool keep_rows);

/// The bit set of the dims [first, last).
std::uint32_t bits(std::size_t first, std::size_t last);

/// True iff rows of `m` that are walked in groups are to be read as tiles: it jumps along rows, and steps
/// from row to row.
bool turns(const BlockSpace& blocks, const BoundMap& m, std::size_t size);

}  // namespace sinter::runtime::host
