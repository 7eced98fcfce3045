// The vectors' part of packing tiles: numbers become pieces, words are transposed. For x86 with AVX512_BF16.
#pragma once

#if defined(__x86_64__)
#include <cstdint>

#include <immintrin.h>

#include "src/runtime/host/products/amx/unit.h"

// g++ 12 warns of its own headers, which leave registers undefined that an instruction overwrites.
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#define SINTER_PACKS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]

namespace sinter::runtime::host::amx {

/// 16 x 16 words.
SINTER_PACKS inline void transpose(Tile& tile) {
  __m512i r[16], t[16];
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = _mm512_load_si512(tile.words[i]);
#pragma GCC unroll 8
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
#pragma GCC unroll 4
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  // r[4q + c] has, of columns c, 4 + c, 8 + c and 12 + c, the rows 4q to 4q + 3.
#pragma GCC unroll 4
  for (int c = 0; c < 4; ++c) {
    const __m512i low = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88),
                  high = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88),
                  low_odd = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd),
                  high_odd = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
    _mm512_store_si512(tile.words[c], _mm512_shuffle_i32x4(low, high, 0x88));
    _mm512_store_si512(tile.words[8 + c], _mm512_shuffle_i32x4(low, high, 0xdd));
    _mm512_store_si512(tile.words[4 + c], _mm512_shuffle_i32x4(low_odd, high_odd, 0x88));
    _mm512_store_si512(tile.words[12 + c], _mm512_shuffle_i32x4(low_odd, high_odd, 0xdd));
  }
}

/// What packing has seen of the numbers' sizes, as bits, and how it scales.
struct Sizes {
  __m512i greatest;
  __m512 scale;
};

/// The greatest sizes of `before` and of pairs of bf16, as bits of f32.
SINTER_PACKS inline __m512i greatest_half(__m512i before, __m512i pairs) {
  const __m512i size_bits = _mm512_set1_epi32(0x7fffffff);
  before = _mm512_max_epi32(before, _mm512_and_si512(pairs, size_bits));
  return _mm512_max_epi32(before, _mm512_and_si512(_mm512_slli_epi32(pairs, 16), size_bits));
}

/// How numbers become pieces: as they are, or scaled.
enum class Split : std::uint8_t { Plain, Scaled };

/// Of 16 pairs along k, stores piece by piece the words of the pairs, `piece_words` apart.
template <Split kSplit>
[[gnu::always_inline]] SINTER_PACKS inline void split(__m512 first, __m512 second, int pieces, Sizes& sizes,
                                                      std::uint32_t* to, std::int64_t piece_words) {
  if constexpr (kSplit == Split::Plain) {
    const __m512i size_bits = _mm512_set1_epi32(0x7fffffff);
    sizes.greatest = _mm512_max_epi32(
        sizes.greatest, _mm512_max_epi32(_mm512_and_si512(_mm512_castps_si512(first), size_bits),
                                         _mm512_and_si512(_mm512_castps_si512(second), size_bits)));
  } else {
    first = _mm512_scalef_ps(first, sizes.scale);
    second = _mm512_scalef_ps(second, sizes.scale);
  }
  // 0, 16, 1, 17 and so on.
  const __m512i in_turn = _mm512_or_si512(
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
      _mm512_slli_epi32(_mm512_setr_epi32(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
                        16));
  const __m512i upper_halves = _mm512_set1_epi32(static_cast<int>(0xffff0000u));
  for (;; to += piece_words) {
    const __m512i words =
        _mm512_permutexvar_epi16(in_turn, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(second, first)));
    _mm512_store_si512(to, words);
    if (--pieces == 0) return;
    const __m512 first_piece = _mm512_castsi512_ps(_mm512_slli_epi32(words, 16)),
                 second_piece = _mm512_castsi512_ps(_mm512_and_si512(words, upper_halves));
    first = _mm512_sub_ps(first, first_piece);
    second = _mm512_sub_ps(second, second_piece);
  }
}

}  // namespace sinter::runtime::host::amx
#endif
