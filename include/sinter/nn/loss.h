// Loss functions.
#pragma once

#include <cstddef>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// The mean over the batch of -log softmax(logits)[target].
///
/// logits (n, classes), targets (n) with values 0 to classes - 1. Any other target makes the loss NaN:
/// checking it would have to wait for the device. Throws ShapeError when the batch sizes differ or are 0.
SINTER_API Tensor<0> cross_entropy(const Tensor<2>& logits, const Tensor<1, Int>& targets,
                                   Location where = Location::current());

namespace detail {
SINTER_API AnyTensor mse(const AnyTensor& prediction, const AnyTensor& target, Location where);
}  // namespace detail

/// The mean of (prediction - target)^2 over all elements. Throws ShapeError when the shapes differ.
template <std::size_t R>
Tensor<0> mse(const Tensor<R>& prediction, const Tensor<R>& target, Location where = Location::current()) {
  return Tensor<0>(detail::mse(prediction.any(), target.any(), where));
}

}  // namespace sinter::nn
