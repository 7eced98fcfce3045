// Weighs memory that a few workgroups move against a launch of its own.
#include "jit/plan/group/tile_ends.h"

#include "jit/plan/lower/tiles/few_rows.h"

namespace sinter::plan {
namespace {

// What the end of a tile gets of its compute unit's share of the memory's speed: it loads, waits and stores.
constexpr double kShare = 0.6;
// So many tiles for each compute unit, and the ends of some are hidden by others.
constexpr double kManyRounds = 2;
// Bytes for each element: as many pass through the second-level cache as the factors do, and tiles that ran
// side by side on the same part of a factor, which was read once for all of them, lose each other.
constexpr double kMuch = 12;
// Longer sums of few tiles are shared by workgroups.
constexpr double kSharedSum = 1024;
// Elements of a tile's part that a workgroup of a cluster finishes, where there is a cluster for each tile.
constexpr double kTileOfCluster = 64 * 64 / 2;
// Elements of a tile: between those of the least and of the largest, which one it is follows from sizes.
constexpr double kTile = 96 * 96;

}  // namespace

bool are_slower_behind_tiles(const Graph& graph, const Node& contraction, const Shape& products,
                             const BehindTiles& behind, const GroupOptions& options) {
  if (behind.moved == 0) return false;
  const double units = options.limits.tensor_cores.compute_units, moved = behind.moved,
               apart = behind.moved + 2 * behind.handed;
  const Shape& result = contraction.shape;
  const Shape rows{result[contraction.dim_along(0)]};
  const bool has_many_rows = rows[0] > kMostFewRows;
  if (graph.checks)
    graph.checks->compare(SizeChecks::Is::More, {{rows, 1}}, -double{kMostFewRows}, has_many_rows);
  if (!has_many_rows) return false;
  // `times` the elements of the result and `constant` are more than 0.
  const auto is_more = [&](double times, double constant) {
    const bool outcome = times * static_cast<double>(result.numel()) + constant > 0;
    if (graph.checks) graph.checks->compare(SizeChecks::Is::More, {{result, times}}, constant, outcome);
    return outcome;
  };
  if (is_more(1, -kManyRounds * units * kTile)) return moved >= kMuch;
  if (is_more(1, -units * kTile)) return is_more(moved / kShare - apart, -options.launch_bytes);
  const bool are_shared =
      static_cast<double>(products.numel()) >= kSharedSum * static_cast<double>(result.numel());
  if (graph.checks)
    graph.checks->compare(SizeChecks::Is::AtLeast, {{products, 1}, {result, -kSharedSum}}, 0, are_shared);
  if (!are_shared) return false;
  // A cluster that shares a tile's sum finishes the tile together.
  if (behind.may_share && !is_more(1, -units * kTileOfCluster)) return false;
  return is_more(-apart, moved * units * kTile / kShare - options.launch_bytes);
}

}  // namespace sinter::plan
