// Kernels that are a matrix product and nothing else: what a vendor's library can compute in their place.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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
/// result's dtype: once, also where the kernel rounds the sum before it adds the bias.
struct PlainProduct {
  std::int64_t rows = 1, columns = 1, depth = 1, batches = 1;
  PlainMatrix a, b;
  bool a_along_sum = true, b_along_sum = true;  // neighbours lie along k; else along r, or along c
  PlainMatrix result;                           // neighbours lie along c
  bool has_bias = false;
  PlainMatrix bias;  // has the result's dtype; buffer[offset + c]
  friend auto operator<=>(const PlainProduct&, const PlainProduct&) = default;
};

/// Nothing where the kernel has no Tiling, or does anything else than such a product: factors with
/// predicates, that are computed or overlap, several results, one that is written in place or does not lie
/// row by row. `ints`: arguments of a launch, all of which are the same in every run.
std::optional<PlainProduct> plain_product(const Kernel& kernel, std::span<const std::int64_t> ints);

}  // namespace sinter::ir
