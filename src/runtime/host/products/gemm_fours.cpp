// Register-blocked products of fours of i8. Highway knows no such instruction in all of its versions, so this
// is written in intrinsics, for the one instruction set that has it.
#include "src/runtime/host/products/gemm_fours.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "src/runtime/host/products/gemm.h"
#include "src/runtime/host/products/words.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define SINTER_FOURS [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")]]
#endif

namespace sinter::runtime::host {

#if defined(__x86_64__)
namespace {

// With its sign bit turned, a number is one without a sign that is 128 larger.
constexpr std::uint32_t kSignBits = 0x80808080;

std::uint32_t sign_bits_to_turn(FourSide side) { return side == FourSide::First ? kSignBits : 0; }

SINTER_FOURS inline __m512i load_bytes(__mmask16 given, const std::int8_t* from) {
  return _mm512_maskz_cvtepu8_epi32(given, _mm_maskz_loadu_epi8(given, from));
}

/// Neighbours lie in rows, of which four are put together.
SINTER_FOURS void pack_rows(Int8Four* to, const std::int8_t* from, std::int64_t k_stride, std::int64_t lanes,
                            std::int64_t width, std::int64_t k, std::uint32_t turned) {
  const std::int64_t row = k_stride / 4;
  const __m512i turn = _mm512_set1_epi32(static_cast<int>(turned));
  for (std::int64_t p = 0; p < k; ++p, to += width, from += k_stride)
    for (std::int64_t j = 0; j < width; j += kWordLanes) {
      const __mmask16 given = first_lanes(lanes - j);
      const std::int8_t* const at = from + j;
      const __m512i low = _mm512_or_si512(load_bytes(given, at),
                                          _mm512_maskz_slli_epi32(given, load_bytes(given, at + row), 8)),
                    high =
                        _mm512_or_si512(_mm512_maskz_slli_epi32(given, load_bytes(given, at + 2 * row), 16),
                                        _mm512_maskz_slli_epi32(given, load_bytes(given, at + 3 * row), 24));
      _mm512_mask_storeu_epi32(to + j, first_lanes(width - j),
                               _mm512_maskz_xor_epi32(given, _mm512_or_si512(low, high), turn));
    }
}

/// Stores 16 sums of integers, as f32 where they are finished.
SINTER_FOURS inline void store_sums(std::int32_t* to, __mmask16 wanted, __m512i sums, bool accumulate,
                                    bool is_last) {
  if (accumulate) sums = _mm512_add_epi32(sums, _mm512_maskz_loadu_epi32(wanted, to));
  if (is_last) sums = _mm512_castps_si512(_mm512_maskz_cvtepi32_ps(wanted, sums));
  _mm512_mask_storeu_epi32(to, wanted, sums);
}

/// Ends a loop's sums: without this g++ 12 stores each of them in each round, for what comes behind the loop.
SINTER_FOURS inline void end_of_loop(__m512i& a, __m512i& b) { asm("" : "+v"(a), "+v"(b)); }

/// Of rows `i`.
template <int... i>
SINTER_FOURS void multiply_rows(std::integer_sequence<int, i...>, std::int64_t columns, std::int64_t k,
                                const Int8Four* a, const Int8Four* b, std::int64_t b_row, std::int32_t* c,
                                std::int64_t c_row, bool accumulate, bool is_last) {
  constexpr int kRows = sizeof...(i);
  __m512i s[kRows][2], x;
  ((s[i][0] = s[i][1] = _mm512_setzero_si512()), ...);
  __m512i left_excess = _mm512_setzero_si512(), right_excess = left_excess;
  const __m512i added = _mm512_set1_epi32(static_cast<int>(kSignBits));  // 128 to each number of A
  for (std::int64_t p = 0; p < k; ++p, a += kRows, b += b_row) {
    const __m512i left = _mm512_loadu_si512(b), right = _mm512_loadu_si512(b + kWordLanes);
    left_excess = _mm512_dpbusd_epi32(left_excess, added, left);
    right_excess = _mm512_dpbusd_epi32(right_excess, added, right);
    ((x = _mm512_set1_epi32(static_cast<int>(a[i].bits)), s[i][0] = _mm512_dpbusd_epi32(s[i][0], x, left),
      s[i][1] = _mm512_dpbusd_epi32(s[i][1], x, right)),
     ...);
  }
  (end_of_loop(s[i][0], s[i][1]), ...);
  const __mmask16 wanted = first_lanes(columns), more = first_lanes(columns - kWordLanes);
  (store_sums(c + i * c_row, wanted, _mm512_sub_epi32(s[i][0], left_excess), accumulate, is_last), ...);
  (store_sums(c + i * c_row + kWordLanes, more, _mm512_sub_epi32(s[i][1], right_excess), accumulate, is_last),
   ...);
}

template <int kRows>
void multiply_rows(std::int64_t columns, std::int64_t k, const Int8Four* a, const Int8Four* b,
                   std::int64_t b_row, std::int32_t* c, std::int64_t c_row, bool accumulate, bool is_last) {
  multiply_rows(std::make_integer_sequence<int, kRows>(), columns, k, a, b, b_row, c, c_row, accumulate,
                is_last);
}

}  // namespace

bool multiplies_fours() {
  static const bool found = __builtin_cpu_supports("avx512vnni") && panel_columns<float>() == kWordColumns;
  return found;
}

SINTER_FOURS void pack_panel(Int8Four* to, const std::int8_t* from, std::int64_t lane_stride,
                             std::int64_t k_stride, std::int64_t lanes, std::int64_t width, std::int64_t k,
                             FourSide side) {
  const std::uint32_t turned = sign_bits_to_turn(side);
  if (lane_stride == 1) return pack_rows(to, from, k_stride, lanes, width, k, turned);
  std::int64_t done = 0;   // lanes
  std::int64_t whole = 0;  // fours of these
  if (k_stride == 4) {
    const __m128i turn = _mm_set1_epi32(static_cast<int>(turned));
    whole = k / 4 * 4;
    for (; done + 4 <= lanes; done += 4)
      for (std::int64_t p = 0; p < whole; p += 4)
        transpose_words(to + p * width + done, width, from + done * lane_stride + 4 * p, lane_stride, turn);
  }
  for (std::int64_t p = 0; p < k; ++p) {
    const auto four = [&](std::int64_t lane) {
      const std::int8_t* const at = from + lane * lane_stride + p * k_stride;
      std::uint32_t bits = 0;
      for (int i = 0; i < 4; ++i)
        bits |= std::uint32_t{static_cast<std::uint8_t>(at[i * (k_stride / 4)])} << (8 * i);
      return Int8Four{bits ^ turned};
    };
    for (std::int64_t j = p < whole ? done : 0; j < lanes; ++j) to[p * width + j] = four(j);
    std::fill(to + p * width + lanes, to + (p + 1) * width, Int8Four{});
  }
}

void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t k, const Int8Four* a,
                    const Int8Four* b, std::int64_t b_row, std::int32_t* c, std::int64_t c_row,
                    bool accumulate, bool is_last) {
  switch (rows) {
    case 12: return multiply_rows<12>(columns, k, a, b, b_row, c, c_row, accumulate, is_last);
    case 8: return multiply_rows<8>(columns, k, a, b, b_row, c, c_row, accumulate, is_last);
    case 4: return multiply_rows<4>(columns, k, a, b, b_row, c, c_row, accumulate, is_last);
    case 2: return multiply_rows<2>(columns, k, a, b, b_row, c, c_row, accumulate, is_last);
    default: return multiply_rows<1>(columns, k, a, b, b_row, c, c_row, accumulate, is_last);
  }
}

#else

bool multiplies_fours() { return false; }

void pack_panel(Int8Four*, const std::int8_t*, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                std::int64_t, FourSide) {
  throw std::logic_error("no instructions for fours of i8");
}

void multiply_panel(std::int64_t, std::int64_t, std::int64_t, const Int8Four*, const Int8Four*, std::int64_t,
                    std::int32_t*, std::int64_t, bool, bool) {
  throw std::logic_error("no instructions for fours of i8");
}

#endif

}  // namespace sinter::runtime::host
