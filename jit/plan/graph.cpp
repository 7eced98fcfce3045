// From trace to graph, and what views mean.
#include "jit/plan/graph.h"

#include "jit/plan/lower/maps/index_map.h"

namespace sinter::plan {

NodeId Graph::add_view(Op op, NodeId operand, const Shape& shape, std::vector<std::int64_t> ints,
                       std::uint32_t record) {
  Node node;
  node.op = op;
  node.dtype = nodes[operand].dtype;
  node.shape = shape;
  node.operands = {operand};
  node.ints = std::move(ints);
  node.record = record;
  return add(std::move(node));
}

NodeId Graph::add_cast(NodeId operand, DType dtype, std::uint32_t record) {
  Node node;
  node.op = Op::Cast;
  node.dtype = dtype;
  node.shape = nodes[operand].shape;
  node.operands = {operand};
  node.record = record;
  return add(std::move(node));
}

NodeId Graph::add_result(NodeId op, std::size_t number, const Shape& shape, DType dtype) {
  Node node;
  node.op = Op::Result;
  node.dtype = dtype;
  node.shape = shape;
  node.operands = {op};
  node.ints = {static_cast<std::int64_t>(number)};
  node.record = nodes[op].record;
  return add(std::move(node));
}

namespace {

/// What a library op is given for `operand`. It computes in the dtypes of arithmetic only: others are cast,
/// and what it gives is cast back. It may need an operand copied, and what is copied is a view that is
/// stored: an external value with gaps gets one.
NodeId library_operand(Graph& graph, NodeId operand, std::uint32_t record) {
  const Node& given = graph.nodes[operand];
  if (const DType computed = arithmetic_of(given.dtype); computed != given.dtype)
    return graph.add_cast(operand, computed, record);
  if (given.kind != NodeKind::External || is_contiguous(given.shape, graph.trace->layout_of(given.value)))
    return operand;
  return graph.add_view(Op::Reshape, operand, Shape(given.shape), {}, record);
}

/// Of the starts of a node, whose ints are there, those that move get a range instead of a value.
void let_starts_move(const trace::Trace& trace, const trace::OpRecord& record, std::uint32_t first,
                     Node& node) {
  const bool is_slice = record.op == Op::Slice;
  const trace::TraceValue& operand =
      trace.values[record.operands[is_slice ? 0 : record.operand_count - 1].index()];
  const Shape& large = is_slice ? operand.shape : node.shape;
  const Shape& small = is_slice ? node.shape : operand.shape;
  const std::size_t rank = trace::start_count(record);
  for (std::size_t d = 0; d < rank; ++d) {
    if (!trace.moves[first + d]) continue;
    // From where to where all elements have a place.
    const std::int64_t across = std::max<std::int64_t>(0, small[d] - 1) * node.ints[rank + d];
    const std::int64_t low = std::max<std::int64_t>(0, -across);
    const std::int64_t high = large[d] - 1 - std::max<std::int64_t>(0, across);
    node.ints[d] = low;
    if (small.numel() > 0 && high > low)
      node.starts.push_back(
          {static_cast<std::uint32_t>(d), {first + static_cast<std::uint32_t>(d), low, high - low}});
  }
}

}  // namespace

void set_ints(const trace::Trace& trace, const trace::OpRecord& record, std::uint32_t first_start,
              Node& node) {
  const std::span<const std::int64_t> ints = trace.ints_of(record);
  node.ints.assign(ints.begin(), ints.end());
  node.starts.clear();
  if (trace::start_count(record) > 0 && !trace.moves.empty())
    let_starts_move(trace, record, first_start, node);
}

Graph make_graph(const trace::Trace& trace) {
  Graph graph;
  graph.trace = &trace;
  graph.nodes.reserve(trace.values.size() + trace.scalars.size());
  std::vector<NodeId> node_of(trace.values.size(), kNoNode);
  std::uint32_t next_start = 0;  // number of the op's first start

  for (trace::ValueId id = 0; id < trace.values.size(); ++id) {
    const trace::TraceValue& value = trace.values[id];
    if (!value.external) continue;
    Node node;
    node.kind = NodeKind::External;
    node.dtype = value.dtype;
    node.shape = value.shape;
    node.value = id;
    node_of[id] = graph.add(std::move(node));
  }
  for (std::uint32_t i = 0; i < trace.ops.size(); ++i) {
    const trace::OpRecord& record = trace.ops[i];
    const trace::TraceValue& value = trace.values[record.output];
    Node node;
    node.op = record.op;
    node.dtype = value.dtype;
    node.shape = value.shape;
    node.record = i;
    node.precision = record.precision;
    set_ints(trace, record, next_start, node);
    next_start += static_cast<std::uint32_t>(trace::start_count(record));
    for (std::uint32_t s = 0; s < record.scalar_count; ++s)
      node.scalars.push_back({ScalarRef::Table::Trace, record.first_scalar + s});
    const std::span<const trace::OperandId> operands = trace.operands_of(record);
    for (const trace::OperandId operand : operands)
      node.operands.push_back(operand.is_scalar() ? kNoNode : node_of[operand.index()]);
    // A scalar operand has the dtype that the op computes in: that of its tensor operands.
    DType compute = value.dtype;
    for (std::size_t k = node.op == Op::Where ? 1 : 0; k < node.operands.size(); ++k)
      if (node.operands[k] != kNoNode) compute = graph.nodes[node.operands[k]].dtype;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].is_scalar()) continue;
      Node scalar;
      scalar.kind = NodeKind::Scalar;
      scalar.dtype = compute;
      scalar.scalars = {{ScalarRef::Table::Trace, operands[k].index()}};
      scalar.record = i;
      node.operands[k] = graph.add(std::move(scalar));
    }
    const bool library = node.op_class() == OpClass::Library;
    if (library) {
      for (NodeId& operand : node.operands) operand = library_operand(graph, operand, i);
      node.dtype = arithmetic_of(node.dtype);
    }
    const NodeId op = graph.add(std::move(node));
    for (std::uint8_t r = 0; r < record.output_count; ++r) {
      const trace::TraceValue& result = trace.values[record.output + r];
      const NodeId id = r == 0 ? op : graph.add_result(op, r, result.shape, arithmetic_of(result.dtype));
      node_of[record.output + r] =
          library && arithmetic_of(result.dtype) != result.dtype ? graph.add_cast(id, result.dtype, i) : id;
    }
  }
  for (trace::ValueId id = 0; id < trace.values.size(); ++id)
    if (!trace.values[id].external && trace.values[id].held) graph.results.push_back({id, node_of[id]});
  return graph;
}

