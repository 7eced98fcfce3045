// Where in a sequence an element stands, as part of its vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter::nn {

namespace detail {
SINTER_API AnyTensor add_sinusoids(const AnyTensor& x, double max_timescale, std::int64_t offset,
                                   Location where);
SINTER_API AnyTensor rotate(const AnyTensor& x, double theta, bool interleaved, std::int64_t offset,
                            Location where);
}  // namespace detail

/// Adds to the vector at position p
///   sin(p r_i) at 2i and cos(p r_i) at 2i + 1, with r_i = max_timescale^(-2i / d_model).
/// A. Vaswani et al., "Attention is all you need", 2017. Holds no tensors: the numbers are computed where
/// they are added, for sequences of any length.
struct PositionalEncoding {
  double max_timescale = 10000;

  /// (.., length, d_model) -> the same; the first vector stands at position `offset`, which is an argument of
  /// the kernel. Throws ShapeError when d_model is odd, Error when max_timescale is not positive.
  template <std::size_t R>
  requires(R >= 2) Tensor<R> forward(const Tensor<R>& x, std::int64_t offset = 0,
                                     Location where = Location::current())
  const { return Tensor<R>(detail::add_sinusoids(x.dynamic(), max_timescale, offset, where)); }
};

/// Rotates pairs of elements of the vector at position p by the angles p theta^(-2i / d_head): the product of
/// two vectors then depends on the distance of their positions. J. Su et al., "RoFormer", 2021.
struct RotaryEncoding {
  double theta = 10000;
  /// Pairs of neighbours (2i, 2i + 1), as in the paper; false: the pairs (i, i + d_head / 2) of GPT-NeoX and
  /// Llama.
  bool interleaved = true;

  /// (.., length, d_head) -> the same; the first vector stands at position `offset`. Throws ShapeError when
  /// d_head is odd.
  template <std::size_t R>
  requires(R >= 2 && R < kMaxRank) Tensor<R> forward(const Tensor<R>& x, std::int64_t offset = 0,
                                                     Location where = Location::current())
  const { return Tensor<R>(detail::rotate(x.dynamic(), theta, interleaved, offset, where)); }
};

}  // namespace sinter::nn
