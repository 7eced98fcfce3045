// What products of pairs and of fours have in common: both pack 32-bit words, of which a vector has 16.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <algorithm>

#include <immintrin.h>

namespace sinter::runtime::host {

inline constexpr std::int64_t kWordLanes = 16, kWordColumns = 2 * kWordLanes;

/// The first n lanes; none below 1, all from 16 on.
inline __mmask16 first_lanes(std::int64_t n) {
  return static_cast<__mmask16>((1u << std::clamp<std::int64_t>(n, 0, kWordLanes)) - 1);
}

/// Four words of four lanes.
template <class Word>
void transpose_words(Word* to, std::int64_t to_row, __m128i r0, __m128i r1, __m128i r2, __m128i r3) {
  static_assert(sizeof(Word) == 4);
  const __m128i low01 = _mm_unpacklo_epi32(r0, r1), high01 = _mm_unpackhi_epi32(r0, r1),
                low23 = _mm_unpacklo_epi32(r2, r3), high23 = _mm_unpackhi_epi32(r2, r3);
  const auto store = [&](std::int64_t i, __m128i words) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i * to_row), words);
  };
  store(0, _mm_unpacklo_epi64(low01, low23));
  store(1, _mm_unpackhi_epi64(low01, low23));
  store(2, _mm_unpacklo_epi64(high01, high23));
  store(3, _mm_unpackhi_epi64(high01, high23));
}

/// Likewise of lanes that have their words in a row in memory, with the bits of `turn` turned. `from_row` in
/// elements of From.
template <class Word, class From>
void transpose_words(Word* to, std::int64_t to_row, const From* from, std::int64_t from_row, __m128i turn) {
  const auto load = [&](std::int64_t i) {
    return _mm_xor_si128(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i * from_row)), turn);
  };
  transpose_words(to, to_row, load(0), load(1), load(2), load(3));
}

}  // namespace sinter::runtime::host
#endif