Shape without_ones(const Shape& shape, std::int64_t& bits) {
  const std::int64_t given = std::exchange(bits, 0);
  Shape result;
  for (std::size_t d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    if (given >> d & 1) bits |= std::int64_t{1} << result.rank();
    result.push_back(shape[d]);
  }
  return result;
}

std::vector<std::int64_t> rows_and_columns(const Shape& domain, std::int64_t reduced) {
  std::vector<std::int64_t> sizes{1};
  bool is_reduced = false;
  for (std::size_t d = 0; d < domain.rank(); ++d) {
    if (domain[d] == 1) continue;
    if (is_reduced != (reduced >> d & 1)) {
      is_reduced = !is_reduced;
      sizes.push_back(1);
    }
    sizes.back() *= domain[d];
  }
  return sizes;
}

Domain domain_of(const Graph& graph, const Node& node) {
  const Shape& operand = graph.nodes[node.operands[0]].shape;
  if (node.is(OpClass::Reduce)) return {operand, node.ints[0]};
  // It goes over rows, and what stays is along them.
  if (node.is(OpClass::Partial)) return {operand, ~node.ints[0] & ((std::int64_t{1} << operand.rank()) - 1)};
  // The columns of its rows are no loop.
  if (node.is(OpClass::Combine)) return {operand, std::int64_t{1} << (operand.rank() - 1)};
  Domain domain{node.shape, std::int64_t{1} << node.shape.rank()};
  domain.shape.push_back(operand[operand.rank() - 1]);
  return domain;
}

