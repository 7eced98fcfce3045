// Turns a draft into kernel IR.
#include "jit/plan/lower/finish.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "jit/plan/lower/attention.h"
#include "jit/plan/lower/draft_loops.h"
#include "jit/plan/lower/rows.h"
#include "jit/plan/lower/text_forms.h"
#include "jit/plan/lower/tiles/tiling.h"

namespace sinter::plan {
namespace {

// That 32 bits are enough for, with room for the last step of a loop beyond it: a lane's points, or a tile.
constexpr std::int64_t kMostIndex = INT32_MAX - (std::int64_t{1} << 16);

/// Numbers become arguments; 0 and 1 stay in the text.
class Arguments {
 public:
  ir::IntRef extent(std::int64_t number) {
    ints.push_back(number);
    wide |= number > kMostIndex || number < -kMostIndex;
    return ir::IntRef::argument(ints.size() - 1);
  }
  ir::IntRef stride(std::int64_t number) {
    if (number == 0) return ir::IntRef::zero();
    if (number == 1) return ir::IntRef::one();
    return extent(number);
  }
  ir::IntRef offset(const MapStep& step) {
    if (!step.moving.empty()) return moving(step.offset, step.moving);
    return step.offset == 0 ? ir::IntRef::zero() : extent(step.offset);
  }
  /// A number that each launch is given anew, unless nothing of it moves.
  ir::IntRef moving(std::int64_t number, const MovingParts& parts) {
    if (parts.empty()) return stride(number);
    moved.push_back({static_cast<std::uint32_t>(ints.size()), parts});
    wide |= std::abs(static_cast<double>(number)) + parts.farthest() > static_cast<double>(kMostIndex);
    return extent(number);
  }
  std::vector<std::int64_t> ints;
  std::vector<MovingNumber> moved;
  bool wide = false;
};

/// True iff 32 bits are too few to count the points of all loops; those of windows that are written out are
/// not counted.
bool are_many(const Draft& draft, const ir::Kernel& kernel) {
  const std::size_t loops = kernel.inner_sizes.empty() ? draft.extents.size() : draft.outer_rank;
  double count = 1;
  for (std::size_t loop = 0; loop < loops; ++loop) count *= static_cast<double>(draft.extents[loop]);
  return count > static_cast<double>(kMostIndex);
}

/// How far the numbers that a map computes may be from 0.
double reach_of(const Draft& draft, const IndexMap& map) {
  const MapStep& loops = map.loops();
  double reach = std::abs(static_cast<double>(loops.offset)) + loops.moving.farthest();
  const auto add = [&](std::int64_t stride, std::int64_t count) {
    reach +=
        std::abs(static_cast<double>(stride)) * static_cast<double>(std::max<std::int64_t>(0, count - 1));
  };
  for (std::size_t d = 0; d < loops.strides.size(); ++d) add(loops.strides[d], loops.extents[d]);
  for (const auto& [part, stride] : map.placed().parts) add(stride, draft.maps[part].placed().count);
  return reach;
}

/// True iff 32 bits are too few for what a map computes on the loop. `beyond`: what is added to its result,
/// the largest index of a table times its stride.
bool reaches_far(const Draft& draft, const IndexMap& map, double beyond = 0) {
  return reach_of(draft, map) + beyond > static_cast<double>(kMostIndex);
}

std::int64_t number_at(const Draft& draft, const IndexMap& map, const std::vector<std::int64_t>& point) {
  const MapStep& loops = map.loops();
  std::int64_t number = loops.offset;
  for (std::size_t d = 0; d < loops.strides.size(); ++d) number += point[d] * loops.strides[d];
  for (const auto& [part, stride] : map.placed().parts)
    number += stride * number_at(draft, draft.maps[part], point);
  return map.placed().by == 0 ? number : number / map.placed().by;
}

/// How far apart a map's numbers are at neighbours along a loop dim, in the middle of the loop where it is
/// made of quotients.
std::int64_t apart(const Draft& draft, const IndexMap& map, std::size_t dim) {
  const MapStep& loops = map.loops();
  if (map.is_affine()) return loops.strides[dim];
  std::vector<std::int64_t> point(loops.extents.begin(), loops.extents.end());
  for (std::int64_t& coordinate : point) coordinate = std::max<std::int64_t>(0, coordinate / 2 - 1);
  std::vector<std::int64_t> next = point;
  ++next[dim];
  return number_at(draft, map, next) - number_at(draft, map, point);
}

/// The loops that each map's number depends on, by bits; of a draft whose digits are placed.
std::vector<std::uint32_t> dependence_of_maps(const Draft& draft) {
  std::vector<std::uint32_t> found;
  for (const IndexMap& map : draft.maps) {
    std::uint32_t loops = map.dependence();
    for (const auto& part : map.placed().parts) loops |= found[part.first];
    found.push_back(loops);
  }
  return found;
}

ir::IndexMap with_arguments(const IndexMap& map, Arguments& arguments) {
  ir::IndexMap result;
  ir::MapStep& loops = result.steps.emplace_back();
  for (const std::int64_t stride : map.loops().strides) loops.strides.push_back(arguments.stride(stride));
  loops.offset = arguments.offset(map.loops());
  if (!map.placed().parts.empty()) {
    ir::MapStep& sum = result.steps.emplace_back();
    for (const auto& [part, stride] : map.placed().parts) {
      sum.maps.push_back(part);
      sum.strides.push_back(arguments.stride(stride));
    }
  }
  if (const std::int64_t by = map.placed().by; by != 0) {
    ir::MapStep& quotient = result.steps.emplace_back();
    quotient.extents = {arguments.extent(map.placed().count), arguments.extent(by)};
    quotient.strides = {ir::IntRef::one(), ir::IntRef::zero()};
  }
  return result;
}

// So many elements in a row, and a lane walks them as fast as several lanes.
constexpr std::int64_t kFewest = 4;

ir::Schedule choose_schedule(const Draft& draft, const ir::Kernel& kernel, const LowerLimits& limits) {
  if (kernel.inner_rank == 0) return ir::Schedule::Pointwise;
  if (limits.fixed_windows && has_small_windows(draft, kernel)) return ir::Schedule::LanesOuter;
  std::int64_t inner = 1;
  for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k) inner *= draft.extents[k];
  // Neighbouring lanes should touch neighbouring elements: along which loop do most of the elements loaded
  // lie? Small operands that are broadcast along the other loops hardly count.
  double along_inner = 0, along_outer = 0, read = 0, points = 1;
  for (const std::int64_t extent : draft.extents) points *= static_cast<double>(extent);
  const std::vector<std::uint32_t> dependence = dependence_of_maps(draft);
  bool overlap = false;  // rows that share elements, such as windows: those of neighbouring lanes are at hand
  for (const ir::Expr& expr : kernel.exprs) {
    if (expr.kind != ir::ExprKind::Load || expr.level != ir::Level::Inner) continue;
    const IndexMap& map = draft.maps[expr.map];
    double elements = 1;
    for (const std::size_t k : ir::loops_of(dependence[expr.map]))
      elements *= static_cast<double>(draft.extents[k]);
    read += elements;
    const std::int64_t within = apart(draft, map, draft.extents.size() - 1),
                       next = apart(draft, map, draft.outer_rank - 1);
    if (within == 1) along_inner += elements;
    overlap |= within == 1 && next != 0 && next < inner;
    if (next == 1) along_outer += elements;
  }
  // So do products of small matrices, each element of which is read for several rows.
  overlap |= 2 * read <= points;
  const bool short_rows = limits.short_row_lanes > 0 && kernel.inner_rank == 1 && !overlap;
  if (inner <= (short_rows ? kFewest : 16)) return ir::Schedule::LanesOuter;
  return along_outer > along_inner ? ir::Schedule::LanesOuter : ir::Schedule::LanesInner;
}

// Shorter loops leave most of a tile empty; reads across them share their cache lines anyway.
constexpr std::int64_t kLeastTiled = 16;

/// Finds the loop along which most bytes are read that do not lie along the last one.
void choose_tile(const Draft& draft, ir::Kernel& kernel) {
  if (kernel.inner_rank > 0 || draft.outer_rank < 2) return;
  const std::size_t last = draft.outer_rank - 1;
  if (draft.extents[last] < kLeastTiled) return;
  std::vector<std::size_t> bytes(last, 0);
  for (std::size_t loop = 0; loop < last; ++loop) {
    if (draft.extents[loop] < kLeastTiled) continue;
    kernel.tile = static_cast<std::uint8_t>(loop);
    for (const ir::Expr& expr : kernel.exprs)
      if (ir::lies_along_tile(kernel, expr)) bytes[loop] += size_of(kernel.buffers[expr.buffer].dtype);
  }
  const auto most = std::max_element(bytes.begin(), bytes.end());
  kernel.tile = *most == 0 ? ir::Kernel::kNoTile : static_cast<std::uint8_t>(most - bytes.begin());
}

/// Marks a kernel whose few results several groups should share the work of.
void choose_split(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel) {
  if (kernel.inner_rank == 0 || !limits.grid_reductions) return;
  std::int64_t outer = 1, inner = 1;
  for (std::size_t k = 0; k < draft.extents.size(); ++k)
    (k < draft.outer_rank ? outer : inner) *= draft.extents[k];
  const bool contiguous = kernel.schedule == ir::Schedule::LanesInner;
  if (!sharing_pays(outer, inner, contiguous, limits)) return;
  const bool one_pass =
      kernel.phases == 2 && std::all_of(kernel.stores.begin(), kernel.stores.end(), [](const ir::Store& s) {
        return s.level == ir::Level::Outer || s.phase == 0;
      });
  if (one_pass) {
    kernel.split = true;
    // The group that joins the parts stores what it knows of a result, made of sums or not.
    for (ir::Store& store : kernel.stores)
      if (store.level == ir::Level::Outer) store.phase = 1;
  } else if (sharing_is_worth_launches(outer, inner, contiguous, work_of(kernel.exprs.size()), limits)) {
    throw Cut{"few results over many elements: one kernel for both would leave most of the device idle"};
  }
}

constexpr const char* kComputedFactor = "a factor of a product, of which each element is read many times";

}  // namespace

