// How exactly products of f32 are computed, and in which order scattered values are added up.
#pragma once

#include <cstdint>
#include <string_view>

#include <sinter/detail/api.h>

namespace sinter {

/// What a device may make of the factors of a product of f32. Sums are always f32, and so are the results.
/// Tensor cores multiply what has been rounded many times faster than f32, processors with instructions for
/// bf16 twice as fast; a device without them computes exactly, whatever it is allowed. docs/numerics.md has
/// the error bounds.
///
/// Of factors stored in 8 bits nothing is rounded, but where tensor cores multiply 8 bits (compute capability
/// 9.0) they add up with fewer digits than f32 has: High allows that for 128 products at a time, Medium for
/// the whole sum. Otherwise they are multiplied as f16, exactly.
enum class MatmulPrecision : std::uint8_t {
  Highest,  // nothing is rounded
  Tf32x3,   // large matrix products may be three of tf32, which keep 21 bits or so; all else is exact
  High,     // factors are rounded to tf32, which has 10 bits of fraction behind the point
  Medium,   // factors are rounded to bf16, which has 7
};

/// "highest", "tf32x3", "high", "medium"
constexpr std::string_view name_of(MatmulPrecision precision) {
  switch (precision) {
    case MatmulPrecision::Tf32x3: return "tf32x3";
    case MatmulPrecision::High: return "high";
    case MatmulPrecision::Medium: return "medium";
    case MatmulPrecision::Highest: break;
  }
  return "highest";
}

/// True iff factors may lose most of their digits.
constexpr bool may_be_rounded(MatmulPrecision precision) {
  return precision == MatmulPrecision::High || precision == MatmulPrecision::Medium;
}

/// Of the products that this thread records now: that of its innermost scope, else that of the environment
/// variable SINTER_MATMUL_PRECISION, else Highest. The gradients of a product have its precision.
SINTER_API MatmulPrecision matmul_precision();

/// While it lives, products that this thread records have another precision.
///
///   {
///     const sn::MatmulPrecisionScope fast(sn::MatmulPrecision::High);
///     y = x.matmul(w);
///   }
class SINTER_API MatmulPrecisionScope {
 public:
  explicit MatmulPrecisionScope(MatmulPrecision precision);
  ~MatmulPrecisionScope();
  MatmulPrecisionScope(const MatmulPrecisionScope&) = delete;
  MatmulPrecisionScope& operator=(const MatmulPrecisionScope&) = delete;

 private:
  std::uint8_t before_;
};

/// What a device may make of the order of floats that an index sends to the same place: of `index_add`,
/// `scatter_add`, `scatter_reduce` by sums, and the gradients of indexed reads (`gather`, `index_select`,
/// embeddings, sampling by a grid).
///
/// A sum of floats depends on the order of its terms by its rounding. In any order it may differ in its last
/// digits from one run to the next, and numbers below 2^-126 may count as 0. Sums of integers, the largest
/// and the least are the same in any order; to them it makes no difference, and neither does it on
/// processors. docs/numerics.md has the bounds.
enum class SumOrder : std::uint8_t {
  Fixed,  // one that follows from the program: the same bits each time
  Any,    // as they come, by atomic additions, which is faster on GPUs where places are many
};

/// "fixed", "any"
constexpr std::string_view name_of(SumOrder order) { return order == SumOrder::Any ? "any" : "fixed"; }

/// Of the sums that this thread records now: that of its innermost scope, else that of the environment
/// variable SINTER_SUM_ORDER, else Fixed. The gradients of an operation have its order.
SINTER_API SumOrder sum_order();

/// While it lives, sums that this thread records have another order. Scopes end in the order in which they
/// began, the last one first.
///
///   {
///     const sn::SumOrderScope fast(sn::SumOrder::Any);
///     y = x.index_add(0, index, source);
///   }
class SINTER_API SumOrderScope {
 public:
  explicit SumOrderScope(SumOrder order);
  ~SumOrderScope();
  SumOrderScope(const SumOrderScope&) = delete;
  SumOrderScope& operator=(const SumOrderScope&) = delete;

 private:
  std::uint8_t before_;
};

}  // namespace sinter
