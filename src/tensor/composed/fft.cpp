// Fourier transforms: by an op of the device where it has one for the length. Elsewhere lengths up to 64 are
// products with a matrix of cosines and sines; longer ones are split into two stages (Cooley and Tukey, "An
// algorithm for the machine calculation of complex Fourier series", 1965); what has no small divisor becomes
// a convolution of a power of two (Bluestein, 1970).
#include <cmath>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <sinter/autocast.h>
#include <sinter/functions/fft.h>
#include <sinter/functions/padding.h>
#include <sinter/precision.h>

#include "src/tensor/apply.h"
#include "src/tensor/check.h"
#include "src/tensor/composed/fourier_lines.h"

namespace sinter {

namespace {

using A = AnyTensor;

// A product of this many columns costs about as much as reading and writing them.
constexpr std::int64_t kLongestProduct = 64;
// Two stages of numbers up to this have indices whose product fits 62 bits.
constexpr std::int64_t kLongest = std::int64_t{1} << 31;

/// Transforms the last axis; the numbers are [batch, n].
class Transform {
 public:
  /// `sign`: -1 of the transform, 1 of the inverse.
  Transform(int sign, DType dtype, const Device& device, const Location& where)
      : sign_(sign), dtype_(dtype), device_(device.inner()), where_(where) {}

  AnyComplex operator()(const AnyComplex& x) const {
    const std::int64_t n = x.real.shape()[1];
    if (n == 1) return {x.real, imaginary(x)};
    if (tensor::has_fourier_lines(x.real, n))
      return tensor::transform_lines(x, 1, sign_ > 0, library::FourierScale::One, where_);
    if (n <= kLongestProduct) return by_product(x, n);
    for (std::int64_t first = kLongestProduct; first > 1; --first)
      if (n % first == 0) return in_two_stages(x, first, n / first);
    return as_convolution(x, n);
  }

 private:
  A imaginary(const AnyComplex& x) const {
    return x.imag.defined() ? x.imag : A::full(x.real.shape(), 0, dtype_, device_, where_);
  }

  /// exp(2 pi i sign part / whole) for whole numbers from 0 to `whole`. Sines are taken of what is left of
  /// the nearest quarter turn, so that those are exact.
  AnyComplex turns(const A& part, std::int64_t whole) const {
    const A quarters = A::div(A::add(A::mul(part, 8, where_), whole, where_), 2 * whole, where_);
    const A rest = A::sub(A::mul(part, 4, where_), A::mul(quarters, whole, where_), where_);
    const double unit = std::numbers::pi / (2 * static_cast<double>(whole));
    const A angle = A::mul(rest.cast(dtype_, where_), unit, where_);
    const A cosine = angle.cos(where_), sine = angle.sin(where_);
    const A odd = A::equal(A::remainder(quarters, 2, where_), 1, where_);
    const auto turned = [&](const A& even_value, const A& odd_value, int low, int high) {
      const A value = A::where(odd, odd_value, even_value, where_);
      const A negative =
          A::logical_or(A::equal(quarters, low, where_), A::equal(quarters, high, where_), where_);
      return A::where(negative, value.neg(where_), value, where_);
    };
    const A imag = turned(sine, cosine, 2, 3);
    return {turned(cosine, sine, 1, 2), sign_ < 0 ? imag.neg(where_) : imag};
  }
  A along(std::size_t axis, std::int64_t size) const {
    return tensor::iota_along(axis, 2, size, device_, where_);
  }
  /// exp(2 pi i sign j k / n) for j and k from 0 on.
  AnyComplex roots(std::int64_t rows, std::int64_t columns, std::int64_t n) const {
    return turns(A::remainder(A::mul(along(0, rows), along(1, columns), where_), n, where_), n);
  }

  AnyComplex by_product(const AnyComplex& x, std::int64_t n) const {
    const AnyComplex w = roots(n, n, n);
    // (real | imaginary) times ((C, S), (-S, C)): one product.
    const A top = A::cat(std::array{w.real, w.imag}, 1, where_);
    const MatmulPrecisionScope exact(MatmulPrecision::Highest);
    A product;
    if (x.imag.defined()) {
      const A bottom = A::cat(std::array{w.imag.neg(where_), w.real}, 1, where_);
      product = A::cat(std::array{x.real, x.imag}, 1, where_)
                    .matmul(A::cat(std::array{top, bottom}, 0, where_), where_);
    } else {
      product = x.real.matmul(top, where_);
    }
    return {product.narrow(1, 0, n, where_), product.narrow(1, n, n, where_)};
  }

