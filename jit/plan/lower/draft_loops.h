// Loops and maps of a draft, before it becomes kernel IR.
#pragma once

#include "jit/plan/lower/finish.h"

namespace sinter::plan {

/// True iff the expression's map counts.
bool has_map(const ir::Expr& expr);

/// Drops maps that nothing uses, so that they do not hinder the joining of loops.
void drop_unused_maps(Draft& draft);

/// True iff some position of the expressions from `first` on is found by dividing.
bool divides_from(const Draft& draft, std::size_t first);

/// Digits become maps of their own, before those that are made of them.
void place_digits(Draft& draft);

/// Leaves out loops of one point, and makes neighbours one loop that are so under all maps. Every kernel has
/// an outer loop, and one with a reduction has an inner one.
void join_loops(Draft& draft);

/// Workgroups share the inner points of a column along the first inner loop: where that is short, and nothing
/// lies along the inner loops, it changes places with the longest one.
void put_long_loop_first(Draft& draft);

/// Where an operand lies along a short loop, lanes of one vector after the other would read all cache lines
/// again for each of its points. So the points of that loop come next to each other, vector by vector: the
/// last loop is cut, and the short one goes between its parts.
void bring_short_loop_near(Draft& draft);

}  // namespace sinter::plan
