// The core of products of bf16 by instructions that multiply and add pairs of them. As gemm.h, with a pair in
// place of an element.
#pragma once

#include <cstdint>

#include <sinter/half.h>

namespace sinter::runtime::host {

/// Two neighbours along k; the first one in the lower half.
struct Bfloat16Pair {
  std::uint32_t bits = 0;
};

/// True iff this processor multiplies pairs, in panels as wide as those of f32: x86 with AVX512_BF16. The
/// instruction adds the products of a pair to an f32 sum, and takes denormal operands and sums for 0.
bool multiplies_pairs();

/// Pair p of lane j is from[j * lane_stride + p * k_stride] and its neighbour k_stride / 2 further on; `k`
/// pairs of each lane, 0 for lanes <= j < width.
void pack_panel(Bfloat16Pair* to, const bfloat16* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k);
/// Likewise of f32, each rounded as by round_to_multiply.
void pack_panel(Bfloat16Pair* to, const float* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k);

/// n numbers, rounded to the nearest as what pairs are multiplied of: denormal ones are 0.
void round_to_multiply(bfloat16* to, const float* from, std::int64_t n);

/// Of packed panels; `k` pairs.
void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t k, const Bfloat16Pair* a,
                    const Bfloat16Pair* b, std::int64_t b_row, float* c, std::int64_t c_row, bool accumulate);

}  // namespace sinter::runtime::host
