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

/// Nothing where the device has no room.
std::optional<ir::Tiling> tiling_of(const ir::Tiling& like, const ProductSizes& sizes,
                                    const ir::TensorCores& cores, const Wanted& wanted) {
  constexpr std::int64_t kReserved = 1024;
  const std::int64_t columns = wanted.columns, rows = sizes.rows > kLines ? kMostFewRows : kLines;
  // All subgroups have as much of the sum, since they wait for the last.
  const std::int64_t chunks = divide_up(sizes.depth * static_cast<std::int64_t>(size_of(like.multiplied)),
                                        kSlotBytes),
                     sharers = divide_up(chunks, divide_up(chunks, wanted.sharers));
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

std::vector<ir::Tiling> few_row_tilings(const ir::Tiling& kernels, const ProductSizes& sizes,
                                        const ir::TensorCores& cores) {
  // No instruction of single subgroups multiplies 8 bits.
  if (!cores.matrices.empty() || sizes.rows > kMostFewRows || kernels.a.windows || kernels.b.windows ||
      is_f8(kernels.multiplied))
    return {};
  ir::Tiling like = kernels;
  like.turns = false;
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
  for (const Wanted& wanted :
       {Wanted{columns, sharers(columns), kOnTheWay, 1}, Wanted{columns, sharers(columns), 2 * kOnTheWay, 1},
        Wanted{columns, sharers(columns) / 2, kOnTheWay, 2}, Wanted{other, sharers(other), kOnTheWay, 1}}) {
    if (!fits(wanted.columns) && wanted.columns != kNarrow) continue;
    const std::optional<ir::Tiling> tiling = tiling_of(like, sizes, cores, wanted);
    if (tiling && std::find(tilings.begin(), tilings.end(), *tiling) == tilings.end())
      tilings.push_back(*tiling);
  }
  return tilings;
}

}  // namespace sinter::plan
