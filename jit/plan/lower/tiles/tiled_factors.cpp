// Finds how factors lie, and who brings them.
#include "jit/plan/lower/tiles/tiled_factors.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "jit/ir/made_of.h"
#include "jit/ir/products/windows.h"

namespace sinter::plan {
namespace {

// What the copy engine takes: bytes that all strides but the innermost are multiples of, dims of an operand,
// and the largest stride.
constexpr std::int64_t kStrideBytes = 16;
constexpr std::size_t kMostDims = 5;
constexpr std::int64_t kMostStrideBytes = std::int64_t{1} << 40;
// Bytes that a lane which computes a factor stores at once.
constexpr std::int64_t kPieceBytes = 16;

/// The loops of a factor.
struct FactorLoops {
  std::vector<std::size_t> own, inner;
  std::uint32_t batch;  // a set
};

/// True iff so many neighbours along the loop are neighbours in memory, and begin at a multiple of that.
bool goes_in_vectors(const MapStep& step, std::size_t along, std::int64_t neighbours) {
  bool whole = step.strides[along] == 1 && begins_at_multiple(step, neighbours);
  for (std::size_t loop = 0; loop < step.strides.size(); ++loop)
    whole &= loop == along || step.strides[loop] % neighbours == 0;
  return whole;
}

/// True iff the loops lie as if they were one, the last.
bool lie_as_one(const Draft& draft, const MapStep& step, std::span<const std::size_t> loops) {
  for (std::size_t k = 1; k < loops.size(); ++k)
    if (step.strides[loops[k - 1]] != step.strides[loops[k]] * draft.extents[loops[k]]) return false;
  return true;
}

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

/// How many dims the windows step along that the load goes over, where the copy engine can bring them; else
/// 0.
std::uint8_t copied_windows(const Product& product, ir::ExprId id, const FactorLoops& loops, bool across) {
  const ir::Expr& load = product.kernel.exprs[id];
  if (load.kind != ir::ExprKind::Load || product.numbers.move) return 0;
  const std::vector<std::size_t> batch = ir::loops_of(loops.batch);
  const std::optional<ir::Windows> windows =
      ir::windows_of(product.kernel, product.numbers.ints, load,
                     {batch, across ? loops.inner : loops.own, across ? loops.own : loops.inner});
  if (!windows) return 0;
  const auto bytes = static_cast<std::int64_t>(size_of(load.dtype));
  const auto fits = [&](std::int64_t stride) {
    return stride * bytes % kStrideBytes == 0 && stride * bytes < kMostStrideBytes;
  };
  const bool are_copied = windows->channels * bytes % kSlotBytes == 0 && fits(windows->offset) &&
                          fits(windows->image_stride) &&
                          std::all_of(windows->along.begin(), windows->along.begin() + windows->dims,
                                      [&](const ir::WindowSteps& steps) { return fits(steps.stride); });
  return are_copied ? static_cast<std::uint8_t>(windows->dims) : 0;
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

}  // namespace

bool begins_at_multiple(const MapStep& step, std::int64_t elements) {
  return step.offset % elements == 0 &&
         std::all_of(step.moving.begin(), step.moving.end(),
                     [&](const Moving& part) { return part.factor % elements == 0; });
}

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

std::optional<ir::TiledFactor> tiled_factor(const Product& product, ir::ExprId value, std::uint32_t own) {
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
    if (draft.contracts) factor.windows = copied_windows(product, value, loops, across);
    if (factor.windows > 0) return factor;
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

bool is_copied_like(const Product& product, ir::ExprId value, const ir::TiledFactor& factor,
                    std::uint32_t own) {
  const ir::Kernel& kernel = product.kernel;
  const ir::Expr &load = kernel.exprs[value], &first = kernel.exprs[factor.value];
  if (factor.windows || factor.computed || load.kind != ir::ExprKind::Load || load.predicate != ir::kNone ||
      load.dtype != first.dtype)
    return false;
  const IndexMap &map = product.draft.maps[load.map], &like = product.draft.maps[first.map];
  const std::uint32_t outer = (1u << kernel.outer_rank) - 1, all = (1u << product.draft.extents.size()) - 1;
  const FactorLoops loops{ir::loops_of(own), ir::loops_of(all & ~outer),
                          outer & ~(product.tiling.row_loops | product.tiling.column_loops)};
  const auto is_alike = [](std::int64_t x, std::int64_t y) { return (x == 0) == (y == 0); };
  const bool lies_alike =
      map.is_affine() && std::equal(map.loops().strides.begin(), map.loops().strides.end(),
                                    like.loops().strides.begin(), is_alike);
  return lies_alike && copies(product.draft, kernel, value, loops, factor.across);
}

}  // namespace sinter::plan
