// What a kernel has to do where its results are written over operands: only the points at which they change.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "jit/plan/lower/finish.h"

namespace sinter::plan {

/// A draft that loops over a box of the points of another one.
struct ChangedBox {
  Draft draft;
  std::vector<Overwrite> over;        // all have to hold
  std::vector<std::uint16_t> places;  // of the other draft's buffers among this one's
};

/// Each result of an elementwise kernel may be an operand at most points, and something else on a grid: that
/// is what slice_assign becomes. Written over these operands, nothing changes outside of the least box of
/// points that has all grids. Nothing is written over where what is outside does not matter, as with the
/// first pieces of a concatenation. Nothing where that is all points or unknown: of grids that move only
/// those are in one box that are the same. Where the box begins may move; how large it is may not.
std::optional<ChangedBox> changed_box(const Draft& draft);

/// The box's kernel. Nothing where a launch of several members that has room for the whole kernel would have
/// none for it.
std::optional<InPlaceKernel> in_place_kernel(ChangedBox box, const Lowered& whole, const LowerLimits& limits);

}  // namespace sinter::plan
