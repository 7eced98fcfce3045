// Turns a draft into kernel IR.
#include "jit/plan/lower/finish.h"

#include <algorithm>

namespace sinter::plan {
namespace {

bool has_map(const ir::Expr& expr) {
  switch (expr.kind) {
    case ir::ExprKind::Load:
    case ir::ExprKind::LoadAt:
    case ir::ExprKind::Index:
    case ir::ExprKind::InBounds:
    case ir::ExprKind::Random:
    case ir::ExprKind::RandomNormal: return true;
    default: return false;
  }
}

/// Drops maps that nothing uses, so that they do not hinder the joining of loops.
void drop_unused_maps(Draft& draft) {
  std::vector<int> number_of(draft.maps.size(), -1);
  std::vector<IndexMap> used;
  auto renumber = [&](std::uint16_t& map) {
    if (number_of[map] < 0) {
      number_of[map] = static_cast<int>(used.size());
      used.push_back(draft.maps[map]);
    }
    map = static_cast<std::uint16_t>(number_of[map]);
  };
  for (ir::Expr& expr : draft.exprs)
    if (has_map(expr)) renumber(expr.map);
  for (DraftStore& store : draft.stores) renumber(store.map);
  draft.maps = std::move(used);
}

void erase_loop(Draft& draft, std::size_t k) {
  draft.extents.erase(draft.extents.begin() + static_cast<std::ptrdiff_t>(k));
  for (IndexMap& map : draft.maps) {
    MapStep& first = map.steps()[0];
    first.extents.erase(first.extents.begin() + static_cast<std::ptrdiff_t>(k));
    first.strides.erase(first.strides.begin() + static_cast<std::ptrdiff_t>(k));
  }
  if (k < draft.outer_rank) --draft.outer_rank;
}

void join_loops(Draft& draft) {
  for (IndexMap& map : draft.maps)
    for (std::size_t k = 0; k < draft.extents.size(); ++k)
      if (draft.extents[k] == 1) map.steps()[0].strides[k] = 0;
  for (std::size_t k = draft.extents.size(); k-- > 0;)
    if (draft.extents[k] == 1) erase_loop(draft, k);
  for (std::size_t k = draft.extents.size(); k-- > 1;) {
    if (k == draft.outer_rank) continue;
    const bool joins = std::all_of(draft.maps.begin(), draft.maps.end(), [&](const IndexMap& map) {
      const MapStep& first = map.steps()[0];
      return first.strides[k - 1] == first.strides[k] * draft.extents[k];
    });
    if (!joins) continue;
    draft.extents[k] *= draft.extents[k - 1];
    for (IndexMap& map : draft.maps) map.steps()[0].extents[k] = draft.extents[k];
    erase_loop(draft, k - 1);
  }
  // Every kernel has an outer loop, and one with a reduction has an inner one.
  auto insert_loop = [&](std::size_t k) {
    draft.extents.insert(draft.extents.begin() + static_cast<std::ptrdiff_t>(k), 1);
    for (IndexMap& map : draft.maps) {
      MapStep& first = map.steps()[0];
      first.extents.insert(first.extents.begin() + static_cast<std::ptrdiff_t>(k), 1);
      first.strides.insert(first.strides.begin() + static_cast<std::ptrdiff_t>(k), 0);
    }
  };
  if (draft.outer_rank == 0) {
    insert_loop(0);
    draft.outer_rank = 1;
  }
  if (draft.has_reduction && draft.extents.size() == draft.outer_rank) insert_loop(draft.extents.size());
}

/// Numbers become arguments; 0 and 1 stay in the text.
class Arguments {
 public:
  ir::IntRef extent(std::int64_t number) {
    ints.push_back(number);
    wide |= number > INT32_MAX || number < INT32_MIN;
    return ir::IntRef::argument(ints.size() - 1);
  }
  ir::IntRef stride(std::int64_t number) {
    if (number == 0) return ir::IntRef::zero();
    if (number == 1) return ir::IntRef::one();
    return extent(number);
  }
  std::vector<std::int64_t> ints;
  bool wide = false;
};

/// True iff 32 bits are too few for what a map computes on the loop. `beyond`: what is added to its result,
/// the largest index of a table times its stride.
bool reaches_far(const IndexMap& map, double beyond = 0) {
  for (const MapStep& step : map.steps()) {
    double reach = std::abs(static_cast<double>(step.offset)), count = 1;
    if (&step == &map.steps().back()) reach += beyond;
    for (std::size_t d = 0; d < step.strides.size(); ++d) {
      reach += std::abs(static_cast<double>(step.strides[d])) *
               static_cast<double>(std::max<std::int64_t>(0, step.extents[d] - 1));
      count *= static_cast<double>(step.extents[d]);
    }
    if (reach > INT32_MAX || count > INT32_MAX) return true;
  }
  return false;
}

ir::Schedule choose_schedule(const Draft& draft, const ir::Kernel& kernel) {
  if (kernel.inner_rank == 0) return ir::Schedule::Pointwise;
  std::int64_t inner = 1;
  for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k) inner *= draft.extents[k];
  // Neighbouring lanes should touch neighbouring elements: along which loop do most of the elements loaded
  // lie? Small operands that are broadcast along the other loops hardly count.
  double along_inner = 0, along_outer = 0;
  for (const ir::Expr& expr : kernel.exprs) {
    if (expr.kind != ir::ExprKind::Load || expr.level != ir::Level::Inner) continue;
    const MapStep& first = draft.maps[expr.map].steps()[0];
    double elements = 1;
    for (std::size_t k = 0; k < first.strides.size(); ++k)
      if (first.strides[k] != 0) elements *= static_cast<double>(first.extents[k]);
    if (first.strides.back() == 1) along_inner += elements;
    if (first.strides[draft.outer_rank - 1] == 1) along_outer += elements;
  }
  if (inner <= 16) return ir::Schedule::LanesOuter;
  return along_outer > along_inner ? ir::Schedule::LanesOuter : ir::Schedule::LanesInner;
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
        return s.phase == (s.level == ir::Level::Outer ? 1 : 0);
      });
  if (one_pass)
    kernel.split = true;
  else if (sharing_is_worth_launches(outer, inner, contiguous, limits))
    throw Cut{"few results over many elements: one kernel for both would leave most of the device idle"};
}

