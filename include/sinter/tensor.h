// Tensors with rank and kind in the type: adding a matrix to a vector, or a mask to a float, does not
// compile.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/tensor_creation.h>
#include <sinter/detail/tensor_functions.h>
#include <sinter/detail/tensor_methods.h>
#include <sinter/detail/tensor_views.h>
#include <sinter/detail/typed.h>
#include <sinter/indexing.h>
#include <sinter/sizes.h>

namespace sinter {

/// A handle to a value that is known, or will be computed when it is needed; see AnyTensor, which it wraps
/// and whose notes on broadcasting, dtypes and errors hold here too. A function without a note does what its
/// namesake there does. Its static functions, such as full, from_data, arange, rand and cat, are those of
/// TensorCreation; views are those of detail::TensorViews; reductions, indexed reads and products those of
/// detail::TensorMethods; detail::TensorFunctions has what is explained in functions/*.h. Methods and free
/// functions are one set: x.softmax(1) is softmax(x, 1).
template <std::size_t Rank, class Kind>
class Tensor : public TensorCreation<Rank, Kind>,
               public detail::TensorViews<Rank, Kind>,
               public detail::TensorMethods<Rank, Kind>,
               public detail::TensorFunctions<Rank, Kind> {
 public:
  static constexpr std::size_t kRank = Rank;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;
  using Operand = detail::OperandOf<Rank, Kind>;
  using Mask = Tensor<Rank, Bool>;
  using Same = Tensor;
  using ElementKind = Kind;

  /// An empty handle, which can only be assigned to.
  Tensor() = default;
  /// Throws ShapeError or DTypeError when rank or kind are others.
  explicit Tensor(AnyTensor any, Location where = Location::current()) : any_(std::move(any)) {
    if (any_.rank() != Rank || !fits_kind<Kind>(any_.dtype()))
      detail::throw_mismatch(any_, Rank, detail::kind_name<Kind>, where);
  }
  Tensor(detail::Trusted, AnyTensor any) : any_(std::move(any)) {}

  /// The handle whose rank is known at run time only.
  const AnyTensor& dynamic() const& { return any_; }
  AnyTensor dynamic() && { return std::move(any_); }

  // ---- creation
  /// Of this tensor's shape, dtype and device.
  Tensor full_like(Number<Kind> value, Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), value.value, dtype(), device(), where));
  }
  Tensor zeros_like(Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), 0, dtype(), device(), where));
  }
  /// For a value that is not looked at: zeros.
  Tensor empty_like(Location where = Location::current()) const { return zeros_like(where); }
  Tensor ones_like(Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), 1, dtype(), device(), where));
  }
  Tensor rand_like(Location where = Location::current()) const requires kFloat {
    return trust(AnyTensor::uniform(shape(), 0, 1, dtype(), device(), where));
  }
  Tensor randn_like(Location where = Location::current()) const requires kFloat {
    return trust(AnyTensor::normal(shape(), 0, 1, dtype(), device(), where));
  }

  // ---- facts
  bool defined() const { return any_.defined(); }
  const Shape& shape() const { return any_.shape(); }
  /// The sizes one by one: `const auto [batch, length, width] = x.dims();`
  std::array<std::int64_t, Rank> dims() const {
    const Shape& sizes = shape();
    std::array<std::int64_t, Rank> all{};
    for (std::size_t i = 0; i < Rank; ++i) all[i] = sizes[i];
    return all;
  }
  std::int64_t numel() const { return any_.numel(); }
  DType dtype() const { return any_.dtype(); }
  Device device() const { return any_.device(); }
  Tensor to_device(const Device& device, Location where = Location::current()) const {
    return trust(any_.to_device(device, where));
  }

  // ---- reading: flushes and waits; `read` reads several tensors at once
  /// All elements, with shape and dtype.
  KindData<Kind> to_data(Location where = Location::current()) const {
    return KindData<Kind>(any_.to_data(where));
  }
  /// The only element: double, int64_t or bool by kind. Throws ShapeError when there is not exactly one.
  typename detail::Item<Kind>::type item(Location where = Location::current()) const {
    return detail::item_as<Kind>(detail::item(any_, where));
  }
  /// All elements, row-major. Throws DTypeError when T is not the C++ type of the dtype.
  template <class T>
  std::vector<T> to_vector(Location where = Location::current()) const {
    return detail::elements_of<T>(any_, where);
  }
  void sync(Location where = Location::current()) const { any_.sync(where); }
  friend std::ostream& operator<<(std::ostream& out, const Tensor& tensor) { return out << tensor.any_; }

  // ---- elementwise
  // One line each: the name here and in AnyTensor, and the kinds that have it.
