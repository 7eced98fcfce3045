// Steps of index maps without digits: views as steps, and one step after another as one.
#pragma once

#include <vector>

#include <sinter/shape.h>

#include "jit/plan/lower/maps/index_map.h"

namespace sinter::plan {

/// A view without dims of size 1 and with neighbours joined where the outer stride continues the inner one:
/// the fewer dims a number must be split into, the more often two steps merge.
MapStep simplified(const Shape& shape, const ViewLayout& layout);

/// The common case, without digits: merges `next` into `last` when no carry can pass between the digits of
/// the split; false when it can. Only coordinates in `stretches` count, one for each dim of `last`; none
/// given: all.
bool merge(MapStep& last, const MapStep& next, const std::vector<Stretch>& stretches);

}  // namespace sinter::plan
