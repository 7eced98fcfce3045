// Recognises sums of products and chooses their tiles.
#include "jit/plan/lower/tiles/tiling.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/ir/made_of.h"
#include "jit/ir/products/terms.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/tile_forms.h"
#include "jit/plan/lower/tiles/tiled_factors.h"

namespace sinter::plan {
namespace {

// Elements that are loaded and stored at once, 16 bytes of 16 bits each.
constexpr std::int64_t kVector = 8;

/// Which outer loops are rows, and which are columns, and how the factors are brought; false where there is
/// no way.
bool find_factors(Product& product, ir::ExprId left, ir::ExprId right) {
  const ir::Kernel& kernel = product.kernel;
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1;
  ir::Tiling& tiling = product.tiling;
  // Results lie along the last loop, and so do a tile's columns.
  if ((product.loops[left] >> (kernel.outer_rank - 1u) & 1) != 0) std::swap(left, right);
  const ir::ExprId below_left = below_cast(kernel, left), below_right = below_cast(kernel, right);
  const DType dtype = kernel.exprs[below_left].dtype, other = kernel.exprs[below_right].dtype;
  if (((is_half(dtype) || dtype == DType::i8) && dtype == other) || (is_f8(dtype) && is_f8(other))) {
    left = below_left, right = below_right;
    tiling.multiplied = dtype;
    tiling.short_sums = is_f8(dtype) && !product.draft.rounds_factors;
  } else {
    tiling.multiplied = DType::f32;
    tiling.exact = !product.draft.rounds_factors;
    // Whoever made a contraction of it has seen that tiles pay.
    if (tiling.exact && !(product.draft.contracts && product.cores.has_exact())) return false;
  }
  if (!product.cores.multiplies(tiling.multiplied)) return false;
  const std::uint32_t of_left = product.loops[left] & outer, of_right = product.loops[right] & outer;
  tiling.row_loops = of_left & ~of_right;
  tiling.column_loops = of_right & ~of_left;
  if (tiling.row_loops == 0 || (tiling.column_loops >> (kernel.outer_rank - 1u) & 1) == 0) return false;
  if (product.draft.repeats) tiling.repeat_loops = outer & ~(of_left | of_right);
  const auto a = tiled_factor(product, left, tiling.row_loops),
             b = tiled_factor(product, right, tiling.column_loops);
  if (!a || !b) return false;
  tiling.a = *a, tiling.b = *b;
  return true;
}

/// Nothing where there are more points than a kernel with tiles counts.
std::optional<ProductSizes> sizes_of(const ir::Kernel& kernel, const ir::Tiling& tiling,
                                     std::span<const std::int64_t> extents) {
  double rows = 1, columns = 1, depth = 1, batches = 1;
  std::int64_t repeats = 1;
  for (std::size_t loop = 0; loop < kernel.extents.size(); ++loop) {
    const bool is_row = tiling.row_loops >> loop & 1, is_column = tiling.column_loops >> loop & 1;
    if (tiling.repeat_loops >> loop & 1) {
      repeats *= extents[loop];
      continue;
    }
    double& size = loop >= kernel.outer_rank ? depth : is_row ? rows : is_column ? columns : batches;
    size *= static_cast<double>(extents[loop]);
  }
  depth *= static_cast<double>(tiling.terms.size() + 1);
  constexpr double kMost = INT32_MAX - 65536;
  if (rows > kMost || columns > kMost || depth > kMost || batches * rows * columns / 4096 > kMost / 2)
    return std::nullopt;
  return ProductSizes{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                      static_cast<std::int64_t>(depth), static_cast<std::int64_t>(batches), repeats};
}

/// The factors of a sum of products, below casts; false: it is no such sum.
bool factors_of(const ir::Kernel& kernel, ir::ExprId sum, ir::ExprId& a, ir::ExprId& b) {
  const ir::Expr& factors = kernel.exprs[kernel.exprs[sum].args[0]];
  if (factors.kind != ir::ExprKind::Elementwise || factors.op != Op::Mul) return false;
  a = below_cast(kernel, factors.args[0]), b = below_cast(kernel, factors.args[1]);
  return true;
}

/// The other sums as terms of the first one; false where results need more of them than all of them
/// together, or their factors cannot be copied as those of the first are.
bool add_terms(Product& product, std::span<const ir::ExprId> sums) {
  ir::Tiling& tiling = product.tiling;
  // Integers have room for one sum, and floats of 8 bits are added up slot by slot for want of digits.
  if (!is_half(tiling.multiplied) && tiling.multiplied != DType::f32) return false;
  if (!product.cores.has_groups || tiling.exact || !ir::are_added_up(product.kernel, sums)) return false;
  // What a program multiplies and adds up itself is not rounded beside a product that may be.
  const std::vector<ir::ExprId>& contracted = product.draft.contracted;
  const auto may_be_rounded = [&](ir::ExprId sum) {
    return std::find(contracted.begin(), contracted.end(), sum) != contracted.end();
  };
  if (tiling.multiplied == DType::f32 && !std::all_of(sums.begin(), sums.end(), may_be_rounded)) return false;
  // Those of few rows are read from memory once, by tiles of their own.
  const std::optional<ProductSizes> sizes = sizes_of(product.kernel, tiling, product.draft.extents);
  if (!sizes || std::min(sizes->rows, sizes->columns) <= kMostFewRows) return false;
  std::vector<ir::Tiling::Term> terms;
  for (const ir::ExprId sum : sums.subspan(1)) {
    ir::ExprId a = ir::kNone, b = ir::kNone;
    if (!factors_of(product.kernel, sum, a, b)) return false;
    if ((product.loops[a] >> (product.kernel.outer_rank - 1u) & 1) != 0) std::swap(a, b);
    if (!is_copied_like(product, a, tiling.a, tiling.row_loops) ||
        !is_copied_like(product, b, tiling.b, tiling.column_loops))
      return false;
    terms.push_back({sum, a, b});
  }
  tiling.terms = std::move(terms);
  return true;
}

/// The factor of another sum of products of `a`, which has to lie as `b` does; kNone where it does not, or
/// where groups of subgroups cannot have both sums in one tile.
ir::ExprId other_factor(const Product& product, ir::ExprId sum) {
  const ir::Tiling& tiling = product.tiling;
  if (!product.cores.has_groups || !is_half(tiling.multiplied) || tiling.b.across) return ir::kNone;
  ir::ExprId a = ir::kNone, b = ir::kNone;
  if (!factors_of(product.kernel, sum, a, b)) return ir::kNone;
  if (a != tiling.a.value) std::swap(a, b);
  if (a != tiling.a.value) return ir::kNone;
  return is_copied_like(product, b, tiling.b, tiling.column_loops) ? b : ir::kNone;
}

/// True iff some store needs all sums: else each of them has kernels enough of its own.
bool come_together(const ir::Kernel& kernel, const std::vector<ir::ExprId>& sums) {
  return std::any_of(kernel.stores.begin(), kernel.stores.end(), [&](const ir::Store& store) {
    const std::vector<ir::ExprId> parts = ir::made_of(kernel, store.value);
    return std::all_of(sums.begin(), sums.end(),
                       [&](ir::ExprId sum) { return std::binary_search(parts.begin(), parts.end(), sum); });
  });
}

/// True iff all that lies along the columns lies in whole vectors.
bool in_vectors(const Draft& draft, const ir::Kernel& kernel) {
  const std::size_t column = draft.outer_rank - 1;
  const auto fits = [&](const IndexMap& map) {
    if (!map.is_affine() || map.loops().strides[column] != 1) return true;  // element by element
    const MapStep& step = map.loops();
    bool whole = begins_at_multiple(step, kVector);
    for (std::size_t loop = 0; loop < draft.outer_rank; ++loop)
      whole &= loop == column || step.strides[loop] % kVector == 0;
    return whole;
  };
  bool all = draft.extents[column] % kVector == 0;
  for (const ir::Expr& expr : kernel.exprs)
    if (expr.kind == ir::ExprKind::Load && expr.level == ir::Level::Outer) all &= fits(draft.maps[expr.map]);
  for (const ir::Store& store : kernel.stores) all &= fits(draft.maps[store.map]);
  return all;
}

}  // namespace

void go_over_products(Draft& draft, const Node& contraction) {
  const std::vector<std::int64_t>& ints = contraction.ints;
  const bool may_be_rounded = ints[0] != 0;
  const auto number = [&](std::size_t at) { return static_cast<std::uint32_t>(ints[at]); };
  const ir::Tiling::Blocks blocks{number(3), number(4), number(5)};
  if (draft.contracts && draft.rounds_factors != may_be_rounded)
    throw Cut{"products of which one may be rounded and another may not"};
  if (draft.contracts && (draft.blocks.any() || blocks.any()))
    throw Cut{"several products, one of groups side by side"};
  draft.contracts = true;
  const Shape& shape = contraction.shape;
  const std::int64_t fewest = std::min(shape[contraction.dim_along(0)], shape[contraction.dim_along(1)]);
  draft.few_rows = static_cast<double>(fewest) <= kFewRows;
  draft.rounds_factors = may_be_rounded;
  draft.blocks = blocks;
}

ProductSizes product_sizes(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  std::vector<std::int64_t> extents;
  for (const ir::IntRef extent : kernel.extents) extents.push_back(ints[extent.index]);
  return sizes_of(kernel, kernel.tiling, extents).value();
}

std::vector<ir::Tiling> ranked_tilings(const ir::Kernel& kernel, std::span<const std::int64_t> ints,
                                       const LowerLimits& limits, std::size_t members) {
  ProductSizes sizes = product_sizes(kernel, ints);
  sizes.batches *= static_cast<std::int64_t>(members);
  std::vector<ir::Tiling> tilings =
      ranked_by_forms(kernel.tiling, sizes, end_of_tiles(kernel, kernel.tiling), limits.tensor_cores);
  if (members > 1) std::erase_if(tilings, [](const ir::Tiling& tiling) { return !tiling.has_groups(); });
  return tilings;
}

bool prefers_library(const ir::Kernel& kernel, std::span<const std::int64_t> ints) {
  const ir::Tiling& t = kernel.tiling;
  if (t.multiplied != DType::f32 || t.exact) return false;
  if (!(t.a.computed && t.a.across) && !(t.b.computed && t.b.across)) return false;
  const ProductSizes sizes = product_sizes(kernel, ints);
  return static_cast<double>(sizes.rows) * static_cast<double>(sizes.columns) *
             static_cast<double>(sizes.depth) * static_cast<double>(sizes.batches) >=
         kLibraryProducts;
}

std::vector<ir::Tiling> ranked_with_library(std::span<const ir::Tiling> tilings,
                                            std::span<const ir::Tiling> ways, bool prefers_library) {
  std::vector<ir::Tiling> ranked(tilings.begin(), tilings.end());
  const auto at = ranked.begin() + (prefers_library || ranked.empty() ? 0 : 1);
  ranked.insert(at, ways.begin(), ways.end());
  return ranked;
}

void choose_tiling(const Draft& draft, const DraftInts& numbers, const LowerLimits& limits,
                   ir::Kernel& kernel) {
  if (!limits.tensor_cores.any() || kernel.inner_rank == 0 || kernel.outer_rank < 2 || kernel.phases != 2)
    return;
  Product product{draft, limits.tensor_cores, numbers, kernel, {}, {}};
  ir::Tiling& tiling = product.tiling;
  std::vector<ir::ExprId> sums;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (expr.kind != ir::ExprKind::Reduce) continue;
    if (sums.size() == ir::Tiling::kMostSums || expr.op != Op::Sum || expr.dtype != DType::f32) return;
    sums.push_back(id);
  }
  if (sums.empty() || !come_together(kernel, sums)) return;
  tiling.sum = sums[0];
  tiling.blocks = draft.blocks;
  for (const ir::Store& store : kernel.stores)
    if (store.level == ir::Level::Inner) return;
  for (const std::int64_t extent : draft.extents)
    if (extent <= 0 || extent > INT32_MAX) return;
  const ir::Expr& factors = kernel.exprs[kernel.exprs[tiling.sum].args[0]];
  if (factors.kind != ir::ExprKind::Elementwise || factors.op != Op::Mul) return;
  product.loops = ir::dependence(kernel);
  if (!find_factors(product, factors.args[0], factors.args[1])) return;
  const bool is_one_sum = sums.size() > 1 && add_terms(product, sums);
  for (std::size_t k = 1; k < sums.size() && !is_one_sum; ++k) {
    const ir::ExprId b = other_factor(product, sums[k]);
    if (b == ir::kNone) return;
    tiling.others.push_back({sums[k], b});
  }

  const std::optional<ProductSizes> sizes = sizes_of(kernel, tiling, draft.extents);
  if (tiling.others.size() > 1 && sizes) {
    const double results = static_cast<double>(sizes->rows) * static_cast<double>(sizes->columns) *
                           static_cast<double>(sizes->batches) * static_cast<double>(sums.size());
    if (results > kMostOfSums * limits.tensor_cores.compute_units) return;
  }
  // With few rows or columns a product is read along those of the other factor.
  if (!sizes || static_cast<double>(std::min(sizes->rows, sizes->columns)) <= kFewRows) return;
  const std::vector<ir::Tiling> tilings =
      ranked_by_forms(tiling, *sizes, end_of_tiles(kernel, tiling), limits.tensor_cores);
  if (tilings.empty()) return;
  tiling = tilings.front();
  tiling.vectors = in_vectors(draft, kernel);
  kernel.tiling = tiling;
}

}  // namespace sinter::plan
