// Library ops in the plan: how each reads its operands, decided once, and the op with its sizes.
#pragma once

#include <span>
#include <vector>

#include "jit/library/library_op.h"
#include "jit/plan/graph.h"
#include "jit/plan/plan.h"

namespace sinter::plan {

/// Where a library op finds an operand.
struct LibraryOperand {
  NodeId base = kNoNode;  // the node whose memory holds it: the operand itself, or what it is a view of
  ViewLayout layout;      // how it lies there, in elements
};

/// A library op as it will be launched; or an Op::Join, which is in memory once its operands are, and of
/// which only these and the result are set: it has its place in the order of launches, and is none.
struct LibraryCall {
  bool is_join = false;
  library::Signature signature;
  std::vector<LibraryOperand> operands;
  std::vector<NodeId> results;  // nodes in the order of the kind's results; the first is the op itself
  library::LibraryOpRef op;
  LibraryReads reads;  // its operands, for reports
};

/// What the library op `node` is asked for. An image that is computed with its channels last is named by its
/// plain shape (n, c, h, w).
library::Signature signature_of(const Graph& graph, const Node& node);

const library::Kind& kind_of(const Node& node);

/// The graph's library ops and joins, in its order. An operand that its op can read in place has the node
/// below its views as base; every other one has to be stored and is its own base. Both are to be pinned, and
/// the results.
std::vector<LibraryCall> library_calls(const Graph& graph);

/// The call of one library op, which has only its first result, or of a join.
LibraryCall library_call(const Graph& graph, NodeId id);
/// Makes its op, once it is known where operands are read.
void make_library_op(const Graph& graph, LibraryCall& call);

/// Makes the ops, once it is known for each node whether it is stored for other reasons too: a view that is
/// stored is read from its own memory.
void make_library_ops(const Graph& graph, const std::vector<bool>& stored, std::span<LibraryCall> calls);

}  // namespace sinter::plan
