// Writes a graph anew.
#include "jit/plan/rewrite/rewriter.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>

#include <absl/hash/hash.h>

#include "jit/plan/lower/limits.h"

namespace sinter::plan {
namespace {

/// Nodes that results need, directly or through others.
std::vector<bool> needed_nodes(const Graph& graph) {
  std::vector<bool> needed(graph.nodes.size());
  for (const Result& result : graph.results) needed[result.node] = true;
  for (std::size_t id = graph.nodes.size(); id-- > 0;)
    if (needed[id])
      for (NodeId operand : graph.nodes[id].operands) needed[operand] = true;
  // A library op writes all of its results, so they are there as long as it is.
  for (std::size_t id = 0; id < graph.nodes.size(); ++id)
    if (graph.nodes[id].is(OpClass::Result)) needed[id] = needed[graph.nodes[id].operands[0]];
  return needed;
}

void leave_out_unneeded(Graph& graph) {
  const std::vector<bool> needed = needed_nodes(graph);
  if (std::all_of(needed.begin(), needed.end(), [](bool is) { return is; })) return;
  std::vector<NodeId> now(graph.nodes.size(), kNoNode);
  NodeId count = 0;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    if (!needed[id]) continue;
    for (NodeId& operand : graph.nodes[id].operands) operand = now[operand];
    now[id] = count;
    if (count != id) graph.nodes[count] = std::move(graph.nodes[id]);
    ++count;
  }
  graph.nodes.resize(count);
  for (Result& result : graph.results) result.node = now[result.node];
}

/// What two scalars are compared by: a constant's kind and bits, the program's place in the table.
std::tuple<int, std::uint64_t> identity_of(const Graph& graph, ScalarRef scalar) {
  if (scalar.table == ScalarRef::Table::Trace) return {0, scalar.index};
  const Scalar& value = graph.constants[scalar.index];
  if (value.is_float()) return {1, std::bit_cast<std::uint64_t>(value.as_double())};
  return {value.is_bool() ? 2 : 3, static_cast<std::uint64_t>(value.as_int())};
}

}  // namespace

std::size_t Rewriter::Hash::operator()(NodeId id) const {
  const Node& node = graph->nodes[id];
  std::size_t hash =
      absl::HashOf(node.kind, node.op, node.dtype, node.operands, node.ints, node.starts, node.value);
  for (std::int64_t size : node.shape) hash = absl::HashOf(hash, size);
  for (ScalarRef scalar : node.scalars) hash = absl::HashOf(hash, identity_of(*graph, scalar));
  return hash;
}

bool Rewriter::Equal::operator()(NodeId a, NodeId b) const {
  const Node &x = graph->nodes[a], &y = graph->nodes[b];
  return x.kind == y.kind && x.op == y.op && x.dtype == y.dtype && x.shape == y.shape &&
         x.operands == y.operands && x.ints == y.ints && x.starts == y.starts && x.value == y.value &&
         x.precision == y.precision && x.channels_last == y.channels_last &&
         x.stands_alone == y.stands_alone && x.is_unseen_around == y.is_unseen_around &&
         std::equal(
             x.scalars.begin(), x.scalars.end(), y.scalars.begin(), y.scalars.end(),
             [&](ScalarRef s, ScalarRef t) { return identity_of(*graph, s) == identity_of(*graph, t); });
}

Rewriter::Rewriter(Graph& graph)
    : after_(graph),
      before_{graph.trace,         std::exchange(graph.nodes, {}),
              graph.results,       graph.constants,
              graph.channels_last, graph.checks},
      now_(before_.nodes.size(), kNoNode),
      known_(before_.nodes.size(), Hash{&graph}, Equal{&graph}) {
  after_.nodes.reserve(before_.nodes.size());
}

void Rewriter::run(const Rule& rule) {
  const std::vector<bool> needed = needed_nodes(before_);
  for (NodeId id = 0; id < before_.nodes.size(); ++id) {
    if (!needed[id]) continue;
    Node node = before_.nodes[id];
    for (NodeId& operand : node.operands) operand = now_[operand];
    record_ = node.record;
    now_[id] = rule(*this, id, std::move(node));
  }
  for (Result& result : after_.results) result.node = now_[result.node];
  leave_out_unneeded(after_);
}

NodeId Rewriter::join_last() {
  const auto last = static_cast<NodeId>(after_.nodes.size() - 1);
  const auto [known, added] = known_.insert(last);
  if (!added) after_.nodes.pop_back();
  return *known;
}

NodeId Rewriter::add(Node node) {
  node.record = record_;
  after_.add(std::move(node));
  return join_last();
}

