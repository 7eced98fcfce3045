// The core of products of i8 by instructions that multiply and add four of them. As gemm.h, with four in
// place of an element, and sums of integers, which are exact.
#pragma once

#include <cstdint>

namespace sinter::runtime::host {

/// Four neighbours along k; the first one in the lowest byte.
struct Int8Four {
  std::uint32_t bits = 0;
};

/// True iff this processor multiplies fours, in panels as wide as those of f32: x86 with AVX512_VNNI.
bool multiplies_fours();

/// The instruction takes one factor without a sign: the first operand's numbers are packed with 128 added,
/// and multiply_panel takes 128 times the other's sum away.
enum class FourSide : std::uint8_t { First, Second };

/// Four p of lane j is from[j * lane_stride + p * k_stride] and its neighbours, each k_stride / 4 further on;
/// `k` fours of each lane, 0 for lanes <= j < width.
void pack_panel(Int8Four* to, const std::int8_t* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k, FourSide side);

/// Of packed panels; `k` fours. `is_last`: the sums are finished, and stored as the f32 nearest to them.
void multiply_panel(std::int64_t rows, std::int64_t columns, std::int64_t k, const Int8Four* a,
                    const Int8Four* b, std::int64_t b_row, std::int32_t* c, std::int64_t c_row,
                    bool accumulate, bool is_last);

}  // namespace sinter::runtime::host