  /// Element j1 * second + j2 of the argument and k1 + first * k2 of the result: transforms along j1, turns,
  /// transforms along j2.
  AnyComplex in_two_stages(const AnyComplex& x, std::int64_t first, std::int64_t second) const {
    const std::int64_t batch = x.real.shape()[0];
    const auto columns = [&](const A& part) {  // [batch, j1, j2] -> [batch * j2, j1]
      if (!part.defined()) return part;
      return part.reshape({batch, first, second}, where_)
          .transpose(1, 2, where_)
          .reshape({batch * second, first}, where_);
    };
    const AnyComplex inner = (*this)({columns(x.real), columns(x.imag)});
    const AnyComplex turned_by = roots(second, first, first * second);
    const auto grid = [&](const A& part) { return part.reshape({batch, second, first}, where_); };
    const AnyComplex a{grid(inner.real), grid(inner.imag)};
    const auto times = [&](const A& p, const A& q) { return A::mul(p, q.unsqueeze(0, where_), where_); };
    const A real = A::sub(times(a.real, turned_by.real), times(a.imag, turned_by.imag), where_);
    const A imag = A::add(times(a.real, turned_by.imag), times(a.imag, turned_by.real), where_);
    const auto rows = [&](const A& part) {  // [batch, j2, k1] -> [batch * k1, j2]
      return part.transpose(1, 2, where_).reshape({batch * first, second}, where_);
    };
    const AnyComplex outer = (*this)({rows(real), rows(imag)});
    const auto in_order = [&](const A& part) {  // [batch, k1, k2] -> [batch, k2 * first + k1]
      return part.reshape({batch, first, second}, where_)
          .transpose(1, 2, where_)
          .reshape({batch, first * second}, where_);
    };
    return {in_order(outer.real), in_order(outer.imag)};
  }

  A product_real(const AnyComplex& a, const AnyComplex& b) const {
    return A::sub(A::mul(a.real, b.real, where_), A::mul(a.imag, b.imag, where_), where_);
  }
  A product_imag(const AnyComplex& a, const AnyComplex& b) const {
    return A::add(A::mul(a.real, b.imag, where_), A::mul(a.imag, b.real, where_), where_);
  }
  AnyComplex product(const AnyComplex& a, const AnyComplex& b) const {
    return {product_real(a, b), product_imag(a, b)};
  }

  /// j k = (j^2 + k^2 - (k - j)^2) / 2: a convolution with a chirp, of a length that has small divisors.
  AnyComplex as_convolution(const AnyComplex& x, std::int64_t n) const {
    std::int64_t length = 1;
    while (length < 2 * n - 1) length *= 2;
    const A index = along(1, n);
    const AnyComplex chirp = turns(A::remainder(A::mul(index, index, where_), 2 * n, where_), 2 * n);
    const auto padded = [&](const A& part) { return part.pad({0, 0}, {0, length - n}, 0, where_); };
    const AnyComplex a = product({x.real, imaginary(x)}, chirp);
    // The chirp the other way round, at 0, 1, .. and, at the end of the circle, at -1, -2, ..
    const auto around = [&](const A& part) {
      return A::add(
          padded(part),
          part.narrow(1, 1, n - 1, where_).flip(1, where_).pad({0, length - n + 1}, {0, 0}, 0, where_),
          where_);
    };
    const AnyComplex b{around(chirp.real), around(chirp.imag.neg(where_))};
    const Transform forward(-1, dtype_, device_, where_), back(1, dtype_, device_, where_);
    const AnyComplex c = back(product(forward({padded(a.real), padded(a.imag)}), forward(b)));
    const double scale = 1 / static_cast<double>(length);
    const auto result = [&](const A& part) { return A::mul(part.narrow(1, 0, n, where_), scale, where_); };
    return product({result(c.real), result(c.imag)}, chirp);
  }

