// Tests whether a loop's coordinates lie within a frame, a piece or a block, each once in a kernel.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "jit/plan/lower/maps/grid.h"
#include "jit/plan/lower/memory_reader.h"

namespace sinter::plan {

class FrameTests : public MemoryReader {
 public:
  using MemoryReader::MemoryReader;

 protected:
  /// Whether the map reaches the grid; kNone where it always does. The copy engine and slice_assign in place
  /// know tests of all dims at once, all others are tested dim by dim.
  ir::ExprId in_bounds(NodeId id, const Grid& grid, MapId map);
  ir::ExprId both(NodeId id, ir::ExprId a, ir::ExprId b);
  /// Of a contraction whose groups stand side by side, the product at the points `products`, and 0 where its
  /// factors are of different groups. Of others the product.
  ir::ExprId of_own_group(NodeId contraction, ir::ExprId product, MapId products);

 private:
  ir::ExprId in_bounds(NodeId id, IndexMap coordinates, DraftBounds bounds);

  std::map<std::pair<std::uint16_t, std::vector<std::int64_t>>, ir::ExprId> test_of_;  // by map and bounds
  std::map<std::pair<ir::ExprId, ir::ExprId>, ir::ExprId> both_of_;
};

}  // namespace sinter::plan
