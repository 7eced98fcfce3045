// The host's own matrix product: blocked and packed, for any strides.
#pragma once

#include <memory>

#include "jit/library/matmul.h"
#include "src/runtime/host/products/product.h"

namespace sinter::runtime::host {

/// The most rows of a panel of B: 256 rows of 32 f32 fill a first-level cache.
inline constexpr std::int64_t kPanelDepth = 256;

/// True iff the product's precision lets factors of f32 be rounded to bf16, and this processor multiplies
/// pairs of these: make_matmul does so then. Sums of an odd number of terms are those of f32.
bool rounds_to_pairs(const library::MatMulOp& op);

std::shared_ptr<ProductProgram> make_matmul(const library::MatMulOp& op);

}  // namespace sinter::runtime::host
