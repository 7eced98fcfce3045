// Register-blocked products of pairs of bf16. Highway knows no such instruction in all of its versions, so
// this is written in intrinsics, for the one instruction set that has it.
#include "src/runtime/host/products/gemm_pairs.h"

#include <algorithm>
#include <stdexcept>

#include "src/runtime/host/products/gemm.h"
#include "src/runtime/host/products/words.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define SINTER_PAIRS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]
#endif

namespace sinter::runtime::host {

#if defined(__x86_64__)
namespace {

/// Both rows of pairs lie in a row: their halves are put together.
SINTER_PAIRS void pack_rows(Bfloat16Pair* to, const bfloat16* from, std::int64_t k_stride, std::int64_t lanes,
                            std::int64_t width, std::int64_t k) {
  for (std::int64_t p = 0; p < k; ++p, to += width, from += k_stride) {
    // A row of a panel is one cache line, and the next row may be pages away: the next panel's line is asked
    // for while its page is at hand.
    __builtin_prefetch(from + kWordColumns, 0, 2);
    __builtin_prefetch(from + kWordColumns + k_stride / 2, 0, 2);
    for (std::int64_t j = 0; j < width; j += kWordLanes) {
      const __mmask16 given = first_lanes(lanes - j);
      const __m512i low = _mm512_maskz_cvtepu16_epi32(given, _mm256_maskz_loadu_epi16(given, from + j));
      const __m512i high =
          _mm512_maskz_cvtepu16_epi32(given, _mm256_maskz_loadu_epi16(given, from + j + k_stride / 2));
      _mm512_mask_storeu_epi32(to + j, first_lanes(width - j),
                               _mm512_or_si512(low, _mm512_maskz_slli_epi32(given, high, 16)));
    }
  }
}

/// The first number comes into the lower half.
SINTER_PAIRS Bfloat16Pair rounded_pair(float first, float second) {
  const auto pair = reinterpret_cast<__m128i>(_mm_cvtneps_pbh(_mm_setr_ps(first, second, 0, 0)));
  return {static_cast<std::uint32_t>(_mm_cvtsi128_si32(pair))};
}

/// As the others, of f32.
SINTER_PAIRS void pack_rows(Bfloat16Pair* to, const float* from, std::int64_t k_stride, std::int64_t lanes,
                            std::int64_t width, std::int64_t k) {
  // 0, 16, 1, 17 and so on.
  const __m512i in_turn = _mm512_or_si512(
      _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
      _mm512_slli_epi32(_mm512_setr_epi32(16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31),
                        16));
  for (std::int64_t p = 0; p < k; ++p, to += width, from += k_stride) {
    __builtin_prefetch(from + kWordColumns, 0, 2);
    __builtin_prefetch(from + kWordColumns + k_stride / 2, 0, 2);
    for (std::int64_t j = 0; j < width; j += kWordLanes) {
      const __mmask16 given = first_lanes(lanes - j);
      const __m512 low = _mm512_maskz_loadu_ps(given, from + j),
                   high = _mm512_maskz_loadu_ps(given, from + j + k_stride / 2);
      const auto halves = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(high, low));
      _mm512_mask_storeu_epi32(to + j, first_lanes(width - j), _mm512_permutexvar_epi16(in_turn, halves));
    }
  }
}

/// Four pairs of a lane whose numbers are neighbours.
SINTER_PAIRS __m128i four_pairs(const float* from) {
  return reinterpret_cast<__m128i>(_mm256_cvtneps_pbh(_mm256_loadu_ps(from)));
}

/// Those of four lanes.
SINTER_PAIRS void transpose_pairs(Bfloat16Pair* to, std::int64_t to_row, const float* from,
                                  std::int64_t from_row) {
  transpose_words(to, to_row, four_pairs(from), four_pairs(from + from_row), four_pairs(from + 2 * from_row),
                  four_pairs(from + 3 * from_row));
}
void transpose_pairs(Bfloat16Pair* to, std::int64_t to_row, const bfloat16* from, std::int64_t from_row) {
  transpose_words(to, to_row, from, from_row, _mm_setzero_si128());
}

Bfloat16Pair pair_of(const float* low, const float* high) { return rounded_pair(*low, *high); }
Bfloat16Pair pair_of(const bfloat16* low, const bfloat16* high) {
  return {low->bits() | std::uint32_t{high->bits()} << 16};
}

template <class From>
void pack(Bfloat16Pair* to, const From* from, std::int64_t lane_stride, std::int64_t k_stride,
          std::int64_t lanes, std::int64_t width, std::int64_t k) {
  if (lane_stride == 1) return pack_rows(to, from, k_stride, lanes, width, k);
  std::int64_t done = 0;   // lanes
  std::int64_t whole = 0;  // pairs of these
  if (k_stride == 2) {
    whole = k / 4 * 4;
    for (; done + 4 <= lanes; done += 4)
      for (std::int64_t p = 0; p < whole; p += 4)
        transpose_pairs(to + p * width + done, width, from + done * lane_stride + 2 * p, lane_stride);
  }
  for (std::int64_t p = 0; p < k; ++p) {
    for (std::int64_t j = p < whole ? done : 0; j < lanes; ++j) {
      const From* const low = from + j * lane_stride + p * k_stride;
      to[p * width + j] = pair_of(low, low + k_stride / 2);
    }
    std::fill(to + p * width + lanes, to + (p + 1) * width, Bfloat16Pair{});
  }
}

template <int kRows>
SINTER_PAIRS void multiply_rows(std::int64_t columns, std::int64_t k, const Bfloat16Pair* a,
                                const Bfloat16Pair* b, std::int64_t b_row, float* c, std::int64_t c_row,
                                bool accumulate) {
  __m512 s[kRows][2];
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    __builtin_prefetch(c + i * c_row, 1);
    __builtin_prefetch(c + i * c_row + kWordLanes, 1);
    s[i][0] = s[i][1] = _mm512_setzero_ps();
  }
  for (std::int64_t p = 0; p < k; ++p, a += kRows, b += b_row) {
    const auto y0 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b)),
               y1 = reinterpret_cast<__m512bh>(_mm512_loadu_si512(b + kWordLanes));
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const auto x = reinterpret_cast<__m512bh>(_mm512_set1_epi32(static_cast<int>(a[i].bits)));
      s[i][0] = _mm512_dpbf16_ps(s[i][0], x, y0);
      s[i][1] = _mm512_dpbf16_ps(s[i][1], x, y1);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 2
    for (int v = 0; v < 2; ++v) {
      const __mmask16 wanted = first_lanes(columns - v * kWordLanes);
      float* const to = c + i * c_row + v * kWordLanes;
      if (accumulate) s[i][v] = _mm512_add_ps(s[i][v], _mm512_maskz_loadu_ps(wanted, to));
      _mm512_mask_storeu_ps(to, wanted, s[i][v]);
    }
}

}  // namespace

