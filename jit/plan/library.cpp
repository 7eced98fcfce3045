// Sizes and strides of library ops.
#include "jit/plan/library.h"

#include "jit/plan/lower/index_map.h"

namespace sinter::plan {
namespace {

/// Strides of a matrix product's operand: (batch, row, column), none negative; nothing when one batch stride
/// cannot say it or neither the rows nor the columns are dense.
struct MatrixStrides {
  std::int64_t batch = 0, row = 0, column = 0;
};

std::optional<MatrixStrides> matrix_strides(const Shape& shape, const trace::Layout& layout) {
  const std::size_t rank = shape.rank();
  Shape batch_shape;
  trace::Layout batch_layout;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    batch_shape.push_back(shape[d]);
    batch_layout.strides.push_back(layout.strides[d]);
  }
  trace::Layout joined;
  if (!reshape_layout(batch_shape, batch_layout, Shape{batch_shape.numel()}, joined)) return std::nullopt;
  MatrixStrides strides{joined.strides[0], layout.strides[rank - 2], layout.strides[rank - 1]};
  if (strides.batch < 0) return std::nullopt;
  const std::int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  if (rows == 1) strides.row = columns;
  if (columns == 1) strides.column = strides.row == 1 ? rows : 1;
  const bool row_major = strides.column == 1 && (strides.row >= columns || rows == 1);
  const bool column_major = strides.row == 1 && (strides.column >= rows || columns == 1);
  if (!row_major && !column_major) return std::nullopt;
  return strides;
}

std::optional<MatrixStrides> operand_strides(const Graph& graph, NodeId id, bool copied) {
  const Shape& shape = graph.nodes[id].shape;
  if (copied) return matrix_strides(shape, contiguous_layout(shape));
  const std::optional<StridedView> view = strided_view(graph, id);
  if (!view) return std::nullopt;
  return matrix_strides(shape, view->layout);
}

ir::LibraryOp make_matmul(const Graph& graph, const Node& node, const bool (&copied)[2]) {
  const Shape& a = graph.nodes[node.operands[0]].shape;
  const Shape& b = graph.nodes[node.operands[1]].shape;
  const std::size_t rank = a.rank();
  ir::MatMulOp op;
  op.dtype = node.dtype;
  for (std::size_t d = 0; d + 2 < rank; ++d) op.batch *= a[d];
  op.m = a[rank - 2];
  op.k = a[rank - 1];
  op.n = b[rank - 1];
  const MatrixStrides x = *operand_strides(graph, node.operands[0], copied[0]);
  const MatrixStrides y = *operand_strides(graph, node.operands[1], copied[1]);
  op.a_batch = x.batch, op.a_row = x.row, op.a_column = x.column;
  op.b_batch = y.batch, op.b_row = y.row, op.b_column = y.column;
  // Rows of all batches that follow each other are the rows of one larger matrix: no batch is left.
  if (op.batch > 1 && op.b_batch == 0 && op.a_batch == op.m * op.a_row && op.a_column == 1) {
    op.m *= op.batch;
    op.batch = 1;
    op.a_batch = 0;
  }
  return op;
}

// With fewer channels than this on one side, vectors along the channels are mostly empty.
constexpr std::int64_t kFewChannels = 4;

ir::LibraryOp make_conv2d(const Graph& graph, const Node& node, const bool (&copied)[2]) {
  ir::Conv2dOp op;
  using Direction = ir::Conv2dOp::Direction;
  op.direction = node.op == Op::Conv2d                ? Direction::Forward
                 : node.op == Op::Conv2dBackwardInput ? Direction::BackwardInput
                                                      : Direction::BackwardWeight;
  op.dtype = node.dtype;
  const Shape& first = graph.nodes[node.operands[0]].shape;
  const Shape& second = graph.nodes[node.operands[1]].shape;
  Shape result = node.shape;
  if (node.channels_last) result = {node.shape[0], node.shape[3], node.shape[1], node.shape[2]};
  const Shape& x = op.direction == Direction::BackwardInput ? result : first;
  const Shape& y = op.direction == Direction::Forward         ? result
                   : op.direction == Direction::BackwardInput ? first
                                                              : second;
  const Shape& weight = op.direction == Direction::BackwardWeight ? node.shape : second;
  op.n = x[0], op.c_in = x[1], op.h = x[2], op.w = x[3];
  op.c_out = y[1], op.oh = y[2], op.ow = y[3];
  op.kh = weight[2], op.kw = weight[3];
  for (int i = 0; i < 2; ++i) {
    op.stride[i] = node.ints[i];
    op.padding[i] = node.ints[2 + i];
    op.dilation[i] = node.ints[4 + i];
  }
  op.groups = node.ints[6];
  const bool last[2] = {!copied[0] && lies_channels_last(graph, node.operands[0]),
                        !copied[1] && lies_channels_last(graph, node.operands[1])};
  switch (op.direction) {
    case Direction::Forward: op.x_last = last[0], op.y_last = node.channels_last; break;
    case Direction::BackwardInput: op.y_last = last[0], op.x_last = node.channels_last; break;
    case Direction::BackwardWeight: op.x_last = last[0], op.y_last = last[1]; break;
  }
  return op;
}

}  // namespace

bool reads_in_place(const Graph& graph, NodeId user, std::size_t k) {
  const Node& node = graph.nodes[user];
  const NodeId operand = node.operands[k];
  if (node.op == Op::MatMul) return operand_strides(graph, operand, false).has_value();
  const std::optional<StridedView> view = strided_view(graph, operand);
  if (!view) return false;
  trace::Layout layout = view->layout;
  layout.offset = 0;
  return is_contiguous(graph.nodes[operand].shape, layout) ||
         (may_be_channels_last(graph, user, k) && lies_channels_last(graph, operand));
}

bool lies_channels_last(const Graph& graph, NodeId operand) {
  const std::optional<StridedView> view = strided_view(graph, operand);
  const Shape& shape = graph.nodes[operand].shape;
  if (!view || shape.rank() != 4) return false;
  const Dims& s = view->layout.strides;
  const trace::Layout plain{s, 0}, last{{s[0], s[2], s[3], s[1]}, 0};
  return !is_contiguous(shape, plain) && is_contiguous({shape[0], shape[2], shape[3], shape[1]}, last);
}

bool is_convolution(const Node& node) {
  return node.is(OpClass::Library) &&
         (node.op == Op::Conv2d || node.op == Op::Conv2dBackwardInput || node.op == Op::Conv2dBackwardWeight);
}

bool may_be_channels_last(const Graph& graph, NodeId id, std::size_t k) {
  const Node& node = graph.nodes[id];
  if (!graph.channels_last || !is_convolution(node) || node.dtype != DType::f32 || node.ints[6] != 1)
    return false;
  const std::size_t weight = node.op == Op::Conv2dBackwardWeight ? 2 : 1;
  const Shape& channels = weight == 2 ? node.shape : graph.nodes[node.operands[1]].shape;
  return k != weight && channels[0] >= kFewChannels && channels[1] >= kFewChannels;
}

ir::LibraryOp make_library_op(const Graph& graph, NodeId id, const bool (&copied)[2]) {
  const Node& node = graph.nodes[id];
  return node.op == Op::MatMul ? make_matmul(graph, node, copied) : make_conv2d(graph, node, copied);
}

}  // namespace sinter::plan
