// Chooses the loops of a kernel that vectors run along, and their division into blocks.
#pragma once

#include <cstddef>
#include <cstdint>

#include "src/runtime/host/interpreter/code.h"

namespace sinter::runtime::host {

struct Blocking {
  bool lanes_inner = false;
  bool resident = false;       // a row is one block, whose values stay in scratch memory from phase to phase
  BlockSpace blocks;           // without the block size, except for uniform blocks
  std::uint32_t row_dims = 0;  // bit set: dims that a block of any length moves along
};

/// Depends only on the kernel's text, the sizes and the strides. `resident_rows` false: no row becomes
/// resident.
Blocking choose_blocking(const ir::Kernel& kernel, const Space& space, bool resident_rows);

/// The bit set of the dims [first, last).
std::uint32_t bits(std::size_t first, std::size_t last);

/// True iff a group of rows of `m` is to be read through a transposing tile: neighbours along the row are far
/// apart in memory, and neighbours across rows are adjacent.
bool needs_transpose(const BlockSpace& blocks, const BoundMap& m, std::size_t size);

}  // namespace sinter::runtime::host
