// Factors of f32 for tensor cores, which multiply tf32: how they have to lie, and how three products of tf32
// give one of f32.
#pragma once

#include <optional>

#include "jit/plan/rewrite/products/factors.h"

namespace sinter::plan {

/// Tensor cores read f32 along the sum. Factors that may be rounded and lie across it are copied along it
/// where that saves time, but for products that a vendor's library computes of factors as they lie.
void lay_along_the_sum(Rewriter& to, const Node& product, Factors& factors, const ir::DeviceTraits& traits);

/// For a product whose precision is Tf32x3: factors with three times the sum, whose product is that of the
/// original ones but for 2^-21 or so of each term. Nothing for other products, and where the exact product
/// takes no longer.
///
/// With x = high + low, both of which fit tf32, a b is about low(a) high(b) + high(a) low(b) + high(a)
/// high(b), which are added up in this order.
std::optional<Factors> factors_in_parts(Rewriter& to, const Node& product);

}  // namespace sinter::plan
