// Convolutions in groups, as products of a batch with one product for each group, or for several of them.
//
// A group has few channels mostly, of which neither a line that the copy engine brings nor a tile is full. So
// some groups are multiplied side by side: their weights stand as blocks along the diagonal of one, whose
// other elements are 0 and count as no factors (ir::Tiling::Blocks).
#pragma once

#include <cstdint>

#include "jit/ir/traits.h"
#include "jit/plan/graph.h"
#include "jit/plan/rewrite/rewriter.h"

namespace sinter::plan {

/// How many of a convolution's groups are multiplied side by side: those that take the least work. `weight`:
/// (channels of the result, channels of a group, ..). `bytes`: of an element that is multiplied.
/// `by_result`: windows show the result's gradient, not the image.
std::int64_t groups_at_once(const Shape& weight, std::int64_t groups, std::int64_t bytes, bool by_result,
                            const ir::TensorCores& cores);

/// The weight (o, c, ..) of `groups` as the one (o, c together, ..) of `groups` / `together`.
NodeId side_by_side(Rewriter& to, NodeId weight, std::int64_t groups, std::int64_t together);
/// The other way round: the blocks of such a weight.
NodeId blocks_of(Rewriter& to, NodeId weight, std::int64_t groups, std::int64_t together);

/// The shape (groups, rows, columns) of a matrix for each group; that of one group has no dim for them.
Shape shape_of_matrices(std::int64_t groups, std::int64_t rows, std::int64_t columns);
/// What has the channels of all groups last, (.., groups * c), as such matrices: columns are c, or elements
/// of windows by c.
NodeId matrices(Rewriter& to, NodeId x, std::int64_t groups, std::int64_t rows, std::int64_t columns);

}  // namespace sinter::plan
