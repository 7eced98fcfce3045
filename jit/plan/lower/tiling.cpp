// Recognises sums of products and chooses their tiles.
#include "jit/plan/lower/tiling.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace sinter::plan {
namespace {

// What the copy engine takes: bytes that all strides but the innermost are multiples of, dims of an operand,
// and the largest stride.
constexpr std::int64_t kStrideBytes = 16;
constexpr std::size_t kMostDims = 5;
constexpr std::int64_t kMostStrideBytes = std::int64_t{1} << 40;
// Elements that are loaded and stored at once, 16 bytes of 16 bits each.
constexpr std::int64_t kVector = 8;
// Bytes of the sum in a slot, and elements of 16 bits.
constexpr std::int64_t kSlotBytes = 128, kSlotElements = 64;

/// True iff the position of the map's first element is a multiple of so many elements in every run.
bool begins_at_multiple(const MapStep& step, std::int64_t elements) {
  return step.offset % elements == 0 &&
         std::all_of(step.moving.begin(), step.moving.end(),
                     [&](const Moving& part) { return part.factor % elements == 0; });
}

struct Sizes {
  double rows = 1, columns = 1, depth = 1, batches = 1;
};

/// The load below casts to f32.
ir::ExprId loaded(const ir::Kernel& kernel, ir::ExprId id) {
  const ir::Expr* expr = &kernel.exprs[id];
  while (expr->kind == ir::ExprKind::Elementwise && expr->op == Op::Cast && expr->dtype == DType::f32) {
    id = expr->args[0];
    expr = &kernel.exprs[id];
  }
  return expr->kind == ir::ExprKind::Load ? id : ir::kNone;
}

/// True iff the copy engine can bring parts of what the load reads, with neighbours along loop `along`.
bool copies(const Draft& draft, const ir::Kernel& kernel, ir::ExprId load, std::size_t along) {
  const IndexMap& map = draft.maps[kernel.exprs[load].map];
  if (map.steps().size() != 1) return false;
  const MapStep& step = map.steps()[0];
  const auto bytes = static_cast<std::int64_t>(size_of(kernel.exprs[load].dtype));
  std::size_t dims = 0;
  for (std::size_t loop = 0; loop < step.strides.size(); ++loop) {
    if (loop == along || step.strides[loop] == 0) continue;
    const std::int64_t stride = step.strides[loop] * bytes;
    if (stride < 0 || stride % kStrideBytes != 0 || stride >= kMostStrideBytes) return false;
    ++dims;
  }
  return step.strides[along] == 1 && begins_at_multiple(step, kStrideBytes / bytes) && dims + 1 <= kMostDims;
}

/// One factor of the product: its load, and how it lies.
struct Factor {
  ir::ExprId load;
  bool across;
};

std::optional<Factor> factor(const Draft& draft, const ir::Kernel& kernel, ir::ExprId id, std::size_t own,
                             std::size_t other) {
  const ir::ExprId load = loaded(kernel, id);
  if (load == ir::kNone || !is_half(kernel.exprs[load].dtype) || kernel.exprs[load].predicate != ir::kNone)
    return std::nullopt;
  const MapStep::Numbers& strides = draft.maps[kernel.exprs[load].map].steps()[0].strides;
  const std::size_t depth = strides.size() - 1;
  if (strides[other] != 0 || strides[own] <= 0 || strides[depth] <= 0) return std::nullopt;
  if (copies(draft, kernel, load, depth)) return Factor{load, false};
  if (copies(draft, kernel, load, own)) return Factor{load, true};
  return std::nullopt;
}

/// True iff all that lies along the columns lies in whole vectors.
bool in_vectors(const Draft& draft, const ir::Kernel& kernel) {
  const std::size_t column = draft.outer_rank - 1;
  const auto fits = [&](const IndexMap& map) {
    if (map.steps().size() != 1 || map.steps()[0].strides[column] != 1) return true;  // element by element
    const MapStep& step = map.steps()[0];
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

// ---- which tiles

/// A form of tiles, and the part of the tensor cores' speed that it reaches in long sums
/// (docs/benchmarks.md).
struct Form {
  std::uint16_t rows, columns;
  std::uint8_t workgroups;
  bool turns;
  double speed;
};
constexpr Form kForms[] = {
    {128, 128, 1, true, 1.0},   {128, 256, 1, false, 0.98}, {128, 192, 1, false, 0.97},
    {192, 128, 1, false, 0.97}, {64, 128, 2, false, 0.83},  {64, 64, 2, false, 0.66},
};
// Products of 16 bits that a compute unit adds up in a cycle.
constexpr double kProductsPerCycle = 2048;
// Cycles: until the first tile's data are there, and of one element that is stored.
constexpr double kStart = 1200, kStore = 0.12;
// Of an element of a tile that several workgroups work on: written, read and added.
constexpr double kJoin = 0.25;

/// Cycles that a kernel takes, about.
double cycles(const Form& form, const Sizes& sizes, double units) {
  const double rows = form.rows, columns = form.columns, area = rows * columns;
  const double tiles = std::ceil(sizes.rows / rows) * std::ceil(sizes.columns / columns) * sizes.batches;
  const double at_once = units * form.workgroups;
  const double rounds = std::ceil(sizes.depth / kSlotElements);
  const double round = area * kSlotElements / kProductsPerCycle / form.speed;
  const double parts = ir::tiles_in_parts(static_cast<std::int64_t>(tiles), static_cast<std::int64_t>(rounds),
                                          static_cast<std::int64_t>(at_once));
  const double waves = std::ceil(tiles * parts / at_once);
  // Workgroups on one unit share its tensor cores: those of a last wave that is not full have them alone.
  const double busy = std::min<double>(form.workgroups, std::ceil(tiles * parts / units));
  double tile = std::ceil(rounds / parts) * round * busy;
  if (!form.turns && form.workgroups == 1) tile += area * kStore;
  if (parts > 1) tile += area * kJoin * parts / 2;
  return kStart + waves * tile + area * kStore;
}

/// As many as there is room for, beside what the results are exchanged in and the barriers.
std::uint8_t slots(const Form& form, const ir::TensorCores& cores) {
  constexpr std::size_t kMostSlots = 8, kExchange = 4 * 4096, kBarriers = 1536, kReserved = 1024;
  const std::size_t groups = form.turns ? 2 : form.rows / 64;
  const std::size_t slot = (std::size_t{form.rows} + form.columns) * kSlotBytes;
  const std::size_t room = cores.shared_bytes / form.workgroups - groups * kExchange - kBarriers - kReserved;
  return static_cast<std::uint8_t>(std::min(kMostSlots, room / slot));
}

}  // namespace

void choose_tiling(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel) {
  if (!limits.tensor_cores.any() || kernel.inner_rank != 1 || kernel.outer_rank < 2 || kernel.phases != 2)
    return;
  ir::Tiling tiling;
  for (ir::ExprId id = 0; id < kernel.exprs.size(); ++id) {
    const ir::Expr& expr = kernel.exprs[id];
    if (expr.kind != ir::ExprKind::Reduce) continue;
    if (tiling.sum != ir::kNone || expr.op != Op::Sum || expr.dtype != DType::f32) return;
    tiling.sum = id;
  }
  for (const ir::Store& store : kernel.stores)
    if (store.level == ir::Level::Inner) return;
  for (const std::int64_t extent : draft.extents)
    if (extent <= 0 || extent > INT32_MAX) return;
  const ir::Expr& product = kernel.exprs[kernel.exprs[tiling.sum].args[0]];
  if (product.kind != ir::ExprKind::Elementwise || product.op != Op::Mul) return;
  const std::size_t row = draft.outer_rank - 2, column = row + 1;
  for (int swapped = 0; swapped < 2; ++swapped) {
    const auto a = factor(draft, kernel, product.args[swapped], row, column);
    const auto b = factor(draft, kernel, product.args[1 - swapped], column, row);
    if (!a || !b || kernel.exprs[a->load].dtype != kernel.exprs[b->load].dtype) continue;
    tiling.a = a->load, tiling.a_across = a->across;
    tiling.b = b->load, tiling.b_across = b->across;
    break;
  }
  if (tiling.a == ir::kNone) return;

  Sizes sizes{static_cast<double>(draft.extents[row]), static_cast<double>(draft.extents[column]),
              static_cast<double>(draft.extents.back()), 1};
  for (std::size_t loop = 0; loop < row; ++loop) sizes.batches *= static_cast<double>(draft.extents[loop]);
  if (std::min(sizes.rows, sizes.columns) <= kFewRows) return;  // read along the rows of the other factor
  if (sizes.batches * sizes.rows * sizes.columns / 4096 > INT32_MAX / 2.0) return;
  double best = std::numeric_limits<double>::infinity();
  for (const Form& form : kForms) {
    const double now = cycles(form, sizes, limits.tensor_cores.compute_units);
    if (now >= best) continue;
    best = now;
    tiling.rows = form.rows;
    tiling.columns = form.columns;
    tiling.workgroups = form.workgroups;
    tiling.turns = form.turns;
    tiling.slots = slots(form, limits.tensor_cores);
  }
  tiling.vectors = in_vectors(draft, kernel);
  kernel.tiling = tiling;
}

}  // namespace sinter::plan
