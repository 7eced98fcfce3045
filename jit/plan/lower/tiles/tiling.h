// Chooses the tiles by which tensor cores compute a sum of products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "jit/ir/kernel.h"
#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/limits.h"

namespace sinter::plan {

/// With so few rows or columns a product is read as fast as memory is, by the kernels of other reductions.
inline constexpr double kFewRows = 1;
/// Bytes of the sum in a slot of shared memory, of each row and column.
inline constexpr std::int64_t kSlotBytes = 128;

/// Results of three and more sums in one kernel, and of a product that is to be cut into slices, for each
/// compute unit: two tiles or so. What larger ones gain was not measured. Two products of their own share a
/// tile whatever their size: 8192 x 11008 x 4096 twice, a gate and its values, take a tenth less so
/// (docs/benchmarks/steps.md).
inline constexpr double kMostOfSums = 2 * 96 * 96;

/// The int arguments of the draft's kernel.
struct DraftInts {
  std::span<const std::int64_t> ints;
  bool move = false;  // some of them do, from launch to launch
};

/// The draft's kernel computes such a node. Throws Cut where it may not beside others that it computes.
void go_over_products(Draft& draft, const Node& contraction);

/// Gives a kernel a Tiling where it is a sum of products that the device's tensor cores can compute. `kernel`
/// is the draft's, with levels, phases and stores; nothing changes where it is not.
void choose_tiling(const Draft& draft, const DraftInts& numbers, const LowerLimits& limits,
                   ir::Kernel& kernel);

inline constexpr std::size_t kMostTilings = 40;

/// All tilings that a kernel with a Tiling may have, at most kMostTilings. The one that the cost model
/// expects to be the fastest comes first: the planner's. `ints`: arguments of a launch, or of the first of
/// `members` products that share it.
std::vector<ir::Tiling> ranked_tilings(const ir::Kernel& kernel, std::span<const std::int64_t> ints,
                                       const LowerLimits& limits, std::size_t members = 1);

/// Multiplications from which on a library is worth what it takes to be opened, a tenth of a second: fewer
/// gain some microseconds each time.
inline constexpr double kLibraryProducts = 1 << 30;

/// True iff a vendor's library that computes the kernel is expected to be faster than any tiles: f32 lies
/// across the sum, so that lanes have to bring it, and there is enough of it for that to matter.
bool prefers_library(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

/// The candidates of both, `ranked_tilings` and ways of a vendor's library, the one that is expected to be
/// the fastest first: the library's ways follow the first of the tilings, or precede it where that is
/// preferred.
std::vector<ir::Tiling> ranked_with_library(std::span<const ir::Tiling> tilings,
                                            std::span<const ir::Tiling> ways, bool prefers_library);

/// The sizes of such a kernel's product: `depth` is of all sums that are added up.
struct ProductSizes {
  std::int64_t rows = 1, columns = 1, depth = 1, batches = 1;
  std::int64_t repeats = 1;  // of each result
};
ProductSizes product_sizes(const ir::Kernel& kernel, std::span<const std::int64_t> ints);

}  // namespace sinter::plan
