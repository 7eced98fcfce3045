// Complex numbers: a real and an imaginary tensor side by side, so that each part fuses, differentiates and
// moves like any other tensor.
#pragma once

#include <cstddef>
#include <utility>

#include <sinter/functions/maths.h>
#include <sinter/tensor.h>

namespace sinter {

/// T is AnyTensor or a Tensor<Rank> of floats; both parts have one shape and dtype.
template <class T>
struct ComplexOf {
  T real, imag;

  friend ComplexOf operator+(const ComplexOf& a, const ComplexOf& b) {
    return {a.real + b.real, a.imag + b.imag};
  }
  friend ComplexOf operator-(const ComplexOf& a, const ComplexOf& b) {
    return {a.real - b.real, a.imag - b.imag};
  }
  friend ComplexOf operator-(const ComplexOf& a) { return {-a.real, -a.imag}; }
  friend ComplexOf operator*(const ComplexOf& a, const ComplexOf& b) {
    return {a.real * b.real - a.imag * b.imag, a.real * b.imag + a.imag * b.real};
  }
  friend ComplexOf operator*(const ComplexOf& a, double b) { return {a.real * b, a.imag * b}; }
  friend ComplexOf operator*(double a, const ComplexOf& b) { return b * a; }
  friend ComplexOf operator/(const ComplexOf& a, const ComplexOf& b) {
    const T square = b.real * b.real + b.imag * b.imag;
    const ComplexOf product = a * conj(b);
    return {product.real / square, product.imag / square};
  }
  friend ComplexOf conj(const ComplexOf& x) { return {x.real, -x.imag}; }
  /// The magnitude, without overflow.
  friend T abs(const ComplexOf& x) { return hypot(x.real, x.imag); }
  /// In [-pi, pi].
  friend T angle(const ComplexOf& x) { return atan2(x.imag, x.real); }
};

using AnyComplex = ComplexOf<AnyTensor>;
template <std::size_t Rank>
using Complex = ComplexOf<Tensor<Rank>>;

/// The numbers with these magnitudes and angles.
template <class T>
ComplexOf<T> polar(const T& magnitude, const T& angle) {
  return {magnitude * cos(angle), magnitude * sin(angle)};
}

namespace detail {

template <std::size_t Rank>
AnyComplex dynamic(const Complex<Rank>& x) {
  return {x.real.dynamic(), x.imag.dynamic()};
}
template <std::size_t Rank>
Complex<Rank> complex(AnyComplex x) {
  return {Tensor<Rank>(trusted, std::move(x.real)), Tensor<Rank>(trusted, std::move(x.imag))};
}

}  // namespace detail

}  // namespace sinter
