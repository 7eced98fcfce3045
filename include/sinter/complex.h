// Complex numbers: a real and an imaginary tensor side by side, so that each part fuses, differentiates and
// moves like any other tensor.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/detail/api.h>
#include <sinter/tensor.h>

namespace sinter {

template <class T>
struct ComplexOf;
using AnyComplex = ComplexOf<AnyTensor>;
template <std::size_t Rank>
using Complex = ComplexOf<Tensor<Rank>>;

/// What reads as std::complex does.
template <class C>
concept ComplexLike = requires(const C& c) {
  { c.real() } -> std::convertible_to<double>;
  { c.imag() } -> std::convertible_to<double>;
};

/// One complex number. std::complex converts to it and back; its own header takes long to compile.
class ComplexNumber {
 public:
  constexpr ComplexNumber(double real = 0, double imag = 0) : real_(real), imag_(imag) {}
  template <ComplexLike C>
  requires(!std::same_as<C, ComplexNumber>) constexpr ComplexNumber(const C& number)
      : real_(number.real()), imag_(number.imag()) {}
  template <ComplexLike C>
  requires requires { typename C::value_type; }
  constexpr operator C() const {
    using Real = typename C::value_type;
    return C(static_cast<Real>(real_), static_cast<Real>(imag_));
  }
  constexpr double real() const { return real_; }
  constexpr double imag() const { return imag_; }
  friend constexpr bool operator==(const ComplexNumber&, const ComplexNumber&) = default;

 private:
  double real_, imag_;
};

namespace detail {

/// What stands beside an operator: both parts are tensors, or numbers; the imaginary part of something real
/// is the number 0.
struct ComplexOperand {
  AnyTensor::Operand real, imag;
  Location where;
};
SINTER_API AnyComplex complex_add(const ComplexOperand& a, const ComplexOperand& b);
SINTER_API AnyComplex complex_sub(const ComplexOperand& a, const ComplexOperand& b);
SINTER_API AnyComplex complex_mul(const ComplexOperand& a, const ComplexOperand& b);
SINTER_API AnyComplex complex_div(const ComplexOperand& a, const ComplexOperand& b);
SINTER_API AnyTensor complex_equal(const ComplexOperand& a, const ComplexOperand& b);
SINTER_API ComplexNumber complex_item(const AnyComplex& x, const Location& where);
/// Both parts along a last axis of 2.
SINTER_API AnyTensor complex_pairs(const AnyComplex& x, const Location& where);

/// What follows from the type of the parts.
template <class T>
struct ComplexParts;
template <>
struct ComplexParts<AnyTensor> {
  using Mask = AnyTensor;
  using Sizes = Dims;
  static const AnyTensor& dynamic(const AnyTensor& x) { return x; }
  static AnyTensor made(AnyTensor x) { return x; }
  static AnyTensor mask(AnyTensor x) { return x; }
  template <std::size_t>
  static AnyTensor ranked(AnyTensor x) {
    return x;
  }
  template <class... I>
  static AnyTensor indexed(AnyTensor x) {
    return x;
  }
};
template <std::size_t Rank>
struct ComplexParts<Tensor<Rank>> {
  using Mask = Tensor<Rank, Bool>;
  using Sizes = sinter::Sizes<Rank>;
  static const AnyTensor& dynamic(const Tensor<Rank>& x) { return x.dynamic(); }
  static Tensor<Rank> made(AnyTensor x) { return {trusted, std::move(x)}; }
  static Mask mask(AnyTensor x) { return {trusted, std::move(x)}; }
  template <std::size_t N>
  static Tensor<N> ranked(AnyTensor x) {
    return {trusted, std::move(x)};
  }
  template <class... I>
  static IndexedTensor<Rank, Float, I...> indexed(AnyTensor x) {
    return {trusted, std::move(x)};
  }
};

/// Of the parts of a complex number, which have one type.
template <class T>
ComplexOf<T> complex_of(T real, T imag) {
  return {std::move(real), std::move(imag)};
}
/// `sizes` and a last axis of 2, seen as complex numbers.
SINTER_API AnyComplex complex_from_pairs(const void* pairs, std::size_t bytes, Shape sizes, DType dtype,
                                         const Device& device, const Location& where);

}  // namespace detail

/// Like NumPy's, with `j`; see PrintOptions.
SINTER_API std::string to_string(const AnyComplex& x);

/// T is AnyTensor or a Tensor<Rank> of floats; both parts have one shape and dtype. Parts are read and
/// written by name, x.real; views, reductions and products are methods, as those of tensors are; functions of
/// the numbers, exp(x) and abs(x), stand behind the class. The gradient of a real number with respect to a
/// complex one has the gradients of both parts, as in PyTorch: {*g.get(x.real), *g.get(x.imag)}.
template <class T>
struct ComplexOf {
  T real, imag;

