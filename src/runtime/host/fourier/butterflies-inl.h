// Discrete Fourier transforms of a few numbers in vector registers. Compiled once per target.
#if defined(SINTER_HOST_FOURIER_BUTTERFLIES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_FOURIER_BUTTERFLIES_INL_H_
#undef SINTER_HOST_FOURIER_BUTTERFLIES_INL_H_
#else
#define SINTER_HOST_FOURIER_BUTTERFLIES_INL_H_
#endif

#include <numbers>
#include <utility>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Number {
  V re, im;
};
template <class V>
HWY_INLINE Number<V> plus(const Number<V>& a, const Number<V>& b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Number<V> minus(const Number<V>& a, const Number<V>& b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
/// a - i b and a + i b.
template <class V>
HWY_INLINE Number<V> minus_turned(const Number<V>& a, const Number<V>& b) {
  return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)};
}
template <class V>
HWY_INLINE Number<V> plus_turned(const Number<V>& a, const Number<V>& b) {
  return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)};
}
template <class V>
HWY_INLINE Number<V> times(const Number<V>& a, const Number<V>& b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}

/// Replaces x[0..kRadix) by their transform. `roots`: of an odd radix, complex.
template <int kRadix>
struct Butterfly {
  static_assert(kRadix % 2 == 1);
  // Sums and differences of numbers that meet mirrored factors: a quarter of the multiplications.
  template <class D, class V, class T>
  static HWY_INLINE void apply(D d, Number<V>* x, const T* roots) {
    constexpr int kHalf = kRadix / 2;
    Number<V> sum[kHalf], difference[kHalf];
    const Number<V> first = x[0];
#pragma GCC unroll 8
    for (int j = 0; j < kHalf; ++j) {
      sum[j] = plus(x[j + 1], x[kRadix - 1 - j]);
      difference[j] = minus(x[j + 1], x[kRadix - 1 - j]);
      x[0] = plus(x[0], sum[j]);
    }
#pragma GCC unroll 8
    for (int k = 1; k <= kHalf; ++k) {
      Number<V> even = first, odd{hn::Zero(d), hn::Zero(d)};
#pragma GCC unroll 8
      for (int j = 0; j < kHalf; ++j) {
        const int root = k * (j + 1) % kRadix;
        const V c = hn::Set(d, roots[2 * root]), s = hn::Set(d, roots[2 * root + 1]);
        even = {hn::MulAdd(c, sum[j].re, even.re), hn::MulAdd(c, sum[j].im, even.im)};
        odd = j == 0 ? Number<V>{hn::Mul(s, difference[j].re), hn::Mul(s, difference[j].im)}
                     : Number<V>{hn::MulAdd(s, difference[j].re, odd.re),
                                 hn::MulAdd(s, difference[j].im, odd.im)};
      }
      // The table has sines of negative angles.
      x[k] = plus_turned(even, odd);
      x[kRadix - k] = minus_turned(even, odd);
    }
  }
};
template <>
struct Butterfly<2> {
  template <class D, class V, class T>
  static HWY_INLINE void apply(D, Number<V>* x, const T*) {
    const Number<V> a = plus(x[0], x[1]), b = minus(x[0], x[1]);
    x[0] = a, x[1] = b;
  }
};
template <>
struct Butterfly<4> {
  template <class D, class V, class T>
  static HWY_INLINE void apply(D, Number<V>* x, const T*) {
    const Number<V> a = plus(x[0], x[2]), b = minus(x[0], x[2]);
    const Number<V> c = plus(x[1], x[3]), e = minus(x[1], x[3]);
    x[0] = plus(a, c), x[2] = minus(a, c);
    x[1] = minus_turned(b, e), x[3] = plus_turned(b, e);
  }
};
template <>
struct Butterfly<8> {
  template <class D, class V, class T>
  static HWY_INLINE void apply(D d, Number<V>* x, const T* roots) {
    const V half = hn::Set(d, static_cast<T>(std::numbers::sqrt2 / 2));
    Number<V> even[4], odd[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) even[j] = plus(x[j], x[j + 4]), odd[j] = minus(x[j], x[j + 4]);
    const Number<V> a = odd[1], b = odd[2], c = odd[3];
    odd[1] = {hn::Mul(half, hn::Add(a.re, a.im)), hn::Mul(half, hn::Sub(a.im, a.re))};
    odd[2] = {b.im, hn::Neg(b.re)};
    odd[3] = {hn::Mul(half, hn::Sub(c.im, c.re)), hn::Neg(hn::Mul(half, hn::Add(c.re, c.im)))};
    Butterfly<4>::apply(d, even, roots);
    Butterfly<4>::apply(d, odd, roots);
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) x[2 * k] = even[k], x[2 * k + 1] = odd[k];
  }
};

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
