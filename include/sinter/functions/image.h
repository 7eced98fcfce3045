// Images at other sizes and places: interpolation, sampling at given points, grids of affine maps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// x (n, c, ..sizes) -> (n, c, ..to), each axis behind the channels by itself. `align_corners`: the first and
/// last elements keep their places; else elements are areas, whose edges keep theirs. Nearest knows no such
/// difference. Neighbours beyond the ends are the last elements.
SINTER_API AnyTensor interpolate(const AnyTensor& x, const Dims& to, Interpolation mode,
                                 bool align_corners = false, Location where = Location::current());

/// x (n, c, h, w), grid (n, oh, ow, 2) of points (x, y), -1 to 1 over the image -> (n, c, oh, ow). Nearest
/// (ties to even) and Linear. Differentiable in x and, for Linear, in grid.
SINTER_API AnyTensor grid_sample_2d(const AnyTensor& x, const AnyTensor& grid,
                                    Interpolation mode = Interpolation::Linear,
                                    OutsideImage outside = OutsideImage::Zeros, bool align_corners = false,
                                    Location where = Location::current());
/// The points of an image of {height, width} under maps theta (n, 2, 3): (n, height, width, 2), as
/// grid_sample_2d takes them (Jaderberg et al., "Spatial transformer networks", 2015).
SINTER_API AnyTensor affine_grid_2d(const AnyTensor& theta, const std::array<std::int64_t, 2>& sizes,
                                    bool align_corners = false, Location where = Location::current());

/// interpolate(x, {h, w}, mode): the rank says how many sizes there are.
template <std::size_t Rank>
requires(Rank >= 3) Tensor<Rank> interpolate(const Tensor<Rank>& x, const Sizes<Rank - 2>& to,
                                             Interpolation mode, bool align_corners = false,
                                             Location where = Location::current()) {
  return {detail::trusted,
          interpolate(x.dynamic(), static_cast<const Shape&>(to), mode, align_corners, where)};
}
SINTER_API Tensor<4> grid_sample_2d(const Tensor<4>& x, const Tensor<4>& grid,
                                    Interpolation mode = Interpolation::Linear,
                                    OutsideImage outside = OutsideImage::Zeros, bool align_corners = false,
                                    Location where = Location::current());
SINTER_API Tensor<4> affine_grid_2d(const Tensor<3>& theta, const std::array<std::int64_t, 2>& sizes,
                                    bool align_corners = false, Location where = Location::current());

}  // namespace sinter
