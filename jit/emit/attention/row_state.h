// What ordinary lanes know of a row of scores, and how much of it workgroups of lone rows have at once.
#pragma once

#include <cstdint>
#include <vector>

#include "jit/ir/kernel.h"

namespace sinter::emit {

inline constexpr int kLoneRowsLanes = 256;  // of a workgroup
// Of a group of lanes: loads of so many are under way together.
inline constexpr int kColumnsAtOnce = 4;
// Tiles of columns that are worth a workgroup of their own, since joining takes as long as some of them.
inline constexpr std::int64_t kTilesOfPart = 2;

inline int groups_of(const ir::Kernel& kernel) { return kLoneRowsLanes / kernel.lone_rows.lanes; }
/// Columns that a workgroup has at once.
inline int tile_of(const ir::Kernel& kernel) { return groups_of(kernel) * kColumnsAtOnce; }

inline bool is_softmax(const ir::Kernel& kernel) { return kernel.phases == 3; }

/// What is known of a row: the greatest score, then sums and vectors, each in so many floats.
struct RowState {
  ir::ExprId greatest = ir::kNone;
  std::vector<ir::ExprId> sums, combines;
  int floats = 0;
  std::vector<int> places;  // of the vectors

  explicit RowState(const ir::Kernel& kernel);
};

}  // namespace sinter::emit
