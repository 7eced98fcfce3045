// Recognises sums of products and chooses their tiles.
#include "jit/plan/lower/tiles/tiling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "jit/ir/made_of.h"
#include "jit/ir/products/windows.h"
#include "jit/plan/lower/tiles/tile_forms.h"

namespace sinter::plan {
namespace {

// What the copy engine takes: bytes that all strides but the innermost are multiples of, dims of an operand,
// and the largest stride.
constexpr std::int64_t kStrideBytes = 16;
constexpr std::size_t kMostDims = 5;
constexpr std::int64_t kMostStrideBytes = std::int64_t{1} << 40;
// Elements that are loaded and stored at once, 16 bytes of 16 bits each.
constexpr std::int64_t kVector = 8;
// Bytes that a lane which computes a factor stores at once.
constexpr std::int64_t kPieceBytes = 16;

/// True iff the position of the map's first element is a multiple of so many elements in every run.
bool begins_at_multiple(const MapStep& step, std::int64_t elements) {
  return step.offset % elements == 0 &&
         std::all_of(step.moving.begin(), step.moving.end(),
                     [&](const Moving& part) { return part.factor % elements == 0; });
}

/// True iff so many neighbours along the loop are neighbours in memory, and begin at a multiple of that.
bool goes_in_vectors(const MapStep& step, std::size_t along, std::int64_t neighbours) {
  bool whole = step.strides[along] == 1 && begins_at_multiple(step, neighbours);
  for (std::size_t loop = 0; loop < step.strides.size(); ++loop)
    whole &= loop == along || step.strides[loop] % neighbours == 0;
  return whole;
}

/// The value of 16 or 8 bits below a cast to f32, or else the value itself.
ir::ExprId below_cast(const ir::Kernel& kernel, ir::ExprId id) {
  const ir::Expr& expr = kernel.exprs[id];
  const bool is_cast = expr.kind == ir::ExprKind::Elementwise && expr.op == Op::Cast;
  if (!is_cast) return id;
  const ir::Expr& below = kernel.exprs[expr.args[0]];
  if (is_stored_float(below.dtype)) return expr.args[0];
  // An i8 is a number as an i32.
  const bool is_widened =
      below.kind == ir::ExprKind::Elementwise && below.op == Op::Cast && below.dtype == DType::i32;
  return is_widened && kernel.exprs[below.args[0]].dtype == DType::i8 ? below.args[0] : id;
}

/// What is known of a kernel before its tiles are chosen.
struct Product {
  const Draft& draft;
  const ir::TensorCores& cores;
  const DraftInts& numbers;
  const ir::Kernel& kernel;
  std::vector<std::uint32_t> loops;  // that each expression depends on
  ir::Tiling tiling;
};

/// True iff the loops lie as if they were one, the last.
bool lie_as_one(const Draft& draft, const MapStep& step, std::span<const std::size_t> loops) {
  for (std::size_t k = 1; k < loops.size(); ++k)
    if (step.strides[loops[k - 1]] != step.strides[loops[k]] * draft.extents[loops[k]]) return false;
  return true;
}

/// The loops of a factor.
struct FactorLoops {
  std::vector<std::size_t> own, inner;
  std::uint32_t batch;
};

/// True iff the copy engine can bring parts of what the load reads, with neighbours `across` or along the
/// sum.
bool copies(const Draft& draft, const ir::Kernel& kernel, ir::ExprId load, const FactorLoops& loops,
            bool across) {
  const IndexMap& map = draft.maps[kernel.exprs[load].map];
  if (!map.is_affine()) return false;
  const MapStep& step = map.loops();
  if (!lie_as_one(draft, step, loops.own) || !lie_as_one(draft, step, loops.inner)) return false;
  const auto bytes = static_cast<std::int64_t>(size_of(kernel.exprs[load].dtype));
  const auto fits = [&](std::size_t loop) {
    const std::int64_t stride = step.strides[loop] * bytes;
    return stride >= 0 && stride % kStrideBytes == 0 && stride < kMostStrideBytes;
  };
  std::size_t dims = 1;
  for (const std::size_t loop : ir::loops_of(loops.batch)) {
    if (step.strides[loop] == 0) continue;
    if (!fits(loop)) return false;
    ++dims;
  }
  const std::size_t along = (across ? loops.own : loops.inner).back(),
                    other = (across ? loops.inner : loops.own).back();
  if (step.strides[other] != 0) ++dims;
  return step.strides[along] == 1 && fits(other) && begins_at_multiple(step, kStrideBytes / bytes) &&
         dims <= kMostDims;
}

/// Of how many bytes lanes copy parts of what the load reads at a time, with neighbours `across` or along the
/// sum; 0: they cannot.
std::uint8_t lane_bytes(const Draft& draft, const ir::Kernel& kernel, ir::ExprId load,
                        const FactorLoops& loops, bool across) {
  const IndexMap& map = draft.maps[kernel.exprs[load].map];
  if (!map.is_affine()) return 0;
  const MapStep& step = map.loops();
  if (!lie_as_one(draft, step, loops.own) || !lie_as_one(draft, step, loops.inner)) return 0;
  const std::size_t along = (across ? loops.own : loops.inner).back();
  if (step.strides[along] != 1) return 0;
  std::vector<std::size_t> others = ir::loops_of(loops.batch);
  others.push_back((across ? loops.inner : loops.own).back());
  const auto bytes = static_cast<std::int64_t>(size_of(kernel.exprs[load].dtype));
  for (const std::int64_t piece : {16, 8, 4}) {
    const std::int64_t elements = piece / bytes;
    if (begins_at_multiple(step, elements) &&
        std::all_of(others.begin(), others.end(),
                    [&](std::size_t loop) { return step.strides[loop] % elements == 0; }))
      return static_cast<std::uint8_t>(piece);
  }
  return 0;
}

/// True iff the copy engine can bring the windows that the load goes over.
bool copies_windows(const Product& product, ir::ExprId id, const FactorLoops& loops, bool across) {
  const ir::Expr& load = product.kernel.exprs[id];
  if (load.kind != ir::ExprKind::Load || product.numbers.move || (product.loops[id] & loops.batch) != 0)
    return false;
  const std::optional<ir::Windows> windows =
      ir::windows_of(product.kernel, product.numbers.ints, load, across ? loops.inner : loops.own,
                     across ? loops.own : loops.inner);
  if (!windows) return false;
  const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
  const auto fits = [&](std::int64_t stride) {
    return stride * bytes % kStrideBytes == 0 && stride * bytes < kMostStrideBytes;
  };
  return windows->channels * bytes % kSlotBytes == 0 && fits(windows->offset) &&
         fits(windows->image_stride) && fits(windows->along[0].stride) && fits(windows->along[1].stride);
}

/// True iff all of so many neighbours along the loop, which begin at a multiple of that, are within bounds or
/// none is.
bool holds_for_vectors(const Product& product, ir::ExprId test, std::size_t along, std::int64_t neighbours) {
  if (test == ir::kNone || (product.loops[test] >> along & 1) == 0) return true;
  const ir::Expr& expr = product.kernel.exprs[test];
  if (expr.kind == ir::ExprKind::Elementwise && expr.op == Op::And)
    return holds_for_vectors(product, expr.args[0], along, neighbours) &&
           holds_for_vectors(product, expr.args[1], along, neighbours);
  if (expr.kind != ir::ExprKind::InBounds || product.numbers.move) return false;
  const IndexMap& map = product.draft.maps[expr.map];
  if (!map.is_affine() || !goes_in_vectors(map.loops(), along, neighbours)) return false;
  const auto is_multiple = [&](ir::IntRef ref) {
    return ref.is_zero() || (!ref.is_one() && product.numbers.ints[ref.index] % neighbours == 0);
  };
  const ir::Bound& last = expr.bounds.back();
  return last.step.is_one() && is_multiple(last.lower) && is_multiple(last.size) &&
         (expr.bounds.size() == 1 || is_multiple(last.extent));
}

/// True iff lanes can compute the value where they need it, and finding it may not set a fault word.
bool is_computable(const ir::Kernel& kernel, ir::ExprId value) {
  const std::vector<ir::ExprId> parts = ir::made_of(kernel, value);
  return std::none_of(parts.begin(), parts.end(), [&](ir::ExprId id) {
    return kernel.exprs[id].kind == ir::ExprKind::LoadAt || kernel.exprs[id].kind == ir::ExprKind::Reduce;
  });
}

/// The load of most elements among those that the value is made of.
ir::ExprId largest_load(const Product& product, ir::ExprId value) {
  ir::ExprId largest = ir::kNone;
  double most = 0;
  for (const ir::ExprId id : ir::made_of(product.kernel, value)) {
    if (product.kernel.exprs[id].kind != ir::ExprKind::Load) continue;
    double elements = 1;
    for (const std::size_t loop : ir::loops_of(product.loops[id]))
      elements *= static_cast<double>(product.draft.extents[loop]);
    if (elements > most) largest = id, most = elements;
  }
  return largest;
}

/// True iff what differs among so many neighbours along the sum lies in vectors, and all that such a piece is
/// made of takes no more registers than the piece: codes and their scales, say.
bool is_made_of_vectors(const Product& product, ir::ExprId value, std::int64_t neighbours) {
  constexpr std::int64_t kWord = 4;
  const std::size_t last = product.draft.extents.size() - 1;
  std::int64_t bytes = 0;
  for (const ir::ExprId id : ir::made_of(product.kernel, value)) {
    const ir::Expr& part = product.kernel.exprs[id];
    if (part.kind != ir::ExprKind::Load) continue;
    const auto size = static_cast<std::int64_t>(size_of(part.dtype));
    if ((product.loops[id] >> last & 1) == 0) {
      bytes += std::max(size, kWord);
      continue;
    }
    const IndexMap& map = product.draft.maps[part.map];
    if (part.predicate != ir::kNone || size * neighbours < kWord || !map.is_affine() ||
        !goes_in_vectors(map.loops(), last, neighbours))
      return false;
    bytes += size * neighbours;
  }
  return bytes <= kPieceBytes;
}

/// How a factor is brought; nothing where it cannot be. `own`: its loops.
std::optional<ir::TiledFactor> factor(const Product& product, ir::ExprId value, std::uint32_t own) {
  const Draft& draft = product.draft;
  const ir::Kernel& kernel = product.kernel;
  const ir::Expr& expr = kernel.exprs[value];
  const std::size_t last = draft.extents.size() - 1, own_last = ir::loops_of(own).back();
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1, all = (1u << draft.extents.size()) - 1;
  const FactorLoops loops{ir::loops_of(own), ir::loops_of(all & ~outer),
                          outer & ~(product.tiling.row_loops | product.tiling.column_loops)};
  ir::TiledFactor factor;
  factor.value = value;
  const bool is_plain = expr.kind == ir::ExprKind::Load && expr.predicate == ir::kNone;
  std::uint8_t bytes = 0;
  const bool exact = product.tiling.exact;
  for (const bool across : {false, true}) {
    // Tensor cores read f32 and 8 bits along the sum only.
    if (across && !is_half(expr.dtype) && !exact) break;
    factor.across = across;
    factor.lane_bytes = is_plain ? lane_bytes(draft, kernel, value, loops, across) : 0;
    bytes = std::max(bytes, factor.lane_bytes);
    if (!product.cores.has_groups || exact) {
      if (factor.lane_bytes > 0) return factor;
      continue;
    }
    if (is_plain && copies(draft, kernel, value, loops, across)) return factor;
    factor.windows = draft.contracts && copies_windows(product, value, loops, across);
    if (factor.windows) return factor;
  }
  if (!draft.contracts || !is_computable(kernel, value)) return std::nullopt;
  factor.computed = true;
  factor.across = false;
  factor.lane_bytes = bytes;
  const auto elements = kPieceBytes / static_cast<std::int64_t>(size_of(expr.dtype));
  factor.pieces = draft.extents[last] % elements == 0;
  if (const ir::ExprId load = largest_load(product, value); load != ir::kNone) {
    const MapStep& step = draft.maps[kernel.exprs[load].map].loops();
    const auto far = [&](std::size_t loop) {
      return step.strides[loop] == 0 ? INT64_MAX : std::abs(step.strides[loop]);
    };
    factor.across = far(own_last) < far(last);
    const std::size_t along = factor.across ? own_last : last;
    const auto lies_in_vectors_of = [&](std::int64_t neighbours) {
      return expr.kind == ir::ExprKind::Load && draft.extents[along] % neighbours == 0 &&
             draft.maps[expr.map].is_affine() && goes_in_vectors(step, along, neighbours) &&
             holds_for_vectors(product, expr.predicate, along, neighbours);
    };
    if (expr.kind != ir::ExprKind::Load && !factor.across && factor.pieces && !ir::are_bytes(expr.dtype) &&
        is_made_of_vectors(product, value, elements))
      factor.vector = static_cast<std::uint8_t>(elements);
    // f32 that lies across is turned over in squares. Where 16 bits do, groups read them so; others copy
    // them.
    const bool lies_so =
        factor.across ? (expr.dtype == DType::f32 ? factor.pieces : product.cores.has_groups) : true;
    if (lies_so && !ir::are_bytes(expr.dtype) && expr.kind == ir::ExprKind::Load) {
      if (lies_in_vectors_of(elements))
        factor.vector = static_cast<std::uint8_t>(elements);
      else if (is_half(expr.dtype) && lies_in_vectors_of(elements / 2))
        factor.vector = static_cast<std::uint8_t>(elements / 2);
    }
  }
  return factor;
}

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
  const auto a = factor(product, left, tiling.row_loops), b = factor(product, right, tiling.column_loops);
  if (!a || !b) return false;
  tiling.a = *a, tiling.b = *b;
  return true;
}

/// The factor of another sum of products of `a`, which has to lie as `b` does; kNone where it does not, or
/// where groups of subgroups cannot have both sums in one tile.
ir::ExprId other_factor(const Product& product, ir::ExprId sum) {
  const ir::Tiling& tiling = product.tiling;
  const ir::Kernel& kernel = product.kernel;
  if (!product.cores.has_groups || !is_half(tiling.multiplied) || tiling.b.across || tiling.b.windows ||
      tiling.b.computed)
    return ir::kNone;
  const ir::Expr& factors = kernel.exprs[kernel.exprs[sum].args[0]];
  if (factors.kind != ir::ExprKind::Elementwise || factors.op != Op::Mul) return ir::kNone;
  ir::ExprId a = below_cast(kernel, factors.args[0]), b = below_cast(kernel, factors.args[1]);
  if (a != tiling.a.value) std::swap(a, b);
  const ir::Expr &load = kernel.exprs[b], &first = kernel.exprs[tiling.b.value];
  if (a != tiling.a.value || load.kind != ir::ExprKind::Load || load.predicate != ir::kNone ||
      load.dtype != first.dtype)
    return ir::kNone;
  const IndexMap &map = product.draft.maps[load.map], &like = product.draft.maps[first.map];
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1, all = (1u << product.draft.extents.size()) - 1;
  const FactorLoops loops{ir::loops_of(tiling.column_loops), ir::loops_of(all & ~outer),
                          outer & ~(tiling.row_loops | tiling.column_loops)};
  // Tensor maps of both have the same dims.
  const auto is_alike = [](std::int64_t x, std::int64_t y) { return (x == 0) == (y == 0); };
  const bool lies_alike =
      map.is_affine() && std::equal(map.loops().strides.begin(), map.loops().strides.end(),
                                    like.loops().strides.begin(), is_alike);
  return lies_alike && copies(product.draft, kernel, b, loops, false) ? b : ir::kNone;
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
  constexpr double kMost = INT32_MAX - 65536;
  if (rows > kMost || columns > kMost || depth > kMost || batches * rows * columns / 4096 > kMost / 2)
    return std::nullopt;
  return ProductSizes{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns),
                      static_cast<std::int64_t>(depth), static_cast<std::int64_t>(batches), repeats};
}

}  // namespace

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
  for (const ir::Store& store : kernel.stores)
    if (store.level == ir::Level::Inner) return;
  for (const std::int64_t extent : draft.extents)
    if (extent <= 0 || extent > INT32_MAX) return;
  const ir::Expr& factors = kernel.exprs[kernel.exprs[tiling.sum].args[0]];
  if (factors.kind != ir::ExprKind::Elementwise || factors.op != Op::Mul) return;
  product.loops = ir::dependence(kernel);
  if (!find_factors(product, factors.args[0], factors.args[1])) return;
  for (std::size_t k = 1; k < sums.size(); ++k) {
    const ir::ExprId b = other_factor(product, sums[k]);
    if (b == ir::kNone) return;
    tiling.others.push_back({sums[k], b});
  }

  const std::optional<ProductSizes> sizes = sizes_of(kernel, tiling, draft.extents);
  if (sums.size() > 2 && sizes) {
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