#define SINTER_UNARY(name, condition)                                            \
  Tensor name(Location where = Location::current()) const& requires(condition) { \
    return trust(any_.name(where));                                              \
  }                                                                              \
  Tensor name(Location where = Location::current()) && requires(condition) {     \
    Tensor result = trust(any_.name(where));                                     \
    *this = Tensor(); /* as operands do: see OperandOf */                        \
    return result;                                                               \
  }
  SINTER_UNARY(neg, !kBool)
  SINTER_UNARY(abs, !kBool)
  SINTER_UNARY(sign, !kBool)
  SINTER_UNARY(square, !kBool)
  SINTER_UNARY(exp, kFloat)
  SINTER_UNARY(log, kFloat)
  SINTER_UNARY(log1p, kFloat)
  SINTER_UNARY(expm1, kFloat)
  SINTER_UNARY(sqrt, kFloat)
  SINTER_UNARY(rsqrt, kFloat)
  SINTER_UNARY(recip, kFloat)
  SINTER_UNARY(sin, kFloat)
  SINTER_UNARY(cos, kFloat)
  SINTER_UNARY(tan, kFloat)
  SINTER_UNARY(asin, kFloat)
  SINTER_UNARY(acos, kFloat)
  SINTER_UNARY(atan, kFloat)
  SINTER_UNARY(sinh, kFloat)
  SINTER_UNARY(cosh, kFloat)
  SINTER_UNARY(asinh, kFloat)
  SINTER_UNARY(acosh, kFloat)
  SINTER_UNARY(atanh, kFloat)
  SINTER_UNARY(exp2, kFloat)
  SINTER_UNARY(log2, kFloat)
  SINTER_UNARY(log10, kFloat)
  SINTER_UNARY(tanh, kFloat)
  SINTER_UNARY(sigmoid, kFloat)
  SINTER_UNARY(erf, kFloat)
  SINTER_UNARY(ndtr, kFloat)
  SINTER_UNARY(floor, kFloat)
  SINTER_UNARY(ceil, kFloat)
  SINTER_UNARY(round, kFloat)
  SINTER_UNARY(trunc, kFloat)
  SINTER_UNARY(logical_not, !kFloat)
#undef SINTER_UNARY
  Mask is_nan(Location where = Location::current()) const requires kFloat {
    return {detail::trusted, any_.is_nan(where)};
  }
  Mask is_inf(Location where = Location::current()) const requires kFloat {
    return {detail::trusted, any_.is_inf(where)};
  }
  Mask is_finite(Location where = Location::current()) const requires kFloat {
    return {detail::trusted, any_.is_finite(where)};
  }

  // Operators and functions of two operands: tensors of this type or of rank 0 and numbers, on either side.
#define SINTER_OPERATOR(symbol, name, Result, condition)                            \
  friend Result operator symbol(Operand a, Operand b) requires(condition) {         \
    Result result(detail::trusted, AnyTensor::name(a.operand, b.operand, a.where)); \
    a.let_go();                                                                     \
    b.let_go();                                                                     \
    return result;                                                                  \
  }