  using Parts = detail::ComplexParts<T>;
  using Mask = typename Parts::Mask;
  /// Such numbers, real ones, or one number.
  struct Operand : detail::ComplexOperand {
    Operand(const ComplexOf& x, Location where = Location::current())
        : ComplexOperand{Parts::dynamic(x.real), Parts::dynamic(x.imag), where} {}
    Operand(const T& x, Location where = Location::current())
        : ComplexOperand{Parts::dynamic(x), 0.0, where} {}
    template <class N>
    requires std::is_arithmetic_v<N> Operand(N x, Location where = Location::current())
        : ComplexOperand{static_cast<double>(x), 0.0, where} {}
    template <ComplexLike C>
    Operand(const C& x, Location where = Location::current())
        : ComplexOperand{static_cast<double>(x.real()), static_cast<double>(x.imag()), where} {}
  };

  // ---- creation
  /// From a vector, array or span of std::complex<float> or <double> in row-major order.
  template <class C>
  requires ComplexLike<std::remove_cvref_t<decltype(*std::declval<const C&>().data())>>
  static ComplexOf from_data(const C& data, const typename Parts::Sizes& sizes, const Device& device,
                             Location where = Location::current()) {
    using Number = std::remove_cvref_t<decltype(*data.data())>;
    using Real = typename Number::value_type;
    static_assert(sizeof(Number) == 2 * sizeof(Real), "the parts of a number stand side by side");
    return made(detail::complex_from_pairs(data.data(), data.size() * sizeof(Number), Shape(sizes),
                                           dtype_of<Real>, device, where));
  }
  static ComplexOf full(const typename Parts::Sizes& sizes, ComplexNumber value, const Device& device,
                        DType dtype = DType::f32, Location where = Location::current()) {
    const Shape shape(sizes);
    return {Parts::made(AnyTensor::full(shape, value.real(), dtype, device, where)),
            Parts::made(AnyTensor::full(shape, value.imag(), dtype, device, where))};
  }
  static ComplexOf zeros(const typename Parts::Sizes& sizes, const Device& device, DType dtype = DType::f32,
                         Location where = Location::current()) {
    return full(sizes, 0.0, device, dtype, where);
  }
  static ComplexOf ones(const typename Parts::Sizes& sizes, const Device& device, DType dtype = DType::f32,
                        Location where = Location::current()) {
    return full(sizes, 1.0, device, dtype, where);
  }

  // ---- facts: the dtype is that of a part
  bool defined() const { return real.defined(); }
  const Shape& shape() const { return real.shape(); }
  std::int64_t numel() const { return real.numel(); }
  DType dtype() const { return real.dtype(); }
  Device device() const { return real.device(); }
  auto dims() const requires requires(const T& x) { x.dims(); }
  { return real.dims(); }

  // ---- reading: flushes and waits, once for both parts
  /// All numbers, row-major: x.to_vector<std::complex<float>>(). Throws DTypeError when its parts are not of
  /// the dtype.
  template <ComplexLike C>
  std::vector<C> to_vector(Location where = Location::current()) const {
    using Real = typename C::value_type;
    const std::vector<Real> pairs = detail::elements_of<Real>(detail::complex_pairs(dynamic(), where), where);
    std::vector<C> numbers(pairs.size() / 2);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = C(pairs[2 * i], pairs[2 * i + 1]);
    return numbers;
  }
  /// The only number. Throws ShapeError when there is not exactly one.
  ComplexNumber item(Location where = Location::current()) const {
    return detail::complex_item(dynamic(), where);
  }
  friend std::ostream& operator<<(std::ostream& out, const ComplexOf& x) {
    return out << to_string(x.dynamic());
  }

