#include "src/runtime/host/products/amx/panel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "src/runtime/host/products/amx/split.h"
#include "src/runtime/host/products/words.h"

namespace sinter::runtime::host::amx {

Pieces pieces_of(DType a, DType b, MatmulPrecision precision) {
  const int most = precision == MatmulPrecision::Medium ? 1 : precision == MatmulPrecision::High ? 2 : 3;
  Pieces pieces;
  pieces.of = {a == DType::f32 ? most : 1, b == DType::f32 ? most : 1};
  // Pieces i and j together are 2^-8(i + j) of the product. The last one stays for the next i.
  bool up = false;
  for (int i = 0; i < pieces.of[0]; ++i, up = !up) {
    const int count = std::min(pieces.of[1], most - i);
    for (int j = 0; j < count; ++j)
      pieces.terms[static_cast<std::size_t>(pieces.term_count++)] = {
          static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(up ? j : count - 1 - j)};
  }
  return pieces;
}

namespace {

/// Where the greatest number of a panel may be, by its exponent: below it last pieces of numbers that matter
/// beside the greatest would be denormal, above it sums of products could be infinite, and moved down there
/// its other numbers would be denormal.
constexpr std::int32_t kLowest = -60, kHighest = 56;

std::int32_t exponent_of(std::int32_t bits) { return (bits >> 23) - 127; }

}  // namespace

bool splits_plainly(std::int32_t greatest) {
  return greatest == 0 || (exponent_of(greatest) >= kLowest && exponent_of(greatest) <= kHighest);
}

Tile* own_tile(std::byte* panel, std::int64_t step, int half, int pieces) {
  return reinterpret_cast<Tile*>(panel + sizeof(PanelHead)) + step * pieces * 2 + half;
}

#if defined(__x86_64__)
namespace {

constexpr std::int64_t kPieceWords = 2 * kTileRows * kTileWords;

/// Where a greatest number below is moved to: sums still fit, and numbers as small as 2^-150 of it have all
/// of their pieces.
constexpr std::int32_t kMovedTo = 40;

const PanelHead& head_of(const std::byte* panel) { return *reinterpret_cast<const PanelHead*>(panel); }

/// One of two tiles of a step, of each piece, before it is transposed: a row of a tile is one in memory, or
/// two neighbours along k in turn.
template <Split kSplit>
SINTER_PACKS void pack_rows(Tile* tile, const PanelShape& shape, const std::byte* const* rows,
                            std::int64_t first_lane, std::int64_t first_k, int pieces, Sizes& sizes) {
  // Of rows of memory: where they begin, how many there are, and which of 32 numbers they have.
  const std::int64_t begin = shape.along_k ? first_k : first_lane,
                     end = shape.along_k ? shape.depth : shape.lanes,
                     row = shape.along_k ? first_lane : first_k,
                     count = (shape.along_k ? shape.lanes : shape.depth) - row;
  const __mmask16 given = first_lanes(end - begin), further = first_lanes(end - begin - kTileWords);
  const __m512i zero = _mm512_setzero_si512();
  const std::int64_t bytes = begin * static_cast<std::int64_t>(size_of(shape.dtype));
  const auto begin_of = [&](std::int64_t i) {
    return i < count && rows[row + i] != nullptr ? rows[row + i] + bytes : nullptr;
  };
  const bool halves = shape.dtype == DType::bf16;
  if (shape.along_k) {
    const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                  odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
    const std::int64_t ahead = shape.depth * static_cast<std::int64_t>(sizeof(float));
    const __mmask32 all = given | static_cast<__mmask32>(further) << 16;
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      std::uint32_t* const to = tile->words[i];
      const std::byte* const from = begin_of(i);
      if (from == nullptr) {
        for (int piece = 0; piece < pieces; ++piece) _mm512_store_si512(to + piece * kPieceWords, zero);
      } else if (halves) {
        _mm512_store_si512(to, _mm512_maskz_loadu_epi16(all, from));
      } else {
        const __m512 low = _mm512_maskz_loadu_ps(given, from),
                     high = _mm512_maskz_loadu_ps(further, from + sizeof(__m512));
        __builtin_prefetch(from + ahead, 0, 2);
        __builtin_prefetch(from + ahead + sizeof(__m512), 0, 2);
        split<kSplit>(_mm512_permutex2var_ps(low, evens, high), _mm512_permutex2var_ps(low, odds, high),
                      pieces, sizes, to, kPieceWords);
      }
    }
    return;
  }
  for (std::int64_t p = 0; p < kTileWords; ++p) {
    std::uint32_t* const to = tile->words[p];
    const std::byte *const low = begin_of(2 * p), *const high = begin_of(2 * p + 1);
    const __mmask16 of_low = low == nullptr ? 0 : given, of_high = high == nullptr ? 0 : given;
    if (halves) {
      const __m512i first = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(of_low, low)),
                    second = _mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(of_high, high));
      _mm512_store_si512(to, _mm512_or_si512(first, _mm512_slli_epi32(second, 16)));
    } else {
      if (low != nullptr) __builtin_prefetch(low + kPanelLanes * sizeof(float), 0, 2);
      if (high != nullptr) __builtin_prefetch(high + kPanelLanes * sizeof(float), 0, 2);
      split<kSplit>(_mm512_maskz_loadu_ps(of_low, low), _mm512_maskz_loadu_ps(of_high, high), pieces, sizes,
                    to, kPieceWords);
    }
  }
}

