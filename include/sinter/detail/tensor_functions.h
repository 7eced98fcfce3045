// The free functions of one tensor and what goes with it (functions/*.h, where they are explained), as
// methods of tensors with rank and kind: x.softmax(1) is softmax(x, 1).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/detail/typed.h>
#include <sinter/sizes.h>

namespace sinter {

template <std::size_t Rank, class Kind>
struct Indexed;
template <std::size_t Rank, class Kind>
struct Unique;

namespace detail {

template <std::size_t Rank, class Kind>
Indexed<Rank, Kind> typed_indexed(AnyIndexed any) {
  return {{trusted, std::move(any.values)}, {trusted, std::move(any.indices)}};
}
template <std::size_t Rank, class Kind>
Unique<Rank, Kind> typed_unique(AnyUnique any) {
  return {
      {trusted, std::move(any.values)}, {trusted, std::move(any.inverse)}, {trusted, std::move(any.counts)}};
}

/// T, as a type that follows from a template's argument: looked at when a method is called, when it is
/// complete.
template <class T, std::size_t Rank>
struct Later {
  using type = T;
};

/// A base of Tensor<Rank, Kind>.
template <std::size_t Rank, class Kind>
class TensorFunctions {
  using Same = Tensor<Rank, Kind>;
  using Mask = Tensor<Rank, Bool>;
  using Positions = Tensor<Rank, Int>;
  using Sum = Tensor<Rank, typename SumOf<Kind>::type>;
  using Operand = OperandOf<Rank, Kind>;
  using Found = Indexed<Rank, Kind>;
  using Matrix = typename Later<Tensor<2, Int>, Rank>::type;
  using Counts = typename Later<Tensor<1, Int>, Rank>::type;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;

 public:
#define SINTER_METHOD(name, Argument, argument, ...)                                                     \
  Same name(Argument argument __VA_ARGS__, Location where = Location::current()) const requires kFloat { \
    return made(here().name(argument, where));                                                           \
  }
#define SINTER_METHOD_ALONE(name) \
  Same name(Location where = Location::current()) const requires kFloat { return made(here().name(where)); }
  // ---- elementwise
  SINTER_METHOD_ALONE(frac)
  SINTER_METHOD_ALONE(deg2rad)
  SINTER_METHOD_ALONE(rad2deg)
  SINTER_METHOD_ALONE(sinc)
  SINTER_METHOD_ALONE(logit)
  Same logaddexp(const Same& other, Location where = Location::current()) const requires kFloat {
    return made(here().logaddexp(other.dynamic(), where));
  }
  Same xlogy(const Same& other, Location where = Location::current()) const requires kFloat {
    return made(here().xlogy(other.dynamic(), where));
  }
  Same nan_to_num(double nan, double high, double low,
                  Location where = Location::current()) const requires kFloat {
    return made(here().nan_to_num(nan, high, low, where));
  }
  Same lerp(const Same& end, Operand weight) const requires kFloat {
    return made(here().lerp(end.dynamic(), weight.operand, weight.where));
  }
  Same clamp(Operand low, Operand high) const requires(!kBool) {
    return made(here().clamp(low.operand, high.operand, low.where));
  }
  Same clamp_min(Operand low) const requires(!kBool) {
    return made(here().clamp_min(low.operand, low.where));
  }
  Same clamp_max(Operand high) const requires(!kBool) {
    return made(here().clamp_max(high.operand, high.where));
  }
  Same floor_divide(Operand other) const requires(!kBool) {
    return made(here().floor_divide(other.operand, other.where));
  }

