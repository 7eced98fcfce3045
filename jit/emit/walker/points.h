// Which points the lanes of a launch take.
#pragma once

#include <functional>
#include <string>

#include "jit/emit/walker/expressions.h"

namespace sinter::emit {

/// Those from `begin` on: a lane takes several in a row, a workgroup's lanes apart, so that their loads are
/// under way together; at the end one after the other. `locate` defines the coordinates of the one with the
/// number `f`, `point` writes it. Compilers move no load before the store of another point, so that results
/// wait in registers until all points have theirs: no store may be of an inner point.
void write_points_at_once(Expressions& e, const std::string& begin, int together,
                          const std::function<void()>& locate, const std::function<void()>& point);

/// Of a split kernel: defines where the workgroup's part of the inner points begins and ends. `vectors`: it
/// has a path for vectors.
void cut_part(Expressions& e, bool in_workgroup, bool vectors);

}  // namespace sinter::emit
