#include "src/runtime/host/products/amx/lines.h"

#include <algorithm>
#include <stdexcept>

#include "src/runtime/host/products/amx/split.h"
#include "src/runtime/host/products/words.h"

namespace sinter::runtime::host::amx {

#if defined(__x86_64__)
namespace {

TileAt& tile_at(std::byte* panel, std::int64_t step, int half) {
  return reinterpret_cast<PanelHead*>(panel)->tiles[static_cast<std::size_t>(2 * step + half)];
}

void raise(std::atomic<std::int32_t>& greatest, std::int32_t bits) {
  std::int32_t before = greatest.load(std::memory_order_relaxed);
  while (bits > before && !greatest.compare_exchange_weak(before, bits, std::memory_order_relaxed)) {
  }
}

}  // namespace

SINTER_PACKS void split_lines(const LineImage& image, const std::byte* from, std::int64_t begin,
                              std::int64_t end, std::byte* lines, std::atomic<std::int32_t>& greatest) {
  const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
  const std::int64_t blocks = image.blocks(), all = image.groups * image.channels,
                     size = static_cast<std::int64_t>(size_of(image.dtype));
  const std::int64_t piece_words = image.piece_bytes() / static_cast<std::int64_t>(sizeof(std::uint32_t));
  Sizes sizes{_mm512_setzero_si512(), _mm512_set1_ps(0)};
  for (std::int64_t group = 0; group < image.groups; ++group)
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int64_t channel = block * kLineChannels, left = image.channels - channel;
      const __mmask16 given = first_lanes(left), further = first_lanes(left - kWordLanes);
      const std::byte* row = from + (begin * all + group * image.channels + channel) * size;
      std::byte* to = lines + group * image.group_bytes() + block * image.block_bytes() + begin * kLineBytes;
      for (std::int64_t pixel = begin; pixel < end; ++pixel, row += all * size, to += kLineBytes) {
        if (image.dtype == DType::bf16) {
          const __m512i words = _mm512_maskz_loadu_epi16(given | static_cast<__mmask32>(further) << 16, row);
          sizes.greatest = greatest_half(sizes.greatest, words);
          _mm512_store_si512(to, words);
          continue;
        }
        const __m512 low = _mm512_maskz_loadu_ps(given, row),
                     high = _mm512_maskz_loadu_ps(further, row + sizeof(__m512));
        split<Split::Plain>(_mm512_permutex2var_ps(low, evens, high), _mm512_permutex2var_ps(low, odds, high),
                            image.pieces, sizes, reinterpret_cast<std::uint32_t*>(to), piece_words);
      }
    }
  if (end == image.pixels)
    for (std::int64_t plane = 1; plane <= image.groups * blocks * image.pieces; ++plane)
      _mm512_store_si512(lines + plane * image.piece_bytes() - kLineBytes, _mm512_setzero_si512());
  raise(greatest, _mm512_reduce_max_epi32(sizes.greatest));
}

SINTER_PACKS void pack_lines_along(std::byte* panel, std::int64_t step, const LineImage& image,
                                   const std::byte* plane, const std::int32_t* pixels) {
  const __m512i in_turn = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const std::int64_t piece_bytes = image.piece_bytes();
  for (int half = 0; half < 2; ++half, pixels += kTileRows) {
    const __m512i wanted = _mm512_add_epi32(_mm512_set1_epi32(pixels[0]), in_turn);
    if (_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(pixels), wanted) == 0) {
      tile_at(panel, step, half) = {plane + pixels[0] * kLineBytes, piece_bytes};
      continue;
    }
    Tile* const tiles = own_tile(panel, step, half, image.pieces);
    tile_at(panel, step, half) = {reinterpret_cast<const std::byte*>(tiles), kOwnPieceBytes};
    for (std::int64_t lane = 0; lane < kTileRows; ++lane) {
      const std::byte* from = plane + pixels[lane] * kLineBytes;
      for (int piece = 0; piece < image.pieces; ++piece, from += piece_bytes)
        _mm512_store_si512(tiles[2 * piece].words[lane], _mm512_load_si512(from));
    }
  }
}

SINTER_PACKS void pack_lines_across(std::byte* panel, std::int64_t step, const LineImage& image,
                                    const std::byte* plane, const std::int32_t* pixels, PanelSide side) {
  // Of two lines of 32 halves: 0 of both, 1 of both, and so on.
  const __m512i first = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                of_low = _mm512_or_si512(
                    first, _mm512_slli_epi32(_mm512_add_epi32(first, _mm512_set1_epi32(32)), 16)),
                of_high = _mm512_add_epi32(of_low, _mm512_set1_epi32(16 | 16 << 16));
  Tile* const tiles = own_tile(panel, step, 0, image.pieces);
  for (const int half : {0, 1})
    tile_at(panel, step, half) = {reinterpret_cast<const std::byte*>(tiles + half), kOwnPieceBytes};
  for (int piece = 0; piece < image.pieces; ++piece, plane += image.piece_bytes()) {
    Tile* const pair = tiles + 2 * piece;
    for (std::int64_t p = 0; p < kTileWords; ++p) {
      const __m512i a = _mm512_load_si512(plane + pixels[2 * p] * kLineBytes),
                    b = _mm512_load_si512(plane + pixels[2 * p + 1] * kLineBytes);
      _mm512_store_si512(pair[0].words[p], _mm512_permutex2var_epi16(a, of_low, b));
      _mm512_store_si512(pair[1].words[p], _mm512_permutex2var_epi16(a, of_high, b));
    }
    if (side == PanelSide::Second) continue;
    transpose(pair[0]);
    transpose(pair[1]);
  }
}
#else
void split_lines(const LineImage&, const std::byte*, std::int64_t, std::int64_t, std::byte*,
                 std::atomic<std::int32_t>&) {
  throw std::logic_error("no instructions that split lines");
}
void pack_lines_along(std::byte*, std::int64_t, const LineImage&, const std::byte*, const std::int32_t*) {
  throw std::logic_error("no instructions that pack lines");
}
void pack_lines_across(std::byte*, std::int64_t, const LineImage&, const std::byte*, const std::int32_t*,
                       PanelSide) {
  throw std::logic_error("no instructions that pack lines");
}
#endif

void begin_panel(std::byte* panel) { reinterpret_cast<PanelHead*>(panel)->exponent = 0; }

}  // namespace sinter::runtime::host::amx