  // ---- activations
  SINTER_METHOD_ALONE(relu)
  SINTER_METHOD_ALONE(relu6)
  SINTER_METHOD_ALONE(selu)
  SINTER_METHOD_ALONE(gelu)
  SINTER_METHOD_ALONE(gelu_tanh)
  SINTER_METHOD_ALONE(silu)
  SINTER_METHOD_ALONE(mish)
  SINTER_METHOD_ALONE(hard_sigmoid)
  SINTER_METHOD_ALONE(hard_swish)
  SINTER_METHOD_ALONE(log_sigmoid)
  SINTER_METHOD_ALONE(softsign)
  SINTER_METHOD_ALONE(tanhshrink)
  SINTER_METHOD(leaky_relu, double, slope, = 0.01)
  SINTER_METHOD(elu, double, alpha, = 1)
  SINTER_METHOD(celu, double, alpha, = 1)
  SINTER_METHOD(softplus, double, beta, = 1)
  SINTER_METHOD(hard_shrink, double, lambda, = 0.5)
  SINTER_METHOD(soft_shrink, double, lambda, = 0.5)
  SINTER_METHOD(glu, std::int64_t, axis, = -1)
  SINTER_METHOD(swiglu, std::int64_t, axis, = -1)
  SINTER_METHOD(softmax, std::int64_t, axis)
  SINTER_METHOD(log_softmax, std::int64_t, axis)
  SINTER_METHOD(softmin, std::int64_t, axis)
  SINTER_METHOD(quiet_softmax, std::int64_t, axis)
  Same prelu(const HandleOf<1, Float>& slopes, Location where = Location::current()) const requires kFloat {
    return made(here().prelu(slopes.dynamic, where));
  }
  Same hardtanh(double low = -1, double high = 1,
                Location where = Location::current()) const requires kFloat {
    return made(here().hardtanh(low, high, where));
  }
  Same shrink(double lambda = 0.5, double bias = 0,
              Location where = Location::current()) const requires kFloat {
    return made(here().shrink(lambda, bias, where));
  }
  Same threshold(double limit, double value, Location where = Location::current()) const requires kFloat {
    return made(here().threshold(limit, value, where));
  }

  // ---- convolutions, windows, images
  Same conv1d(const Same& weight, const ConvOptions<1>& options = {},
              Location where = Location::current()) const requires(kFloat&& Rank == 3) {
    return made(here().conv1d(weight.dynamic(), options, where));
  }
  Same conv3d(const Same& weight, const ConvOptions<3>& options = {},
              Location where = Location::current()) const requires(kFloat&& Rank == 5) {
    return made(here().conv3d(weight.dynamic(), options, where));
  }
  Same conv_transpose1d(const Same& weight, const ConvTransposeOptions<1>& options = {},
                        Location where = Location::current()) const requires(kFloat&& Rank == 3) {
    return made(here().conv_transpose1d(weight.dynamic(), options, where));
  }
  Same conv_transpose2d(const Same& weight, const ConvTransposeOptions<2>& options = {},
                        Location where = Location::current()) const requires(kFloat&& Rank == 4) {
    return made(here().conv_transpose2d(weight.dynamic(), options, where));
  }
  Same conv_transpose3d(const Same& weight, const ConvTransposeOptions<3>& options = {},
                        Location where = Location::current()) const requires(kFloat&& Rank == 5) {
    return made(here().conv_transpose3d(weight.dynamic(), options, where));
  }
  Tensor<3, Kind> unfold(const WindowOptions& options, Location where = Location::current()) const
      requires(kFloat&& Rank == 4) {
    return {trusted, here().unfold(options, where)};
  }
  Tensor<4, Kind> fold(const std::array<std::int64_t, 2>& sizes, const WindowOptions& options,
                       Location where = Location::current()) const requires(kFloat&& Rank == 3) {
    return {trusted, here().fold(sizes, options, where)};
  }
  Same pixel_shuffle(std::int64_t factor, Location where = Location::current()) const
      requires(kFloat&& Rank >= 3) {
    return made(here().pixel_shuffle(factor, where));
  }
  Same pixel_unshuffle(std::int64_t factor, Location where = Location::current()) const
      requires(kFloat&& Rank >= 3) {
    return made(here().pixel_unshuffle(factor, where));
  }
  Same interpolate(const Sizes<(Rank >= 2 ? Rank - 2 : 0)>& to, Interpolation mode,
                   bool align_corners = false, Location where = Location::current()) const
      requires(kFloat&& Rank >= 3) {
    return made(here().interpolate(static_cast<const Shape&>(to), mode, align_corners, where));
  }
  Same grid_sample_2d(const Same& grid, Interpolation mode = Interpolation::Linear,
                      OutsideImage outside = OutsideImage::Zeros, bool align_corners = false,
                      Location where = Location::current()) const requires(kFloat&& Rank == 4) {
    return made(here().grid_sample_2d(grid.dynamic(), mode, outside, align_corners, where));
  }

