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
  if (lane_stride == 1) return pack_rows(to, from, k_stride, lanes, width, k);
  std::int64_t done = 0;   // lanes
  std::int64_t whole = 0;  // pairs of these
  if (k_stride == 2) {
    whole = k / 4 * 4;
    for (; done + 4 <= lanes; done += 4)
      for (std::int64_t p = 0; p < whole; p += 4)
        transpose_words(to + p * width + done, width, from + done * lane_stride + 2 * p, lane_stride,
                        _mm_setzero_si128());
  }
  for (std::int64_t p = 0; p < k; ++p) {
    const auto pair = [&](std::int64_t lane) {
      const bfloat16* const low = from + lane * lane_stride + p * k_stride;
      return Bfloat16Pair{low->bits() | std::uint32_t{low[k_stride / 2].bits()} << 16};
    };
    for (std::int64_t j = p < whole ? done : 0; j < lanes; ++j) to[p * width + j] = pair(j);
    std::fill(to + p * width + lanes, to + (p + 1) * width, Bfloat16Pair{});
  }
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

void round_to_multiply(bfloat16*, const float*, std::int64_t) {
  throw std::logic_error("no instructions for pairs of bf16");
}

void multiply_panel(std::int64_t, std::int64_t, std::int64_t, const Bfloat16Pair*, const Bfloat16Pair*,
                    std::int64_t, float*, std::int64_t, bool) {
  throw std::logic_error("no instructions for pairs of bf16");
}

#endif

}  // namespace sinter::runtime::host
