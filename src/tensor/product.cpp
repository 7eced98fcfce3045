// Matrix products and convolutions.
#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/size_arithmetic.h"

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
  const trace::Value& a = tensor::value_of("matmul", *this, where);
  const trace::Value& b = tensor::value_of("matmul", other, where);
  tensor::check_float("matmul", a.dtype, where);
  tensor::check_same_dtype("matmul", a.dtype, b.dtype, where);
  const std::size_t rank_a = a.shape.rank(), rank_b = b.shape.rank();
  if (rank_a < 2 || rank_b < 2)
    throw ShapeError(
        "[matmul] operands have two axes or more: " + to_string(a.shape) + " x " + to_string(b.shape), where);
  const std::int64_t m = a.shape[rank_a - 2], k = a.shape[rank_a - 1], n = b.shape[rank_b - 1];
  if (b.shape[rank_b - 2] != k)
    throw ShapeError("[matmul] inner dimensions differ: " + to_string(a.shape) + " x " + to_string(b.shape),
                     where);

  if (rank_b == 2 && rank_a > 2 && a.shape.numel() > 0 && n > 0) {
    // One product with many rows: nothing is repeated, and the gradient of `other` is one product too.
    Shape shape(a.shape);
    shape[rank_a - 1] = n;
    return reshape({-1, k}, where).matmul(other, where).reshape(shape, where);
  }
  const Shape batch_a = batch_of(a.shape), batch_b = batch_of(b.shape);
  Shape batch;
  try {
    batch = tensor::broadcast("matmul", batch_a, batch_b, where);
  } catch (const ShapeError&) {
    throw ShapeError(
        "[matmul] leading dimensions do not broadcast: " + to_string(a.shape) + " x " + to_string(b.shape),
        where);
  }
  const Shape shape = with_matrix(batch, m, n);
  if (k == 0) {  // sums of nothing: zeros, with a history like any other product's
    return mul(sum(-1, where), other.sum(-2, where), where).expand(shape, where);
  }
  const AnyTensor wide_a = tensor::broadcast_to(*this, with_matrix(batch, m, k), where);
  const AnyTensor wide_b = tensor::broadcast_to(other, with_matrix(batch, k, n), where);
  const Operand operands[] = {wide_a, wide_b};
  return tensor::apply(Op::MatMul, operands, {}, {}, shape, a.dtype, where);
}

AnyTensor AnyTensor::conv2d(const AnyTensor& weight, const Conv2dOptions& options, Location where) const {
  const trace::Value& x = tensor::value_of("conv2d", *this, where);
  const trace::Value& w = tensor::value_of("conv2d", weight, where);
  tensor::check_float("conv2d", x.dtype, where);
  tensor::check_same_dtype("conv2d", x.dtype, w.dtype, where);
  if (x.shape.rank() != 4 || w.shape.rank() != 4)
    throw ShapeError(
        "[conv2d] input and weight have four axes, not " + to_string(x.shape) + " and " + to_string(w.shape),
        where);
  const std::int64_t groups = options.groups;
  if (groups < 1 || w.shape[0] % groups != 0)
    throw ShapeError("[conv2d] the " + std::to_string(w.shape[0]) + " output channels of weight " +
                         to_string(w.shape) + " do not divide into " + std::to_string(groups) + " groups",
                     where);
  if (x.shape[1] != tensor::SizeArithmetic("conv2d", where).product(w.shape[1], groups))
    throw ShapeError("[conv2d] input " + to_string(x.shape) + " has " + std::to_string(x.shape[1]) +
                         " channels, weight " + to_string(w.shape) + " with " + std::to_string(groups) +
                         " group(s) takes " + std::to_string(w.shape[1] * groups),
                     where);
  const tensor::SizeArithmetic sizes("conv2d", where);
  Shape shape{x.shape[0], w.shape[0], 0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    if (options.stride[i] < 1 || options.dilation[i] < 1 || options.padding[i] < 0)
      throw ShapeError("[conv2d] stride and dilation are one or more, padding zero or more; not " +
                           std::to_string(options.stride[i]) + ", " + std::to_string(options.dilation[i]) +
                           " and " + std::to_string(options.padding[i]),
                       where);
    const std::int64_t reach = sizes.sum(sizes.product(options.dilation[i], w.shape[2 + i] - 1), 1);
    const std::int64_t padded = sizes.sum(x.shape[2 + i], sizes.product(2, options.padding[i]));
    if (w.shape[2 + i] < 1 || reach > padded)
      throw ShapeError("[conv2d] weight " + to_string(w.shape) + " reaches over " + std::to_string(reach) +
                           " elements, input " + to_string(x.shape) + " has " + std::to_string(padded) +
                           " with padding",
                       where);
    shape[2 + i] = (padded - reach) / options.stride[i] + 1;
  }
  const std::int64_t ints[] = {options.stride[0],
                               options.stride[1],
                               options.padding[0],
                               options.padding[1],
                               options.dilation[0],
                               options.dilation[1],
                               groups};
  return tensor::convolve(Op::Conv2d, *this, weight, ints, shape, where);
}

namespace tensor {

AnyTensor convolve(Op op, const AnyTensor& a, const AnyTensor& b, std::span<const std::int64_t> ints,
                   const Shape& shape, const Location& where) {
  const Operand operands[] = {a, b};
  return apply(op, operands, ints, {}, shape, a.value()->dtype, where);
}

}  // namespace tensor

}  // namespace sinter