template <Split kSplit>
SINTER_PACKS void pack_all(std::byte* to, const PanelShape& shape, const std::byte* const* rows, int pieces,
                           PanelSide side, Sizes& sizes) {
  const int halves = shape.lanes > kTileRows ? 2 : 1;
  for (std::int64_t step = 0; step < steps_of(shape.depth); ++step)
    for (int half = 0; half < halves; ++half) {
      Tile* const tiles = own_tile(to, step, half, pieces);
      pack_rows<kSplit>(tiles, shape, rows, half * kTileRows, step * kTileDepth, pieces, sizes);
      if (shape.along_k == (side == PanelSide::First)) continue;
      for (int piece = 0; piece < pieces; ++piece) transpose(tiles[2 * piece]);
    }
}

/// As the bits of f32: the greatest size of packed numbers of bf16.
SINTER_PACKS std::int32_t greatest_of_halves(std::byte* panel, const PanelShape& shape) {
  __m512i greatest = _mm512_setzero_si512();
  for (std::int64_t step = 0; step < steps_of(shape.depth); ++step)
    for (int half = 0; half < (shape.lanes > kTileRows ? 2 : 1); ++half)
      for (const auto& row : own_tile(panel, step, half, 1)->words)
        greatest = greatest_half(greatest, _mm512_load_si512(row));
  return _mm512_reduce_max_epi32(greatest);
}

SINTER_PACKS bool pack(std::byte* to, const PanelShape& shape, const std::byte* const* rows, const Pieces& of,
                       PanelSide side) {
  const int pieces = of.of[static_cast<std::size_t>(side)];
  PanelHead& head = *reinterpret_cast<PanelHead*>(to);
  head.exponent = 0;
  for (std::int64_t tile = 0; tile < 2 * steps_of(shape.depth); ++tile)
    head.tiles[static_cast<std::size_t>(tile)] = {
        reinterpret_cast<const std::byte*>(own_tile(to, tile / 2, tile % 2, pieces)), kOwnPieceBytes};
  Sizes sizes{_mm512_setzero_si512(), _mm512_set1_ps(0)};
  pack_all<Split::Plain>(to, shape, rows, pieces, side, sizes);
  // Factors that are multiplied as they are may be infinite.
  if (of.term_count == 1) return true;
  const std::int32_t greatest =
      shape.dtype == DType::bf16 ? greatest_of_halves(to, shape) : _mm512_reduce_max_epi32(sizes.greatest);
  if (greatest != 0 && exponent_of(greatest) > kHighest) return false;
  if (pieces == 1 || splits_plainly(greatest)) return true;
  head.exponent = std::ilogb(std::bit_cast<float>(greatest)) - kMovedTo;
  sizes.scale = _mm512_set1_ps(static_cast<float>(-head.exponent));
  pack_all<Split::Scaled>(to, shape, rows, pieces, side, sizes);
  return true;
}

}  // namespace

bool pack_panel(std::byte* to, const PanelShape& shape, const std::byte* const* rows, const Pieces& pieces,
                PanelSide side) {
  return pack(to, shape, rows, pieces, side);
}

void multiply_panels(const PanelProduct& s, const std::byte* a, const std::byte* b, float* c,
                     std::int64_t c_row, bool accumulate) {
  const PanelHead &a_head = head_of(a), &b_head = head_of(b);
  const Block block{a_head.tiles.data(),           b_head.tiles.data(),  steps_of(s.depth),
                    s.pieces->terms.data(),        s.pieces->term_count, s.rows > kTileRows ? 2 : 1,
                    s.columns > kTileWords ? 2 : 1};
  const std::int32_t exponent = a_head.exponent + b_head.exponent;
  if (exponent == 0) return multiply_tiles(s.unit, block, c, c_row, accumulate);
  Sums sums;
  multiply_tiles(s.unit, block, sums.of[0], kPanelLanes, false);
  store(sums, s.rows, s.columns, c, c_row, accumulate, exponent);
}

SINTER_PACKS void store(const Sums& sums, std::int64_t rows, std::int64_t columns, float* c,
                        std::int64_t c_row, bool accumulate, std::int32_t exponent) {
  const __m512 power = _mm512_set1_ps(static_cast<float>(exponent));
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; j += kTileWords) {
      const __mmask16 wanted = first_lanes(columns - j);
      float* const to = c + i * c_row + j;
      __m512 sum = _mm512_load_ps(&sums.of[i][j]);
      // A power of two may be none of f32 although the result is.
      if (exponent != 0) sum = _mm512_scalef_ps(sum, power);
      if (accumulate) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(wanted, to));
      _mm512_mask_storeu_ps(to, wanted, sum);
    }
}
#else
bool pack_panel(std::byte*, const PanelShape&, const std::byte* const*, const Pieces&, PanelSide) {
  throw std::logic_error("no instructions that pack tiles");
}
void multiply_panels(const PanelProduct&, const std::byte*, const std::byte*, float*, std::int64_t, bool) {
  throw std::logic_error("no instructions that multiply tiles");
}
void store(const Sums&, std::int64_t, std::int64_t, float*, std::int64_t, bool, std::int32_t) {
  throw std::logic_error("no instructions that store tiles");
}
#endif

}  // namespace sinter::runtime::host::amx
