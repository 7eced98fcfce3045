// The functions of typed tensors whose ranks are fixed: those of their handles.
#include <sinter/functions/convolution.h>
#include <sinter/functions/image.h>
#include <sinter/functions/linalg.h>
#include <sinter/functions/sort.h>
#include <sinter/functions/statistics.h>

namespace sinter {

Tensor<3> conv1d(const Tensor<3>& x, const Tensor<3>& weight, const ConvOptions<1>& options, Location where) {
  return {detail::trusted, conv1d(x.dynamic(), weight.dynamic(), options, where)};
}

Tensor<4> conv2d(const Tensor<4>& x, const Tensor<4>& weight, const Conv2dOptions& options, Location where) {
  return x.conv2d(weight, options, where);
}

Tensor<5> conv3d(const Tensor<5>& x, const Tensor<5>& weight, const ConvOptions<3>& options, Location where) {
  return {detail::trusted, conv3d(x.dynamic(), weight.dynamic(), options, where)};
}

Tensor<3> conv_transpose1d(const Tensor<3>& x, const Tensor<3>& weight,
                           const ConvTransposeOptions<1>& options, Location where) {
  return {detail::trusted, conv_transpose1d(x.dynamic(), weight.dynamic(), options, where)};
}

Tensor<4> conv_transpose2d(const Tensor<4>& x, const Tensor<4>& weight,
                           const ConvTransposeOptions<2>& options, Location where) {
  return {detail::trusted, conv_transpose2d(x.dynamic(), weight.dynamic(), options, where)};
}

Tensor<5> conv_transpose3d(const Tensor<5>& x, const Tensor<5>& weight,
                           const ConvTransposeOptions<3>& options, Location where) {
  return {detail::trusted, conv_transpose3d(x.dynamic(), weight.dynamic(), options, where)};
}

Tensor<3> unfold(const Tensor<4>& x, const WindowOptions& options, Location where) {
  return {detail::trusted, unfold(x.dynamic(), options, where)};
}

Tensor<4> fold(const Tensor<3>& x, const std::array<std::int64_t, 2>& sizes, const WindowOptions& options,
               Location where) {
  return {detail::trusted, fold(x.dynamic(), sizes, options, where)};
}

Tensor<4> grid_sample_2d(const Tensor<4>& x, const Tensor<4>& grid, Interpolation mode, OutsideImage outside,
                         bool align_corners, Location where) {
  return {detail::trusted, grid_sample_2d(x.dynamic(), grid.dynamic(), mode, outside, align_corners, where)};
}

Tensor<4> affine_grid_2d(const Tensor<3>& theta, const std::array<std::int64_t, 2>& sizes, bool align_corners,
                         Location where) {
  return {detail::trusted, affine_grid_2d(theta.dynamic(), sizes, align_corners, where)};
}

Tensor<0> dot(const Tensor<1>& a, const Tensor<1>& b, Location where) {
  return {detail::trusted, dot(a.dynamic(), b.dynamic(), where)};
}

Tensor<2> kron(const Tensor<2>& a, const Tensor<2>& b, Location where) {
  return {detail::trusted, kron(a.dynamic(), b.dynamic(), where)};
}

Tensor<1, Int> bincount(const Tensor<1, Int>& x, std::int64_t least, Location where) {
  return {detail::trusted, bincount(x.dynamic(), least, where)};
}

Tensor<2> cov(const Tensor<2>& x, double correction, Location where) {
  return {detail::trusted, cov(x.dynamic(), correction, where)};
}

Tensor<2> corrcoef(const Tensor<2>& x, Location where) {
  return {detail::trusted, corrcoef(x.dynamic(), where)};
}

}  // namespace sinter