  // ---- products and diagonals
  Tensor<0, Kind> dot(const Same& other, Location where = Location::current()) const
      requires(kFloat&& Rank == 1) {
    return {trusted, here().dot(other.dynamic(), where)};
  }
  Tensor<Rank + 1, Kind> outer(const Same& other, Location where = Location::current()) const
      requires(kFloat&& Rank >= 1) {
    return {trusted, here().outer(other.dynamic(), where)};
  }
  Tensor<(Rank ? Rank - 1 : 0), Kind> matvec(const HandleOf<(Rank ? Rank - 1 : 0), Kind>& vector,
                                             Location where = Location::current()) const
      requires(kFloat&& Rank >= 2) {
    return {trusted, here().matvec(vector.dynamic, where)};
  }
  Tensor<(Rank ? Rank - 1 : 0), Kind> diagonal(std::int64_t number = 0,
                                               Location where = Location::current()) const
      requires(Rank >= 2) {
    return {trusted, here().diagonal(number, where)};
  }
  Tensor<Rank + 1, Kind> diag_embed(std::int64_t number = 0, Location where = Location::current()) const
      requires(Rank >= 1) {
    return {trusted, here().diag_embed(number, where)};
  }
  Same cross(const Same& other, std::int64_t axis = -1, Location where = Location::current()) const
      requires(kFloat&& Rank >= 1) {
    return made(here().cross(other.dynamic(), axis, where));
  }
  Same kron(const Same& other, Location where = Location::current()) const requires(kFloat&& Rank == 2) {
    return made(here().kron(other.dynamic(), where));
  }
  Tensor<(Rank ? Rank - 1 : 0), Kind> cosine_similarity(const Same& other, std::int64_t axis = 1,
                                                        double epsilon = 1e-8,
                                                        Location where = Location::current()) const
      requires(kFloat&& Rank >= 1) {
    return {trusted, here().cosine_similarity(other.dynamic(), axis, epsilon, where)};
  }

  // ---- random choices
  Positions categorical(std::int64_t axis = -1, Location where = Location::current()) const requires kFloat {
    return {trusted, here().categorical(axis, where)};
  }
  Positions categorical(std::int64_t axis, Generator& generator,
                        Location where = Location::current()) const requires kFloat {
    return {trusted, here().categorical(axis, generator, where)};
  }
  Positions multinomial(std::int64_t count, bool replacement = false,
                        Location where = Location::current()) const
      requires(kFloat && (Rank == 1 || Rank == 2)) {
    return {trusted, here().multinomial(count, replacement, where)};
  }
  Positions multinomial(std::int64_t count, bool replacement, Generator& generator,
                        Location where = Location::current()) const
      requires(kFloat && (Rank == 1 || Rank == 2)) {
    return {trusted, here().multinomial(count, replacement, generator, where)};
  }
  Same shuffle(std::int64_t axis = 0, Location where = Location::current()) const {
    return made(here().shuffle(axis, where));
  }
  Same shuffle(std::int64_t axis, Generator& generator, Location where = Location::current()) const {
    return made(here().shuffle(axis, generator, where));
  }

  Same repeat_interleave(std::int64_t count, std::int64_t axis, Location where = Location::current()) const {
    return made(here().repeat_interleave(count, axis, where));
  }

  // ---- scans
  Sum cumsum(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const {
    return {trusted, here().cumsum(axis, options, where)};
  }
  Sum cumprod(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const {
    return {trusted, here().cumprod(axis, options, where)};
  }
  Same logcumsumexp(std::int64_t axis, ScanOptions options = {},
                    Location where = Location::current()) const requires kFloat {
    return made(here().logcumsumexp(axis, options, where));
  }
  Same diff(std::int64_t times = 1, std::int64_t axis = -1, Location where = Location::current()) const {
    return made(here().diff(times, axis, where));
  }
  Found cummax(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().cummax(axis, options, where));
  }
  Found cummin(std::int64_t axis, ScanOptions options = {}, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().cummin(axis, options, where));
  }

