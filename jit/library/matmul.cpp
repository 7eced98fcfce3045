// Shapes, layouts and sizes of matrix products.
#include "jit/library/matmul.h"

#include <algorithm>
#include <optional>

namespace sinter::library {
namespace {

/// Strides of an operand: (batch, row, column), none negative; nothing when one batch stride cannot say it or
/// neither the rows nor the columns are dense.
struct MatrixStrides {
  std::int64_t batch = 0, row = 0, column = 0;
};

std::optional<MatrixStrides> matrix_strides(const Shape& shape, const Layout& layout) {
  const std::size_t rank = shape.rank();
  Shape batch_shape;
  Layout batch_layout;
  for (std::size_t d = 0; d + 2 < rank; ++d) {
    batch_shape.push_back(shape[d]);
    batch_layout.strides.push_back(layout.strides[d]);
  }
  Layout joined;
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

class MatMul final : public Kind {
 public:
  MatMul() : Kind("matmul", 1, Op::MatMul) {}

  void infer(std::span<const TensorType> operands, std::span<const std::int64_t>,
             std::span<TensorType> results, const Location& where) const override {
    const DType dtype = float_dtype_of(name(), operands, where);
    const Shape &a = operands[0].shape, &b = operands[1].shape;
    const std::size_t rank_a = a.rank(), rank_b = b.rank();
    const auto fail = [&](const char* what) {
      throw ShapeError("[matmul] " + std::string(what) + ": " + to_string(a) + " x " + to_string(b), where);
    };
    if (rank_a < 2 || rank_b < 2) fail("operands have two axes or more");
    if (a[rank_a - 1] != b[rank_b - 2]) fail("inner dimensions differ");
    Shape& shape = results[0].shape;
    shape = Shape(Dims::filled(std::max(rank_a, rank_b), 1));
    const std::size_t rank = shape.rank();
    shape[rank - 2] = a[rank_a - 2];
    shape[rank - 1] = b[rank_b - 1];
    for (std::size_t d = 3; d <= rank; ++d) {  // counted from the last dim
      const std::int64_t x = d <= rank_a ? a[rank_a - d] : 1, y = d <= rank_b ? b[rank_b - d] : 1;
      if (x != y && x != 1 && y != 1) fail("leading dimensions do not broadcast");
      shape[rank - d] = x == 1 ? y : x;
    }
    results[0].dtype = dtype;
  }

  bool reads_in_place(const Signature& signature, std::size_t k, const Layout& layout) const override {
    return matrix_strides(signature.operands[k].shape, layout).has_value();
  }

  LibraryOpRef make(const Request& request) const override {
    const Shape &a = request.operands[0].shape, &b = request.operands[1].shape;
    const std::size_t rank = a.rank();
    auto op = std::make_shared<MatMulOp>();
    op->set_dtypes(request);
    for (std::size_t d = 0; d + 2 < rank; ++d) op->batch *= a[d];
    op->m = a[rank - 2];
    op->k = a[rank - 1];
    op->n = b[rank - 1];
    op->precision = request.precision;
    const MatrixStrides x = *matrix_strides(a, request.layouts[0]);
    const MatrixStrides y = *matrix_strides(b, request.layouts[1]);
    op->a_batch = x.batch, op->a_row = x.row, op->a_column = x.column;
    op->b_batch = y.batch, op->b_row = y.row, op->b_column = y.column;
    // Rows of all batches that follow each other are the rows of one larger matrix: no batch is left.
    if (op->batch > 1 && op->b_batch == 0 && op->a_batch == op->m * op->a_row && op->a_column == 1) {
      op->m *= op->batch;
      op->batch = 1;
      op->a_batch = 0;
    }
    return op;
  }
};

}  // namespace

const Kind& matmul() {
  static const MatMul& kind = *new MatMul;  // never destroyed: threads may plan
  return kind;
}

const Kind& MatMulOp::kind() const { return matmul(); }

std::string MatMulOp::key() const {
  return joined({static_cast<int>(dtype), batch, m, n, k, a_batch, a_row, a_column, b_batch, b_row, b_column,
                 static_cast<int>(precision)}) +
         stored_text();
}

std::string MatMulOp::describe() const {
  return "matmul " + joined({batch, m, k}, "x") + " * " + joined({k, n}, "x") + stored_text();
}

std::int64_t MatMulOp::elements_read(std::size_t operand) const {
  return operand == 0 ? (a_batch == 0 ? 1 : batch) * m * k : (b_batch == 0 ? 1 : batch) * k * n;
}

std::int64_t MatMulOp::elements_written(std::size_t) const { return batch * m * n; }

}  // namespace sinter::library
