// The gradient of a strided convolution's image, as phases: with h + padding = stride * q + p, what belongs
// to one p is a correlation of the gradient with every stride-th element of the kernel. The phases are so
// many more columns of one correlation, and take their places afterwards.
#pragma once

#include <cstdint>
#include <span>

#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// Along one dim: how many phases there are, and elements of the kernel in each.
struct Phases {
  std::int64_t count, taps;
};

/// The weight (groups * outputs, inputs, ..) as (groups * phases * inputs, taps .., outputs), with the taps
/// from their end. Phases of the first dim are the outermost.
NodeId weight_of_phases(Rewriter& to, NodeId weight, std::int64_t groups, std::span<const Phases> phases);

/// (n, positions .., groups * phases * inputs) as (n, positions by phases .., groups * inputs).
NodeId phases_in_place(Rewriter& to, NodeId found, std::int64_t groups, std::span<const Phases> phases);

}  // namespace sinter::plan
