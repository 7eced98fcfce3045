// Library ops in the plan: which operands they take as they lie, and their sizes.
#pragma once

#include <optional>

#include "jit/ir/library_op.h"
#include "jit/plan/graph.h"

namespace sinter::plan {

/// True iff the library op `user` can read operand `k` where and how it lies in memory (once its base is in
/// memory).
bool reads_in_place(const Graph& graph, NodeId user, std::size_t k);

/// True iff the node is a convolution or one of its gradients.
bool is_convolution(const Node& node);

/// Of an operand that is (n, c, h, w): true iff it lies in memory without gaps and with its channels last,
/// and not also in the order of its dims. False where it has no memory that strides can be found for.
bool lies_channels_last(const Graph& graph, NodeId operand);

/// True iff operand `k` of the convolution `node` may lie with its channels last; k == 2: its result.
bool may_be_channels_last(const Graph& graph, NodeId node, std::size_t k);

/// The op with its sizes; `copied[k]` says that operand k was copied to a tensor without gaps.
ir::LibraryOp make_library_op(const Graph& graph, NodeId node, const bool (&copied)[2]);

}  // namespace sinter::plan
