// Products of few rows: as fast as the other factor is read.
#include "jit/plan/lower/tiles/few_rows.h"

#include <algorithm>
#include <optional>

namespace sinter::plan {
namespace {

constexpr std::int64_t kLines = 8;
// Of the columns' factor that a compute unit is to have on its way. Memory takes some 0.7 us to answer, in
// which a unit of an H100 is due 16 KiB; what comes in is not asked for again at once.
constexpr std::int64_t kOnTheWay = 96 << 10;
// Of a unit's first-level cache, beyond what workgroups may ask for.
constexpr std::int64_t kFirstLevel = 28 << 10;
constexpr std::int64_t kMostSharers = 16, kFewestSlots = 2, kMostSlots = 8, kMostWorkgroups = 16;

constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// What a way is chosen by.
struct Wanted {
  std::int64_t columns, sharers, on_the_way, workgroups;
};

std::int64_t chunks_of(const ir::Tiling& like, const ProductSizes& sizes) {
  return divide_up(sizes.depth * static_cast<std::int64_t>(size_of(like.multiplied)), kSlotBytes);
}

/// So many subgroups that all have as much of the sum, since they wait for the last.
std::int64_t even_sharers(std::int64_t chunks, std::int64_t most) {
  return divide_up(chunks, divide_up(chunks, most));
}

/// Where lanes hold what they compute the columns' factor of: it takes registers instead of shared memory.
struct Unpacking {
  std::int64_t columns, sharers, workgroups, slots;
};

/// Nothing where the device has no room.
std::optional<ir::Tiling> unpacking_tiling_of(const ir::Tiling& like, const ProductSizes& sizes,
                                              const ir::TensorCores& cores, const Unpacking& wanted) {
  ir::Tiling tiling = like;
  tiling.rows = static_cast<std::uint16_t>(sizes.rows > kLines ? kMostFewRows : kLines);
  tiling.columns = static_cast<std::uint16_t>(wanted.columns);
  const std::int64_t chunks = chunks_of(like, sizes), sharers = even_sharers(chunks, wanted.sharers);
  const std::int64_t beside = sharers * tiling.rows * (wanted.columns + 4) * 4,
                     rows = sharers * tiling.rows * kSlotBytes * wanted.slots;
  if (wanted.workgroups * (beside + rows + 1024) > static_cast<std::int64_t>(cores.shared_bytes) + 1024)
    return std::nullopt;
  tiling.sharers = static_cast<std::uint8_t>(sharers);
  tiling.slots = static_cast<std::uint8_t>(wanted.slots);
  tiling.workgroups = static_cast<std::uint8_t>(wanted.workgroups);
  tiling.near_rows = true;
  return tiling;
}

/// Nothing where the device has no room.
std::optional<ir::Tiling> tiling_of(const ir::Tiling& like, const ProductSizes& sizes,
                                    const ir::TensorCores& cores, const Wanted& wanted) {
  constexpr std::int64_t kReserved = 1024;
  const std::int64_t columns = wanted.columns, rows = sizes.rows > kLines ? kMostFewRows : kLines;
  const std::int64_t chunks = chunks_of(like, sizes), sharers = even_sharers(chunks, wanted.sharers);
  const std::int64_t slot = sharers * columns * kSlotBytes;
  // Of short sums a workgroup has too little on its way.
  const std::int64_t workgroups =
      std::clamp(divide_up(wanted.on_the_way, slot * kMostSlots), wanted.workgroups, kMostWorkgroups);
  const auto shared = static_cast<std::int64_t>(cores.shared_bytes) + kReserved;
  const std::int64_t beside = kReserved + sharers * rows * (columns + 4) * 4,
                     with_rows = slot + sharers * rows * kSlotBytes,
                     slots = std::min({(shared / workgroups - beside) / with_rows, kMostSlots,
                                       divide_up(wanted.on_the_way, slot * workgroups)});
  if (slots < kFewestSlots && wanted.sharers > 1)
    return tiling_of(like, sizes, cores, {columns, wanted.sharers / 2, wanted.on_the_way, wanted.workgroups});
  if (slots < kFewestSlots) return std::nullopt;
  ir::Tiling tiling = like;
  tiling.rows = static_cast<std::uint16_t>(rows);
  tiling.columns = static_cast<std::uint16_t>(columns);
  tiling.sharers = static_cast<std::uint8_t>(sharers);
  tiling.slots = static_cast<std::uint8_t>(slots);
  tiling.workgroups = static_cast<std::uint8_t>(workgroups);
  // Rows are met again in a workgroup's next tile, if the cache has what copies leave of it.
  tiling.near_rows =
      divide_up(sizes.columns, columns) >= 2 * workgroups * std::int64_t{cores.compute_units} &&
      sizes.rows * chunks * kSlotBytes <= kFirstLevel + shared - workgroups * (beside + slots * with_rows);
  return tiling;
}

}  // namespace

bool has_few_readers(const Graph& graph, const Node& product, std::size_t which) {
  const auto compare = [&](std::vector<SizeChecks::Term> terms, double constant) {
    double sum = constant;
    for (const SizeChecks::Term& term : terms) sum += term.times * static_cast<double>(term.shape.numel());
    if (graph.checks) graph.checks->compare(SizeChecks::Is::More, std::move(terms), constant, sum > 0);
    return sum > 0;
  };
  constexpr auto kMost = static_cast<double>(kMostFewRows);
  if (compare({{Shape{product.shape[product.dim_along(1 - which)]}, 1}}, -kMost)) return false;
  // A matrix that several products share is expanded.
  NodeId id = product.operands[which];
  Shape points = graph.nodes[id].shape;
  points.push_back(product.shape[product.dim_along(1 - which)]);
  while (graph.nodes[id].is(OpClass::View)) id = graph.nodes[id].operands[0];
  return !compare({{points, 1}, {graph.nodes[id].shape, -kMost}}, 0);
}

std::vector<ir::Tiling> few_row_tilings(const ir::Tiling& kernels, const ProductSizes& sizes,
                                        const ir::TensorCores& cores) {
  // No instruction of single subgroups multiplies 8 bits.
  if (!cores.matrices.empty() || sizes.rows > kMostFewRows || kernels.a.windows || kernels.b.windows ||
      kernels.blocks.any() || ir::are_bytes(kernels.multiplied))
    return {};
  ir::Tiling like = kernels;
  like.turns = 0;
  like.loaders = 1;
  like.subgroup_rows = 0;
  // Of what lies across the sum a lane copies its columns at once.
  constexpr std::int64_t kNarrow = 16, kWide = 32;
  const bool is_across = like.b.across && like.b.lane_bytes > 0;
  const auto fits = [&](std::int64_t columns) {
    return !is_across || (is_half(like.multiplied) && columns / kLines * 2 <= like.b.lane_bytes &&
                          sizes.columns % (columns / kLines) == 0);
  };
  if (!fits(kNarrow)) like.b.lane_bytes = 0;  // which lanes compute, then
  // Of each chunk a subgroup asks for its rows too, and finds its way: beside twice as many columns that is
  // half as much. So tiles are wide where there are enough of them for all units.
  const bool is_wide = fits(kWide) && divide_up(sizes.columns, kWide) * sizes.batches * 4 >=
                                          3 * std::int64_t{cores.compute_units};
  const std::int64_t columns = is_wide ? kWide : kNarrow, other = kNarrow + kWide - columns;
  const auto sharers = [](std::int64_t wide) { return kMostSharers * kNarrow / wide; };
  std::vector<ir::Tiling> tilings;
  const auto add = [&](const std::optional<ir::Tiling>& tiling) {
    if (tiling && std::find(tilings.begin(), tilings.end(), *tiling) == tilings.end())
      tilings.push_back(*tiling);
  };
  if (like.b.computed && like.lies_in_pieces(like.b) && like.b.lane_bytes == 0 && !like.b.across) {
    // Of narrow tiles twice as many slots take the same registers.
    const auto slots_of = [](std::int64_t of) { return 2 * kWide / of; };
    for (const Unpacking& wanted :
         {Unpacking{columns, 16, 1, slots_of(columns)}, Unpacking{other, 16, 1, slots_of(other)},
          Unpacking{columns, 8, 2, slots_of(columns)}, Unpacking{other, 8, 2, slots_of(other)}})
      add(unpacking_tiling_of(like, sizes, cores, wanted));
    return tilings;
  }
  for (const Wanted& wanted :
       {Wanted{columns, sharers(columns), kOnTheWay, 1}, Wanted{columns, sharers(columns), 2 * kOnTheWay, 1},
        Wanted{columns, sharers(columns) / 2, kOnTheWay, 2}, Wanted{other, sharers(other), kOnTheWay, 1}}) {
    if (!fits(wanted.columns) && wanted.columns != kNarrow) continue;
    add(tiling_of(like, sizes, cores, wanted));
  }
  return tilings;
}

}  // namespace sinter::plan