bool multiplies_pairs() {
  static const bool found = __builtin_cpu_supports("avx512bf16") && panel_columns<float>() == kWordColumns;
  return found;
}

void pack_panel(Bfloat16Pair* to, const bfloat16* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack(to, from, lane_stride, k_stride, lanes, width, k);
}

void pack_panel(Bfloat16Pair* to, const float* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack(to, from, lane_stride, k_stride, lanes, width, k);
}

SINTER_PAIRS void round_to_multiply(bfloat16* to, const float* from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; i += kWordLanes) {
    const __mmask16 given = first_lanes(n - i);
    _mm256_mask_storeu_epi16(
        to + i, given, reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(given, from + i))));
  }
}

void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t k, const Bfloat16Pair* a,
                    const Bfloat16Pair* b, std::int64_t b_row, float* c, std::int64_t c_row,
                    bool accumulate) {
  switch (rows) {
    case 12: return multiply_rows<12>(columns, k, a, b, b_row, c, c_row, accumulate);
    case 8: return multiply_rows<8>(columns, k, a, b, b_row, c, c_row, accumulate);
    case 4: return multiply_rows<4>(columns, k, a, b, b_row, c, c_row, accumulate);
    case 2: return multiply_rows<2>(columns, k, a, b, b_row, c, c_row, accumulate);
    default: return multiply_rows<1>(columns, k, a, b, b_row, c, c_row, accumulate);
  }
}

#else

bool multiplies_pairs() { return false; }

void pack_panel(Bfloat16Pair*, const bfloat16*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                std::int64_t) {
  throw std::logic_error("no instructions for pairs of bf16");
}

void pack_panel(Bfloat16Pair*, const float*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                std::int64_t) {
  throw std::logic_error("no instructions for pairs of bf16");
}

void round_to_multiply(bfloat16*, const float*, std::int64_t) {
  throw std::logic_error("no instructions for pairs of bf16");
}

void multiply_panel(std::int64_t, std::int64_t, std::int64_t, const Bfloat16Pair*, const Bfloat16Pair*,
                    std::int64_t, float*, std::int64_t, bool) {
  throw std::logic_error("no instructions for pairs of bf16");
}

#endif

}  // namespace sinter::runtime::host