Lowered finish(Draft draft, const LowerLimits& limits) {
  drop_unused_maps(draft);
  place_digits(draft);
  join_loops(draft);
  if (limits.grid_reductions) {
    put_long_loop_first(draft);
    bring_short_loop_near(draft);
  }

  Lowered result;
  ir::Kernel& kernel = result.kernel;
  Arguments arguments;
  kernel.outer_rank = static_cast<std::uint8_t>(draft.outer_rank);
  kernel.inner_rank = static_cast<std::uint8_t>(draft.extents.size() - draft.outer_rank);
  for (std::int64_t extent : draft.extents) kernel.extents.push_back(arguments.extent(extent));

  const std::vector<std::uint32_t> depends = dependence_of_maps(draft);
  for (const IndexMap& map : draft.maps) {
    arguments.wide |= reaches_far(draft, map);
    kernel.maps.push_back(with_arguments(map, arguments));
  }
  const auto is_inner = [&](std::uint16_t map) { return depends[map] >> draft.outer_rank != 0; };

  kernel.exprs = std::move(draft.exprs);
  for (std::size_t i = 0; i < kernel.exprs.size(); ++i) {
    ir::Expr& expr = kernel.exprs[i];
    expr.level = has_map(expr) && is_inner(expr.map) ? ir::Level::Inner : ir::Level::Outer;
    auto follow = [&](ir::ExprId id) {
      if (id == ir::kNone) return;
      const ir::Expr& arg = kernel.exprs[id];
      if (arg.level == ir::Level::Inner) expr.level = ir::Level::Inner;
      expr.phase = std::max(expr.phase, arg.phase);
    };
    for (ir::ExprId arg : expr.args) follow(arg);
    follow(expr.predicate);
    if (expr.kind == ir::ExprKind::Reduce) {
      expr.level = ir::Level::Outer;
      ++expr.phase;
    }
    if (expr.kind == ir::ExprKind::Partial) expr.level = ir::Level::Inner;
    if (expr.kind == ir::ExprKind::Combine) {
      const std::uint16_t summed = kernel.exprs[expr.args[0]].phase + std::uint16_t{1};
      expr.level = ir::Level::Outer;
      expr.phase = std::max(summed, expr.phase);  // that of the scale
    }
    if (expr.kind == ir::ExprKind::Row) {
      const auto [stride, extent, node] = draft.indexed.at(static_cast<ir::ExprId>(i));
      expr.stride = arguments.stride(stride);
      if (extent > UINT16_MAX) throw Cut{"rows that are too long"};
      expr.length = static_cast<std::uint16_t>(extent);
    }
    if (expr.kind == ir::ExprKind::InBounds) {
      for (const DraftBounds::Dim& dim : draft.bounds[expr.buffer].bounds)
        expr.bounds.push_back({arguments.extent(dim.extent), arguments.moving(dim.lower, dim.moving),
                               arguments.stride(dim.step), arguments.stride(dim.size)});
      expr.buffer = 0;
    }
    if (expr.kind == ir::ExprKind::LoadAt) {
      const auto [stride, extent, node] = draft.indexed.at(static_cast<ir::ExprId>(i));
      arguments.wide |= reaches_far(draft, draft.maps[expr.map],
                                    std::abs(static_cast<double>(stride)) * static_cast<double>(extent));
      expr.stride = arguments.stride(stride);
      expr.extent = arguments.stride(extent);
      expr.fault = kernel.faults++;
      result.gathers.push_back(node);
    }
    kernel.phases = std::max<std::uint16_t>(kernel.phases, static_cast<std::uint16_t>(expr.phase + 1));
  }
  if (ir::divisions(kernel) > limits.max_divisions) throw Cut{"indices that take too long to compile"};
  for (const DraftStore& store : draft.stores) {
    const ir::Expr& expr = kernel.exprs[store.value];
    ir::Store& to = kernel.stores.emplace_back();
    to.buffer = store.buffer;
    to.map = store.map;
    to.value = store.value;
    to.level = is_inner(store.map) ? ir::Level::Inner : ir::Level::Outer;
    to.phase = expr.phase;
  }
  for (std::size_t i = 0; i < draft.buffers.size(); ++i)
    kernel.buffers.push_back({draft.buffer_dtypes[i], draft.buffers[i].read, draft.buffers[i].written});
  for (const ScalarArgument& scalar : draft.scalars) kernel.scalars.push_back(scalar.dtype);
  kernel.schedule = choose_schedule(draft, kernel, limits);
  if (!choose_attention(draft, limits, kernel))
    choose_tiling(draft, {arguments.ints, !arguments.moved.empty()}, limits, kernel);
  // The lanes of a row compute a factor side by side with what they read of the other one; those of few rows,
  // where they hold what it is made of.
  const bool goes_along_rows =
      kernel.schedule == ir::Schedule::LanesInner && limits.lone_rows && !kernel.tiling.any();
  if (draft.computes_factor && !goes_along_rows && !kernel.tiling.unpacks()) throw Cut{kComputedFactor};
  choose_tile(draft, kernel);
  if (draft.repeats && kernel.tiling.repeat_loops == 0)
    throw Cut{"a product whose results are needed several times, which no tiles compute"};
  if (draft.blocks.any() && !kernel.tiling.any() && !limits.alone)
    throw Cut{"groups side by side, which no tiles compute"};
  if (draft.contracts && !kernel.tiling.any() && limits.tensor_cores.any() && !limits.alone &&
      !draft.few_rows)
    throw Cut{"a product that tensor cores could not compute any more"};
  const bool has_tiles = kernel.tiling.any() || kernel.attention.any() || kernel.lone_rows.any();
  if (!has_tiles) {
    if (draft.parts == 0) choose_split(draft, limits, kernel);
    if (kernel.phases > 1 || draft.parts > 0) choose_row_elements(draft, limits, kernel);
    if (draft.parts > 0) kernel.parts = arguments.extent(draft.parts);
  }
  if (limits.fixed_windows && !has_tiles) choose_inner_sizes(draft, kernel);
  // Tiles are counted by themselves.
  kernel.wide = arguments.wide || (!has_tiles && are_many(draft, kernel));
  if (limits.flat_vectors) choose_flat_maps(draft, kernel);
  if (limits.reciprocals && !kernel.wide) add_reciprocals(kernel, arguments.ints);
  kernel.ints = static_cast<std::uint16_t>(arguments.ints.size());

  result.buffers = std::move(draft.buffers);
  result.ints = std::move(arguments.ints);
  result.moving = std::move(arguments.moved);
  result.scalars = std::move(draft.scalars);
  std::sort(draft.computed.begin(), draft.computed.end());
  draft.computed.erase(std::unique(draft.computed.begin(), draft.computed.end()), draft.computed.end());
  result.computed = std::move(draft.computed);
  return result;
}

}  // namespace sinter::plan
