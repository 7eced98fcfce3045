// Reductions composed of others: norms, logarithms of sums, counts, variances with their means. As the
// methods of tensors do, they keep the reduced axes with size 1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <utility>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// log of the sum of exp(x) along axes, without overflow; -infinity where all are.
SINTER_API AnyTensor logsumexp(const AnyTensor& x, const Axes& axes, Location where = Location::current());
/// The variance (see AnyTensor::var) or its root, and the mean.
SINTER_API std::pair<AnyTensor, AnyTensor> var_mean(const AnyTensor& x, const Axes& axes,
                                                    double correction = 1,
                                                    Location where = Location::current());
SINTER_API std::pair<AnyTensor, AnyTensor> std_mean(const AnyTensor& x, const Axes& axes,
                                                    double correction = 1,
                                                    Location where = Location::current());
/// The largest magnitude.
SINTER_API AnyTensor max_abs(const AnyTensor& x, const Axes& axes, Location where = Location::current());
/// (sum of |x|^p)^(1/p) for p > 0; p = 0 counts what is not 0, infinity is the largest magnitude, -infinity
/// the smallest. The gradient at 0 is 0.
SINTER_API AnyTensor norm(const AnyTensor& x, double p, const Axes& axes,
                          Location where = Location::current());
/// x / max(norm(x, p, axes), epsilon).
SINTER_API AnyTensor normalize(const AnyTensor& x, double p, const Axes& axes, double epsilon = 1e-12,
                               Location where = Location::current());
/// How many elements are not 0 (or false), i64.
SINTER_API AnyTensor count_nonzero(const AnyTensor& x, const Axes& axes,
                                   Location where = Location::current());
/// Sums and means of what is not NaN.
SINTER_API AnyTensor nansum(const AnyTensor& x, const Axes& axes, Location where = Location::current());
SINTER_API AnyTensor nanmean(const AnyTensor& x, const Axes& axes, Location where = Location::current());
/// Bool of rank 0: whether any element is NaN.
SINTER_API AnyTensor contains_nan(const AnyTensor& x, Location where = Location::current());
/// The covariances of the rows of x [variables, observations]: [variables, variables].
SINTER_API AnyTensor cov(const AnyTensor& x, double correction = 1, Location where = Location::current());
/// Pearson's correlations of the rows of x.
SINTER_API AnyTensor corrcoef(const AnyTensor& x, Location where = Location::current());

/// Bool: |a - b| <= absolute + relative * |b|, or both equal (infinities); NaN is close to NaN only if
/// `equal_nan`.
SINTER_API AnyTensor is_close(const AnyTensor& a, const AnyTensor& b, double relative = 1e-5,
                              double absolute = 1e-8, bool equal_nan = false,
                              Location where = Location::current());

/// How two tensors differ; what `all_close` finds.
struct SINTER_API Difference {
  bool close = true;
  std::int64_t count = 0;  // of elements that are not close
  double largest = 0;      // |a - b| among them; NaN if one of the two is
  Dims at;                 // where that is
  double a = 0, b = 0;     // the two elements there
  explicit operator bool() const { return close; }
  /// "3 of 100 elements differ, most at (4, 7): 1.5 and 1.25"; printed too.
  std::string text;
  friend SINTER_API std::ostream& operator<<(std::ostream& out, const Difference& difference);
};
/// Whether all elements are close (see is_close), and if not, where and how far. Reads: flushes and waits.
SINTER_API Difference all_close(const AnyTensor& a, const AnyTensor& b, double relative = 1e-5,
                                double absolute = 1e-8, bool equal_nan = false,
                                Location where = Location::current());

/// One line that tells what is in a tensor: "(2, 3) f32 host: from -1 to 4, mean 1.5, deviation 1.7; 1 nan, 2
/// infinite". Of floats the finite numbers count; deviations are those of a sample. Reads: flushes and waits.
SINTER_API std::string describe(const AnyTensor& x, Location where = Location::current());

