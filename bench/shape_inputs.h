// What the operands of shape-bench's operations are made of.
#pragma once

#include <cstdint>

#include <sinter/sinter.h>

#include "shape_operations.h"

namespace bench {

namespace sn = sinter;
using sn::AnyTensor;
using sn::Device;
using sn::Dims;
using sn::DType;
using sn::Shape;

/// Computed at setup, so that making the operands is not measured.
inline AnyTensor ready(AnyTensor x) {
  x.sync();
  return x;
}

inline AnyTensor normal(const Dims& sizes, DType dtype, const Device& device) {
  return ready(AnyTensor::normal(Shape(sizes), 0, dtype == DType::i8 ? 20 : 1, device).cast(dtype));
}

inline AnyTensor leaf(const Dims& sizes, DType dtype, const Device& device) {
  return normal(sizes, dtype, device.autodiff()).require_grad();
}

/// Numbers from 0 to count - 1. The greatest numbers can round up to `count` before they become integers.
inline AnyTensor indices(const Dims& sizes, std::int64_t count, const Device& device) {
  const AnyTensor x = AnyTensor::uniform(Shape(sizes), 0, static_cast<double>(count), device);
  return ready(AnyTensor::minimum(x.cast(DType::i64), count - 1));
}

inline Tensors one(const Dims& shape, DType dtype, const Device& device) {
  return {normal(shape, dtype, device)};
}

inline Tensors two(const Dims& shape, DType dtype, const Device& device) {
  return {normal(shape, dtype, device), normal(shape, dtype, device)};
}

/// The gradients of the first `leaves` inputs where that of `result` is the last input.
inline Tensors gradients(const AnyTensor& result, const Tensors& in, std::size_t leaves) {
  const AnyTensor product = AnyTensor::mul(result, in.back());
  sn::Gradients found = product.sum(product.all_axes()).backward();
  Tensors of_leaves;
  for (std::size_t i = 0; i < leaves; ++i) of_leaves.push_back(found.remove(in[i]).value());
  return of_leaves;
}

}  // namespace bench
