// Asks kinds what they read in place.
#include "jit/plan/library.h"

#include <absl/container/flat_hash_map.h>

#include "jit/library/kinds.h"

namespace sinter::plan {
namespace {

bool reads_in_place(const Graph& graph, const library::Kind& kind, const library::Signature& signature,
                    std::size_t k, const ViewLayout& layout) {
  return kind.reads_in_place(signature, k, layout) ||
         (graph.channels_last && takes_channels_last(kind.operand_order(signature, k)) &&
          library::is_channels_last(signature.operands[k].shape, layout));
}

/// Below dims in another order, a reshape that strides do not express and that is to be stored: one copy
/// serves a product and one that reads it transposed. Nothing where there is none.
std::optional<StridedView> reordered_copy(const Graph& graph, NodeId operand) {
  std::vector<NodeId> orders;
  for (; graph.nodes[operand].op == Op::Permute; operand = graph.nodes[operand].operands[0])
    orders.push_back(operand);
  if (orders.empty() || graph.nodes[operand].op != Op::Reshape) return std::nullopt;
  StridedView view{operand, trace::contiguous_layout(graph.nodes[operand].shape)};
  for (; !orders.empty(); orders.pop_back())
    view.layout = view_layout(graph, graph.nodes[orders.back()], view.layout);
  return view;
}

}  // namespace

LibraryCall library_call(const Graph& graph, NodeId id) {
  const Node& node = graph.nodes[id];
  LibraryCall call;
  if (node.is(OpClass::Join)) {
    call.is_join = true;
    for (const NodeId piece : node.operands)
      call.operands.push_back({piece, trace::contiguous_layout(graph.nodes[piece].shape)});
    call.results = {id};
    return call;
  }
  call.signature = signature_of(graph, node);
  const library::Kind& kind = kind_of(node);
  for (std::size_t k = 0; k < node.operands.size(); ++k) {
    const NodeId operand = node.operands[k];
    std::optional<StridedView> view = strided_view(graph, operand);
    if (!view) view = reordered_copy(graph, operand);
    if (view && reads_in_place(graph, kind, call.signature, k, view->layout))
      call.operands.push_back({view->base, std::move(view->layout)});
    else
      call.operands.push_back({operand, trace::contiguous_layout(graph.nodes[operand].shape)});
  }
  call.results.assign(kind.result_count(), kNoNode);
  call.results[0] = id;
  return call;
}

const library::Kind& kind_of(const Node& node) { return library::kind_of(node.op, node.ints); }

library::Signature signature_of(const Graph& graph, const Node& node) {
  const library::Kind& kind = kind_of(node);
  const std::span<const std::int64_t> ints = library::attributes_of(node.op, node.ints);
  library::Signature signature;
  for (NodeId operand : node.operands)
    signature.operands.push_back({graph.nodes[operand].shape, graph.nodes[operand].dtype});
  signature.ints.assign(ints.begin(), ints.end());
  signature.precision = node.precision;
  signature.results.resize(kind.result_count());
  // Products may read i8 and read and write 16-bit floats (absorb_casts), of which the kind need not know.
  std::vector<library::TensorType> computed = signature.operands;
  for (library::TensorType& operand : computed)
    operand.dtype = arithmetic_of(node.op == Op::MatMul ? node.dtype : operand.dtype);
  kind.infer(computed, ints, signature.results, Location::current());
  for (library::TensorType& result : signature.results) result.dtype = arithmetic_of(result.dtype);
  signature.results[0].dtype = node.dtype;
  return signature;
}

std::vector<LibraryCall> library_calls(const Graph& graph) {
  std::vector<LibraryCall> calls;
  absl::flat_hash_map<NodeId, std::size_t> call_of_node;
  for (NodeId id = 0; id < graph.nodes.size(); ++id) {
    const Node& node = graph.nodes[id];
    if (node.is(OpClass::Library) || node.is(OpClass::Join)) {
      call_of_node.emplace(id, calls.size());
      calls.push_back(library_call(graph, id));
    } else if (node.is(OpClass::Result)) {
      calls[call_of_node.at(node.operands[0])].results[static_cast<std::size_t>(node.ints[0])] = id;
    }
  }
  return calls;
}

void make_library_ops(const Graph& graph, const std::vector<bool>& stored, std::span<LibraryCall> calls) {
  for (LibraryCall& call : calls) {
    if (call.is_join) continue;
    const Node& node = graph.nodes[call.results[0]];
    for (std::size_t k = 0; k < call.operands.size(); ++k) {
      const NodeId operand = node.operands[k];
      if (stored[operand]) call.operands[k] = {operand, trace::contiguous_layout(graph.nodes[operand].shape)};
    }
    make_library_op(graph, call);
  }
}

void make_library_op(const Graph& graph, LibraryCall& call) {
  library::Request request{call.signature, {}, {}};
  for (const LibraryOperand& read : call.operands) request.layouts.push_back({read.layout.strides, 0});
  for (NodeId result : call.results) request.channels_last.push_back(graph.nodes[result].channels_last);
  call.op = kind_of(graph.nodes[call.results[0]]).make(request);
  std::vector<LibraryRead> reads;
  reads.reserve(call.operands.size());
  for (std::size_t k = 0; k < call.operands.size(); ++k)
    reads.push_back({call.signature.operands[k].shape, call.operands[k].layout});
  call.reads = std::make_shared<const std::vector<LibraryRead>>(std::move(reads));
}

}  // namespace sinter::plan