// The same functions with the rank in the type; reductions without axes give one number.
#define SINTER_TYPED(name, Result)                                                                 \
  template <std::size_t Rank, class Kind>                                                          \
  Tensor<Rank, Result> name(const Tensor<Rank, Kind>& x, const Axes& axes,                         \
                            Location where = Location::current()) {                                \
    return {detail::trusted, name(x.dynamic(), axes, where)};                                      \
  }                                                                                                \
  template <std::size_t Rank, class Kind>                                                          \
  Tensor<0, Result> name(const Tensor<Rank, Kind>& x, Location where = Location::current()) {      \
    return {detail::trusted, name(x.dynamic(), x.dynamic().all_axes(), where).reshape({}, where)}; \
  }
SINTER_TYPED(logsumexp, Kind)
SINTER_TYPED(max_abs, Kind)
SINTER_TYPED(count_nonzero, Int)
SINTER_TYPED(nansum, Kind)
SINTER_TYPED(nanmean, Kind)
#undef SINTER_TYPED
template <std::size_t Rank>
std::pair<Tensor<Rank>, Tensor<Rank>> var_mean(const Tensor<Rank>& x, const Axes& axes, double correction = 1,
                                               Location where = Location::current()) {
  auto [var, mean] = var_mean(x.dynamic(), axes, correction, where);
  return {Tensor<Rank>(detail::trusted, std::move(var)), Tensor<Rank>(detail::trusted, std::move(mean))};
}
template <std::size_t Rank>
std::pair<Tensor<Rank>, Tensor<Rank>> std_mean(const Tensor<Rank>& x, const Axes& axes, double correction = 1,
                                               Location where = Location::current()) {
  auto [deviation, mean] = std_mean(x.dynamic(), axes, correction, where);
  return {Tensor<Rank>(detail::trusted, std::move(deviation)),
          Tensor<Rank>(detail::trusted, std::move(mean))};
}
template <std::size_t Rank>
Tensor<Rank> norm(const Tensor<Rank>& x, double p, const Axes& axes, Location where = Location::current()) {
  return {detail::trusted, norm(x.dynamic(), p, axes, where)};
}
/// Of all elements.
template <std::size_t Rank>
Tensor<0> norm(const Tensor<Rank>& x, double p = 2, Location where = Location::current()) {
  return {detail::trusted, norm(x.dynamic(), p, x.dynamic().all_axes(), where).reshape({}, where)};
}
template <std::size_t Rank>
Tensor<Rank> normalize(const Tensor<Rank>& x, double p, const Axes& axes, double epsilon = 1e-12,
                       Location where = Location::current()) {
  return {detail::trusted, normalize(x.dynamic(), p, axes, epsilon, where)};
}
template <std::size_t Rank>
Tensor<0, Bool> contains_nan(const Tensor<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, contains_nan(x.dynamic(), where)};
}
template <std::size_t Rank, class Kind>
std::string describe(const Tensor<Rank, Kind>& x, Location where = Location::current()) {
  return describe(x.dynamic(), where);
}
SINTER_API Tensor<2> cov(const Tensor<2>& x, double correction = 1, Location where = Location::current());
SINTER_API Tensor<2> corrcoef(const Tensor<2>& x, Location where = Location::current());
template <std::size_t Rank, class Kind>
Tensor<Rank, Bool> is_close(const Tensor<Rank, Kind>& a, const Tensor<Rank, Kind>& b, double relative = 1e-5,
                            double absolute = 1e-8, bool equal_nan = false,
                            Location where = Location::current()) {
  return {detail::trusted, is_close(a.dynamic(), b.dynamic(), relative, absolute, equal_nan, where)};
}
template <std::size_t Rank, class Kind>
Difference all_close(const Tensor<Rank, Kind>& a, const Tensor<Rank, Kind>& b, double relative = 1e-5,
                     double absolute = 1e-8, bool equal_nan = false, Location where = Location::current()) {
  return all_close(a.dynamic(), b.dynamic(), relative, absolute, equal_nan, where);
}

}  // namespace sinter
