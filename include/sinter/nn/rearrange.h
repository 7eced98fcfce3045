// Layers that only move elements, and one that does nothing.
#pragma once

#include <cstddef>
#include <cstdint>

#include <sinter/functions/convolution.h>
#include <sinter/tensor.h>

namespace sinter::nn {

/// x itself, where a layer is wanted.
struct Identity {
  template <std::size_t R, class Kind>
  Tensor<R, Kind> forward(const Tensor<R, Kind>& x) const {
    return x;
  }
};

/// Keeps the first N - 1 axes and makes the others one: Flatten<2> is (n, ..) -> (n, product of the others).
template <std::size_t N = 2>
struct Flatten {
  template <std::size_t R>
  Tensor<N> forward(const Tensor<R>& x, Location where = Location::current()) const {
    return x.template flatten<N>(where);
  }
};

/// Channels become space: (.., c f^2, h, w) -> (.., c, h f, w f). W. Shi et al., "Real-time single image and
/// video super-resolution using an efficient sub-pixel convolutional neural network", CVPR 2016. Throws
/// ShapeError when f^2 does not divide the channels.
struct PixelShuffle {
  std::int64_t factor;
  template <std::size_t R>
  requires(R >= 3) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return pixel_shuffle(x, factor, where); }
};

/// The opposite: (.., c, h f, w f) -> (.., c f^2, h, w). Throws ShapeError when f does not divide the image.
struct PixelUnshuffle {
  std::int64_t factor;
  template <std::size_t R>
  requires(R >= 3) Tensor<R> forward(const Tensor<R>& x, Location where = Location::current())
  const { return pixel_unshuffle(x, factor, where); }
};

}  // namespace sinter::nn
