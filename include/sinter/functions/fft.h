// Discrete Fourier transforms of any length along any axes, and short-time transforms of signals, on every
// device and with gradients of any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <sinter/complex.h>
#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

/// Where the factor 1 / n of a transform and its inverse stands: in the inverse, as 1 / sqrt(n) in both, or
/// in the transform.
enum class FftNorm : std::uint8_t { Backward, Ortho, Forward };

/// X[k] = sum over j of x[j] exp(-2 pi i j k / n) along an axis, and the inverse. f32 and f64; lengths whose
/// prime factors are at most 64 take O(n log n) work, others three times the next power of two's (Bluestein,
/// "A linear filtering approach to the computation of discrete Fourier transform", 1970).
SINTER_API AnyComplex fft(const AnyComplex& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                          Location where = Location::current());
SINTER_API AnyComplex ifft(const AnyComplex& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                           Location where = Location::current());
/// Of real numbers: the first n / 2 + 1 results, of which the others are mirror images.
SINTER_API AnyComplex rfft(const AnyTensor& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                           Location where = Location::current());
/// The inverse of rfft: `length` real numbers, by default 2 (size - 1), of which size is length / 2 + 1.
SINTER_API AnyTensor irfft(const AnyComplex& x, std::optional<std::int64_t> length = std::nullopt,
                           std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                           Location where = Location::current());
/// Along several axes.
SINTER_API AnyComplex fftn(const AnyComplex& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                           Location where = Location::current());
SINTER_API AnyComplex ifftn(const AnyComplex& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                            Location where = Location::current());
/// Of real numbers: rfft along the last of the axes, then fft along the others.
SINTER_API AnyComplex rfftn(const AnyTensor& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                            Location where = Location::current());
/// The inverse of rfftn: `length` real numbers along the last of the axes, as irfft has them.
SINTER_API AnyTensor irfftn(const AnyComplex& x, const Axes& axes,
                            std::optional<std::int64_t> length = std::nullopt,
                            FftNorm norm = FftNorm::Backward, Location where = Location::current());

/// The frequencies of the results of fft (rfft) of length n, in cycles per unit, for samples `spacing` apart.
SINTER_API Tensor<1> fftfreq(std::int64_t n, const Device& device, double spacing = 1,
                             Location where = Location::current());
SINTER_API Tensor<1> rfftfreq(std::int64_t n, const Device& device, double spacing = 1,
                              Location where = Location::current());

struct StftOptions {
  std::int64_t size;                     // of a frame
  std::optional<std::int64_t> hop = {};  // between frames; by default a quarter of the size
  /// Frames are centred at their times: the signal is reflected at its ends by half a frame.
  bool center = true;
};
/// Spectra of frames of a signal x (.., time) times a window of the frame's size: (.., size / 2 + 1, frames).
SINTER_API AnyComplex stft(const AnyTensor& x, const AnyTensor& window, const StftOptions& options,
                           Location where = Location::current());
/// The signal, of `length` numbers if that is given, whose frames differ least from these: overlapping parts
/// are added and divided by the sum of the squared windows (Griffin and Lim, "Signal estimation from modified
/// short-time Fourier transform", 1984).
SINTER_API AnyTensor istft(const AnyComplex& x, const AnyTensor& window, const StftOptions& options,
                           std::optional<std::int64_t> length = std::nullopt,
                           Location where = Location::current());

// The same functions with the rank in the type.
template <std::size_t Rank>
Complex<Rank> fft(const Complex<Rank>& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                  Location where = Location::current()) {
  return detail::complex<Rank>(fft(detail::dynamic(x), axis, norm, where));
}
template <std::size_t Rank>
Complex<Rank> ifft(const Complex<Rank>& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                   Location where = Location::current()) {
  return detail::complex<Rank>(ifft(detail::dynamic(x), axis, norm, where));
}
template <std::size_t Rank>
Complex<Rank> rfft(const Tensor<Rank>& x, std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                   Location where = Location::current()) {
  return detail::complex<Rank>(rfft(x.dynamic(), axis, norm, where));
}
template <std::size_t Rank>
Tensor<Rank> irfft(const Complex<Rank>& x, std::optional<std::int64_t> length = std::nullopt,
                   std::int64_t axis = -1, FftNorm norm = FftNorm::Backward,
                   Location where = Location::current()) {
  return {detail::trusted, irfft(detail::dynamic(x), length, axis, norm, where)};
}
template <std::size_t Rank>
Complex<Rank> fftn(const Complex<Rank>& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                   Location where = Location::current()) {
  return detail::complex<Rank>(fftn(detail::dynamic(x), axes, norm, where));
}
template <std::size_t Rank>
Complex<Rank> ifftn(const Complex<Rank>& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                    Location where = Location::current()) {
  return detail::complex<Rank>(ifftn(detail::dynamic(x), axes, norm, where));
}
template <std::size_t Rank>
Complex<Rank> rfftn(const Tensor<Rank>& x, const Axes& axes, FftNorm norm = FftNorm::Backward,
                    Location where = Location::current()) {
  return detail::complex<Rank>(rfftn(x.dynamic(), axes, norm, where));
}
template <std::size_t Rank>
Tensor<Rank> irfftn(const Complex<Rank>& x, const Axes& axes,
                    std::optional<std::int64_t> length = std::nullopt, FftNorm norm = FftNorm::Backward,
                    Location where = Location::current()) {
  return {detail::trusted, irfftn(detail::dynamic(x), axes, length, norm, where)};
}
template <std::size_t Rank>
Complex<Rank + 1> stft(const Tensor<Rank>& x, const Tensor<1>& window, const StftOptions& options,
                       Location where = Location::current()) {
  return detail::complex<Rank + 1>(stft(x.dynamic(), window.dynamic(), options, where));
}
template <std::size_t Rank>
requires(Rank >= 2) Tensor<Rank - 1> istft(const Complex<Rank>& x, const Tensor<1>& window,
                                           const StftOptions& options,
                                           std::optional<std::int64_t> length = std::nullopt,
                                           Location where = Location::current()) {
  return {detail::trusted, istft(detail::dynamic(x), window.dynamic(), options, length, where)};
}

}  // namespace sinter
