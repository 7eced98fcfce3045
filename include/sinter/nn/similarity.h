// How alike two vectors are.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/functions/linalg.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor pairwise_distance(const AnyTensor& a, const AnyTensor& b, double p, double epsilon,
                                       Location where);
}  // namespace detail

/// sum(a b) / (max(|a|, epsilon) max(|b|, epsilon)) along `axis`, which goes.
struct CosineSimilarity {
  std::int64_t axis = 1;
  double epsilon = 1e-8;

  /// Throws ShapeError when the shapes differ.
  template <std::size_t R>
  requires(R >= 1) Tensor<R - 1> forward(const Tensor<R>& a, const Tensor<R>& b,
                                         Location where = Location::current())
  const { return cosine_similarity(a, b, axis, epsilon, where); }
};

/// (sum |a - b + epsilon|^p)^(1/p) along the last axis, which goes; p may be infinite. Where it is 0, so is
/// its gradient.
struct PairwiseDistance {
  double p = 2;
  double epsilon = 1e-6;

  /// Throws ShapeError when the shapes differ, Error when p is not positive.
  template <std::size_t R>
  requires(R >= 1) Tensor<R - 1> forward(const Tensor<R>& a, const Tensor<R>& b,
                                         Location where = Location::current())
  const { return Tensor<R - 1>(detail::pairwise_distance(a.dynamic(), b.dynamic(), p, epsilon, where)); }
};

}  // namespace sinter::nn
