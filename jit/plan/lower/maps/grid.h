// A grid in a larger shape: where pad and slice_assign put their elements.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <sinter/shape.h>

#include "jit/plan/lower/finish.h"
#include "jit/plan/lower/maps/index_map.h"

namespace sinter::plan {

/// Element i of each dim of a tensor stands at start + i * step of a larger shape. Dims are joined where that
/// changes nothing, and dims that the grid fills are left out of the test: a part of a concatenation costs
/// two comparisons.
class Grid {
 public:
  /// `ints`: start of each dim, then step of each dim. `starts`: those that move.
  Grid(const Shape& shape, const Shape& placed, std::span<const std::int64_t> ints,
       std::span<const NodeStart> starts);

  /// The test whether a number of `coordinates` lies on the grid.
  DraftBounds bounds() const;
  /// For a map to positions in the larger shape: to the number that the test splits.
  IndexMap coordinates(const IndexMap& map) const;
  /// A test of one dim alone: a coordinate, and what it has to be.
  struct Test {
    IndexMap coordinate;
    DraftBounds bounds;
  };
  /// The tests that a map to positions in the larger shape has to pass, without those that it always does: no
  /// number is split for them, and grids that differ along one dim share those of the others.
  std::vector<Test> tests(const IndexMap& map) const;
  /// For a map to positions in the larger shape: to positions in the tensor, right where the test holds. The
  /// map knows what the test says about the loop's coordinates.
  IndexMap below(const IndexMap& map) const;

 private:
  struct Dim {
    std::int64_t extent, start, step, size;
    MovingParts moving{};  // of the start
    bool filled() const { return start == 0 && step == 1 && size == extent; }
    /// Its one coordinate in the tensor is 0, wherever it stands.
    bool is_moving_point() const { return size == 1 && !moving.empty(); }
  };

  std::vector<Dim> dims_;
  Shape shape_;                                        // the extents of `dims_`
  std::vector<std::size_t> tested_;                    // dims that are not filled; one at least
  Shape given_;                                        // before dims were joined
  std::vector<std::pair<std::size_t, Dim>> narrowed_;  // dims of `given_` that are not filled
};

}  // namespace sinter::plan
