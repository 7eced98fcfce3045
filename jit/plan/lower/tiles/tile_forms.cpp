// The forms of tiles that there are, and how long a product takes by each.
#include "jit/plan/lower/tiles/tile_forms.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>
#include <utility>

#include "jit/ir/products/parts.h"
#include "jit/plan/lower/tiles/few_rows.h"
#include "jit/plan/lower/tiles/matrix_tilings.h"

namespace sinter::plan {
namespace {

/// A form of tiles, and the speed that it reaches in long sums, by the model of `cycles`; 0: not known, so
/// that only timing takes it.
struct Form {
  std::uint16_t rows, columns;
  std::uint8_t workgroups, turns;
  double speed;
  std::uint8_t loaders = 1;
  std::uint8_t subgroup_rows = 0;
  std::uint8_t cluster = 1;
};
constexpr Form kForms[] = {
    {128, 128, 1, 2, 1.0},  {128, 256, 1, 0, 1.05}, {128, 192, 1, 0, 1.05}, {192, 128, 1, 0, 1.01},
    {64, 128, 2, 0, 0.70},  {64, 64, 2, 0, 0.65},   {256, 64, 1, 2, 0.74},  {128, 64, 2, 0, 0.59},
    {128, 128, 1, 0, 0.96}, {64, 256, 1, 0, 0.91},  {64, 192, 1, 3, 0.87},  {64, 128, 1, 4, 0.72},
};
// Where a cluster shares each tile, of as many workgroups as are the fastest.
constexpr Form kClusterForms[] = {
    {64, 64, 1, 0, 1},
    {64, 128, 1, 0, 1},
    {128, 64, 1, 0, 1},
    {128, 128, 1, 0, 1},
};
// Where lanes compute a factor, they need registers too.
constexpr Form kComputedForms[] = {
    {128, 128, 1, 0, 0.6, 2},
    {64, 128, 2, 0, 0.47},
    {64, 64, 2, 0, 0.36},
};
// Where sums leave the tensor cores after each slot: lanes have two sums of each element, and one group adds
// while another multiplies. Speeds are guesses.
constexpr Form kShortForms[] = {
    {128, 128, 1, 0, 0.9}, {64, 128, 2, 0, 0.8}, {64, 64, 2, 0, 0.6},
    {128, 64, 2, 0, 0.7},  {192, 128, 1, 0, 0},  {128, 192, 1, 0, 0},
};
// Where lanes compute a factor as well.
constexpr Form kShortComputedForms[] = {
    {128, 64, 1, 0, 0.4, 2},
    {64, 64, 2, 0, 0.35},
};
// Where each subgroup multiplies by itself.
constexpr Form kSubgroupForms[] = {
    {128, 256, 1, 0, 1.0, 1, 64},  {256, 128, 1, 0, 1.0, 1, 64}, {128, 128, 2, 0, 0.92, 1, 64},
    {128, 128, 1, 0, 0.85, 1, 32}, {64, 128, 2, 0, 0.75, 1, 32}, {128, 64, 2, 0, 0.75, 1, 32},
    {64, 64, 2, 0, 0.55, 1, 16},
};
// Where ordinary lanes multiply: the part of TensorCores::exact_products that is reached.
constexpr Form kExactForms[] = {
    {128, 256, 1, 0, 0.74, 1, 64}, {256, 128, 1, 0, 0.74, 1, 64}, {128, 128, 2, 0, 0.72, 1, 64},
    {128, 64, 3, 0, 0.65, 1, 32},  {64, 128, 3, 0, 0.65, 1, 32},  {64, 64, 4, 0, 0.5, 1, 16},
    {64, 64, 4, 0, 0, 1, 32},      {128, 128, 1, 0, 0.62, 1, 64}, {64, 64, 2, 0, 0.42, 1, 16},
};
// Where lanes compute a factor as well.
constexpr Form kExactComputedForms[] = {
    {128, 64, 2, 0, 0.5, 1, 32},
    {64, 128, 2, 0, 0.5, 1, 32},
    {64, 64, 3, 0, 0.4, 1, 16},
};
// What lanes compute waits in their registers until a slot's products are done: beside the sums of 64 rows
// there is no room for it, and else for so many values.
constexpr int kMostRowsBesideComputed = 32, kMostComputed = 64;
static_assert(std::size(kForms) + std::size(kClusterForms) + std::size(kSubgroupForms) + kMostOfFewRows <=
                  kMostTilings &&
              std::size(kComputedForms) + std::size(kSubgroupForms) + kMostOfFewRows <= kMostTilings);
// A slot has 64 elements of 16 bits of the sum: 32 of 32 bits take as long.
constexpr double kProductsOfSlot = 64;
// What follows ranks the forms of 110 products by their times best (docs/benchmarks/products.md); each
// constant by itself says little. Cycles: until the first tile's data are there; what a workgroup waits for
// at a tile that others share, and of each of its elements and parts: written, read and added.
constexpr double kStart = 6000, kShare = 3500, kJoin = 0.09;
// What it waits for measured beside clusters, which take less than the model thought.
constexpr double kShareBesideClusters = 6500;
// Of each element of a finished tile: whatever becomes of it, and of an instruction, by groups of subgroups
// that finish a tile together and by groups that take turns.
constexpr double kEnd = 0.0136, kEndOfGroups[] = {0, 0.0023, 0.0013, 0.0006},
                 kEndInTurns[] = {0, 0, 0.0031, 0.0036, 0.0038};
// Instructions' worth: of a byte that is loaded, the same in turns, and of one that is stored.
constexpr double kLoaded = 21, kLoadedInTurns = 12, kStored = 8;
// Of a copy that one lane starts.
constexpr double kCopy = 150;
// Bytes that memory gives in a cycle, beside what else is done.
constexpr double kMemory = 1900;
// Of clusters: the part of all units that is reached by so many workgroups each, which have to be neighbours
// (66, 39, 30, 22, 17, 15 and 15 clusters at a time of an H200's 132 units, as its driver says); bytes that
// all units together get of the second-level cache in a cycle, and one of them; what workgroups of a cluster
// wait for each other, for themselves and by the square of how many they are; the exchange of an element; and
// for each workgroup of the device, of which more are there later.
constexpr double kReached[] = {0, 1, 1, 0.887, 0.91, 0.834, 0.773, 0.796, 0.91};
constexpr int kMostCluster = std::size(kReached) - 1;
constexpr double kCache = 4700, kOfUnit = 60, kMeet = 700, kMeetMore = 100, kExchange = 0.3, kEach = 20;

/// Of one slot where a tile is of several sums: each copy brings one sum's part of 64 columns, and one lane
/// starts them one after the other.
double copies_of_slot(const Form& form, const ir::Tiling& like) {
  const std::size_t sums = like.others.size() + 1;
  return sums > 1 ? kCopy * static_cast<double>(1 + form.columns / ir::Tiling::kPart * sums) : 0;
}

/// Cycles that a kernel takes, about. `slot_elements`: of the sum, in a slot.
double cycles(const Form& form, const ProductSizes& product, const TileEnd& end, double slot_elements,
              const ir::Tiling& like, const ir::TensorCores& cores) {
  const bool exact = like.exact;
  // What subgroups do by themselves where groups may multiply, only timing finds out.
  if (form.speed == 0 || (form.subgroup_rows > 0 && cores.has_groups && !exact))
    return std::numeric_limits<double>::infinity();
  const double units = cores.compute_units;
  const struct {
    double rows, columns, depth, batches;
  } sizes{static_cast<double>(product.rows), static_cast<double>(product.columns),
          static_cast<double>(product.depth), static_cast<double>(product.batches)};
  const double rows = form.rows, columns = form.columns, area = rows * columns;
  const double tiles = std::ceil(sizes.rows / rows) * std::ceil(sizes.columns / columns) * sizes.batches;
  const double at_once = units * form.workgroups;
  const double rounds = std::ceil(sizes.depth / slot_elements);
  const double round =
      (exact ? area * slot_elements / cores.exact_products : area * kProductsOfSlot / cores.products) /
      form.speed;
  const auto parts = static_cast<double>(ir::tiles_in_parts(static_cast<std::int64_t>(tiles),
                                                            static_cast<std::int64_t>(rounds),
                                                            static_cast<std::int64_t>(at_once), exact));
  const double workgroups = std::min(tiles * parts, at_once);
  // Workgroups on one unit share its tensor cores: those of a last round that is not full have them alone.
  const double busy = std::min<double>(form.workgroups, std::ceil(workgroups / units));
  // Tiles that are under way on a unit: some are finished while another one is multiplied.
  const double under_way = form.turns > 0 ? form.turns : busy;
  const bool turns = form.turns > 0;
  const double instructions =
      end.instructions + (turns ? kLoadedInTurns : kLoaded) * end.loaded + kStored * end.stored;
  const double finish = area * (turns ? kEndInTurns[form.turns] * instructions
                                      : kEnd + kEndOfGroups[std::clamp(form.rows / 64, 1, 3)] * instructions);
  const double multiply = rounds * round;
  double time = std::ceil(tiles / at_once) * std::max(multiply, multiply / under_way + finish) * busy;
  if (parts > 1)
    time = (multiply / parts + finish) * busy +
           (may_share_in_clusters(like, cores) ? kShareBesideClusters : kShare) +
           area * kJoin * static_cast<double>(ir::parts_read_in_turn(static_cast<std::int64_t>(parts)));
  // Of a unit's only tile nothing hides the copies.
  if (tiles <= units) time += rounds / parts * std::max(copies_of_slot(form, like) - round, 0.0);
  const double element = 2 * kProductsOfSlot / slot_elements,
               bytes = sizes.batches * ((sizes.rows + sizes.columns) * sizes.depth * element +
                                        sizes.rows * sizes.columns * (end.loaded + end.stored));
  return kStart + std::hypot(time, bytes / kMemory);
}

/// Likewise where so many workgroups share each tile.
double cycles_of_cluster(const Form& form, const ProductSizes& product, const TileEnd& end,
                         double slot_elements, const ir::Tiling& like, int cluster,
                         const ir::TensorCores& cores) {
  const double rows = form.rows, columns = form.columns, area = rows * columns;
  const double tiles = std::ceil(static_cast<double>(product.rows) / rows) *
                       std::ceil(static_cast<double>(product.columns) / columns) *
                       static_cast<double>(product.batches),
               rounds = std::ceil(static_cast<double>(product.depth) / slot_elements);
  const double at_once = std::max(std::floor(cores.compute_units * kReached[cluster] / cluster), 1.0),
               waves = std::ceil(tiles / at_once),
               round = std::max({area * kProductsOfSlot / cores.products / form.speed,
                                 (rows + columns) * kSlotBytes / kOfUnit, copies_of_slot(form, like)}),
               multiply = std::ceil(rounds / cluster) * round,
               cached = tiles * rounds * (rows + columns) * kSlotBytes / kCache,
               instructions = end.instructions + kLoaded * end.loaded + kStored * end.stored,
               finish =
                   area / cluster * (kEnd + kEndOfGroups[std::clamp(form.rows / 64, 1, 3)] * instructions);
  const double element = 2 * kProductsOfSlot / slot_elements,
               bytes = static_cast<double>(product.batches) *
                       (static_cast<double>(product.rows + product.columns) *
                            static_cast<double>(product.depth) * element +
                        static_cast<double>(product.rows) * static_cast<double>(product.columns) *
                            (end.loaded + end.stored));
  return kStart + std::max({waves * multiply, cached, bytes / kMemory}) +
         waves * (kMeet + kMeetMore * cluster * cluster + kExchange * area + finish +
                  kEach * std::min(tiles, at_once) * cluster);
}

/// As many as there is room for, beside what the results are exchanged in and the barriers.
std::uint8_t slots(const Form& form, const ir::TensorCores& cores, std::size_t most) {
  constexpr std::size_t kExchange = 4 * 4096, kBarriers = 1536, kReserved = 1024, kWords = 128;
  const std::size_t groups = form.turns > 0 ? form.turns : form.cluster > 1 ? 0 : form.rows / 64;
  const std::size_t slot = (std::size_t{form.rows} + form.columns) * kSlotBytes;
  if (form.subgroup_rows > 0)  // results are exchanged in a slot
    return static_cast<std::uint8_t>(
        std::min(most, ((cores.shared_bytes + kReserved) / form.workgroups - kReserved - kWords) / slot));
  const std::size_t room = cores.shared_bytes / form.workgroups - groups * kExchange - kBarriers - kReserved;
  return static_cast<std::uint8_t>(std::min(most, room / slot));
}

/// True iff the device has room for the form, and its lanes can bring the factors of `like`.
bool is_possible(const Form& form, const ir::Tiling& like, const ir::TensorCores& cores) {
  if (form.subgroup_rows == 0) return cores.has_groups;
  if (!like.others.empty() || !like.terms.empty() || like.repeat_loops != 0) return false;
  if (ir::are_bytes(like.multiplied)) return false;
  if (slots(form, cores, 2) < 2) return false;
  ir::Tiling tiling = like;
  tiling.subgroup_rows = form.subgroup_rows;
  const int lanes = form.rows / form.subgroup_rows * (form.columns / 64) * 32;
  int values = 0;
  for (const bool is_a : {true, false}) {
    const ir::TiledFactor& factor = is_a ? like.a : like.b;
    if (!tiling.computes(factor)) continue;
    if (factor.windows || form.subgroup_rows > kMostRowsBesideComputed) return false;
    values += (is_a ? form.rows : form.columns) *
              static_cast<int>(kSlotBytes / static_cast<std::int64_t>(size_of(like.multiplied))) / lanes;
  }
  return values <= kMostComputed;
}

}  // namespace

bool may_be_terms(const ir::Tiling& a, const ir::Tiling& b) {
  const auto is_copied = [](const ir::TiledFactor& factor) { return !factor.computed && !factor.windows; };
  const auto is_like = [&](const ir::TiledFactor& x, const ir::TiledFactor& y) {
    return is_copied(x) && is_copied(y) && x.across == y.across;
  };
  return a.multiplied == b.multiplied && (is_half(a.multiplied) || a.multiplied == DType::f32) && !a.exact &&
         !b.exact && !a.blocks.any() && !b.blocks.any() && a.others.empty() && b.others.empty() &&
         is_like(a.a, b.a) && is_like(a.b, b.b);
}

bool may_share_in_clusters(const ir::Tiling& like, const ir::TensorCores& cores) {
  return cores.cluster > 1 && cores.has_groups && !like.exact && !like.short_sums && !like.a.computed &&
         !like.b.computed && like.multiplied != DType::i8;
}

std::vector<ir::Tiling> ranked_by_forms(const ir::Tiling& like, const ProductSizes& of_sum,
                                        const TileEnd& of_result, const ir::TensorCores& cores) {
  // Several sums are like one of as many times the columns, with a result for each share of them.
  ProductSizes sizes = of_sum;
  sizes.columns *= like.shares();
  const TileEnd end{of_result.instructions / like.shares(), of_result.loaded / like.shares(),
                    of_result.stored / like.shares()};
  if (!cores.matrices.empty()) return ranked_matrix_tilings(like, sizes, cores);
  const auto slot_elements =
      static_cast<double>(kSlotBytes / static_cast<std::int64_t>(size_of(like.multiplied)));
  // Lanes wait for memory, not for room: more slots bring nothing there (docs/benchmarks/products.md).
  const bool has_computed = like.a.computed || like.b.computed;
  const std::size_t most_slots = has_computed ? 4 : 8;
  std::vector<std::pair<double, Form>> forms;
  const auto of = [](bool computed, std::span<const Form> with, std::span<const Form> without) {
    return computed ? with : without;
  };
  std::span<const Form> of_groups = like.short_sums ? of(has_computed, kShortComputedForms, kShortForms)
                                                    : of(has_computed, kComputedForms, kForms);
  std::span<const Form> of_subgroups = kSubgroupForms;
  if (like.exact) of_groups = {}, of_subgroups = of(has_computed, kExactComputedForms, kExactForms);
  for (const std::span<const Form> kind : {of_groups, of_subgroups})
    for (const Form& form : kind)
      if (is_possible(form, like, cores))
        forms.emplace_back(cycles(form, sizes, end, slot_elements, like, cores), form);
  if (may_share_in_clusters(like, cores))
    for (Form form : kClusterForms) {
      std::pair<double, int> best{std::numeric_limits<double>::infinity(), 0};
      for (int cluster = 2; cluster <= std::min(cores.cluster, kMostCluster); ++cluster)
        best = std::min(best,
                        {cycles_of_cluster(form, sizes, end, slot_elements, like, cluster, cores), cluster});
      form.cluster = static_cast<std::uint8_t>(best.second);
      forms.emplace_back(best.first, form);
    }
  std::stable_sort(forms.begin(), forms.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<ir::Tiling> tilings;
  if (!like.exact && like.others.empty() && like.terms.empty() && like.repeat_loops == 0)
    tilings = few_row_tilings(like, sizes, cores);
  for (const auto& [time, form] : forms) {
    ir::Tiling& tiling = tilings.emplace_back(like);
    tiling.sharers = 0;
    tiling.near_rows = false;
    tiling.rows = form.rows;
    tiling.columns = form.columns;
    tiling.workgroups = form.workgroups;
    tiling.turns = form.turns;
    tiling.cluster = form.cluster;
    tiling.loaders = form.loaders;
    tiling.subgroup_rows = form.subgroup_rows;
    tiling.slots = slots(form, cores, most_slots);
  }
  return tilings;
}

}  // namespace sinter::plan
