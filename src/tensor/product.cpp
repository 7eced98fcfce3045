// Matrix products and convolutions.
#include <algorithm>
#include <array>

#include "jit/library/conv2d.h"
#include "jit/library/kinds.h"
#include "jit/library/matmul.h"
#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"
#include "src/tensor/elementwise.h"

namespace sinter {

namespace {

/// `batch` with the last two sizes of a matrix behind it.
Shape with_matrix(const Shape& batch, std::int64_t rows, std::int64_t columns) {
  Shape shape(batch);
  shape.push_back(rows);
  shape.push_back(columns);
  return shape;
}

Shape batch_of(const Shape& shape) {
  return Shape(Dims(std::span<const std::int64_t>(shape.begin(), shape.rank() - 2)));
}

}  // namespace

AnyTensor AnyTensor::matmul(const AnyTensor& other, Location where) const {
  if (tensor::autocasts()) {
    const AnyTensor a = tensor::autocast_factor(*this, where), b = tensor::autocast_factor(other, where);
    const Autocast cast_already(std::nullopt);
    return a.matmul(b, where);
  }
  const trace::Value& a = tensor::value_of("matmul", *this, where);
  const trace::Value& b = tensor::value_of("matmul", other, where);
  trace::TensorType result;
  const trace::TensorType operands[] = {{a.shape, a.dtype}, {b.shape, b.dtype}};
  library::matmul().infer(operands, {}, std::span(&result, 1), where);
  const Shape& shape = result.shape;
  const std::size_t rank_a = a.shape.rank(), rank_b = b.shape.rank();
  const std::int64_t m = a.shape[rank_a - 2], k = a.shape[rank_a - 1], n = b.shape[rank_b - 1];

  if (rank_b == 2 && rank_a > 2 && a.shape.numel() > 0 && n > 0) {
    // One product with many rows: nothing is repeated, and the gradient of `other` is one product too.
    return reshape({-1, k}, where).matmul(other, where).reshape(shape, where);
  }
  if (k == 0) {  // sums of nothing: zeros, with a history like any other product's
    return mul(sum(-1, where), other.sum(-2, where), where).expand(shape, where);
  }
  const Shape batch = batch_of(shape);
  AnyTensor view_a, view_b;
  const Operand wide[] = {tensor::seen_as(*this, with_matrix(batch, m, k), view_a, where),
                          tensor::seen_as(other, with_matrix(batch, k, n), view_b, where)};
  return tensor::apply(Op::MatMul, wide, {}, {}, shape, result.dtype, where);
}

AnyTensor AnyTensor::conv2d(const AnyTensor& weight, const Conv2dOptions& options, Location where) const {
  if (tensor::autocasts()) {
    const AnyTensor x = tensor::autocast_factor(*this, where), w = tensor::autocast_factor(weight, where);
    const Autocast cast_already(std::nullopt);
    return x.conv2d(w, options, where);
  }
  const Operand operands[] = {*this, weight};
  const std::int64_t ints[] = {options.stride[0],  options.stride[1],   options.padding[0],
                               options.padding[1], options.dilation[0], options.dilation[1],
                               options.groups};
  return tensor::apply_library(library::conv2d(library::Conv2dOp::Direction::Forward), operands, ints, where);
}

AnyTensor tensor::convolve(Op op, const AnyTensor& a, const AnyTensor& b, std::span<const std::int64_t> ints,
                           const Shape& shape, const Location& where) {
  const Operand operands[] = {a, b};
  std::array<std::int64_t, 13> attributes;  // of the gradients: the sizes of the result too
  const auto sizes = std::copy(ints.begin(), ints.end(), attributes.begin());
  const bool is_forward = op == Op::Conv2d || op == Op::Conv3d;
  const auto end = is_forward ? sizes : std::copy(shape.begin() + 2, shape.end(), sizes);
  return apply_library(library::kind_of(op, {}), operands, std::span(attributes.begin(), end), where);
}

}  // namespace sinter
