// The products of a stripe of scores: of its rows by all columns, and of its weights by what columns have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <sinter/dtype.h>

#include "src/runtime/host/products/gemm_pairs.h"

namespace sinter::runtime::host {

/// Vectors in memory, of f32 or 16-bit floats: element c of number i is at `first`, i * stride + c * step
/// elements further.
struct Vectors {
  const std::byte* first = nullptr;
  DType dtype = DType::f32;
  std::int64_t stride = 0, step = 1;
  std::int64_t length = 0;

  Vectors from(std::int64_t i, std::int64_t c) const {
    Vectors vectors = *this;
    vectors.first += (i * stride + c * step) * static_cast<std::int64_t>(size_of(dtype));
    return vectors;
  }
};

/// Multiplies in one thread; sums are of f32. Two vectors of bf16 are multiplied by the processor's
/// instructions for these, where it has them, and so are weights of vectors of bf16, which are rounded for
/// it.
class StripeProducts {
 public:
  /// For at most so many rows, and vectors of at most that length.
  StripeProducts(std::int64_t rows, std::int64_t length);
  /// Of `memory`.
  std::size_t bytes() const { return packed_bytes_ + panel_bytes_ + rounded_bytes_; }

  /// lines[r * line + j] = the sum over c of a[r][c] * b[j][c], for r < rows and j < columns.
  void multiply(std::int64_t rows, std::int64_t columns, const Vectors& a, const Vectors& b, float* lines,
                std::int64_t line, std::byte* memory) const;
  /// sums[r * b.length + c] = the sum over j < columns of weights[r * line + j] * b[j][c].
  void combine(std::int64_t rows, std::int64_t columns, const float* weights, std::int64_t line,
               const Vectors& b, float* sums, std::byte* memory) const;

 private:
  void pack_rounded(const std::vector<std::int64_t>& panels, const float* weights, std::int64_t line,
                    std::int64_t depth, Bfloat16Pair* packed, std::byte* rounded) const;

  std::size_t packed_bytes_, panel_bytes_, rounded_bytes_;
};

}  // namespace sinter::runtime::host
