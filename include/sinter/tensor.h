// Tensors with rank and kind in the type: adding a matrix to a vector, or a mask to a float, does not
// compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <sinter/any_tensor.h>
#include <sinter/detail/tensor_creation.h>
#include <sinter/detail/typed.h>
#include <sinter/sizes.h>

namespace sinter {

/// A handle to a value that is known, or will be computed when it is needed; see AnyTensor, which it wraps
/// and whose notes on broadcasting, dtypes and errors hold here too. A function without a note does what its
/// namesake there does. Its static functions, such as full, from_data, arange, rand and cat, are those of
/// TensorCreation.
template <std::size_t Rank, class Kind>
class Tensor : public TensorCreation<Rank, Kind> {
 public:
  static constexpr std::size_t kRank = Rank;
  static constexpr bool kFloat = std::same_as<Kind, Float>;
  static constexpr bool kInt = std::same_as<Kind, Int>;
  static constexpr bool kBool = std::same_as<Kind, Bool>;
  using Operand = detail::OperandOf<Rank, Kind>;
  using Mask = Tensor<Rank, Bool>;
  using Same = Tensor;

  /// An empty handle, which can only be assigned to.
  Tensor() = default;
  /// Throws ShapeError or DTypeError when rank or kind are others.
  explicit Tensor(AnyTensor any, Location where = Location::current()) : any_(std::move(any)) {
    if (any_.rank() != Rank || !fits_kind<Kind>(any_.dtype()))
      detail::throw_mismatch(any_, Rank, detail::kind_name<Kind>, where);
  }
  Tensor(detail::Trusted, AnyTensor any) : any_(std::move(any)) {}

  const AnyTensor& any() const& { return any_; }
  AnyTensor any() && { return std::move(any_); }