  // ---- indexed writes and reads
  Same scatter(std::int64_t axis, const Positions& index, const Same& source,
               Location where = Location::current()) const {
    return made(here().scatter(axis, index.dynamic(), source.dynamic(), where));
  }
  Same scatter_fill(std::int64_t axis, const Positions& index, Number<Kind> number,
                    Location where = Location::current()) const {
    return made(here().scatter_fill(axis, index.dynamic(), number.value, where));
  }
  Same scatter_reduce(std::int64_t axis, const Positions& index, const Same& source,
                      ScatterReduction reduction, bool include_self = true,
                      Location where = Location::current()) const {
    return made(
        here().scatter_reduce(axis, index.dynamic(), source.dynamic(), reduction, include_self, where));
  }
  Same index_copy(std::int64_t axis, const HandleOf<1, Int>& index, const Same& source,
                  Location where = Location::current()) const {
    return made(here().index_copy(axis, index.dynamic, source.dynamic(), where));
  }
  Same index_fill(std::int64_t axis, const HandleOf<1, Int>& index, Number<Kind> number,
                  Location where = Location::current()) const {
    return made(here().index_fill(axis, index.dynamic, number.value, where));
  }
  Same index_reduce(std::int64_t axis, const HandleOf<1, Int>& index, const Same& source,
                    ScatterReduction reduction, bool include_self = true,
                    Location where = Location::current()) const {
    return made(here().index_reduce(axis, index.dynamic, source.dynamic(), reduction, include_self, where));
  }
  template <std::size_t Index>
  Tensor<Index, Kind> take(const Tensor<Index, Int>& index, Location where = Location::current()) const {
    return {trusted, here().take(index.dynamic(), where)};
  }
  Same take_along_dim(const Positions& index, std::int64_t axis, Location where = Location::current()) const {
    return made(here().take_along_dim(index.dynamic(), axis, where));
  }

  // ---- sorting, searching, counting
  Found sort(std::int64_t axis = -1, bool descending = false, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().sort(axis, descending, where));
  }
  Positions argsort(std::int64_t axis = -1, bool descending = false,
                    Location where = Location::current()) const {
    return {trusted, here().argsort(axis, descending, where)};
  }
  Found topk(std::int64_t k, std::int64_t axis = -1, bool largest = true,
             Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().topk(k, axis, largest, where));
  }
  Found kthvalue(std::int64_t k, std::int64_t axis = -1, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().kthvalue(k, axis, where));
  }
  Found median(std::int64_t axis, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().median(axis, where));
  }
  Tensor<0, Kind> median(Location where = Location::current()) const {
    return {trusted, here().median(where)};
  }
  Same quantile(double q, std::int64_t axis, Location where = Location::current()) const requires kFloat {
    return made(here().quantile(q, axis, where));
  }
  Found max_with_indices(std::int64_t axis, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().max_with_indices(axis, where));
  }
  Found min_with_indices(std::int64_t axis, Location where = Location::current()) const {
    return typed_indexed<Rank, Kind>(here().min_with_indices(axis, where));
  }
  template <std::size_t Values>
  requires(Rank == 1 || Rank == Values) Tensor<Values, Int> searchsorted(const Tensor<Values, Kind>& values,
                                                                         bool right = false,
                                                                         Location where = Location::current())
  const { return {trusted, here().searchsorted(values.dynamic(), right, where)}; }
  Positions bucketize(const HandleOf<1, Kind>& boundaries, bool right = false,
                      Location where = Location::current()) const {
    return {trusted, here().bucketize(boundaries.dynamic, right, where)};
  }
  Matrix nonzero(Location where = Location::current()) const { return {trusted, here().nonzero(where)}; }
  Matrix argwhere(Location where = Location::current()) const { return {trusted, here().argwhere(where)}; }
  Tensor<1, Kind> mask_select(const Mask& mask, Location where = Location::current()) const {
    return {trusted, here().mask_select(mask.dynamic(), where)};
  }
  Unique<Rank, Kind> unique(Location where = Location::current()) const {
    return typed_unique<Rank, Kind>(here().unique(where));
  }
  Counts bincount(std::int64_t least = 0, Location where = Location::current()) const
      requires(kInt&& Rank == 1) {
    return {trusted, here().bincount(least, where)};
  }
  template <class Weight>
  Tensor<1, Weight> bincount(const Tensor<1, Weight>& weights, std::int64_t least = 0,
                             Location where = Location::current()) const requires(kInt&& Rank == 1) {
    return {trusted, here().bincount(weights.dynamic(), least, where)};
  }
  Tensor<1, Kind> histc(std::int64_t bins, double low, double high,
                        Location where = Location::current()) const {
    return {trusted, here().histc(bins, low, high, where)};
  }
  HistogramOf<Tensor<1, Kind>> histogram(std::int64_t bins, double low, double high,
                                         Location where = Location::current()) const requires kFloat {
    AnyHistogram found = here().histogram(bins, low, high, where);
    return {{trusted, std::move(found.counts)}, {trusted, std::move(found.edges)}};
  }

  // ---- reductions composed of others, and comparisons