ViewLayout view_layout(const Graph& graph, const Node& node) {
  return view_layout(graph, node, contiguous_layout(graph.nodes[node.operands[0]].shape));
}

ViewLayout view_layout(const Graph& graph, const Node& node, const ViewLayout& operand) {
  const Shape& in = graph.nodes[node.operands[0]].shape;
  const Dims& from = operand.strides;
  ViewLayout layout{Dims::filled(node.shape.rank(), 0), operand.offset};
  layout.moving = operand.moving;
  switch (node.op) {
    case Op::Permute:
      for (std::size_t i = 0; i < node.shape.rank(); ++i) layout.strides[i] = from[node.ints[i]];
      break;
    case Op::Expand: {
      const std::size_t added = node.shape.rank() - in.rank();
      for (std::size_t i = 0; i < in.rank(); ++i)
        layout.strides[added + i] = in[i] == 1 && node.shape[added + i] != 1 ? 0 : from[i];
      break;
    }
    case Op::Slice:
      for (std::size_t i = 0; i < in.rank(); ++i) {
        if (node.shape.numel() > 0) layout.offset += node.ints[i] * from[i];
        layout.strides[i] = node.ints[in.rank() + i] * from[i];
      }
      for (const NodeStart& start : node.starts) layout.moving.add(start.start, from[start.dim]);
      break;
    case Op::Windows:
      for (std::size_t i = 0; i < in.rank(); ++i) layout.strides[i] = from[i];
      layout.strides[node.ints[0]] = from[node.ints[0]] * node.ints[1];
      layout.strides[in.rank()] = from[node.ints[0]];
      break;
    default:
      throw std::logic_error("view_layout: " + std::string(name_of(node.op)) + " is not a strided view");
  }
  return layout;
}

bool is_transpose(const Node& node) {
  if (!node.is(OpClass::View) || node.op != Op::Permute) return false;
  const std::size_t rank = node.ints.size();
  if (rank < 2) return false;
  for (std::size_t d = 0; d + 2 < rank; ++d)
    if (node.ints[d] != static_cast<std::int64_t>(d)) return false;
  return node.ints[rank - 2] == static_cast<std::int64_t>(rank - 1);
}

NodeId shown_by(const Graph& graph, NodeId id) {
  const auto shows_another = [&](const Node& n) {
    return n.is(OpClass::View) || n.op == Op::Pad ||
           (n.op == Op::Cast && size_of(n.dtype) > size_of(graph.nodes[n.operands[0]].dtype));
  };
  while (graph.nodes[id].kind == NodeKind::Op && shows_another(graph.nodes[id]))
    id = graph.nodes[id].operands[0];
  return id;
}

NodeId base_of(const Graph& graph, NodeId id) {
  while (graph.nodes[id].is(OpClass::View)) id = graph.nodes[id].operands[0];
  return id;
}

std::optional<StridedView> strided_view(const Graph& graph, NodeId id) {
  // A program may stack as many views as it likes: from the base up without recursion.
  std::vector<NodeId> views;
  while (graph.nodes[id].is(OpClass::View)) {
    views.push_back(id);
    id = graph.nodes[id].operands[0];
  }
  const Node& base = graph.nodes[id];
  ViewLayout layout =
      base.kind == NodeKind::External ? graph.trace->layout_of(base.value) : contiguous_layout(base.shape);
  for (; !views.empty(); views.pop_back()) {
    const Node& view = graph.nodes[views.back()];
    if (view.op != Op::Reshape) {
      layout = view_layout(graph, view, layout);
      continue;
    }
    ViewLayout reshaped;
    if (!reshape_layout(graph.nodes[view.operands[0]].shape, layout, view.shape, reshaped))
      return std::nullopt;
    layout = reshaped;
  }
  return StridedView{id, layout};
}

}  // namespace sinter::plan
