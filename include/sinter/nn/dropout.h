// Dropout.
#pragma once

#include <cstddef>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor dropout(const AnyTensor& x, double probability, Location where);
}  // namespace detail

/// In training, zeroes each element with the given probability and divides the others by 1 - probability,
/// which preserves the mean. N. Srivastava et al., "Dropout: a simple way to prevent neural networks from
/// overfitting", JMLR 2014.
///
/// A tensor on a device with autodiff is in training; elsewhere x passes unchanged. So `valid(model)`, the
/// model on the device without autodiff, has dropout off: there is no mode to set and none to forget.
struct Dropout {
  double probability = 0.5;

  /// Throws Error when the probability is not in [0, 1].
  template <std::size_t R>
  Tensor<R> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return Tensor<R>(detail::dropout(x.any(), probability, where));
  }
};

}  // namespace sinter::nn
