// The planner's view of a trace: nodes in topological order, views told apart from computation.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <sinter/dtype.h>
#include <sinter/shape.h>

#include "src/trace/trace.h"

namespace sinter::plan {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xffffffff;

enum class NodeKind : std::uint8_t { External, Scalar, Op };

struct Node {
  NodeKind kind = NodeKind::Op;
  Op op = Op::Add;
  DType dtype = DType::f32;
  Shape shape;
  std::vector<NodeId> operands;
  std::vector<std::int64_t> ints;      // as ops.def describes
  std::vector<std::uint32_t> scalars;  // numbers in the trace's scalar table (op's own; Scalar: one)
  trace::ValueId value = 0;            // External; Op: the value it computes, if any
  std::uint32_t record = 0;            // Op: the record it comes from, for explanations
  bool channels_last = false;          // library op with an image as result: the shape is (n, h, w, c)
  bool live = true;

  OpClass op_class() const { return info(op).op_class; }
  bool is(OpClass c) const { return kind == NodeKind::Op && op_class() == c; }
  /// A library op, which is its own first result, or a further one: written by the op's launch.
  bool is_library_result() const { return is(OpClass::Library) || is(OpClass::Result); }
};

/// A value that somebody sees after the trace, and the node that computes it.
struct Result {
  trace::ValueId value;
  NodeId node;
};

struct Graph {
  const trace::Trace* trace = nullptr;
  std::vector<Node> nodes;  // operands come first
  std::vector<Result> results;
  bool channels_last = false;  // convolutions may be given images with their channels last (choose_layouts)

  NodeId add(Node node) {
    nodes.push_back(std::move(node));
    return static_cast<NodeId>(nodes.size() - 1);
  }
  /// Result `number` of the library op `op`, from 1 on. All of them are in the graph as long as the op is:
  /// the device writes each of them, whether somebody reads it or not.
  NodeId add_result(NodeId op, std::size_t number, const Shape& shape, DType dtype);
  NodeId add_cast(NodeId operand, DType dtype, std::uint32_t record);
  /// A view node; the caller has checked that it makes sense.
  NodeId add_view(Op op, NodeId operand, const Shape& shape, std::vector<std::int64_t> ints = {});
};

Graph make_graph(const trace::Trace& trace);

/// A view over a value or buffer: the node it looks at and the strides into it.
struct StridedView {
  NodeId base;
  trace::Layout layout;  // in elements of the base's storage (externals: their buffer)
};

/// For a view node: how its operand's row-major positions are reached: coordinates of `node.shape` meet this
/// layout. Not for Reshape, which keeps positions.
trace::Layout view_layout(const Graph& graph, const Node& node);
/// The same over an operand that lies as `operand` says.
trace::Layout view_layout(const Graph& graph, const Node& node, const trace::Layout& operand);

/// Follows views down to the first node that is not a view. Nothing when strides cannot express the way (a
/// reshape across a gap).
std::optional<StridedView> strided_view(const Graph& graph, NodeId node);

/// The node below all views.
NodeId base_of(const Graph& graph, NodeId node);

// ---- passes over the graph, in the order they run
/// Marks what no result needs as not live, and joins nodes that compute the same thing.
void simplify(Graph& graph);

/// Values that convolutions hand each other, directly or through elementwise work, lie with their channels
/// last in memory, where that spares the convolutions at least two turns of an image. What such a value is to
/// others is a view of it.
void choose_layouts(Graph& graph);

/// Computes matrix products turned that are only ever read turned.
void turn_products(Graph& graph);

/// Squares of what is left of x after something that is constant over the reduced dims was taken away, summed
/// up: where `worth` says so for (results, elements of each, last dim reduced), they are found from x's
/// squared deviations, in the same pass as x's sum.
void find_moments(Graph& graph, const std::function<bool(std::int64_t, std::int64_t, bool)>& worth);

/// Rewrites reductions with too few results to keep the device busy into two stages. `groups`: results that a
/// device wants when each is computed by a group of lanes, `lanes`: when each is computed by one lane.
void split_reductions(Graph& graph, std::int64_t groups, std::int64_t lanes);

}  // namespace sinter::plan
