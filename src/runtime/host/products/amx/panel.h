// Packs factors for the unit of tiles. A number of f32 is the sum of three pieces of bf16, exactly, as each
// piece is what is left, rounded to nearest: 24 bits are 3 x 8. Products of pieces are exact in f32. Of the
// nine, the three smallest are together at most 2^-24 of the product, as much as rounding it to f32 may take
// away, so that six give products of f32 (Henry, Tang, Heinecke, "Leveraging the bfloat16 Artificial
// Intelligence Datatype For Higher-Precision Computations", 2019).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <sinter/dtype.h>
#include <sinter/precision.h>

#include "src/runtime/host/products/amx/unit.h"

namespace sinter::runtime::host::amx {

inline constexpr std::int64_t kPanelLanes = 2 * kTileRows;  // rows of a first factor, columns of a second
inline constexpr std::int64_t kMostDepth = 384;             // numbers along k of a panel

/// How a product is made of pieces.
struct Pieces {
  std::array<int, 2> of = {1, 1};  // each factor
  std::array<Term, 6> terms{};     // in an order in which one of two tiles stays
  int term_count = 0;
};
/// Factors are f32 or bf16. Highest and Tf32x3: six products for two factors of f32; High: three, which are
/// off by at most 2^-15; Medium, and factors of bf16: one.
Pieces pieces_of(DType a, DType b, MatmulPrecision precision);

enum class PanelSide : std::uint8_t { First, Second };

/// What of an operand is packed: up to 32 lanes of `depth` numbers along k.
struct PanelShape {
  DType dtype = DType::f32;
  bool along_k = true;  // neighbours in memory are neighbours along k, else lanes
  std::int64_t lanes = 0, depth = 0;
};

/// In front of the tiles of a panel.
struct alignas(64) PanelHead {
  std::int32_t exponent = 0;                              // the numbers are packed times 2^-exponent
  std::array<TileAt, 2 * kMostDepth / kTileDepth> tiles;  // of each step; they may lie elsewhere
};
/// The tile that a panel has room for, of a step and half of its lanes.
Tile* own_tile(std::byte* panel, std::int64_t step, int half, int pieces);
/// Bytes from the own tile of a piece to that of the next.
inline constexpr std::int64_t kOwnPieceBytes = 2 * sizeof(Tile);

constexpr std::int64_t parts(std::int64_t whole, std::int64_t each) { return (whole + each - 1) / each; }
constexpr std::int64_t steps_of(std::int64_t depth) { return parts(depth, kTileDepth); }
constexpr std::int64_t panel_bytes(std::int64_t depth, int pieces) {
  return static_cast<std::int64_t>(sizeof(PanelHead)) +
         steps_of(depth) * pieces * 2 * static_cast<std::int64_t>(sizeof(Tile));
}

/// Packs a panel at `to`, on a cache line: of each step of 32 along k its pieces, of each piece two tiles.
/// rows[i], null for zeros, is where lane i begins, or what the lanes have at i along k. Numbers that are all
/// too small for their last pieces are scaled. False: where there are several pieces, here or in the other
/// factor, some number is no finite one or so large that sums might be infinite; what is packed is not used.
[[nodiscard]] bool pack_panel(std::byte* to, const PanelShape& shape, const std::byte* const* rows,
                              const Pieces& pieces, PanelSide side);

/// True iff numbers of f32, of which these are the bits of the greatest size, are packed as they are.
bool splits_plainly(std::int32_t greatest);

struct PanelProduct {
  Unit unit;
  const Pieces* pieces;
  std::int64_t rows, columns, depth;
};
/// c[i * c_row + j] (+)= the product of packed panels. Of c, whole tiles are written: with `rows` and
/// `columns` rounded up to 16. Needs a TileScope.
void multiply_panels(const PanelProduct& product, const std::byte* a, const std::byte* b, float* c,
                     std::int64_t c_row, bool accumulate);

/// The product of two panels, where its matrix has no room for whole tiles, or has rows far apart.
struct alignas(64) Sums {
  float of[kPanelLanes][kPanelLanes];
};
/// c[i * c_row + j] (+)= sums * 2^exponent.
void store(const Sums& sums, std::int64_t rows, std::int64_t columns, float* c, std::int64_t c_row,
           bool accumulate, std::int32_t exponent = 0);

}  // namespace sinter::runtime::host::amx