  // ---- creation
  /// Of this tensor's shape, dtype and device.
  Tensor full_like(Number<Kind> value, Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), value.value, dtype(), device(), where));
  }
  Tensor zeros_like(Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), 0, dtype(), device(), where));
  }
  Tensor ones_like(Location where = Location::current()) const {
    return trust(AnyTensor::full(shape(), 1, dtype(), device(), where));
  }
  Tensor rand_like(Location where = Location::current()) const requires kFloat {
    return trust(
        AnyTensor::uniform(shape(), 0, detail::below_one(dtype()), device(), where).cast(dtype(), where));
  }
  Tensor randn_like(Location where = Location::current()) const requires kFloat {
    return trust(AnyTensor::normal(shape(), 0, 1, device(), where).cast(dtype(), where));
  }

  // ---- facts
  bool defined() const { return any_.defined(); }
  const Shape& shape() const { return any_.shape(); }
  std::int64_t numel() const { return any_.numel(); }
  DType dtype() const { return any_.dtype(); }
  Device device() const { return any_.device(); }
  Tensor to_device(const Device& device, Location where = Location::current()) const {
    return trust(any_.to_device(device, where));
  }

  // ---- reading: flushes and waits
  /// The only element: double, int64_t or bool by kind. Throws ShapeError when there is not exactly one.
  typename detail::Item<Kind>::type item(Location where = Location::current()) const {
    return detail::item_of<Kind>(any_, where);
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
  SINTER_BINARY(pow, Same, kFloat)
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
  friend Tensor operator-(Operand x) requires(!kBool) {
    Tensor result = trust(x.operand.tensor->neg(x.where));
    x.let_go();
    return result;
  }
  friend Tensor operator!(Operand x) requires kBool { return trust(x.operand.tensor->logical_not(x.where)); }
  friend Tensor operator~(Operand x) requires(!kFloat) {
    return trust(x.operand.tensor->logical_not(x.where));
  }
  /// Low where smaller, high where larger; NaN stays NaN.
  Tensor clamp(Number<Kind> low, Number<Kind> high, Location where = Location::current()) const
      requires(!kBool) {
    return trust(AnyTensor::minimum(AnyTensor::maximum(any_, low.value, where), high.value, where));
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

  // ---- views: no element is copied
  /// The braces say the rank: x.reshape({batch, -1}); x.reshape({}) has rank 0.
  template <std::size_t N>
  Tensor<N, Kind> reshape(const std::int64_t (&sizes)[N], Location where = Location::current()) const {
    return {detail::trusted, any_.reshape(dims(sizes), where)};
  }
  Tensor<0, Kind> reshape(const Sizes<0>&, Location where = Location::current()) const {
    return {detail::trusted, any_.reshape({}, where)};
  }
  template <std::size_t N>
  Tensor<N, Kind> reshape_as(const Shape& shape, Location where = Location::current()) const {
    return Tensor<N, Kind>(any_.reshape(shape, where), where);
  }
  Tensor permute(const std::int64_t (&axes)[Rank ? Rank : 1], Location where = Location::current()) const
      requires(Rank > 0) {
    return trust(any_.permute(Axes(dims(axes)), where));
  }
  Tensor transpose(std::int64_t a, std::int64_t b, Location where = Location::current()) const {
    return trust(any_.transpose(a, b, where));
  }
  /// Swaps the last two axes.
  Tensor t(Location where = Location::current()) const requires(Rank >= 2) {
    return trust(any_.transpose(-2, -1, where));
  }
  /// Repeats axes of size 1, and adds leading ones; -1 keeps a size.
  template <std::size_t N>
  requires(N >= Rank) Tensor<N, Kind> expand(const std::int64_t (&sizes)[N],
                                             Location where = Location::current())
  const { return {detail::trusted, any_.expand(dims(sizes), where)}; }
  Tensor expand_as(const Tensor& other, Location where = Location::current()) const {
    return trust(any_.expand(other.shape(), where));
  }
  Tensor<(Rank ? Rank - 1 : 0), Kind> squeeze(std::int64_t axis, Location where = Location::current()) const
      requires(Rank >= 1) {
    return {detail::trusted, any_.squeeze(axis, where)};
  }
  /// The braces say how many axes go: x.squeeze({0, 2}).
  template <std::size_t N>
  requires(N <= Rank) Tensor<Rank - N, Kind> squeeze(const std::int64_t (&axes)[N],
                                                     Location where = Location::current())
  const { return {detail::trusted, any_.squeeze(Axes(dims(axes)), where)}; }
  Tensor<Rank + 1, Kind> unsqueeze(std::int64_t axis, Location where = Location::current()) const {
    return {detail::trusted, any_.unsqueeze(axis, where)};
  }
  Tensor<1, Kind> flatten(Location where = Location::current()) const {
    return {detail::trusted, any_.reshape({any_.numel()}, where)};
  }
  /// Keeps the first N - 1 axes and makes the others one: x.flatten<2>() of (b, c, h, w) is (b, c * h * w).
  template <std::size_t N>
  requires(N >= 1 && N <= Rank) Tensor<N, Kind> flatten(Location where = Location::current())
  const { return {detail::trusted, any_.reshape(detail::flattened_sizes(shape(), N), where)}; }
  /// x.slice({s(1, 3), all, s_from(-2)}): one range for each leading axis.
  Tensor slice(std::initializer_list<Range> ranges, Location where = Location::current()) const {
    return trust(any_.slice(std::span(ranges.begin(), ranges.size()), where));
  }
  Tensor narrow(std::int64_t axis, std::int64_t start, std::int64_t length,
                Location where = Location::current()) const {
    return trust(any_.narrow(axis, start, length, where));
  }
  /// The part at one index of an axis, which goes; a negative index counts from the end.
  Tensor<(Rank ? Rank - 1 : 0), Kind> select(std::int64_t axis, std::int64_t index,
                                             Location where = Location::current()) const requires(Rank >= 1) {
    const std::int64_t start = detail::index_from_start(shape(), axis, index);
    return {detail::trusted, any_.narrow(axis, start, 1, where).squeeze(axis, where)};
  }
  Tensor flip(const Axes& axes, Location where = Location::current()) const {
    return trust(any_.flip(axes, where));
  }
  Tensor<Rank + 1, Kind> windows(std::int64_t axis, std::int64_t size, std::int64_t step,
                                 Location where = Location::current()) const {
    return {detail::trusted, any_.windows(axis, size, step, where)};
  }
  Tensor pad(const Sizes<Rank>& before, const Sizes<Rank>& after, Number<Kind> value,
             Location where = Location::current()) const {
    return trust(
        any_.pad(static_cast<const Shape&>(before), static_cast<const Shape&>(after), value.value, where));
  }

  // ---- parts put together
  /// x.slice_assign({s(1, 3), all}, value): the value broadcasts to the part.
  Tensor slice_assign(std::initializer_list<Range> ranges, const Tensor& value,
                      Location where = Location::current()) const {
    return trust(any_.slice_assign(std::span(ranges.begin(), ranges.size()), value.any(), where));
  }
  Tensor slice_fill(std::initializer_list<Range> ranges, Number<Kind> number,
                    Location where = Location::current()) const {
    return trust(any_.slice_fill(std::span(ranges.begin(), ranges.size()), number.value, where));
  }
  /// x.split({2, 3, 4}, 0): pieces of these sizes; x.split(2, 0): pieces of 2.
  std::vector<Tensor> split(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                            Location where = Location::current()) const {
    return typed(any_.split(std::span(sizes.begin(), sizes.size()), axis, where));
  }
  std::vector<Tensor> split(std::int64_t size, std::int64_t axis,
                            Location where = Location::current()) const {
    return typed(any_.split(size, axis, where));
  }
  std::vector<Tensor> chunk(std::int64_t count, std::int64_t axis,
                            Location where = Location::current()) const {
    return typed(any_.chunk(count, axis, where));
  }
  Tensor repeat(const Sizes<Rank>& counts, Location where = Location::current()) const {
    return trust(any_.repeat(static_cast<const Shape&>(counts), where));
  }
  Tensor roll(std::int64_t shift, std::int64_t axis, Location where = Location::current()) const {
    return trust(any_.roll(shift, axis, where));
  }
  Tensor movedim(std::int64_t from, std::int64_t to, Location where = Location::current()) const {
    return trust(any_.movedim(from, to, where));
  }
  Tensor mask_where(const Mask& mask, const Tensor& value, Location where = Location::current()) const {
    return trust(any_.mask_where(mask.any(), value.any(), where));
  }
  Tensor mask_fill(const Mask& mask, Number<Kind> number, Location where = Location::current()) const {
    return trust(any_.mask_fill(mask.any(), number.value, where));
  }

  // ---- reductions; axes that are named stay with size 1, without axes everything becomes one number
#define SINTER_REDUCTION(name, condition)                                                         \
  Tensor name(const Axes& axes, Location where = Location::current()) const requires(condition) { \
    return trust(any_.name(axes, where));                                                         \
  }                                                                                               \
  Tensor<0, Kind> name(Location where = Location::current()) const requires(condition) {          \
    return {detail::trusted, any_.name(any_.all_axes(), where).reshape({}, where)};               \
  }
  SINTER_REDUCTION(sum, !kBool)
  SINTER_REDUCTION(prod, !kBool)
  SINTER_REDUCTION(max, !kBool)
  SINTER_REDUCTION(min, !kBool)
  SINTER_REDUCTION(mean, kFloat)
  SINTER_REDUCTION(all, kBool)
#undef SINTER_REDUCTION
  Tensor var(const Axes& axes, double correction = 1,
             Location where = Location::current()) const requires kFloat {
    return trust(any_.var(axes, correction, where));
  }
  Tensor std(const Axes& axes, double correction = 1,
             Location where = Location::current()) const requires kFloat {
    return trust(any_.std(axes, correction, where));
  }
  /// Along axes; the whole is the free function any(x), because x.any() is the dynamic handle.
  Tensor any(const Axes& axes, Location where = Location::current()) const requires kBool {
    return trust(any_.any(axes, where));
  }
  Tensor<Rank, Int> argmax(std::int64_t axis, Location where = Location::current()) const requires(!kBool) {
    return {detail::trusted, any_.argmax(axis, where)};
  }
  Tensor<Rank, Int> argmin(std::int64_t axis, Location where = Location::current()) const requires(!kBool) {
    return {detail::trusted, any_.argmin(axis, where)};
  }

  // ---- indexed reads
  Tensor gather(std::int64_t axis, const Tensor<Rank, Int>& index,
                Location where = Location::current()) const {
    return trust(any_.gather(axis, index.any(), where));
  }
  Tensor index_select(std::int64_t axis, const Tensor<1, Int>& index,
                      Location where = Location::current()) const {
    return trust(any_.index_select(axis, index.any(), where));
  }

  Tensor<Rank + 1, Kind> one_hot(std::int64_t classes,
                                 Location where = Location::current()) const requires kInt {
    return {detail::trusted, any_.one_hot(classes, where)};
  }

  // ---- triangles
  Tensor tril(std::int64_t diagonal = 0, Location where = Location::current()) const requires(Rank >= 2) {
    return trust(any_.tril(diagonal, where));
  }
  Tensor triu(std::int64_t diagonal = 0, Location where = Location::current()) const requires(Rank >= 2) {
    return trust(any_.triu(diagonal, where));
  }

  // ---- products
  template <std::size_t Other>
  requires(kFloat&& Rank >= 2 && Other >= 2) Tensor<(Rank > Other ? Rank : Other), Kind> matmul(
      const Tensor<Other, Kind>& other, Location where = Location::current())
  const { return {detail::trusted, any_.matmul(other.any(), where)}; }
  Tensor conv2d(const Tensor& weight, const Conv2dOptions& options = {},
                Location where = Location::current()) const requires(kFloat&& Rank == 4) {
    return trust(any_.conv2d(weight.any(), options, where));
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

 private:
  friend AnyTensor& detail::handle_of<>(Tensor& tensor);
  static Tensor trust(AnyTensor any) { return Tensor(detail::trusted, std::move(any)); }
  template <std::size_t N>
  static Dims dims(const std::int64_t (&values)[N]) {
    return Dims(std::span<const std::int64_t>(values, N));
  }

  static std::vector<Tensor> typed(std::vector<AnyTensor> tensors) {
    std::vector<Tensor> result;
    for (AnyTensor& tensor : tensors) result.push_back(trust(std::move(tensor)));
    return result;
  }

  AnyTensor any_;
};

}  // namespace sinter

// Needs the class above; who has tensors has their functions too.
#include <sinter/functions.h>
