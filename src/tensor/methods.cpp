// Methods of tensors that are free functions: x.softmax(1) is softmax(x, 1).
#include <sinter/any_tensor.h>
#include <sinter/functions.h>

#include "src/tensor/check.h"

namespace sinter {

namespace detail {

namespace {

const AnyTensor& self(const AnyFunctions& base) { return static_cast<const AnyTensor&>(base); }

}  // namespace

AnyTensor AnyFunctions::frac(Location where) const { return sinter::frac(self(*this), where); }
AnyTensor AnyFunctions::deg2rad(Location where) const { return sinter::deg2rad(self(*this), where); }
AnyTensor AnyFunctions::rad2deg(Location where) const { return sinter::rad2deg(self(*this), where); }
AnyTensor AnyFunctions::sinc(Location where) const { return sinter::sinc(self(*this), where); }
AnyTensor AnyFunctions::logit(Location where) const { return sinter::logit(self(*this), where); }
AnyTensor AnyFunctions::nan_to_num(double nan, double high, double low, Location where) const {
  return sinter::nan_to_num(self(*this), nan, high, low, where);
}
AnyTensor AnyFunctions::logaddexp(const AnyTensor& other, Location where) const {
  return sinter::logaddexp(self(*this), other, where);
}
AnyTensor AnyFunctions::xlogy(const AnyTensor& other, Location where) const {
  return sinter::xlogy(self(*this), other, where);
}
AnyTensor AnyFunctions::relu(Location where) const { return sinter::relu(self(*this), where); }
AnyTensor AnyFunctions::relu6(Location where) const { return sinter::relu6(self(*this), where); }
AnyTensor AnyFunctions::leaky_relu(double slope, Location where) const {
  return sinter::leaky_relu(self(*this), slope, where);
}
AnyTensor AnyFunctions::prelu(const AnyTensor& slopes, Location where) const {
  return sinter::prelu(self(*this), slopes, where);
}
AnyTensor AnyFunctions::elu(double alpha, Location where) const {
  return sinter::elu(self(*this), alpha, where);
}
AnyTensor AnyFunctions::celu(double alpha, Location where) const {
  return sinter::celu(self(*this), alpha, where);
}
AnyTensor AnyFunctions::selu(Location where) const { return sinter::selu(self(*this), where); }
AnyTensor AnyFunctions::gelu(Location where) const { return sinter::gelu(self(*this), where); }
AnyTensor AnyFunctions::gelu_tanh(Location where) const { return sinter::gelu_tanh(self(*this), where); }
AnyTensor AnyFunctions::silu(Location where) const { return sinter::silu(self(*this), where); }
AnyTensor AnyFunctions::mish(Location where) const { return sinter::mish(self(*this), where); }
AnyTensor AnyFunctions::hard_sigmoid(Location where) const {
  return sinter::hard_sigmoid(self(*this), where);
}
AnyTensor AnyFunctions::hard_swish(Location where) const { return sinter::hard_swish(self(*this), where); }
AnyTensor AnyFunctions::hardtanh(double low, double high, Location where) const {
  return sinter::hardtanh(self(*this), low, high, where);
}
AnyTensor AnyFunctions::log_sigmoid(Location where) const { return sinter::log_sigmoid(self(*this), where); }
AnyTensor AnyFunctions::softplus(double beta, Location where) const {
  return sinter::softplus(self(*this), beta, where);
}
AnyTensor AnyFunctions::softsign(Location where) const { return sinter::softsign(self(*this), where); }
AnyTensor AnyFunctions::tanhshrink(Location where) const { return sinter::tanhshrink(self(*this), where); }
AnyTensor AnyFunctions::hard_shrink(double lambda, Location where) const {
  return sinter::hard_shrink(self(*this), lambda, where);
}
AnyTensor AnyFunctions::soft_shrink(double lambda, Location where) const {
  return sinter::soft_shrink(self(*this), lambda, where);
}
AnyTensor AnyFunctions::shrink(double lambda, double bias, Location where) const {
  return sinter::shrink(self(*this), lambda, bias, where);
}
AnyTensor AnyFunctions::threshold(double limit, double value, Location where) const {
  return sinter::threshold(self(*this), limit, value, where);
}
AnyTensor AnyFunctions::glu(std::int64_t axis, Location where) const {
  return sinter::glu(self(*this), axis, where);
}
AnyTensor AnyFunctions::swiglu(std::int64_t axis, Location where) const {
  return sinter::swiglu(self(*this), axis, where);
}
AnyTensor AnyFunctions::softmax(std::int64_t axis, Location where) const {
  return sinter::softmax(self(*this), axis, where);
}
AnyTensor AnyFunctions::log_softmax(std::int64_t axis, Location where) const {
  return sinter::log_softmax(self(*this), axis, where);
}
AnyTensor AnyFunctions::softmin(std::int64_t axis, Location where) const {
  return sinter::softmin(self(*this), axis, where);
}
AnyTensor AnyFunctions::quiet_softmax(std::int64_t axis, Location where) const {
  return sinter::quiet_softmax(self(*this), axis, where);
}
AnyTensor AnyFunctions::conv1d(const AnyTensor& weight, const ConvOptions<1>& options, Location where) const {
  return sinter::conv1d(self(*this), weight, options, where);
}
AnyTensor AnyFunctions::conv3d(const AnyTensor& weight, const ConvOptions<3>& options, Location where) const {
  return sinter::conv3d(self(*this), weight, options, where);
}
AnyTensor AnyFunctions::conv_transpose1d(const AnyTensor& weight, const ConvTransposeOptions<1>& options,
                                         Location where) const {
  return sinter::conv_transpose1d(self(*this), weight, options, where);
}
AnyTensor AnyFunctions::conv_transpose2d(const AnyTensor& weight, const ConvTransposeOptions<2>& options,
                                         Location where) const {
  return sinter::conv_transpose2d(self(*this), weight, options, where);
}
AnyTensor AnyFunctions::conv_transpose3d(const AnyTensor& weight, const ConvTransposeOptions<3>& options,
                                         Location where) const {
  return sinter::conv_transpose3d(self(*this), weight, options, where);
}
AnyTensor AnyFunctions::unfold(const WindowOptions& options, Location where) const {
  return sinter::unfold(self(*this), options, where);
}
AnyTensor AnyFunctions::fold(const std::array<std::int64_t, 2>& sizes, const WindowOptions& options,
                             Location where) const {
  return sinter::fold(self(*this), sizes, options, where);
}
AnyTensor AnyFunctions::pixel_shuffle(std::int64_t factor, Location where) const {
  return sinter::pixel_shuffle(self(*this), factor, where);
}
AnyTensor AnyFunctions::pixel_unshuffle(std::int64_t factor, Location where) const {
  return sinter::pixel_unshuffle(self(*this), factor, where);
}
AnyTensor AnyFunctions::interpolate(const Dims& to, Interpolation mode, bool align_corners,
                                    Location where) const {
  return sinter::interpolate(self(*this), to, mode, align_corners, where);
}
AnyTensor AnyFunctions::grid_sample_2d(const AnyTensor& grid, Interpolation mode, OutsideImage outside,
                                       bool align_corners, Location where) const {
  return sinter::grid_sample_2d(self(*this), grid, mode, outside, align_corners, where);
}
AnyTensor AnyFunctions::dot(const AnyTensor& other, Location where) const {
  return sinter::dot(self(*this), other, where);
}
AnyTensor AnyFunctions::outer(const AnyTensor& other, Location where) const {
  return sinter::outer(self(*this), other, where);
}
AnyTensor AnyFunctions::matvec(const AnyTensor& vector, Location where) const {
  return sinter::matvec(self(*this), vector, where);
}
AnyTensor AnyFunctions::diagonal(std::int64_t diagonal, Location where) const {
  return sinter::diagonal(self(*this), diagonal, where);
}
AnyTensor AnyFunctions::diag_embed(std::int64_t diagonal, Location where) const {
  return sinter::diag_embed(self(*this), diagonal, where);
}
AnyTensor AnyFunctions::cross(const AnyTensor& other, std::int64_t axis, Location where) const {
  return sinter::cross(self(*this), other, axis, where);
}
AnyTensor AnyFunctions::kron(const AnyTensor& other, Location where) const {
  return sinter::kron(self(*this), other, where);
}
AnyTensor AnyFunctions::cosine_similarity(const AnyTensor& other, std::int64_t axis, double epsilon,
                                          Location where) const {
  return sinter::cosine_similarity(self(*this), other, axis, epsilon, where);
}
AnyTensor AnyFunctions::categorical(std::int64_t axis, Location where) const {
  return sinter::categorical(self(*this), axis, where);
}
AnyTensor AnyFunctions::multinomial(std::int64_t count, bool replacement, Location where) const {
  return sinter::multinomial(self(*this), count, replacement, where);
}
AnyTensor AnyFunctions::shuffle(std::int64_t axis, Location where) const {
  return sinter::shuffle(self(*this), axis, where);
}
AnyTensor AnyFunctions::categorical(std::int64_t axis, Generator& generator, Location where) const {
  return sinter::categorical(self(*this), axis, generator, where);
}
AnyTensor AnyFunctions::multinomial(std::int64_t count, bool replacement, Generator& generator,
                                    Location where) const {
  return sinter::multinomial(self(*this), count, replacement, generator, where);
}
AnyTensor AnyFunctions::shuffle(std::int64_t axis, Generator& generator, Location where) const {
  return sinter::shuffle(self(*this), axis, generator, where);
}
AnyTensor AnyFunctions::repeat_interleave(std::int64_t count, std::int64_t axis, Location where) const {
  return sinter::repeat_interleave(self(*this), count, axis, where);
}
AnyTensor AnyFunctions::cumsum(std::int64_t axis, ScanOptions options, Location where) const {
  return sinter::cumsum(self(*this), axis, options, where);
}
AnyTensor AnyFunctions::cumprod(std::int64_t axis, ScanOptions options, Location where) const {
  return sinter::cumprod(self(*this), axis, options, where);
}
AnyTensor AnyFunctions::diff(std::int64_t times, std::int64_t axis, Location where) const {
  return sinter::diff(self(*this), times, axis, where);
}
AnyTensor AnyFunctions::logcumsumexp(std::int64_t axis, ScanOptions options, Location where) const {
  return sinter::logcumsumexp(self(*this), axis, options, where);
}
AnyIndexed AnyFunctions::cummax(std::int64_t axis, ScanOptions options, Location where) const {
  return sinter::cummax(self(*this), axis, options, where);
}
AnyIndexed AnyFunctions::cummin(std::int64_t axis, ScanOptions options, Location where) const {
  return sinter::cummin(self(*this), axis, options, where);
}
AnyTensor AnyFunctions::scatter(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                                Location where) const {
  return sinter::scatter(self(*this), axis, index, source, where);
}
AnyTensor AnyFunctions::scatter_fill(std::int64_t axis, const AnyTensor& index, Scalar number,
                                     Location where) const {
  return sinter::scatter_fill(self(*this), axis, index, number, where);
}
AnyTensor AnyFunctions::scatter_reduce(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                                       ScatterReduction reduction, bool include_self, Location where) const {
  return sinter::scatter_reduce(self(*this), axis, index, source, reduction, include_self, where);
}
AnyTensor AnyFunctions::index_copy(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                                   Location where) const {
  return sinter::index_copy(self(*this), axis, index, source, where);
}
AnyTensor AnyFunctions::index_fill(std::int64_t axis, const AnyTensor& index, Scalar number,
                                   Location where) const {
  return sinter::index_fill(self(*this), axis, index, number, where);
}
AnyTensor AnyFunctions::index_reduce(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                                     ScatterReduction reduction, bool include_self, Location where) const {
  return sinter::index_reduce(self(*this), axis, index, source, reduction, include_self, where);
}
AnyTensor AnyFunctions::take(const AnyTensor& index, Location where) const {
  return sinter::take(self(*this), index, where);
}
AnyTensor AnyFunctions::take_along_dim(const AnyTensor& index, std::int64_t axis, Location where) const {
  return sinter::take_along_dim(self(*this), index, axis, where);
}
AnyTensor AnyFunctions::gather_nd(const AnyTensor& index, Location where) const {
  return sinter::gather_nd(self(*this), index, where);
}
AnyTensor AnyFunctions::scatter_nd(const AnyTensor& index, const AnyTensor& source, Location where) const {
  return sinter::scatter_nd(self(*this), index, source, where);
}
AnyTensor AnyFunctions::scatter_nd_add(const AnyTensor& index, const AnyTensor& source,
                                       Location where) const {
  return sinter::scatter_nd_add(self(*this), index, source, where);
}
AnyTensor AnyFunctions::scatter_nd_reduce(const AnyTensor& index, const AnyTensor& source,
                                          ScatterReduction reduction, bool include_self,
                                          Location where) const {
  return sinter::scatter_nd_reduce(self(*this), index, source, reduction, include_self, where);
}
AnyIndexed AnyFunctions::sort(std::int64_t axis, bool descending, Location where) const {
  return sinter::sort(self(*this), axis, descending, where);
}
AnyTensor AnyFunctions::argsort(std::int64_t axis, bool descending, Location where) const {
  return sinter::argsort(self(*this), axis, descending, where);
}
AnyIndexed AnyFunctions::topk(std::int64_t k, std::int64_t axis, bool largest, Location where) const {
  return sinter::topk(self(*this), k, axis, largest, where);
}
AnyIndexed AnyFunctions::kthvalue(std::int64_t k, std::int64_t axis, Location where) const {
  return sinter::kthvalue(self(*this), k, axis, where);
}
AnyIndexed AnyFunctions::median(std::int64_t axis, Location where) const {
  return sinter::median(self(*this), axis, where);
}
AnyTensor AnyFunctions::median(Location where) const { return sinter::median(self(*this), where); }
AnyTensor AnyFunctions::quantile(double q, std::int64_t axis, Location where) const {
  return sinter::quantile(self(*this), q, axis, where);
}
AnyIndexed AnyFunctions::max_with_indices(std::int64_t axis, Location where) const {
  return sinter::max_with_indices(self(*this), axis, where);
}
AnyIndexed AnyFunctions::min_with_indices(std::int64_t axis, Location where) const {
  return sinter::min_with_indices(self(*this), axis, where);
}
AnyTensor AnyFunctions::searchsorted(const AnyTensor& values, bool right, Location where) const {
  return sinter::searchsorted(self(*this), values, right, where);
}
AnyTensor AnyFunctions::bucketize(const AnyTensor& boundaries, bool right, Location where) const {
  return sinter::bucketize(self(*this), boundaries, right, where);
}
AnyTensor AnyFunctions::nonzero(Location where) const { return sinter::nonzero(self(*this), where); }
AnyTensor AnyFunctions::argwhere(Location where) const { return sinter::argwhere(self(*this), where); }
AnyTensor AnyFunctions::mask_select(const AnyTensor& mask, Location where) const {
  return sinter::mask_select(self(*this), mask, where);
}
AnyUnique AnyFunctions::unique(Location where) const { return sinter::unique(self(*this), where); }
AnyTensor AnyFunctions::bincount(std::int64_t least, Location where) const {
  return sinter::bincount(self(*this), least, where);
}
AnyTensor AnyFunctions::bincount(const AnyTensor& weights, std::int64_t least, Location where) const {
  return sinter::bincount(self(*this), weights, least, where);
}
AnyTensor AnyFunctions::histc(std::int64_t bins, double low, double high, Location where) const {
  return sinter::histc(self(*this), bins, low, high, where);
}
AnyHistogram AnyFunctions::histogram(std::int64_t bins, double low, double high, Location where) const {
  return sinter::histogram(self(*this), bins, low, high, where);
}
AnyTensor AnyFunctions::logsumexp(const Axes& axes, Location where) const {
  return sinter::logsumexp(self(*this), axes, where);
}
std::pair<AnyTensor, AnyTensor> AnyFunctions::var_mean(const Axes& axes, double correction,
                                                       Location where) const {
  return sinter::var_mean(self(*this), axes, correction, where);
}
std::pair<AnyTensor, AnyTensor> AnyFunctions::std_mean(const Axes& axes, double correction,
                                                       Location where) const {
  return sinter::std_mean(self(*this), axes, correction, where);
}
AnyTensor AnyFunctions::max_abs(const Axes& axes, Location where) const {
  return sinter::max_abs(self(*this), axes, where);
}
AnyTensor AnyFunctions::norm(double p, const Axes& axes, Location where) const {
  return sinter::norm(self(*this), p, axes, where);
}
AnyTensor AnyFunctions::normalize(double p, const Axes& axes, double epsilon, Location where) const {
  return sinter::normalize(self(*this), p, axes, epsilon, where);
}
AnyTensor AnyFunctions::count_nonzero(const Axes& axes, Location where) const {
  return sinter::count_nonzero(self(*this), axes, where);
}
AnyTensor AnyFunctions::nansum(const Axes& axes, Location where) const {
  return sinter::nansum(self(*this), axes, where);
}
AnyTensor AnyFunctions::nanmean(const Axes& axes, Location where) const {
  return sinter::nanmean(self(*this), axes, where);
}
AnyTensor AnyFunctions::contains_nan(Location where) const {
  return sinter::contains_nan(self(*this), where);
}
AnyTensor AnyFunctions::cov(double correction, Location where) const {
  return sinter::cov(self(*this), correction, where);
}
AnyTensor AnyFunctions::corrcoef(Location where) const { return sinter::corrcoef(self(*this), where); }
AnyTensor AnyFunctions::is_close(const AnyTensor& other, double relative, double absolute, bool equal_nan,
                                 Location where) const {
  return sinter::is_close(self(*this), other, relative, absolute, equal_nan, where);
}
Difference AnyFunctions::all_close(const AnyTensor& other, double relative, double absolute, bool equal_nan,
                                   Location where) const {
  return sinter::all_close(self(*this), other, relative, absolute, equal_nan, where);
}

}  // namespace detail

AnyTensor AnyTensor::clamp(Operand low, Operand high, Location where) const {
  return sinter::clamp(*this, low, high, where);
}
AnyTensor AnyTensor::clamp_min(Operand low, Location where) const {
  return sinter::clamp_min(*this, low, where);
}
AnyTensor AnyTensor::clamp_max(Operand high, Location where) const {
  return sinter::clamp_max(*this, high, where);
}
AnyTensor AnyTensor::lerp(const AnyTensor& end, Operand weight, Location where) const {
  return sinter::lerp(*this, end, weight, where);
}
AnyTensor AnyTensor::floor_divide(Operand other, Location where) const {
  return sinter::floor_divide(*this, other, where);
}
AnyTensor AnyTensor::pad(const Dims& before, const Dims& after, PadMode mode, Location where) const {
  return sinter::pad(*this, before, after, mode, where);
}

AnyTensor AnyTensor::full_like(Scalar value, Location where) const {
  tensor::value_of("full_like", *this, where);
  return full(shape(), value, dtype(), device(), where);
}
AnyTensor AnyTensor::zeros_like(Location where) const {
  tensor::value_of("zeros_like", *this, where);
  return full(shape(), 0, dtype(), device(), where);
}
AnyTensor AnyTensor::ones_like(Location where) const {
  tensor::value_of("ones_like", *this, where);
  return full(shape(), 1, dtype(), device(), where);
}
AnyTensor AnyTensor::rand_like(Location where) const {
  tensor::value_of("rand_like", *this, where);
  return uniform(shape(), 0, 1, dtype(), device(), where);
}
AnyTensor AnyTensor::randn_like(Location where) const {
  tensor::value_of("randn_like", *this, where);
  return normal(shape(), 0, 1, dtype(), device(), where);
}

AnyTensor AnyTensor::select(std::int64_t axis, std::int64_t index, Location where) const {
  const Shape& sizes = tensor::value_of("select", *this, where).shape;
  const std::size_t dim = tensor::axis_of("select", axis, sizes, where);
  const std::int64_t start = index < 0 ? index + sizes[dim] : index;
  if (start < 0 || start >= sizes[dim])
    throw ShapeError("[select] index " + std::to_string(index) + " is outside of axis " +
                         std::to_string(dim) + " of shape " + to_string(sizes),
                     where);
  return narrow(axis, start, 1, where).squeeze(axis, where);
}

}  // namespace sinter
