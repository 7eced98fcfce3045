// Complex numbers by operations on their parts.
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include <sinter/complex.h>

#include "src/tensor/check.h"

namespace sinter {

namespace {

using A = AnyTensor;
using Side = AnyTensor::Operand;
using detail::ComplexOperand;

bool is_zero(const Side& x) { return !x.tensor && x.scalar.as_double() == 0; }

/// A part that a broadcast of the other may have made larger.
A seen_as(const A& part, const A& other, const Location& where) {
  return part.shape() == other.shape() ? part : part.expand(other.shape(), where);
}

/// Both parts of a sum or difference, of which the imaginary part of a real operand stays the other's.
template <class F>
AnyComplex part_by_part(const ComplexOperand& a, const ComplexOperand& b, F f) {
  const A real = f(a.real, b.real);
  const A imag = is_zero(b.imag) ? a.imag.tensor->cast(real.dtype(), a.where) : f(a.imag, b.imag);
  return {real, seen_as(imag, real, a.where)};
}

}  // namespace

namespace detail {

AnyComplex complex_add(const ComplexOperand& a, const ComplexOperand& b) {
  const auto add = [&](const Side& x, const Side& y) { return A::add(x, y, a.where); };
  // Of two operands one has an imaginary part that is a tensor: as the first, what is real is the second.
  return is_zero(a.imag) ? part_by_part(b, a, add) : part_by_part(a, b, add);
}

AnyComplex complex_sub(const ComplexOperand& a, const ComplexOperand& b) {
  if (!is_zero(a.imag))
    return part_by_part(a, b, [&](const Side& x, const Side& y) { return A::sub(x, y, a.where); });
  const A real = A::sub(a.real, b.real, a.where);
  return {real, seen_as(b.imag.tensor->neg(a.where), real, a.where)};
}

AnyComplex complex_mul(const ComplexOperand& a, const ComplexOperand& b) {
  const auto mul = [&](const Side& x, const Side& y) { return A::mul(x, y, a.where); };
  if (is_zero(b.imag)) return {mul(a.real, b.real), mul(a.imag, b.real)};
  if (is_zero(a.imag)) return {mul(a.real, b.real), mul(a.real, b.imag)};
  return {A::sub(mul(a.real, b.real), mul(a.imag, b.imag), a.where),
          A::add(mul(a.real, b.imag), mul(a.imag, b.real), a.where)};
}

AnyComplex complex_div(const ComplexOperand& a, const ComplexOperand& b) {
  const Location& where = a.where;
  const auto div = [&](const Side& x, const Side& y) { return A::div(x, y, where); };
  if (is_zero(b.imag)) return {div(a.real, b.real), div(a.imag, b.real)};
  if (!b.real.tensor) {
    const double real = b.real.scalar.as_double(), imag = b.imag.scalar.as_double();
    const double square = real * real + imag * imag;
    return complex_mul(a, {real / square, -imag / square, where});
  }
  // Scaled by the larger part of the divisor, so that squares neither overflow nor vanish. It divides out,
  // so that nothing depends on it.
  const A &c = *b.real.tensor, &d = *b.imag.tensor;
  const A size = A::maximum(c.detach().abs(where), d.detach().abs(where), where);
  const A scale = A::where(A::equal(size, 0, where), 1, size, where);
  const A real = div(c, scale), imag = div(d, scale);
  const A square = A::add(real.square(where), imag.square(where), where);
  if (is_zero(a.imag)) {
    const A x = div(a.real, scale);
    return {div(A::mul(x, real, where), square), div(A::mul(x, imag, where).neg(where), square)};
  }
  const A x = div(a.real, scale), y = div(a.imag, scale);
  return {div(A::add(A::mul(x, real, where), A::mul(y, imag, where), where), square),
          div(A::sub(A::mul(y, real, where), A::mul(x, imag, where), where), square)};
}

AnyTensor complex_equal(const ComplexOperand& a, const ComplexOperand& b) {
  return A::logical_and(A::equal(a.real, b.real, a.where), A::equal(a.imag, b.imag, a.where), a.where);
}

AnyComplex complex_from_pairs(const void* pairs, std::size_t bytes, Shape sizes, DType dtype,
                              const Device& device, const Location& where) {
  sizes.push_back(2);
  return view_as_complex(from_elements(pairs, bytes, sizes, dtype, device, where), where);
}

AnyTensor complex_pairs(const AnyComplex& x, const Location& where) {
  return A::stack(std::vector{x.real, x.imag}, -1, where);
}

ComplexNumber complex_item(const AnyComplex& x, const Location& where) {
  if (x.real.numel() != 1) item(x.real, where);  // throws
  const A pair = complex_pairs(x, where).reshape({2}, where);
  if (x.real.dtype() == DType::f64) {
    const std::vector<double> numbers = elements_of<double>(pair, where);
    return {numbers[0], numbers[1]};
  }
  const std::vector<float> numbers = elements_of<float>(pair.cast(DType::f32, where), where);
  return {numbers[0], numbers[1]};
}

}  // namespace detail

AnyComplex complex(const AnyTensor& real, const AnyTensor& imag, Location where) {
  const Shape& shape = tensor::value_of("complex", real, where).shape;
  if (shape != tensor::value_of("complex", imag, where).shape)
    throw ShapeError("[complex] a real part of shape " + to_string(shape) +
                         " and an imaginary part of shape " + to_string(imag.shape()),
                     where);
  tensor::check_same_dtype("complex", real.dtype(), imag.dtype(), where);
  if (!is_float(real.dtype()))
    throw DTypeError("[complex] takes floats, not " + std::string(name_of(real.dtype())) + "; cast first",
                     where);
  return {real, imag};
}

AnyComplex polar(const AnyTensor& magnitude, const AnyTensor& angle, Location where) {
  return {A::mul(magnitude, angle.cos(where), where), A::mul(magnitude, angle.sin(where), where)};
}

AnyComplex view_as_complex(const AnyTensor& pairs, Location where) {
  const Shape& shape = tensor::value_of("view_as_complex", pairs, where).shape;
  if (shape.rank() == 0 || shape.back() != 2)
    throw ShapeError("[view_as_complex] the last axis of shape " + to_string(shape) + " does not have size 2",
                     where);
  return complex(pairs.select(-1, 0, where), pairs.select(-1, 1, where), where);
}

AnyTensor view_as_real(const AnyComplex& x, Location where) { return detail::complex_pairs(x, where); }

AnyComplex conj(const AnyComplex& x, Location where) { return {x.real, x.imag.neg(where)}; }
AnyTensor abs(const AnyComplex& x, Location where) { return A::hypot(x.real, x.imag, where); }
AnyTensor angle(const AnyComplex& x, Location where) { return A::atan2(x.imag, x.real, where); }

AnyComplex square(const AnyComplex& x, Location where) {
  return detail::complex_mul({x.real, x.imag, where}, {x.real, x.imag, where});
}
AnyComplex recip(const AnyComplex& x, Location where) {
  return detail::complex_div({1.0, 0.0, where}, {x.real, x.imag, where});
}
AnyComplex exp(const AnyComplex& x, Location where) { return polar(x.real.exp(where), x.imag, where); }
AnyComplex log(const AnyComplex& x, Location where) { return {abs(x, where).log(where), angle(x, where)}; }

AnyComplex sqrt(const AnyComplex& x, Location where) {
  // The magnitude of large numbers would overflow, that of small ones vanish: both are scaled by a power of
  // 2, so that no bit is lost.
  const A size = A::maximum(x.real.detach().abs(where), x.imag.detach().abs(where), where);
  const A is_large = A::less(1, size, where);
  const auto pick = [&](double large, double small) {
    return A::where(is_large, large, A::full({}, small, x.real.dtype(), x.real.device(), where), where);
  };
  const A scale = pick(0.125, 8), root_of_scale = pick(2, 0.25);
  const A real = A::mul(x.real, scale, where), imag = A::mul(x.imag, scale, where);
  // The part that nothing is subtracted for; the other one follows from 2 real imag = x.imag.
  const A magnitude = A::hypot(real, imag, where);
  const A larger = A::mul(A::add(magnitude, real.abs(where), where).sqrt(where), root_of_scale, where);
  const A divisor = A::where(A::equal(larger, 0, where), 1, larger, where);
  const A smaller = A::div(A::mul(x.imag, 0.5, where), divisor, where);
  const A right = A::greater_equal(x.real, 0, where), below = A::less(x.imag, 0, where);
  // Signs by the half plane instead of `abs`, which has no slope on the negative real axis.
  const A mirrored = A::where(below, smaller.neg(where), smaller, where);
  const A upwards = A::where(below, larger.neg(where), larger, where);
  return {A::where(right, larger, mirrored, where), A::where(right, smaller, upwards, where)};
}

namespace {

/// Products with sinh(x) and cosh(x), which overflow only where the product does: by functions of the half of
/// x, of which one is multiplied first with what may be small.
struct Hyperbolic {
  Hyperbolic(const A& x, const Location& where) : where(where) {
    const DType dtype = x.dtype();
    const double most = dtype == DType::f64                              ? 700
                        : dtype == DType::f16 || dtype == DType::f8_e5m2 ? 11
                        : dtype == DType::f8_e4m3                        ? 5.5
                                                                         : 86;
    // Infinity times 0 would be NaN; the square of the limit's exponential is infinite. Each factor has a
    // half of its own, as the gradient of one is twice that of x, which may be nearly infinite.
    const auto half = [&] { return A::mul(x, 0.5, where).clamp(-most, most, where); };
    sinh = half().sinh(where);
    twice_sinh = A::mul(half().sinh(where), 2, where);
    twice_cosh = A::mul(half().cosh(where), 2, where);
  }
  A times_sinh(const A& y) const { return A::mul(twice_cosh, A::mul(sinh, y, where), where); }
  A times_cosh(const A& y) const {
    return A::add(y, A::mul(twice_sinh, A::mul(sinh, y, where), where), where);
  }