#define SINTER_BINARY(name, Result, condition)                                   \
  Result name(Operand other) const requires(condition) {                         \
    return {detail::trusted, AnyTensor::name(any_, other.operand, other.where)}; \
  }
  SINTER_OPERATOR(+, add, Same, !kBool)
  SINTER_OPERATOR(-, sub, Same, !kBool)
  SINTER_OPERATOR(*, mul, Same, !kBool)
  SINTER_OPERATOR(/, div, Same, !kBool)
  SINTER_OPERATOR(%, remainder, Same, !kBool)
  SINTER_OPERATOR(==, equal, Mask, true)
  SINTER_OPERATOR(!=, not_equal, Mask, true)
  SINTER_OPERATOR(<, less, Mask, !kBool)
  SINTER_OPERATOR(<=, less_equal, Mask, !kBool)
  SINTER_OPERATOR(>, greater, Mask, !kBool)
  SINTER_OPERATOR(>=, greater_equal, Mask, !kBool)
  SINTER_OPERATOR(&&, logical_and, Same, kBool)
  SINTER_OPERATOR(||, logical_or, Same, kBool)
  SINTER_OPERATOR(&, logical_and, Same, !kFloat)
  SINTER_OPERATOR(|, logical_or, Same, !kFloat)
  SINTER_OPERATOR(^, logical_xor, Same, !kFloat)
  SINTER_OPERATOR(<<, shift_left, Same, kInt)
  SINTER_OPERATOR(>>, shift_right, Same, kInt)
  SINTER_BINARY(add, Same, !kBool)
  SINTER_BINARY(sub, Same, !kBool)
  SINTER_BINARY(mul, Same, !kBool)
  SINTER_BINARY(div, Same, !kBool)
  SINTER_BINARY(remainder, Same, !kBool)
  SINTER_BINARY(fmod, Same, !kBool)
  SINTER_BINARY(pow, Same, !kBool)
  SINTER_BINARY(atan2, Same, kFloat)
  SINTER_BINARY(hypot, Same, kFloat)
  SINTER_BINARY(shift_left, Same, kInt)
  SINTER_BINARY(shift_right, Same, kInt)
  SINTER_BINARY(maximum, Same, !kBool)
  SINTER_BINARY(minimum, Same, !kBool)
  SINTER_BINARY(equal, Mask, true)
  SINTER_BINARY(not_equal, Mask, true)
  SINTER_BINARY(less, Mask, !kBool)
  SINTER_BINARY(less_equal, Mask, !kBool)
  SINTER_BINARY(greater, Mask, !kBool)
  SINTER_BINARY(greater_equal, Mask, !kBool)
  SINTER_BINARY(logical_and, Same, !kFloat)
  SINTER_BINARY(logical_or, Same, !kFloat)
  SINTER_BINARY(logical_xor, Same, !kFloat)
#undef SINTER_OPERATOR
#undef SINTER_BINARY
#define SINTER_ASSIGNMENT(symbol, name, condition)                                                   \
  Tensor& operator symbol(Operand other) requires(condition) {                                       \
    /* Keeps its dtype, as in PyTorch. */                                                            \
    const DType own = dtype();                                                                       \
    return *this = Tensor(detail::trusted,                                                           \
                          AnyTensor::name(any_, other.operand, other.where).cast(own, other.where)); \
  }
  SINTER_ASSIGNMENT(+=, add, !kBool)
  SINTER_ASSIGNMENT(-=, sub, !kBool)
  SINTER_ASSIGNMENT(*=, mul, !kBool)
  SINTER_ASSIGNMENT(/=, div, !kBool)
  SINTER_ASSIGNMENT(%=, remainder, !kBool)
  SINTER_ASSIGNMENT(&=, logical_and, !kFloat)
  SINTER_ASSIGNMENT(|=, logical_or, !kFloat)
  SINTER_ASSIGNMENT(^=, logical_xor, !kFloat)
#undef SINTER_ASSIGNMENT
  friend Tensor operator-(Operand x) requires(!kBool) {
    Tensor result = trust(x.operand.tensor->neg(x.where));
    x.let_go();
    return result;
  }
  friend Tensor operator!(Operand x) requires kBool { return trust(x.operand.tensor->logical_not(x.where)); }
  friend Tensor operator~(Operand x) requires(!kFloat) {
    return trust(x.operand.tensor->logical_not(x.where));
  }

  // ---- casts
  /// To another dtype of the same kind; throws DTypeError for one of another kind.
  Tensor cast(DType dtype, Location where = Location::current()) const {
    Tensor::check_kind(dtype, where);
    return trust(any_.cast(dtype, where));
  }
  /// To another kind, as in cast<Int>(DType::i32).
  template <class To>
  Tensor<Rank, To> cast(DType dtype = default_dtype<To>, Location where = Location::current()) const {
    Tensor<Rank, To>::check_kind(dtype, where);
    return {detail::trusted, any_.cast(dtype, where)};
  }
  Tensor<Rank, Float> to_float(DType dtype = DType::f32, Location where = Location::current()) const {
    return cast<Float>(dtype, where);
  }
  Tensor<Rank, Int> to_int(DType dtype = DType::i64, Location where = Location::current()) const {
    return cast<Int>(dtype, where);
  }
  Tensor<Rank, Bool> to_bool(Location where = Location::current()) const {
    return cast<Bool>(DType::boolean, where);
  }

  // ---- parts by position
  /// x(s(1, 3), all, -1): ranges keep their axis, positions do not; see Index. Where this tensor may change,
  /// x(..) = value replaces the part.
