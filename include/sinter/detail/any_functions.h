// The free functions of one tensor and what goes with it (functions/*.h, where they are explained), as
// methods of tensors whose rank is known at run time only: x.softmax(1) is softmax(x, 1).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/error.h>
#include <sinter/functions/options.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>

namespace sinter {

class AnyTensor;
class Generator;
struct AnyIndexed;
struct AnyUnique;
struct Difference;
template <class T>
struct HistogramOf;

namespace detail {

/// The base of AnyTensor.
class SINTER_API AnyFunctions {
 public:
  // ---- elementwise
  AnyTensor frac(Location where = Location::current()) const;
  AnyTensor deg2rad(Location where = Location::current()) const;
  AnyTensor rad2deg(Location where = Location::current()) const;
  AnyTensor sinc(Location where = Location::current()) const;
  AnyTensor logit(Location where = Location::current()) const;
  AnyTensor nan_to_num(double nan, double high, double low, Location where = Location::current()) const;
  AnyTensor logaddexp(const AnyTensor& other, Location where = Location::current()) const;
  AnyTensor xlogy(const AnyTensor& other, Location where = Location::current()) const;

  // ---- activations
  AnyTensor relu(Location where = Location::current()) const;
  AnyTensor relu6(Location where = Location::current()) const;
  AnyTensor leaky_relu(double slope = 0.01, Location where = Location::current()) const;
  AnyTensor prelu(const AnyTensor& slopes, Location where = Location::current()) const;
  AnyTensor elu(double alpha = 1, Location where = Location::current()) const;
  AnyTensor celu(double alpha = 1, Location where = Location::current()) const;
  AnyTensor selu(Location where = Location::current()) const;
  AnyTensor gelu(Location where = Location::current()) const;
  AnyTensor gelu_tanh(Location where = Location::current()) const;
  AnyTensor silu(Location where = Location::current()) const;
  AnyTensor mish(Location where = Location::current()) const;
  AnyTensor hard_sigmoid(Location where = Location::current()) const;
  AnyTensor hard_swish(Location where = Location::current()) const;
  AnyTensor hardtanh(double low = -1, double high = 1, Location where = Location::current()) const;
  AnyTensor log_sigmoid(Location where = Location::current()) const;
  AnyTensor softplus(double beta = 1, Location where = Location::current()) const;
  AnyTensor softsign(Location where = Location::current()) const;
  AnyTensor tanhshrink(Location where = Location::current()) const;
  AnyTensor hard_shrink(double lambda = 0.5, Location where = Location::current()) const;
  AnyTensor soft_shrink(double lambda = 0.5, Location where = Location::current()) const;
  AnyTensor shrink(double lambda = 0.5, double bias = 0, Location where = Location::current()) const;
  AnyTensor threshold(double limit, double value, Location where = Location::current()) const;
  AnyTensor glu(std::int64_t axis = -1, Location where = Location::current()) const;
  AnyTensor swiglu(std::int64_t axis = -1, Location where = Location::current()) const;
  AnyTensor softmax(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor log_softmax(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor softmin(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor quiet_softmax(std::int64_t axis, Location where = Location::current()) const;

  // ---- convolutions, windows, images
  AnyTensor conv1d(const AnyTensor& weight, const ConvOptions<1>& options = {},
                   Location where = Location::current()) const;
  AnyTensor conv3d(const AnyTensor& weight, const ConvOptions<3>& options = {},
                   Location where = Location::current()) const;
  AnyTensor conv_transpose1d(const AnyTensor& weight, const ConvTransposeOptions<1>& options = {},
                             Location where = Location::current()) const;
  AnyTensor conv_transpose2d(const AnyTensor& weight, const ConvTransposeOptions<2>& options = {},
                             Location where = Location::current()) const;
  AnyTensor conv_transpose3d(const AnyTensor& weight, const ConvTransposeOptions<3>& options = {},
                             Location where = Location::current()) const;
  AnyTensor unfold(const WindowOptions& options, Location where = Location::current()) const;
  AnyTensor fold(const std::array<std::int64_t, 2>& sizes, const WindowOptions& options,
                 Location where = Location::current()) const;
  AnyTensor pixel_shuffle(std::int64_t factor, Location where = Location::current()) const;
  AnyTensor pixel_unshuffle(std::int64_t factor, Location where = Location::current()) const;
  AnyTensor interpolate(const Dims& to, Interpolation mode, bool align_corners = false,
                        Location where = Location::current()) const;
  AnyTensor grid_sample_2d(const AnyTensor& grid, Interpolation mode = Interpolation::Linear,
                           OutsideImage outside = OutsideImage::Zeros, bool align_corners = false,
                           Location where = Location::current()) const;

  // ---- products and diagonals
  AnyTensor dot(const AnyTensor& other, Location where = Location::current()) const;
  AnyTensor outer(const AnyTensor& other, Location where = Location::current()) const;
  AnyTensor matvec(const AnyTensor& vector, Location where = Location::current()) const;
  AnyTensor diagonal(std::int64_t diagonal = 0, Location where = Location::current()) const;
  AnyTensor diag_embed(std::int64_t diagonal = 0, Location where = Location::current()) const;
  AnyTensor cross(const AnyTensor& other, std::int64_t axis = -1, Location where = Location::current()) const;
  AnyTensor kron(const AnyTensor& other, Location where = Location::current()) const;
  AnyTensor cosine_similarity(const AnyTensor& other, std::int64_t axis = 1, double epsilon = 1e-8,
                              Location where = Location::current()) const;

  // ---- random choices
  AnyTensor categorical(std::int64_t axis = -1, Location where = Location::current()) const;
  AnyTensor multinomial(std::int64_t count, bool replacement = false,
                        Location where = Location::current()) const;
  AnyTensor shuffle(std::int64_t axis = 0, Location where = Location::current()) const;
  AnyTensor categorical(std::int64_t axis, Generator& generator, Location where = Location::current()) const;
  AnyTensor multinomial(std::int64_t count, bool replacement, Generator& generator,
                        Location where = Location::current()) const;
  AnyTensor shuffle(std::int64_t axis, Generator& generator, Location where = Location::current()) const;

  AnyTensor repeat_interleave(std::int64_t count, std::int64_t axis,
                              Location where = Location::current()) const;

  // ---- scans
  AnyTensor cumsum(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const;
  AnyTensor cumprod(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const;
  AnyTensor logcumsumexp(std::int64_t axis, ScanOptions options = {},
                         Location where = Location::current()) const;
  AnyTensor diff(std::int64_t times = 1, std::int64_t axis = -1, Location where = Location::current()) const;
  AnyIndexed cummax(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const;
  AnyIndexed cummin(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const;

  // ---- indexed writes and reads
  AnyTensor scatter(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                    Location where = Location::current()) const;
  AnyTensor scatter_fill(std::int64_t axis, const AnyTensor& index, Scalar number,
                         Location where = Location::current()) const;
  AnyTensor scatter_reduce(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                           ScatterReduction reduction, bool include_self = true,
                           Location where = Location::current()) const;
  AnyTensor index_copy(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                       Location where = Location::current()) const;
  AnyTensor index_fill(std::int64_t axis, const AnyTensor& index, Scalar number,
                       Location where = Location::current()) const;
  AnyTensor index_reduce(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                         ScatterReduction reduction, bool include_self = true,
                         Location where = Location::current()) const;
  AnyTensor take(const AnyTensor& index, Location where = Location::current()) const;
  AnyTensor take_along_dim(const AnyTensor& index, std::int64_t axis,
                           Location where = Location::current()) const;
  AnyTensor gather_nd(const AnyTensor& index, Location where = Location::current()) const;
  AnyTensor scatter_nd(const AnyTensor& index, const AnyTensor& source,
                       Location where = Location::current()) const;
  AnyTensor scatter_nd_add(const AnyTensor& index, const AnyTensor& source,
                           Location where = Location::current()) const;
  AnyTensor scatter_nd_reduce(const AnyTensor& index, const AnyTensor& source, ScatterReduction reduction,
                              bool include_self = true, Location where = Location::current()) const;

  // ---- sorting, searching, counting
  AnyIndexed sort(std::int64_t axis = -1, bool descending = false,
                  Location where = Location::current()) const;
  AnyTensor argsort(std::int64_t axis = -1, bool descending = false,
                    Location where = Location::current()) const;
  AnyIndexed topk(std::int64_t k, std::int64_t axis = -1, bool largest = true,
                  Location where = Location::current()) const;
  AnyIndexed kthvalue(std::int64_t k, std::int64_t axis = -1, Location where = Location::current()) const;
  AnyIndexed median(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor median(Location where = Location::current()) const;
  AnyTensor quantile(double q, std::int64_t axis, Location where = Location::current()) const;
  AnyIndexed max_with_indices(std::int64_t axis, Location where = Location::current()) const;
  AnyIndexed min_with_indices(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor searchsorted(const AnyTensor& values, bool right = false,
                         Location where = Location::current()) const;
  AnyTensor bucketize(const AnyTensor& boundaries, bool right = false,
                      Location where = Location::current()) const;
  AnyTensor nonzero(Location where = Location::current()) const;
  AnyTensor argwhere(Location where = Location::current()) const;
  AnyTensor mask_select(const AnyTensor& mask, Location where = Location::current()) const;
  AnyUnique unique(Location where = Location::current()) const;
  AnyTensor bincount(std::int64_t least = 0, Location where = Location::current()) const;
  AnyTensor bincount(const AnyTensor& weights, std::int64_t least = 0,
                     Location where = Location::current()) const;
  AnyTensor histc(std::int64_t bins, double low, double high, Location where = Location::current()) const;
  HistogramOf<AnyTensor> histogram(std::int64_t bins, double low, double high,
                                   Location where = Location::current()) const;

  // ---- reductions composed of others, and comparisons
  AnyTensor logsumexp(const Axes& axes, Location where = Location::current()) const;
  std::pair<AnyTensor, AnyTensor> var_mean(const Axes& axes, double correction = 1,
                                           Location where = Location::current()) const;
  std::pair<AnyTensor, AnyTensor> std_mean(const Axes& axes, double correction = 1,
                                           Location where = Location::current()) const;
  AnyTensor max_abs(const Axes& axes, Location where = Location::current()) const;
  AnyTensor norm(double p, const Axes& axes, Location where = Location::current()) const;
  AnyTensor normalize(double p, const Axes& axes, double epsilon = 1e-12,
                      Location where = Location::current()) const;
  AnyTensor count_nonzero(const Axes& axes, Location where = Location::current()) const;
  AnyTensor nansum(const Axes& axes, Location where = Location::current()) const;
  AnyTensor nanmean(const Axes& axes, Location where = Location::current()) const;
  AnyTensor contains_nan(Location where = Location::current()) const;
  AnyTensor cov(double correction = 1, Location where = Location::current()) const;
  AnyTensor corrcoef(Location where = Location::current()) const;
  AnyTensor is_close(const AnyTensor& other, double relative = 1e-5, double absolute = 1e-8,
                     bool equal_nan = false, Location where = Location::current()) const;
  Difference all_close(const AnyTensor& other, double relative = 1e-5, double absolute = 1e-8,
                       bool equal_nan = false, Location where = Location::current()) const;

 protected:
  AnyFunctions() = default;
};

}  // namespace detail

}  // namespace sinter