  A sinh, twice_sinh, twice_cosh;
  Location where;
};

}  // namespace

AnyComplex sin(const AnyComplex& x, Location where) {
  const Hyperbolic of(x.imag, where);
  return {of.times_cosh(x.real.sin(where)), of.times_sinh(x.real.cos(where))};
}
AnyComplex cos(const AnyComplex& x, Location where) {
  const Hyperbolic of(x.imag, where);
  return {of.times_cosh(x.real.cos(where)), of.times_sinh(x.real.sin(where)).neg(where)};
}
AnyComplex sinh(const AnyComplex& x, Location where) {
  const Hyperbolic of(x.real, where);
  return {of.times_sinh(x.imag.cos(where)), of.times_cosh(x.imag.sin(where))};
}
AnyComplex cosh(const AnyComplex& x, Location where) {
  const Hyperbolic of(x.real, where);
  return {of.times_cosh(x.imag.cos(where)), of.times_sinh(x.imag.sin(where))};
}
AnyComplex tanh(const AnyComplex& x, Location where) {
  // Where the square of the hyperbolic sine is nearly the dtype's largest number, the function has long
  // been 1.
  const DType dtype = x.real.dtype();
  const double most = dtype == DType::f64                              ? 350
                      : dtype == DType::f16 || dtype == DType::f8_e5m2 ? 5.5
                      : dtype == DType::f8_e4m3                        ? 3.5
                                                                       : 43;
  const A real = x.real.clamp(-most, most, where), sinh = real.sinh(where);
  const A cosine = x.imag.cos(where);
  const A divisor = A::add(sinh.square(where), cosine.square(where), where);
  return {A::div(A::mul(sinh, real.cosh(where), where), divisor, where),
          A::div(A::mul(x.imag.sin(where), cosine, where), divisor, where)};
}
AnyComplex tan(const AnyComplex& x, Location where) {
  // -i tanh(i x)
  const AnyComplex turned = tanh({x.imag.neg(where), x.real}, where);
  return {turned.imag, turned.real.neg(where)};
}

AnyComplex pow(const AnyComplex& x, double power, Location where) {
  return polar(A::pow(abs(x, where), power, where), A::mul(angle(x, where), power, where), where);
}
AnyComplex pow(const AnyComplex& x, const AnyComplex& power, Location where) {
  const AnyComplex logarithm = log(x, where);
  return exp(detail::complex_mul({logarithm.real, logarithm.imag, where}, {power.real, power.imag, where}),
             where);
}

AnyComplex where(const AnyTensor& condition, const AnyComplex& a, const AnyComplex& b, Location where) {
  return {A::where(condition, a.real, b.real, where), A::where(condition, a.imag, b.imag, where)};
}

namespace {

template <class F>
AnyComplex joined(const std::vector<AnyComplex>& pieces, F join) {
  std::vector<A> real, imag;
  for (const AnyComplex& piece : pieces) {
    real.push_back(piece.real);
    imag.push_back(piece.imag);
  }
  return {join(real), join(imag)};
}

}  // namespace

AnyComplex cat(const std::vector<AnyComplex>& pieces, std::int64_t axis, Location where) {
  return joined(pieces, [&](const std::vector<A>& parts) { return A::cat(parts, axis, where); });
}
AnyComplex stack(const std::vector<AnyComplex>& pieces, std::int64_t axis, Location where) {
  return joined(pieces, [&](const std::vector<A>& parts) { return A::stack(parts, axis, where); });
}

AnyTensor is_close(const AnyComplex& a, const AnyComplex& b, double relative, double absolute,
                   Location where) {
  const ComplexOperand x{a.real, a.imag, where}, y{b.real, b.imag, where};
  const A distance = abs(detail::complex_sub(x, y), where);
  const A bound = A::add(A::mul(abs(b, where), relative, where), absolute, where);
  // Infinities are close to equal ones alone: their bound is infinite.
  const A near = A::logical_and(A::less_equal(distance, bound, where), bound.is_finite(where), where);
  return A::logical_or(detail::complex_equal(x, y), near, where);
}

}  // namespace sinter
