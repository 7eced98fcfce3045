// The loops of a kernel with tiles, and how lanes compute its factors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/emit/walker/expressions.h"
#include "jit/ir/products/matrix_tile.h"

namespace sinter::emit {

// Bytes of the sum that a slot holds of each row and column, and lanes of a warpgroup.
inline constexpr int kSlotBytes = 128, kWarpgroup = 128;
// Rows that are done together, so that their factors are still in the second-level cache.
inline constexpr int kBandRows = 2048;

/// Elements of the sum that a slot holds.
inline int slot_elements(const ir::Tiling& t) {
  return t.matrices.any() ? ir::MatrixTile(t).depth() : kSlotBytes / static_cast<int>(size_of(t.multiplied));
}

/// Of a template, of which `rest` is left: what stands before the next line of three dashes.
std::string_view next_part(std::string_view& rest);

/// What is computed for each element of a finished tile: all that the sum has come into, and what it meets.
std::vector<bool> live_behind_sum(const ir::Kernel& kernel);

/// By what they count; each list is counted as one number, row-major.
struct TiledLoops {
  explicit TiledLoops(const ir::Kernel& kernel);
  std::vector<std::size_t> batch, rows, columns, repeats, depth;
};

/// Of a factor that is copied the loops that its tensor map has dims for, beyond the two of the matrix: the
/// last one first.
std::vector<std::size_t> mapped_batch(const ir::Kernel& kernel, const TiledLoops& loops,
                                      const ir::TiledFactor& factor);

/// Of loops, in all.
std::int64_t points_of(const ir::Kernel& kernel, const std::vector<std::size_t>& loops,
                       std::span<const std::int64_t> ints);

/// Of so many members. Throws DeviceError where there are more than a launch can count.
std::int64_t tiles_of(const ir::Kernel& kernel, std::span<const std::int64_t> ints, std::size_t members = 1);

/// Defines the coordinates of the loops from the number `from`.
void split_loops(Expressions& e, const std::string& from, const std::vector<std::size_t>& loops);

/// Lines that define size_m, size_n, size_k and size_batch, and size_repeat where results are repeated.
std::string sizes_of_loops(const Expressions& e, const TiledLoops& loops);

/// Of a factor.
struct FactorPlace {
  FactorPlace(const TiledLoops& loops, const ir::Tiling& t, bool is_a)
      : factor(is_a ? t.a : t.b),
        own(is_a ? loops.rows : loops.columns),
        size(is_a ? t.rows : t.columns),
        which(is_a ? "a" : "b"),
        start(is_a ? "at.m" : "at.n"),
        end(is_a ? "size_m" : "size_n") {}

  const ir::TiledFactor& factor;
  const std::vector<std::size_t>& own;  // loops
  const int size;                       // of a tile
  const std::string which;
  const std::string start, end;  // where the tile begins, and the loops end
};

/// What the lanes of a warpgroup that loads do for one slot: the values of the factors that are not copied,
/// computed and put where the tensor cores read them. The text is within the loops over tiles and slots of
/// kernels/tensor_cores/contraction_sm90.cu.
void write_computed_factors(Expressions& e, const TiledLoops& loops);

/// Likewise apart, where all `lanes` of a workgroup bring factors and multiply meanwhile
/// (kernels/tensor_cores/contraction_sm80.cu): what a lane holds between both is declared before either.
void declare_computed_values(Expressions& e, const TiledLoops& loops, int lanes);
void write_computed_values(Expressions& e, const TiledLoops& loops, int lanes);
void write_computed_stores(Expressions& e, const TiledLoops& loops, int lanes);

}  // namespace sinter::emit