NodeId Rewriter::constant(const Scalar& value, DType dtype) {
  const auto place = static_cast<std::uint32_t>(after_.constants.size());
  after_.constants.push_back(value);
  Node node;
  node.kind = NodeKind::Scalar;
  node.dtype = dtype;
  node.scalars = {{ScalarRef::Table::Plan, place}};
  const NodeId id = add(std::move(node));
  // The number was there before, and is named by its older place.
  if (after_.nodes[id].scalars[0].index != place) after_.constants.pop_back();
  return id;
}

NodeId Rewriter::full(const Scalar& value, DType dtype, const Shape& shape) {
  Node node;
  node.op = Op::Full;
  node.dtype = dtype;
  node.shape = shape;
  node.scalars = after_.nodes[constant(value, arithmetic_of(dtype))].scalars;
  return add(std::move(node));
}

NodeId Rewriter::elementwise(Op op, DType dtype, std::vector<NodeId> operands) {
  Node node;
  node.op = op;
  node.dtype = dtype;
  bool shaped = false;
  for (NodeId operand : operands) {
    const Node& given = after_.nodes[operand];
    if (given.kind == NodeKind::Scalar) continue;
    if (shaped && given.shape != node.shape)
      throw std::logic_error("rewrite: operands of " + std::string(name_of(op)) + " have different shapes");
    node.shape = given.shape;
    shaped = true;
  }
  node.operands = std::move(operands);
  return add(std::move(node));
}

NodeId Rewriter::cast(NodeId operand, DType dtype) {
  after_.add_cast(operand, dtype, record_);
  return join_last();
}

NodeId Rewriter::stored_copy(NodeId operand) {
  Node copy;
  copy.op = Op::Cast;
  copy.dtype = node(operand).dtype;
  copy.shape = node(operand).shape;
  copy.operands = {operand};
  copy.ints = {1};
  return add(std::move(copy));
}

NodeId Rewriter::view(Op op, NodeId operand, const Shape& shape, std::vector<std::int64_t> ints) {
  after_.add_view(op, operand, shape, std::move(ints), record_);
  return join_last();
}

NodeId Rewriter::permute(NodeId operand, std::vector<std::int64_t> axes) {
  while (node(operand).is(OpClass::View) && node(operand).op == Op::Permute) {
    const Node& below = node(operand);
    for (std::int64_t& axis : axes) axis = below.ints[static_cast<std::size_t>(axis)];
    operand = below.operands[0];
  }
  if (std::is_sorted(axes.begin(), axes.end())) return operand;
  Shape shape;
  for (const std::int64_t axis : axes) shape.push_back(node(operand).shape[static_cast<std::size_t>(axis)]);
  return view(Op::Permute, operand, shape, std::move(axes));
}

NodeId Rewriter::transpose(NodeId operand) {
  const std::size_t rank = node(operand).shape.rank();
  std::vector<std::int64_t> axes(rank);
  std::iota(axes.begin(), axes.end(), std::int64_t{0});
  std::swap(axes[rank - 2], axes[rank - 1]);
  return permute(operand, std::move(axes));
}

NodeId Rewriter::reduce(Op op, DType dtype, NodeId operand, std::int64_t dims) {
  Node node;
  node.op = op;
  node.dtype = dtype;
  node.shape = after_.nodes[operand].shape;
  for (std::size_t d = 0; d < node.shape.rank(); ++d)
    if (dims >> d & 1) node.shape[d] = 1;
  node.operands = {operand};
  node.ints = {dims};
  return add(std::move(node));
}

NodeId Rewriter::concat(std::vector<NodeId> pieces, std::size_t dim) {
  while (pieces.size() > 1) {
    const std::size_t groups = (pieces.size() + kMostPieces - 1) / kMostPieces;
    std::vector<NodeId> joined;
    for (std::size_t g = 0; g < groups; ++g) {
      Node node;
      node.op = Op::Concat;
      node.operands.assign(pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() * g / groups),
                           pieces.begin() + static_cast<std::ptrdiff_t>(pieces.size() * (g + 1) / groups));
      node.dtype = after_.nodes[node.operands[0]].dtype;
      node.shape = after_.nodes[node.operands[0]].shape;
      node.shape[dim] = 0;
      for (const NodeId piece : node.operands) node.shape[dim] += after_.nodes[piece].shape[dim];
      node.ints = {static_cast<std::int64_t>(dim)};
      joined.push_back(node.operands.size() == 1 ? node.operands[0] : add(std::move(node)));
    }
    pieces = std::move(joined);
  }
  return pieces[0];
}

void rewrite(Graph& graph, const Rule& rule) { Rewriter(graph).run(rule); }

}  // namespace sinter::plan
