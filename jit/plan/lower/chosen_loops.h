// The loops of a kernel: the dims of what its group computes that stay, then those that are reduced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "jit/plan/graph.h"
#include "jit/plan/lower/limits.h"
#include "jit/plan/lower/lower.h"
#include "jit/plan/lower/maps/index_map.h"

namespace sinter::plan {

/// A dim of the domain seen as (size / part, part).
struct LoopSplit {
  std::size_t dim;
  std::int64_t part;
};

struct ChosenLoops {
  Shape domain;               // whose dims these are
  MapStep all, outer, inner;  // row-major positions: of all loops, and of the outer and inner ones alone
  /// Of the group's contractions: of all loops but those that repeat their results, and of the outer ones
  /// among these. Mostly there are no others.
  MapStep products, results;
  bool repeats = false;
  std::size_t outer_rank = 0;
  std::vector<std::size_t> dim_of_loop;  // of the domain, split
  std::int64_t points = 1, outer_points = 1, inner_points = 1;
  bool reduces = false;
  std::int64_t parts = 0;  // of the group's partial sums; 0: there are none
};

/// So often a kernel may need each result of its contractions, each time with something else: the gates of a
/// recurrent network.
inline constexpr std::int64_t kMostRepeats = 8;

/// True iff loops over `domain` go over a shape dim by dim, but for ones.
bool has_dims(const Shape& domain, const Shape& shape);

/// Throws Cut where the group's reductions do not go over the same.
ChosenLoops choose_loops(const Graph& graph, const Group& group, const std::vector<LoopSplit>& splits,
                         const LowerLimits& limits);

}  // namespace sinter::plan
