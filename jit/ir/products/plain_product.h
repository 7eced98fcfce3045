// What a vendor's library can compute in place of a kernel with tiles: all of it, where the kernel is a
// matrix product and nothing else, or the sums, from which a kernel makes the results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::ir {

/// One matrix for each product of a batch. Element (i, j) of the matrix of number n is
///   buffer[offset + n * batch_stride + i * leading + j]     where neighbours lie along j
///   buffer[offset + n * batch_stride + i + j * leading]     where they lie along i
struct PlainMatrix {
  std::uint16_t buffer = 0;
  DType dtype = DType::f32;
  std::int64_t offset = 0;
  std::int64_t leading = 1;  // no less than the elements along which neighbours lie, and at least 1
  std::int64_t batch_stride = 0;
  friend auto operator<=>(const PlainMatrix&, const PlainMatrix&) = default;
};

/// result[n](r, c) = bias(c) + sum over k of a[n](r, k) * b[n](k, c), added up in f32 and rounded to the
/// result's dtype: once, also where the kernel rounds the sum before it adds the bias. All in f64 where the
/// factors are, which no kernel's are: products of those are library ops.
struct PlainProduct {
  std::int64_t rows = 1, columns = 1, depth = 1, batches = 1;
  PlainMatrix a, b;
  bool exact = false;                           // factors of f32 are not rounded to tf32
  bool a_along_sum = true, b_along_sum = true;  // neighbours lie along k; else along r, or along c
  PlainMatrix result;                           // neighbours lie along c
  bool has_bias = false;
  PlainMatrix bias;  // has the result's dtype; buffer[offset + c]
  /// The result is none of the kernel's but contiguous, in memory of the launch's own, and `rest_of` makes
  /// the kernel's results of it.
  bool has_rest = false;
  /// Matrices may begin at any element of a buffer: where, the launch says. Offsets are 0.
  bool anywhere = false;
  friend auto operator<=>(const PlainProduct&, const PlainProduct&) = default;
};

/// Nothing where the kernel has no Tiling, or does anything else than such a product: factors with
/// predicates, that are computed or overlap, several results, one that is written in place or does not lie
/// row by row. `ints`: arguments of a launch, all of which are the same in every run.
std::optional<PlainProduct> plain_product(const Kernel& kernel, std::span<const std::int64_t> ints);

/// The kernel as a plain product, or else the plain product whose factors it has, with a rest; nothing where
/// the factors are none of a plain product, or the sums take more than kMostSumBytes.
std::optional<PlainProduct> library_product(const Kernel& kernel, std::span<const std::int64_t> ints);
inline constexpr std::size_t kMostSumBytes = std::size_t{256} << 20;

/// The elementwise kernel that makes a kernel's results of the sums. It takes the kernel's buffers, ints and
/// scalars, then one more buffer, the result of `library_product`, and one more int for each outer loop.
Kernel rest_of(const Kernel& kernel);
/// The kernel's ints and those.
std::vector<std::int64_t> rest_ints(const Kernel& kernel, std::span<const std::int64_t> ints);

}  // namespace sinter::ir
