// The planner's view of a trace: nodes in topological order, views told apart from computation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>

#include "jit/plan/moving.h"
#include "jit/plan/reuse/size_checks.h"
#include "jit/plan/scalar_ref.h"
#include "src/trace/trace.h"

namespace sinter::plan {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

enum class NodeKind : std::uint8_t { External, Scalar, Op };

/// A start among a node's ints that moves; the int is its least value.
struct NodeStart {
  std::uint32_t dim = 0;
  Start start;
  friend bool operator==(const NodeStart&, const NodeStart&) = default;
  template <class H>
  friend H AbslHashValue(H h, const NodeStart& s) {
    return H::combine(std::move(h), s.dim, s.start);
  }
};

struct Node {
  NodeKind kind = NodeKind::Op;
  Op op = Op::Add;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<NodeId> operands;
  std::vector<std::int64_t> ints;  // as ops.def describes
  std::vector<NodeStart> starts;   // slice, pad, slice_assign
  std::vector<ScalarRef> scalars;  // Op: its own, as ops.def describes; Scalar: the number
  trace::ValueId value = 0;        // External
  std::uint32_t record = 0;        // the op of the trace that it is there for, for explanations
  MatmulPrecision precision = MatmulPrecision::Highest;  // library op
  bool channels_last = false;     // library op with an image as result: the shape is (n, h, w, c)
  bool stands_alone = false;      // in memory, by a kernel of its own: what a long concatenation has come to
  bool feeds_recipe = false;      // a Result that does, once the passes have run
  bool is_unseen_around = false;  // pad: what it puts around its operand is replaced before anybody reads it

  OpClass op_class() const { return info(op).op_class; }
  bool is(OpClass c) const { return kind == NodeKind::Op && op_class() == c; }
  /// A reduction or a contraction: its kernel has inner loops.
  bool has_inner_loops() const {
    return is(OpClass::Reduce) || is(OpClass::Contract) || is(OpClass::Combine) || is_partial_sum();
  }
  /// The dim of a contraction's result that goes along the rows of its first factor (0), or the columns of
  /// its second (1).
  std::size_t dim_along(std::size_t factor) const {
    return shape.rank() - (factor == 1 ? 1 : 2 + static_cast<std::size_t>(ints[2]));
  }
  /// A sum of parts, unless it only holds a place: then nothing reads it.
  bool is_partial_sum() const { return is(OpClass::Partial) && !operands.empty(); }
  /// A library op, which is its own first result, or a further one: written by the op's launch.
  bool is_library_result() const { return is(OpClass::Library) || is(OpClass::Result); }
  /// A cast to the same dtype that is stored whatever it takes to compute it again: a pass wants it in memory
  /// in the order of its dims.
  bool is_stored_copy() const { return kind == NodeKind::Op && op == Op::Cast && !ints.empty(); }
  /// A product of which kernels read what a factor shows many times, through views and frames: a bit for each
  /// in ints[0].
  bool reads_many_times(std::size_t factor) const {
    return kind == NodeKind::Op && op == Op::Mul && !ints.empty() && (ints[0] >> factor & 1) != 0;
  }
  /// Random numbers are the sources that have two scalars: seed and stream.
  bool is_random() const { return is(OpClass::Source) && scalars.size() == 2; }
};

/// A value that somebody sees after the trace, and the node that computes it.
struct Result {
  trace::ValueId value;
  NodeId node;
  bool feeds_recipe = false;  // a reduction that a recipe reads (keep_or_compute)
};

struct Graph {
  const trace::Trace* trace = nullptr;
  std::vector<Node> nodes;  // operands come first
  std::vector<Result> results;
  /// Numbers that passes write. They may follow from sizes and other structure, never from `trace->scalars`:
  /// a plan serves every run of the same structure.
  std::vector<Scalar> constants;
  bool channels_last = false;  // convolutions may be given images with their channels last (choose_layouts)
  /// Where decisions note what they asked about sizes; null: nobody wants to know.
  SizeChecks* checks = nullptr;

  /// The number that a node is, where a pass wrote it; null for all others, and so for the program's scalars,
  /// which a plan knows nothing of.
  const Scalar* constant_of(NodeId id) const {
    const Node& node = nodes[id];
    const bool is_constant = node.kind == NodeKind::Scalar && node.scalars[0].table == ScalarRef::Table::Plan;
    return is_constant ? &constants[node.scalars[0].index] : nullptr;
  }

  /// True iff the node is a pad whose number a pass wrote, a 0.
  bool pads_with_zeros(const Node& node) const {
    return node.kind == NodeKind::Op && node.op == Op::Pad &&
           node.scalars[0].table == ScalarRef::Table::Plan &&
           constants[node.scalars[0].index].as_double() == 0;
  }

  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  }
  /// Result `number` of the library op `op`, from 1 on. All of them are in the graph as long as the op is:
  /// the device writes each of them, whether somebody reads it or not.
  NodeId add_result(NodeId op, std::size_t number, const Shape& shape, DType dtype);
  NodeId add_cast(NodeId operand, DType dtype, std::uint32_t record);
  /// A view node; the caller has checked that it makes sense.
  NodeId add_view(Op op, NodeId operand, const Shape& shape, std::vector<std::int64_t> ints,
                  std::uint32_t record);
};

/// The loops of a node that has inner ones: all of them, those of size 1 included, and a bit for each that is
/// reduced.
struct Domain {
  Shape shape;
  std::int64_t reduced = 0;
};
Domain domain_of(const Graph& graph, const Node& node);

/// The sizes of a domain's stretches of dims that are reduced or not, in turn, from the first on: equal ones
/// are the same loops, of dims that are cut otherwise. The first is of dims that are not reduced, or 1.
std::vector<std::int64_t> rows_and_columns(const Shape& domain, std::int64_t reduced);

/// The shape without dims of size 1; `bits`, a set of dims, becomes a set of those that are left.
Shape without_ones(const Shape& shape, std::int64_t& bits);

Graph make_graph(const trace::Trace& trace);

/// Gives a node the integers of its op of the trace, of which the first start is number `first_start`.
void set_ints(const trace::Trace& trace, const trace::OpRecord& record, std::uint32_t first_start,
              Node& node);

/// A view over a value or buffer: the node it looks at and the strides into it.
struct StridedView {
  NodeId base;
  ViewLayout layout;  // in elements of the base's storage (externals: their buffer)
};

/// For a view node: how its operand's row-major positions are reached: coordinates of `node.shape` meet this
/// layout. Not for Reshape, which keeps positions.
ViewLayout view_layout(const Graph& graph, const Node& node);
/// The same over an operand that lies as `operand` says.
ViewLayout view_layout(const Graph& graph, const Node& node, const ViewLayout& operand);

/// Follows views down to the first node that is not a view. Nothing when strides cannot express the way (a
/// reshape across a gap).
std::optional<StridedView> strided_view(const Graph& graph, NodeId node);

/// True iff a node swaps the last two dims of its operand and does nothing else.
bool is_transpose(const Node& node);

/// The node below all views.
NodeId base_of(const Graph& graph, NodeId node);
/// The node below all views, frames and casts to more bits: what these show of it.
NodeId shown_by(const Graph& graph, NodeId node);

}  // namespace sinter::plan