  // ---- arithmetic; shapes broadcast
#define SINTER_OPERATOR(symbol, name)                                    \
  friend ComplexOf operator symbol(const Operand& a, const Operand& b) { \
    return made(detail::complex_##name(a, b));                           \
  }                                                                      \
  ComplexOf& operator symbol##=(const Operand& b) {                      \
    return *this = made(detail::complex_##name(Operand(*this), b));      \
  }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
#undef SINTER_OPERATOR
  friend ComplexOf operator-(const ComplexOf& x) { return {-x.real, -x.imag}; }
  friend Mask operator==(const Operand& a, const Operand& b) {
    return Parts::mask(detail::complex_equal(a, b));
  }
  friend Mask operator!=(const Operand& a, const Operand& b) {
    return Parts::mask(detail::complex_equal(a, b).logical_not(a.where));
  }

  // ---- of both parts alike: what the methods of tensors do
#define SINTER_EACH(name, parameters, ...) \
  auto name parameters const { return detail::complex_of(real.name(__VA_ARGS__), imag.name(__VA_ARGS__)); }
#define SINTER_WHERE Location where = Location::current()
  SINTER_EACH(cast, (DType dtype, SINTER_WHERE), dtype, where)
  SINTER_EACH(to_device, (const Device& device, SINTER_WHERE), device, where)
  SINTER_EACH(detach, ())
  SINTER_EACH(inner, ())
  SINTER_EACH(require_grad, (SINTER_WHERE), where)
  SINTER_EACH(t, (SINTER_WHERE), where)
  SINTER_EACH(flatten, (SINTER_WHERE), where)
  SINTER_EACH(squeeze, (std::int64_t axis, SINTER_WHERE), axis, where)
  SINTER_EACH(unsqueeze, (std::int64_t axis, SINTER_WHERE), axis, where)
  SINTER_EACH(transpose, (std::int64_t a, std::int64_t b, SINTER_WHERE), a, b, where)
  SINTER_EACH(movedim, (std::int64_t from, std::int64_t to, SINTER_WHERE), from, to, where)
  SINTER_EACH(select, (std::int64_t axis, std::int64_t index, SINTER_WHERE), axis, index, where)
  SINTER_EACH(roll, (std::int64_t shift, std::int64_t axis, SINTER_WHERE), shift, axis, where)
  SINTER_EACH(narrow, (std::int64_t axis, std::int64_t start, std::int64_t length, SINTER_WHERE), axis, start,
              length, where)
  SINTER_EACH(slice, (std::initializer_list<Range> ranges, SINTER_WHERE), ranges, where)
  SINTER_EACH(flip, (const Axes& axes, SINTER_WHERE), axes, where)
  SINTER_EACH(repeat, (const typename Parts::Sizes& counts, SINTER_WHERE), counts, where)
  SINTER_EACH(tril, (std::int64_t diagonal = 0, SINTER_WHERE), diagonal, where)
  SINTER_EACH(triu, (std::int64_t diagonal = 0, SINTER_WHERE), diagonal, where)
  SINTER_EACH(sum, (const Axes& axes, SINTER_WHERE), axes, where)
  SINTER_EACH(sum, (std::int64_t axis, Drop, SINTER_WHERE), axis, drop, where)
  SINTER_EACH(sum, (SINTER_WHERE), where)
  SINTER_EACH(mean, (const Axes& axes, SINTER_WHERE), axes, where)
  SINTER_EACH(mean, (std::int64_t axis, Drop, SINTER_WHERE), axis, drop, where)
  SINTER_EACH(mean, (SINTER_WHERE), where)
  SINTER_EACH(cumsum, (std::int64_t axis, SINTER_WHERE), axis, {}, where)
#undef SINTER_WHERE
#undef SINTER_EACH
  bool requires_grad() const { return real.requires_grad() || imag.requires_grad(); }
  template <detail::AnyKindOfTensor Positions>
  ComplexOf index_select(std::int64_t axis, const Positions& index,
                         Location where = Location::current()) const {
    return {real.index_select(axis, index, where), imag.index_select(axis, index, where)};
  }
  template <detail::AnyKindOfTensor Positions>
  ComplexOf gather(std::int64_t axis, const Positions& index, Location where = Location::current()) const {
    return {real.gather(axis, index, where), imag.gather(axis, index, where)};
  }
  /// The braces say the rank: x.reshape({2, -1}).
  template <std::size_t N>
  auto reshape(const std::int64_t (&sizes)[N], Location where = Location::current()) const {
    const auto part = [&](const T& x) {
      return Parts::template ranked<N>(
          Parts::dynamic(x).reshape(static_cast<const Dims&>(detail::axes_of(sizes, N)), where));
    };
    return detail::complex_of(part(real), part(imag));
  }
  template <std::size_t N>
  auto expand(const std::int64_t (&sizes)[N], Location where = Location::current()) const {
    const auto part = [&](const T& x) {
      return Parts::template ranked<N>(
          Parts::dynamic(x).expand(static_cast<const Dims&>(detail::axes_of(sizes, N)), where));
    };
    return detail::complex_of(part(real), part(imag));
  }
  ComplexOf permute(const Axes& axes, Location where = Location::current()) const {
    return {Parts::made(Parts::dynamic(real).permute(axes, where)),
            Parts::made(Parts::dynamic(imag).permute(axes, where))};
  }
  /// x(s(1, 3), all, -1): see Index. To assign to a part, assign to those of x.real and x.imag.
#define SINTER_INDEX(Leading)                                                                \
  template <detail::Indexes... I>                                                            \
  auto operator()(detail::First<Leading> first, const I&... rest) const {                    \
    const std::array<Index, 1 + sizeof...(I)> indices{Index(first.index), Index(rest)...};   \
    const auto part = [&](const T& x) {                                                      \
      return Parts::template indexed<Leading, I...>(                                         \
          detail::index_by(Parts::dynamic(x), indices.data(), indices.size(), first.where)); \
    };                                                                                       \
    return detail::complex_of(part(real), part(imag));                                       \
  }
  SINTER_INDEX(std::int64_t)
  SINTER_INDEX(Range)
  SINTER_INDEX(NewAxis)
  SINTER_INDEX(Ellipsis)
#undef SINTER_INDEX

  // ---- products
  /// (.., m, k) x (.., k, n) -> (.., m, n): four products of real matrices, or two with a real one.
  template <class U>
  auto matmul(const ComplexOf<U>& other, Location where = Location::current()) const {
    return detail::complex_of(real.matmul(other.real, where) - imag.matmul(other.imag, where),
                              real.matmul(other.imag, where) + imag.matmul(other.real, where));
  }
  template <detail::AnyKindOfTensor U>
  auto matmul(const U& other, Location where = Location::current()) const {
    return detail::complex_of(real.matmul(other, where), imag.matmul(other, where));
  }

  /// The same without a rank in the type.
  AnyComplex dynamic() const { return {Parts::dynamic(real), Parts::dynamic(imag)}; }

 private:
  static ComplexOf made(AnyComplex x) {
    return {Parts::made(std::move(x.real)), Parts::made(std::move(x.imag))};
  }
};

namespace detail {

inline const AnyComplex& dynamic(const AnyComplex& x) { return x; }
template <std::size_t Rank>
AnyComplex dynamic(const Complex<Rank>& x) {
  return x.dynamic();
}
template <std::size_t Rank>
Complex<Rank> complex(AnyComplex x) {
  return {Tensor<Rank>(trusted, std::move(x.real)), Tensor<Rank>(trusted, std::move(x.imag))};
}
template <std::size_t Rank>
std::vector<AnyComplex> dynamic_list(const std::initializer_list<Complex<Rank>>& pieces) {
  std::vector<AnyComplex> list;
  for (const Complex<Rank>& piece : pieces) list.push_back(piece.dynamic());
  return list;
}

}  // namespace detail

// ---- made of real numbers
/// Both parts, which have one shape and dtype: ShapeError or DTypeError where they do not.
SINTER_API AnyComplex complex(const AnyTensor& real, const AnyTensor& imag,
                              Location where = Location::current());
/// The numbers with these magnitudes and angles.
SINTER_API AnyComplex polar(const AnyTensor& magnitude, const AnyTensor& angle,
                            Location where = Location::current());
/// A last axis of 2 as real and imaginary parts, and the other way round; views.
SINTER_API AnyComplex view_as_complex(const AnyTensor& pairs, Location where = Location::current());
SINTER_API AnyTensor view_as_real(const AnyComplex& x, Location where = Location::current());

// ---- functions of each number: principal values, whose cuts lie along the negative real axis. Where an
// exponential overflows, a part may be NaN.
SINTER_API AnyComplex conj(const AnyComplex& x, Location where = Location::current());
/// The magnitude, without overflow.
SINTER_API AnyTensor abs(const AnyComplex& x, Location where = Location::current());
/// In [-pi, pi].
SINTER_API AnyTensor angle(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex square(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex recip(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex exp(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex log(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex sqrt(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex sin(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex cos(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex tan(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex sinh(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex cosh(const AnyComplex& x, Location where = Location::current());
SINTER_API AnyComplex tanh(const AnyComplex& x, Location where = Location::current());
/// By magnitude and angle; of 0 for positive powers too.
SINTER_API AnyComplex pow(const AnyComplex& x, double power, Location where = Location::current());
/// exp(power log(x)), NaN where x is 0.
SINTER_API AnyComplex pow(const AnyComplex& x, const AnyComplex& power, Location where = Location::current());

// ---- of several
SINTER_API AnyComplex where(const AnyTensor& condition, const AnyComplex& a, const AnyComplex& b,
                            Location where = Location::current());
SINTER_API AnyComplex cat(const std::vector<AnyComplex>& pieces, std::int64_t axis,
                          Location where = Location::current());
SINTER_API AnyComplex stack(const std::vector<AnyComplex>& pieces, std::int64_t axis,
                            Location where = Location::current());
/// Bool: |a - b| <= absolute + relative * |b|, or both equal; NaN is close to nothing.
SINTER_API AnyTensor is_close(const AnyComplex& a, const AnyComplex& b, double relative = 1e-5,
                              double absolute = 1e-8, Location where = Location::current());

// The same functions with the rank in the type.
template <std::size_t Rank>
Complex<Rank> complex(const Tensor<Rank>& real, const Tensor<Rank>& imag,
                      Location where = Location::current()) {
  return detail::complex<Rank>(complex(real.dynamic(), imag.dynamic(), where));
}
template <std::size_t Rank>
Complex<Rank> polar(const Tensor<Rank>& magnitude, const Tensor<Rank>& angle,
                    Location where = Location::current()) {
  return detail::complex<Rank>(polar(magnitude.dynamic(), angle.dynamic(), where));
}
template <std::size_t Rank>
requires(Rank >= 1) Complex<Rank - 1> view_as_complex(const Tensor<Rank>& pairs,
                                                      Location where = Location::current()) {
  return detail::complex<Rank - 1>(view_as_complex(pairs.dynamic(), where));
}
template <std::size_t Rank>
Tensor<Rank + 1> view_as_real(const Complex<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, view_as_real(x.dynamic(), where)};
}
#define SINTER_TYPED(name)                                                           \
  template <std::size_t Rank>                                                        \
  Complex<Rank> name(const Complex<Rank>& x, Location where = Location::current()) { \
    return detail::complex<Rank>(name(x.dynamic(), where));                          \
  }
SINTER_TYPED(conj)
SINTER_TYPED(square)
SINTER_TYPED(recip)
SINTER_TYPED(exp)
SINTER_TYPED(log)
SINTER_TYPED(sqrt)
SINTER_TYPED(sin)
SINTER_TYPED(cos)
SINTER_TYPED(tan)
SINTER_TYPED(sinh)
SINTER_TYPED(cosh)
SINTER_TYPED(tanh)
#undef SINTER_TYPED
template <std::size_t Rank>
Tensor<Rank> abs(const Complex<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, abs(x.dynamic(), where)};
}
template <std::size_t Rank>
Tensor<Rank> angle(const Complex<Rank>& x, Location where = Location::current()) {
  return {detail::trusted, angle(x.dynamic(), where)};
}
template <std::size_t Rank>
Complex<Rank> pow(const Complex<Rank>& x, double power, Location where = Location::current()) {
  return detail::complex<Rank>(pow(x.dynamic(), power, where));
}
template <std::size_t Rank>
Complex<Rank> pow(const Complex<Rank>& x, const Complex<Rank>& power, Location where = Location::current()) {
  return detail::complex<Rank>(pow(x.dynamic(), power.dynamic(), where));
}
template <std::size_t Rank>
Complex<Rank> where(const Tensor<Rank, Bool>& condition, const Complex<Rank>& a, const Complex<Rank>& b,
                    Location where = Location::current()) {
  return detail::complex<Rank>(sinter::where(condition.dynamic(), a.dynamic(), b.dynamic(), where));
}
template <std::size_t Rank>
Tensor<Rank, Bool> is_close(const Complex<Rank>& a, const Complex<Rank>& b, double relative = 1e-5,
                            double absolute = 1e-8, Location where = Location::current()) {
  return {detail::trusted, is_close(a.dynamic(), b.dynamic(), relative, absolute, where)};
}
/// cat({a, b}, 0), stack({a, b}, 0)
template <std::size_t Rank>
Complex<Rank> cat(const std::initializer_list<Complex<Rank>>& pieces, std::int64_t axis,
                  Location where = Location::current()) {
  return detail::complex<Rank>(cat(detail::dynamic_list(pieces), axis, where));
}
template <std::size_t Rank>
Complex<Rank + 1> stack(const std::initializer_list<Complex<Rank>>& pieces, std::int64_t axis,
                        Location where = Location::current()) {
  return detail::complex<Rank + 1>(stack(detail::dynamic_list(pieces), axis, where));
}

}  // namespace sinter