#define SINTER_INDEX(Leading)                                                                             \
  template <detail::Indexes... I>                                                                         \
  detail::IndexedTensor<Rank, Kind, Leading, I...> operator()(detail::First<Leading> first,               \
                                                              const I&... rest) const& {                  \
    const std::array<Index, 1 + sizeof...(I)> indices{Index(first.index), Index(rest)...};                \
    return {detail::trusted, detail::index_by(any_, indices.data(), indices.size(), first.where)};        \
  }                                                                                                       \
  template <detail::Indexes... I>                                                                         \
  detail::PartOf<Rank, Kind, Leading, I...> operator()(detail::First<Leading> first, const I&... rest)& { \
    return {*this, {Index(first.index), Index(rest)...}, first.where};                                    \
  }
  SINTER_INDEX(std::int64_t)
  SINTER_INDEX(Range)
  SINTER_INDEX(NewAxis)
  SINTER_INDEX(Ellipsis)
#undef SINTER_INDEX
  template <std::size_t R>
  detail::IndexedTensor<Rank, Kind, Tensor<R, Int>> operator()(const Tensor<R, Int>& positions,
                                                               Location where = Location::current()) const& {
    const Index index(positions);
    return {detail::trusted, detail::index_by(any_, &index, 1, where)};
  }
  template <std::size_t R>
  detail::PartOf<Rank, Kind, Tensor<R, Int>> operator()(const Tensor<R, Int>& positions,
                                                        Location where = Location::current()) & {
    return {*this, {Index(positions)}, where};
  }
  template <std::size_t R, detail::Indexes... I>
  requires(sizeof...(I) > 0) detail::IndexedTensor<Rank, Kind, Tensor<R, Int>, I...>
  operator()(const Tensor<R, Int>& positions, const I&... rest) const& {
    const Index indices[]{Index(positions), Index(rest)...};
    return {detail::trusted, detail::index_by(any_, indices, 1 + sizeof...(I), Location::current())};
  }
  template <std::size_t R, detail::Indexes... I>
  requires(sizeof...(I) > 0) detail::PartOf<Rank, Kind, Tensor<R, Int>, I...>
  operator()(const Tensor<R, Int>& positions, const I&... rest) & {
    return {*this, {Index(positions), Index(rest)...}, Location::current()};
  }
  Tensor<1, Kind> operator()(const Mask& mask, Location where = Location::current()) const& {
    return {detail::trusted, detail::masked(any_, mask.dynamic(), where)};
  }
  MaskedPart<Tensor> operator()(const Mask& mask, Location where = Location::current()) & {
    return {*this, mask.dynamic(), where};
  }

  // ---- autodiff
  Tensor require_grad(Location where = Location::current()) const requires kFloat {
    return trust(any_.require_grad(where));
  }
  bool requires_grad() const { return any_.requires_grad(); }
  Tensor detach() const { return trust(any_.detach()); }
  Tensor inner() const { return trust(any_.inner()); }
  Gradients backward(Location where = Location::current()) const requires kFloat {
    return any_.backward(where);
  }
  Gradients backward(const BackwardOptions& options,
                     Location where = Location::current()) const requires kFloat {
    return any_.backward(options, where);
  }

 private:
  friend AnyTensor& detail::handle_of<>(Tensor& tensor);
  static Tensor trust(AnyTensor any) { return Tensor(detail::trusted, std::move(any)); }

  AnyTensor any_;
};

}  // namespace sinter

// Need the class above; who has tensors has their functions too.
#include <sinter/detail/mismatch.h>
#include <sinter/functions/basic.h>
#include <sinter/functions/maths.h>
#include <sinter/functions/reductions.h>
#include <sinter/functions/views.h>