  int sign_;
  DType dtype_;
  Device device_;
  const Location& where_;
};

using library::FourierScale;

FourierScale scale_of(FftNorm norm, bool inverse) {
  if (norm == FftNorm::Ortho) return FourierScale::ByRoot;
  return (norm == FftNorm::Forward) == inverse ? FourierScale::One : FourierScale::ByLength;
}

double factor(FourierScale scale, std::int64_t n) {
  if (scale == FourierScale::ByRoot) return 1 / std::sqrt(static_cast<double>(n));
  return scale == FourierScale::One ? 1 : 1 / static_cast<double>(n);
}

const trace::Value& checked(std::string_view name, const AnyTensor& x, const Location& where) {
  const trace::Value& value = tensor::value_of(name, x, where);
  if (value.dtype != DType::f32 && value.dtype != DType::f64)
    throw DTypeError("[" + std::string(name) + "] takes f32 or f64, not " +
                         std::string(name_of(value.dtype)) + "; cast first",
                     where);
  return value;
}

std::size_t axis_to_transform(std::string_view name, const Shape& shape, std::int64_t axis,
                              const Location& where) {
  const std::size_t dim = tensor::axis_of(name, axis, shape, where);
  if (shape[dim] < 1 || shape[dim] > kLongest)
    throw ShapeError("[" + std::string(name) + "] axis " + std::to_string(dim) + " of shape " +
                         to_string(shape) + " has no transform: lengths are 1 to 2^31",
                     where);
  return dim;
}

/// The real part, after both were looked at.
const trace::Value& checked_parts(std::string_view name, const AnyComplex& x, const Location& where) {
  const trace::Value& real = checked(name, x.real, where);
  const trace::Value& imag = checked(name, x.imag, where);
  tensor::check_same_dtype(name, real.dtype, imag.dtype, where);
  if (real.shape != imag.shape)
    throw ShapeError("[" + std::string(name) + "] real and imaginary parts differ in shape: " +
                         to_string(real.shape) + " and " + to_string(imag.shape),
                     where);
  return real;
}

/// Both parts, of which the imaginary one may be missing: it is 0.
AnyComplex transform(std::string_view name, const AnyComplex& x, std::int64_t axis, bool inverse,
                     FftNorm norm, const Location& where) {
  const Shape shape = (x.imag.defined() ? checked_parts(name, x, where) : checked(name, x.real, where)).shape;
  const auto dim = static_cast<std::int64_t>(axis_to_transform(name, shape, axis, where));
  const std::int64_t n = shape[static_cast<std::size_t>(dim)];
  const Autocast as_it_is(std::nullopt);
  const auto last = static_cast<std::int64_t>(shape.rank()) - 1;
  const auto rows = [&](const A& part) {
    return part.defined() ? part.movedim(dim, last, where).reshape({-1, n}, where) : part;
  };
  if (shape.numel() == 0) return {x.real, x.imag.defined() ? x.imag : x.real};
  if (tensor::has_fourier_lines(x.real, n))
    return tensor::transform_lines(x, dim, inverse, scale_of(norm, inverse), where);
  const Transform along_rows(inverse ? 1 : -1, x.real.dtype(), x.real.device(), where);
  const AnyComplex y = along_rows({rows(x.real), rows(x.imag)});
  Shape moved;
  for (std::int64_t i = 0; i <= last; ++i)
    if (i != dim) moved.push_back(shape[static_cast<std::size_t>(i)]);
  moved.push_back(n);
  const double scale = factor(scale_of(norm, inverse), n);
  const auto back = [&](const A& part) {
    const A placed = part.reshape(moved, where).movedim(last, dim, where);
    return scale == 1 ? placed : A::mul(placed, scale, where);
  };
  return {back(y.real), back(y.imag)};
}

}  // namespace

AnyComplex fft(const AnyComplex& x, std::int64_t axis, FftNorm norm, Location where) {
  return transform("fft", x, axis, false, norm, where);
}
AnyComplex ifft(const AnyComplex& x, std::int64_t axis, FftNorm norm, Location where) {
  return transform("ifft", x, axis, true, norm, where);
}

AnyComplex rfft(const AnyTensor& x, std::int64_t axis, FftNorm norm, Location where) {
  const Shape shape = checked("rfft", x, where).shape;
  const std::size_t dim = axis_to_transform("rfft", shape, axis, where);
  if (shape.numel() > 0 && tensor::has_fourier_lines(x, shape[dim]))
    return tensor::transform_real_lines(x, static_cast<std::int64_t>(dim), scale_of(norm, false), where);
  const AnyComplex y = transform("rfft", {x, AnyTensor()}, axis, false, norm, where);
  const std::int64_t half = shape[dim] / 2 + 1;
  return {y.real.narrow(axis, 0, half, where), y.imag.narrow(axis, 0, half, where)};
}

AnyTensor irfft(const AnyComplex& x, std::optional<std::int64_t> length, std::int64_t axis, FftNorm norm,
                Location where) {
  const Shape shape = checked_parts("irfft", x, where).shape;
  const std::size_t dim = axis_to_transform("irfft", shape, axis, where);
  const auto along = static_cast<std::int64_t>(dim);
  const std::int64_t n = length.value_or(2 * (shape[dim] - 1));
  if (n < 1 || n / 2 + 1 != shape[dim])
    throw ShapeError("[irfft] " + std::to_string(n) + " real numbers are not the inverse of axis " +
                         std::to_string(along) + " of shape " + to_string(shape),
                     where);
  if (shape.numel() > 0 && tensor::has_fourier_lines(x.real, n))
    return tensor::invert_to_real_lines(x, along, n, scale_of(norm, true), where);
  // The missing results are mirror images: conjugates. Imaginary parts of what mirrors itself are nothing.
  const std::int64_t missing = n - shape[dim];
  const auto mirrored = [&](const A& part) {
    return part.narrow(along, 1, missing, where).flip(along, where);
  };
  const A index = tensor::iota_along(dim, shape.rank(), shape[dim], x.real.device().inner(), where);
  A alone = A::equal(index, 0, where);
  if (n % 2 == 0) alone = A::logical_or(alone, A::equal(index, n / 2, where), where);
  const A imag = A::where(alone, 0, x.imag, where);
  const A whole_real = A::cat(std::array{x.real, mirrored(x.real)}, along, where);
  const A whole_imag = A::cat(std::array{imag, mirrored(imag).neg(where)}, along, where);
  return transform("irfft", {whole_real, whole_imag}, along, true, norm, where).real;
}

AnyComplex fftn(const AnyComplex& x, const Axes& axes, FftNorm norm, Location where) {
  tensor::axes_of("fftn", axes, checked("fftn", x.real, where).shape, where);
  AnyComplex y = x;
  for (const std::int64_t axis : axes) y = transform("fftn", y, axis, false, norm, where);
  return y;
}
AnyComplex ifftn(const AnyComplex& x, const Axes& axes, FftNorm norm, Location where) {
  tensor::axes_of("ifftn", axes, checked("ifftn", x.real, where).shape, where);
  AnyComplex y = x;
  for (const std::int64_t axis : axes) y = transform("ifftn", y, axis, true, norm, where);
  return y;
}

namespace {

/// The last axis, and all others.
std::pair<std::int64_t, Axes> last_and_others(std::string_view name, const AnyTensor& x, const Axes& axes,
                                              const Location& where) {
  tensor::axes_of(name, axes, checked(name, x, where).shape, where);
  if (axes.empty()) throw ShapeError("[" + std::string(name) + "] takes one axis or more, not none", where);
  return {axes[axes.size() - 1], Axes(Dims(std::span(axes.begin(), axes.size() - 1)))};
}

}  // namespace

AnyComplex rfftn(const AnyTensor& x, const Axes& axes, FftNorm norm, Location where) {
  const auto [last, others] = last_and_others("rfftn", x, axes, where);
  const AnyComplex y = rfft(x, last, norm, where);
  return others.empty() ? y : fftn(y, others, norm, where);
}
AnyTensor irfftn(const AnyComplex& x, const Axes& axes, std::optional<std::int64_t> length, FftNorm norm,
                 Location where) {
  const auto [last, others] = last_and_others("irfftn", x.real, axes, where);
  return irfft(others.empty() ? x : ifftn(x, others, norm, where), length, last, norm, where);
}

Tensor<1> fftfreq(std::int64_t n, const Device& device, double spacing, Location where) {
  if (n < 1) throw ShapeError("[fftfreq] a length is 1 or more, not " + std::to_string(n), where);
  const A index = tensor::iota_along(0, 1, n, device, where);
  const A signed_index = A::where(A::less(index, (n + 1) / 2, where), index, A::sub(index, n, where), where);
  return Tensor<1>(
      A::mul(signed_index.cast(DType::f32, where), 1 / (static_cast<double>(n) * spacing), where));
}
Tensor<1> rfftfreq(std::int64_t n, const Device& device, double spacing, Location where) {
  if (n < 1) throw ShapeError("[rfftfreq] a length is 1 or more, not " + std::to_string(n), where);
  const A index = tensor::iota_along(0, 1, n / 2 + 1, device, where);
  return Tensor<1>(A::mul(index.cast(DType::f32, where), 1 / (static_cast<double>(n) * spacing), where));
}

namespace {

struct Frames {
  std::int64_t size, hop, half;
};
Frames frames_of(std::string_view name, const StftOptions& options, const AnyTensor& window,
                 const Location& where) {
  const std::int64_t hop = options.hop.value_or(options.size / 4);
  const Shape& given = tensor::value_of(name, window, where).shape;
  if (options.size < 1 || hop < 1 || given != Shape{options.size})
    throw ShapeError("[" + std::string(name) + "] frames of " + std::to_string(options.size) + " numbers, " +
                         std::to_string(hop) + " apart, and a window of shape " + to_string(given) +
                         " do not fit",
                     where);
  return {options.size, hop, options.center ? options.size / 2 : 0};
}

/// Frames (batch, frames, size), each `hop` behind the one before it, added up: (batch, whole).
A overlapped(const A& frames, const Frames& f, std::int64_t whole, const Location& where) {
  const std::int64_t batch = frames.shape()[0], count = frames.shape()[1];
  // So many frames meet at one place: each hop of a frame is a signal without overlaps, moved to its place.
  constexpr std::int64_t kMostMet = 16;
  const std::int64_t met = (f.size + f.hop - 1) / f.hop;
  if (met <= kMostMet) {
    const A hops = frames.pad({0, 0, 0}, {0, 0, met * f.hop - f.size}, 0, where)
                       .reshape({batch, count, met, f.hop}, where);
    A sum;
    for (std::int64_t k = 0; k < met; ++k) {
      const A moved =
          hops.narrow(2, k, 1, where).squeeze(2, where).pad({0, k, 0}, {0, met - 1 - k, 0}, 0, where);
      sum = sum.defined() ? A::add(sum, moved, where) : moved;
    }
    return sum.reshape({batch, (count + met - 1) * f.hop}, where).narrow(1, 0, whole, where);
  }
  const Device device = frames.device().inner();
  const A place = A::add(A::mul(tensor::iota_along(0, 2, count, device, where), f.hop, where),
                         tensor::iota_along(1, 2, f.size, device, where), where)
                      .reshape({count * f.size}, where);
  const A nothing = A::full({batch, whole}, 0, frames.dtype(), device, where);
  return nothing.index_add(1, place, frames.reshape({batch, count * f.size}, where), where);
}

}  // namespace

AnyComplex stft(const AnyTensor& x, const AnyTensor& window, const StftOptions& options, Location where) {
  const Frames f = frames_of("stft", options, window, where);
  const Shape& shape = checked("stft", x, where).shape;
  if (shape.rank() < 1) throw ShapeError("[stft] takes signals (.., time), not a number", where);
  A signal = x;
  if (f.half > 0) {
    Dims around = Dims::filled(shape.rank(), 0);
    around[shape.rank() - 1] = f.half;
    signal = pad(x, around, around, PadMode::Reflect, where);
  }
  const A framed = signal.windows(-1, f.size, f.hop, where);  // (.., frames, size)
  const AnyComplex y = rfft(A::mul(framed, window, where), -1, FftNorm::Backward, where);
  return {y.real.transpose(-2, -1, where), y.imag.transpose(-2, -1, where)};
}

AnyTensor istft(const AnyComplex& x, const AnyTensor& window, const StftOptions& options,
                std::optional<std::int64_t> length, Location where) {
  const Frames f = frames_of("istft", options, window, where);
  const Shape shape = checked("istft", x.real, where).shape;
  if (shape.rank() < 2 || shape[shape.rank() - 2] != f.size / 2 + 1 || shape.back() < 1)
    throw ShapeError("[istft] spectra of shape " + to_string(shape) + " are not (.., " +
                         std::to_string(f.size / 2 + 1) + ", frames)",
                     where);
  const std::int64_t count = shape.back(), whole = (count - 1) * f.hop + f.size;
  const std::int64_t kept = length.value_or(whole - 2 * f.half);
  if (kept < 1 || f.half + kept > whole)
    throw ShapeError(
        "[istft] " + std::to_string(count) + " frames do not cover " + std::to_string(kept) + " numbers",
        where);
  const A frames = A::mul(irfft({x.real.transpose(-2, -1, where), x.imag.transpose(-2, -1, where)}, f.size,
                                -1, FftNorm::Backward, where),
                          window, where);
  const auto added = [&](const A& parts) { return overlapped(parts, f, whole, where); };
  const A signal = added(frames.reshape({-1, count, f.size}, where));
  const A weight = added(window.square(where).expand({1, count, f.size}, where));
  Dims sizes;
  for (std::size_t i = 0; i + 2 < shape.rank(); ++i) sizes.push_back(shape[i]);
  sizes.push_back(kept);
  return A::div(signal.narrow(1, f.half, kept, where), weight.narrow(1, f.half, kept, where), where)
      .reshape(sizes, where);
}

}  // namespace sinter
