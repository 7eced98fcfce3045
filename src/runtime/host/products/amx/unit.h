// The processor's unit for matrices (Intel AMX): eight tiles of 16 rows of 64 bytes. One instruction adds the
// product of two tiles of bf16, 16 x 32 and 32 x 16, to a tile of 16 x 16 f32, in the time in which the
// vectors' units do a sixteenth of that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sinter::runtime::host::amx {

/// Rows of a tile, numbers of bf16 in a row, and 32-bit words in a row.
inline constexpr std::int64_t kTileRows = 16, kTileDepth = 32, kTileWords = 16;

/// One of bf16 or of f32. Of a first factor, each row has 32 neighbours along k; of a second, row p has the
/// pair 2p, 2p + 1 of each column.
struct alignas(64) Tile {
  std::uint32_t words[kTileRows][kTileWords];
};

enum class Unit : std::uint8_t {
  None,      // and nobody computes as if there were one
  Amx,       // the processor's
  Emulated,  // by ordinary instructions, bit for bit the same: for tests (SINTER_AMX=emulated)
};

/// What products go by. Amx: the processor and the system let this process use it, and SINTER_AMX is not 0.
/// Either needs the vectors of AVX512_BF16, which pack.
Unit unit();

/// As long as it lives, tiles are set up for the thread that made it.
class TileScope {
 public:
  explicit TileScope(Unit unit);
  ~TileScope();
  TileScope(const TileScope&) = delete;
  TileScope& operator=(const TileScope&) = delete;

 private:
  const Unit unit_;
};

/// Two pieces to multiply, numbers of the tiles of a step.
struct Term {
  std::uint8_t a = 0, b = 0;
};

/// Where the tile of a first piece is, and how far apart those of further pieces are. Rows follow each other.
struct TileAt {
  const std::byte* first = nullptr;
  std::int64_t piece_bytes = 0;
};

/// What multiply_tiles goes over: steps of 32 numbers along k. Tiles 2s and 2s + 1 are those of step s, whose
/// lanes are side by side.
struct Block {
  const TileAt* a;
  const TileAt* b;
  std::int64_t steps;
  const Term* terms;
  int term_count;
  int row_tiles, column_tiles;  // 1 or 2
};

/// c[i * c_row + j] = c, or 0 unless `accumulate`, and the sum over steps of the sums of all terms. Whole
/// tiles of c are read and written. Needs a TileScope. Denormal numbers, factors and sums, are 0.
void multiply_tiles(Unit unit, const Block& block, float* c, std::int64_t c_row, bool accumulate);

}  // namespace sinter::runtime::host::amx