/// Rows that fit into the registers of a group are read once. The number is rounded up, so that few texts
/// serve all rows; rows that need no rounding get a text without conditions.
void choose_row_elements(const Draft& draft, const LowerLimits& limits, ir::Kernel& kernel) {
  if (limits.row_lanes == 0 || kernel.schedule != ir::Schedule::LanesInner || kernel.split) return;
  std::int64_t inner = 1;
  for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k) inner *= draft.extents[k];
  // Small groups, so that several share a core and one loads while another computes.
  constexpr std::int64_t kFewLanes = 256;
  for (std::int64_t lanes = std::min<std::int64_t>(kFewLanes, limits.row_lanes); lanes <= limits.row_lanes;
       lanes *= 2)
    for (std::int64_t elements : {8, 16, 32})
      if (inner <= elements * lanes) {
        kernel.row_elements = static_cast<std::uint16_t>(elements);
        kernel.row_lanes = static_cast<std::uint16_t>(lanes);
        kernel.row_full = inner == elements * lanes;
        return;
      }
}

}  // namespace

Lowered finish(Draft draft, const LowerLimits& limits) {
  drop_unused_maps(draft);
  join_loops(draft);

  Lowered result;
  ir::Kernel& kernel = result.kernel;
  Arguments arguments;
  kernel.outer_rank = static_cast<std::uint8_t>(draft.outer_rank);
  kernel.inner_rank = static_cast<std::uint8_t>(draft.extents.size() - draft.outer_rank);
  for (std::int64_t extent : draft.extents) kernel.extents.push_back(arguments.extent(extent));

  std::vector<bool> inner_map;
  for (const IndexMap& map : draft.maps) {
    ir::IndexMap& out = kernel.maps.emplace_back();
    arguments.wide |= reaches_far(map);
    for (std::size_t s = 0; s < map.steps().size(); ++s) {
      const MapStep& step = map.steps()[s];
      ir::MapStep& to = out.steps.emplace_back();
      if (s > 0)
        for (std::int64_t extent : step.extents) to.extents.push_back(arguments.extent(extent));
      for (std::int64_t stride : step.strides) to.strides.push_back(arguments.stride(stride));
      to.offset = step.offset == 0 ? ir::IntRef::zero() : arguments.extent(step.offset);
    }
    bool inner = false;
    for (std::size_t k = draft.outer_rank; k < draft.extents.size(); ++k)
      inner |= map.steps()[0].strides[k] != 0;
    inner_map.push_back(inner);
  }

  kernel.exprs = std::move(draft.exprs);
  for (std::size_t i = 0; i < kernel.exprs.size(); ++i) {
    ir::Expr& expr = kernel.exprs[i];
    expr.level = has_map(expr) && inner_map[expr.map] ? ir::Level::Inner : ir::Level::Outer;
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
    if (expr.kind == ir::ExprKind::InBounds) {
      for (const DraftBounds::Dim& dim : draft.bounds[expr.buffer].bounds)
        expr.bounds.push_back({arguments.extent(dim.extent), arguments.stride(dim.lower),
                               arguments.stride(dim.step), arguments.stride(dim.size)});
      expr.buffer = 0;
    }
    if (expr.kind == ir::ExprKind::LoadAt) {
      const auto [stride, extent, node] = draft.indexed.at(static_cast<ir::ExprId>(i));
      arguments.wide |= reaches_far(draft.maps[expr.map],
                                    std::abs(static_cast<double>(stride)) * static_cast<double>(extent));
      expr.stride = arguments.stride(stride);
      expr.extent = arguments.stride(extent);
      expr.fault = kernel.faults++;
      result.gathers.push_back(node);
    }
    kernel.phases = std::max<std::uint16_t>(kernel.phases, static_cast<std::uint16_t>(expr.phase + 1));
  }
  for (const DraftStore& store : draft.stores) {
    const ir::Expr& expr = kernel.exprs[store.value];
    ir::Store& to = kernel.stores.emplace_back();
    to.buffer = store.buffer;
    to.map = store.map;
    to.value = store.value;
    to.level = inner_map[store.map] ? ir::Level::Inner : ir::Level::Outer;
    to.phase = expr.phase;
  }
  for (std::size_t i = 0; i < draft.buffers.size(); ++i)
    kernel.buffers.push_back({draft.buffer_dtypes[i], draft.buffers[i].read, draft.buffers[i].written});
  for (const ScalarArgument& scalar : draft.scalars) kernel.scalars.push_back(scalar.dtype);
  kernel.schedule = choose_schedule(draft, kernel);
  choose_split(draft, limits, kernel);
  if (kernel.phases > 1) choose_row_elements(draft, limits, kernel);
  kernel.wide = arguments.wide;
  kernel.ints = static_cast<std::uint16_t>(arguments.ints.size());

  result.buffers = std::move(draft.buffers);
  result.ints = std::move(arguments.ints);
  result.scalars = std::move(draft.scalars);
  std::sort(draft.records.begin(), draft.records.end());
  draft.records.erase(std::unique(draft.records.begin(), draft.records.end()), draft.records.end());
  result.records = std::move(draft.records);
  return result;
}

}  // namespace sinter::plan
