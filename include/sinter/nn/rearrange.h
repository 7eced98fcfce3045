// Layers that only move elements, and one that does nothing.
#pragma once

#include <array>
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
  requires(R >= N) Tensor<N> forward(const Tensor<R>& x, Location where = Location::current())
  const { return x.template flatten<N>(where); }
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

/// The windows of images as columns: (n, c, h, w) -> (n, c kernel, windows). See sinter::unfold.
struct Unfold {
  WindowOptions windows;
  Tensor<3> forward(const Tensor<4>& x, Location where = Location::current()) const {
    return unfold(x, windows, where);
  }
};

/// The sum of columns at the places of their windows: (n, c kernel, windows) -> (n, c, h, w). Throws
/// ShapeError when the columns are not those of such images.
struct Fold {
  std::array<std::int64_t, 2> output;  // {height, width}
  WindowOptions windows;
  Tensor<4> forward(const Tensor<3>& x, Location where = Location::current()) const {
    return fold(x, output, windows, where);
  }
};

}  // namespace sinter::nn