#define SINTER_REDUCTION(name, Result, condition)                                          \
  Tensor<Rank, Result> name(const Axes& axes, Location where = Location::current())        \
      const requires(condition) {                                                          \
    return {trusted, here().name(axes, where)};                                            \
  }                                                                                        \
  typename Later<Tensor<0, Result>, Rank>::type name(Location where = Location::current()) \
      const requires(condition) {                                                          \
    return {trusted, here().name(here().all_axes(), where).reshape({}, where)};            \
  }
  SINTER_REDUCTION(logsumexp, Kind, kFloat)
  SINTER_REDUCTION(max_abs, Kind, !kBool)
  SINTER_REDUCTION(count_nonzero, Int, true)
  SINTER_REDUCTION(nansum, Kind, kFloat)
  SINTER_REDUCTION(nanmean, Kind, kFloat)
#undef SINTER_REDUCTION
  std::pair<Same, Same> var_mean(const Axes& axes, double correction = 1,
                                 Location where = Location::current()) const requires kFloat {
    return both(here().var_mean(axes, correction, where));
  }
  std::pair<Same, Same> std_mean(const Axes& axes, double correction = 1,
                                 Location where = Location::current()) const requires kFloat {
    return both(here().std_mean(axes, correction, where));
  }
  Same norm(double p, const Axes& axes, Location where = Location::current()) const requires kFloat {
    return made(here().norm(p, axes, where));
  }
  Tensor<0, Kind> norm(double p = 2, Location where = Location::current()) const requires kFloat {
    return {trusted, here().norm(p, here().all_axes(), where).reshape({}, where)};
  }
  Same normalize(double p, const Axes& axes, double epsilon = 1e-12,
                 Location where = Location::current()) const requires kFloat {
    return made(here().normalize(p, axes, epsilon, where));
  }
  typename Later<Tensor<0, Bool>, Rank>::type contains_nan(
      Location where = Location::current()) const requires kFloat {
    return {trusted, here().contains_nan(where)};
  }
  Tensor<2, Kind> cov(double correction = 1, Location where = Location::current()) const
      requires(kFloat&& Rank == 2) {
    return {trusted, here().cov(correction, where)};
  }
  Tensor<2, Kind> corrcoef(Location where = Location::current()) const requires(kFloat&& Rank == 2) {
    return {trusted, here().corrcoef(where)};
  }
  Mask is_close(const Same& other, double relative = 1e-5, double absolute = 1e-8, bool equal_nan = false,
                Location where = Location::current()) const {
    return {trusted, here().is_close(other.dynamic(), relative, absolute, equal_nan, where)};
  }
  typename Later<Difference, Rank>::type all_close(const Same& other, double relative = 1e-5,
                                                   double absolute = 1e-8, bool equal_nan = false,
                                                   Location where = Location::current()) const {
    return here().all_close(other.dynamic(), relative, absolute, equal_nan, where);
  }
#undef SINTER_METHOD
#undef SINTER_METHOD_ALONE

 private:
  const AnyTensor& here() const { return static_cast<const Same&>(*this).dynamic(); }
  static Same made(AnyTensor any) { return Same(trusted, std::move(any)); }
  static std::pair<Same, Same> both(std::pair<AnyTensor, AnyTensor> any) {
    return {made(std::move(any.first)), made(std::move(any.second))};
  }
};

}  // namespace detail

}  // namespace sinter
