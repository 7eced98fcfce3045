// The tensor whose rank and kind are known at run time only. `Tensor<Rank, Kind>` wraps it; importers and
// optimizers use it directly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sinter/detail/any_functions.h>
#include <sinter/detail/api.h>
#include <sinter/detail/ref.h>
#include <sinter/device.h>
#include <sinter/dtype.h>
#include <sinter/error.h>
#include <sinter/index.h>
#include <sinter/scalar.h>
#include <sinter/shape.h>
#include <sinter/tensor_data.h>

namespace sinter {

namespace trace {
struct Value;
SINTER_API void retain(Value* value);
SINTER_API void release(Value* value);
}  // namespace trace
namespace autodiff {
struct Node;
SINTER_API void retain(Node* node);
SINTER_API void release(Node* node);
}  // namespace autodiff

class AnyPart;
class Gradients;
struct BackwardOptions;
template <std::size_t Rank, class Kind>
class Tensor;

/// A handle to a value that is stored or will be computed when it is needed. Copying a handle shares the
/// value; values never change. An empty handle (default constructed) can only be assigned to.
///
/// Binary operations broadcast: shapes are aligned at their last dimension, sizes must be equal or 1, missing
/// ones count as 1. Operands of two dtypes meet in the one that promote() gives; those of products and
/// indexed writes have one. Operands must have the same device (one of them may be the autodiff form of the
/// other's device). All operations check their arguments when called and throw ShapeError or DTypeError that
/// names the values.
class SINTER_API AnyTensor : public detail::AnyFunctions {
 public:
  AnyTensor() = default;

  // ---- creation
  /// Row-major data; `data` holds numel(shape) elements of `dtype` (bool: one byte, 0 or 1).
  static AnyTensor from_bytes(std::span<const std::byte> data, const Shape& shape, DType dtype,
                              const Device& device, Location where = Location::current());
  static AnyTensor full(const Shape& shape, Scalar value, DType dtype, const Device& device,
                        Location where = Location::current());
  /// Integers start, start + step, ... before stop, as i64, or as a dtype that holds all of them: DTypeError
  /// for one that does not.
  static AnyTensor arange(std::int64_t start, std::int64_t stop, std::int64_t step, const Device& device,
                          Location where = Location::current());
  static AnyTensor arange(std::int64_t start, std::int64_t stop, std::int64_t step, DType dtype,
                          const Device& device, Location where = Location::current());
  /// Uniform in [low, high), f32, which has to hold both. Philox 4x32-10 (Salmon et al., "Parallel random
  /// numbers: as easy as 1, 2, 3", SC 2011): the same seed gives the same numbers on every device.
  static AnyTensor uniform(const Shape& shape, double low, double high, const Device& device,
                           Location where = Location::current());
  /// Normal with mean and standard deviation, f32 (Box-Muller over the same generator).
  static AnyTensor normal(const Shape& shape, double mean, double deviation, const Device& device,
                          Location where = Location::current());
  /// The same in any float dtype: drawn in f32, and rounded. Uniform numbers stay below `high` all the same.
  static AnyTensor uniform(const Shape& shape, double low, double high, DType dtype, const Device& device,
                           Location where = Location::current());
  static AnyTensor normal(const Shape& shape, double mean, double deviation, DType dtype,
                          const Device& device, Location where = Location::current());
  /// Integers low, .., high - 1 in any integer dtype that holds them; DTypeError for one that does not. They
  /// are remainders of 48 random bits, of 63 where there are more than 2^32 of them: one is more likely than
  /// another by n / 2^48 or n / 2^63 at most.
  static AnyTensor randint(const Shape& shape, std::int64_t low, std::int64_t high, DType dtype,
                           const Device& device, Location where = Location::current());

  /// Of this tensor's shape, dtype and device.
  AnyTensor full_like(Scalar value, Location where = Location::current()) const;
  AnyTensor zeros_like(Location where = Location::current()) const;
  /// For a value that is not looked at: zeros.
  AnyTensor empty_like(Location where = Location::current()) const { return zeros_like(where); }
  AnyTensor ones_like(Location where = Location::current()) const;
  AnyTensor rand_like(Location where = Location::current()) const;
  AnyTensor randn_like(Location where = Location::current()) const;

  // ---- facts
  bool defined() const { return static_cast<bool>(value_); }
  const Shape& shape() const;
  std::size_t rank() const { return shape().rank(); }
  std::int64_t numel() const { return shape().numel(); }
  DType dtype() const;
  Device device() const;

  /// The same value on another device. Switching autodiff on or off shares the value; another device copies
  /// it, which waits; its gradient is copied back.
  AnyTensor to_device(const Device& device, Location where = Location::current()) const;

  // ---- reading: flushes and waits. Copies what the tensor shows: a column of a matrix is a column's bytes.
  // `read` (functions/read.h) reads several tensors at once.
  TensorData to_data(Location where = Location::current()) const;
  /// Copies all elements, row-major, into `out` (numel * size_of(dtype) bytes).
  void read_bytes(std::span<std::byte> out, Location where = Location::current()) const;
  /// Computes the value without reading it; does not wait. Several values: `sync` (functions/sync.h).
  void sync(Location where = Location::current()) const;

  // ---- elementwise
  AnyTensor neg(Location where = Location::current()) const;
  AnyTensor abs(Location where = Location::current()) const;
  AnyTensor sign(Location where = Location::current()) const;
  AnyTensor exp(Location where = Location::current()) const;
  AnyTensor log(Location where = Location::current()) const;
  AnyTensor log1p(Location where = Location::current()) const;
  AnyTensor expm1(Location where = Location::current()) const;
  AnyTensor sqrt(Location where = Location::current()) const;
  AnyTensor rsqrt(Location where = Location::current()) const;
  AnyTensor recip(Location where = Location::current()) const;
  AnyTensor square(Location where = Location::current()) const;
  AnyTensor sin(Location where = Location::current()) const;
  AnyTensor cos(Location where = Location::current()) const;
  // f32 within 4 units in the last place on the host and 8 on other devices, except tangents of very large
  // numbers.
  AnyTensor tan(Location where = Location::current()) const;
  AnyTensor asin(Location where = Location::current()) const;
  AnyTensor acos(Location where = Location::current()) const;
  AnyTensor atan(Location where = Location::current()) const;
  AnyTensor sinh(Location where = Location::current()) const;
  AnyTensor cosh(Location where = Location::current()) const;
  AnyTensor asinh(Location where = Location::current()) const;
  AnyTensor acosh(Location where = Location::current()) const;
  AnyTensor atanh(Location where = Location::current()) const;
  AnyTensor tanh(Location where = Location::current()) const;
  AnyTensor sigmoid(Location where = Location::current()) const;
  AnyTensor erf(Location where = Location::current()) const;
  /// The distribution function of the standard normal distribution, (1 + erf(x / sqrt 2)) / 2: how likely a
  /// standard normal number is at most x. f32 within 3e-7; down to x = -6 within 0.2% of itself too.
  AnyTensor ndtr(Location where = Location::current()) const;
  /// 2 to the power of x, and logarithms to base 2 and 10: f32 within 6 units in the last place, also at
  /// powers of the base.
  AnyTensor exp2(Location where = Location::current()) const;
  AnyTensor log2(Location where = Location::current()) const;
  AnyTensor log10(Location where = Location::current()) const;
  AnyTensor floor(Location where = Location::current()) const;
  AnyTensor ceil(Location where = Location::current()) const;
  /// Rounds to the nearest integer, ties to even.
  AnyTensor round(Location where = Location::current()) const;
  AnyTensor trunc(Location where = Location::current()) const;
  AnyTensor is_nan(Location where = Location::current()) const;
  AnyTensor is_inf(Location where = Location::current()) const;
  AnyTensor is_finite(Location where = Location::current()) const;
  /// Bool: not; integers: complement.
  AnyTensor logical_not(Location where = Location::current()) const;
  /// Float to int truncates and saturates, NaN becomes 0; to bool is `!= 0`.
  AnyTensor cast(DType dtype, Location where = Location::current()) const;

  /// The second operand of a binary operation: a tensor or a number.
  struct Operand {
    Operand(const AnyTensor& t) : tensor(&t) {}
    template <class T>
    requires std::is_arithmetic_v<T> Operand(T value) : scalar(value) {}
    Operand(Scalar value) : scalar(value) {}
    const AnyTensor* tensor = nullptr;
    Scalar scalar = 0;
  };
  /// An operand of an operator, which has no Location argument: the conversion records the caller's line.
  struct OperatorOperand : Operand {
    OperatorOperand(const AnyTensor& t, Location where = Location::current()) : Operand(t), where(where) {}
    template <class T>
    requires std::is_arithmetic_v<T> OperatorOperand(T value, Location where = Location::current())
        : Operand(value), where(where) {}
    Location where;
  };
#define SINTER_OPERATOR(symbol, name) \
  friend AnyTensor operator symbol(OperatorOperand a, OperatorOperand b) { return name(a, b, a.where); }
  SINTER_OPERATOR(+, add)
  SINTER_OPERATOR(-, sub)
  SINTER_OPERATOR(*, mul)
  SINTER_OPERATOR(/, div)
  SINTER_OPERATOR(%, remainder)
  SINTER_OPERATOR(==, equal)
  SINTER_OPERATOR(!=, not_equal)
  SINTER_OPERATOR(<, less)
  SINTER_OPERATOR(<=, less_equal)
  SINTER_OPERATOR(>, greater)
  SINTER_OPERATOR(>=, greater_equal)
  SINTER_OPERATOR(&, logical_and)
  SINTER_OPERATOR(|, logical_or)
  SINTER_OPERATOR(^, logical_xor)
  SINTER_OPERATOR(&&, logical_and)
  SINTER_OPERATOR(||, logical_or)
  SINTER_OPERATOR(<<, shift_left)
  SINTER_OPERATOR(>>, shift_right)
#undef SINTER_OPERATOR
#define SINTER_ASSIGNMENT(symbol, name)                                        \
  AnyTensor& operator symbol(OperatorOperand other) {                          \
    /* Keeps its dtype, as in PyTorch. */                                      \
    return *this = name(*this, other, other.where).cast(dtype(), other.where); \
  }
  SINTER_ASSIGNMENT(+=, add)
  SINTER_ASSIGNMENT(-=, sub)
  SINTER_ASSIGNMENT(*=, mul)
  SINTER_ASSIGNMENT(/=, div)
  SINTER_ASSIGNMENT(%=, remainder)
  SINTER_ASSIGNMENT(&=, logical_and)
  SINTER_ASSIGNMENT(|=, logical_or)
  SINTER_ASSIGNMENT(^=, logical_xor)
#undef SINTER_ASSIGNMENT
  friend AnyTensor operator!(OperatorOperand x) { return x.tensor->logical_not(x.where); }
  friend AnyTensor operator-(OperatorOperand x) { return x.tensor->neg(x.where); }
  friend AnyTensor operator~(OperatorOperand x) { return x.tensor->logical_not(x.where); }

  static AnyTensor add(Operand a, Operand b, Location where = Location::current());
  static AnyTensor sub(Operand a, Operand b, Location where = Location::current());
  static AnyTensor mul(Operand a, Operand b, Location where = Location::current());
  /// Integers: truncates; division by zero gives 0.
  static AnyTensor div(Operand a, Operand b, Location where = Location::current());
  /// Has the sign of the divisor, as in Python.
  static AnyTensor remainder(Operand a, Operand b, Location where = Location::current());
  /// Has the sign of the dividend, as in C: a - trunc(a / b) * b. Integers by zero: a.
  static AnyTensor fmod(Operand a, Operand b, Location where = Location::current());
  /// Integers: wraps around; a negative power that is a number throws Error, one in a tensor gives 0, but of
  /// 1 and -1 what 1 / x^n is.
  static AnyTensor pow(Operand a, Operand b, Location where = Location::current());
  /// The angle of the point (x = b, y = a), in [-pi, pi].
  static AnyTensor atan2(Operand a, Operand b, Location where = Location::current());
  /// sqrt(a^2 + b^2) without overflow; NaN if either operand is.
  static AnyTensor hypot(Operand a, Operand b, Location where = Location::current());
  /// NaN if either operand is.
  static AnyTensor maximum(Operand a, Operand b, Location where = Location::current());
  static AnyTensor minimum(Operand a, Operand b, Location where = Location::current());
  static AnyTensor equal(Operand a, Operand b, Location where = Location::current());
  static AnyTensor not_equal(Operand a, Operand b, Location where = Location::current());
  static AnyTensor less(Operand a, Operand b, Location where = Location::current());
  static AnyTensor less_equal(Operand a, Operand b, Location where = Location::current());
  static AnyTensor greater(Operand a, Operand b, Location where = Location::current()) {
    return less(b, a, where);
  }
  static AnyTensor greater_equal(Operand a, Operand b, Location where = Location::current()) {
    return less_equal(b, a, where);
  }
  /// Bool: logical; integers: bitwise.
  static AnyTensor logical_and(Operand a, Operand b, Location where = Location::current());
  static AnyTensor logical_or(Operand a, Operand b, Location where = Location::current());
  static AnyTensor logical_xor(Operand a, Operand b, Location where = Location::current());
  /// Integers, by `b` bits; shift_right is arithmetic (preserves the sign). A count that is negative or at
  /// least the number of bits shifts all bits out: the result is 0, or -1 for a negative number shifted
  /// right.
  static AnyTensor shift_left(Operand a, Operand b, Location where = Location::current());
  static AnyTensor shift_right(Operand a, Operand b, Location where = Location::current());
  // x.add(y), as methods; x.clamp(low, high) and its kin, which are explained in functions/maths.h.
#define SINTER_BINARY(name)                                                   \
  AnyTensor name(Operand other, Location where = Location::current()) const { \
    return name(*this, other, where);                                         \
  }
  SINTER_BINARY(add)
  SINTER_BINARY(sub)
  SINTER_BINARY(mul)
  SINTER_BINARY(div)
  SINTER_BINARY(remainder)
  SINTER_BINARY(fmod)
  SINTER_BINARY(pow)
  SINTER_BINARY(atan2)
  SINTER_BINARY(hypot)
  SINTER_BINARY(maximum)
  SINTER_BINARY(minimum)
  SINTER_BINARY(equal)
  SINTER_BINARY(not_equal)
  SINTER_BINARY(less)
  SINTER_BINARY(less_equal)
  SINTER_BINARY(greater)
  SINTER_BINARY(greater_equal)
  SINTER_BINARY(logical_and)
  SINTER_BINARY(logical_or)
  SINTER_BINARY(logical_xor)
  SINTER_BINARY(shift_left)
  SINTER_BINARY(shift_right)
#undef SINTER_BINARY
  AnyTensor clamp(Operand low, Operand high, Location where = Location::current()) const;
  AnyTensor clamp_min(Operand low, Location where = Location::current()) const;
  AnyTensor clamp_max(Operand high, Location where = Location::current()) const;
  AnyTensor lerp(const AnyTensor& end, Operand weight, Location where = Location::current()) const;
  AnyTensor floor_divide(Operand other, Location where = Location::current()) const;
  /// `a` where `condition` is true, else `b`. At least one of a and b is a tensor.
  static AnyTensor where(const AnyTensor& condition, Operand a, Operand b,
                         Location where = Location::current());

  // ---- views: no element is copied
  /// The same elements in row-major order under another shape; one size may be -1 and is inferred.
  AnyTensor reshape(const Dims& sizes, Location where = Location::current()) const;
  AnyTensor permute(const Axes& axes, Location where = Location::current()) const;
  AnyTensor transpose(std::int64_t a, std::int64_t b, Location where = Location::current()) const;
  /// Swaps the last two axes.
  AnyTensor t(Location where = Location::current()) const { return transpose(-2, -1, where); }
  /// Repeats dimensions of size 1; -1 keeps a size.
  AnyTensor expand(const Dims& sizes, Location where = Location::current()) const;
  AnyTensor expand_as(const AnyTensor& other, Location where = Location::current()) const {
    return expand(other.shape(), where);
  }
  /// All elements in one axis.
  AnyTensor flatten(Location where = Location::current()) const { return reshape({-1}, where); }
  AnyTensor squeeze(const Axes& axes, Location where = Location::current()) const;
  AnyTensor unsqueeze(std::int64_t axis, Location where = Location::current()) const;
  /// One range for each leading dimension; the remaining dimensions stay whole.
  AnyTensor slice(std::span<const Range> ranges, Location where = Location::current()) const;
  AnyTensor slice(std::initializer_list<Range> ranges, Location where = Location::current()) const;
  AnyTensor narrow(std::int64_t axis, std::int64_t start, std::int64_t length,
                   Location where = Location::current()) const;
  /// The part at one index of an axis, which goes; a negative index counts from the end.
  AnyTensor select(std::int64_t axis, std::int64_t index, Location where = Location::current()) const;
  AnyTensor flip(const Axes& axes, Location where = Location::current()) const;
  /// Sliding windows: appends a dimension with the `size` elements that start at position step * i of `axis`;
  /// `axis` then counts the windows: (n - size) / step + 1.
  AnyTensor windows(std::int64_t axis, std::int64_t size, std::int64_t step,
                    Location where = Location::current()) const;

  /// Surrounds each dimension with `before` and `after` elements of `value`.
  AnyTensor pad(const Dims& before, const Dims& after, Scalar value,
                Location where = Location::current()) const;
  /// Surrounds each dimension by the tensor's own elements; see functions/padding.h.
  AnyTensor pad(const Dims& before, const Dims& after, PadMode mode,
                Location where = Location::current()) const;
  /// The inverse of a strided slice: along each dimension, element i is stored at start + i * step of a
  /// tensor of `shape`; all other elements are `value`.
  AnyTensor place(const Shape& shape, const Dims& start, const Dims& step, Scalar value,
                  Location where = Location::current()) const;

  /// x(s(1, 3), all, -1): ranges keep their axis, positions do not; see Index. Where this tensor may change,
  /// x(..) = value replaces the part. A mask as the only index gives the elements where it is true, whose
  /// number is read.
  AnyTensor operator()(const Index& a, const Index& b = {}, const Index& c = {}, const Index& d = {},
                       const Index& e = {}, const Index& f = {}, const Index& g = {}, const Index& h = {},
                       Location where = Location::current()) const&;
  AnyPart operator()(const Index& a, const Index& b = {}, const Index& c = {}, const Index& d = {},
                     const Index& e = {}, const Index& f = {}, const Index& g = {}, const Index& h = {},
                     Location where = Location::current()) &;

  // ---- assembly from parts: fuses like views, each part is computed only where it is placed
  /// A copy of this tensor with the part that the ranges select (see `slice`) replaced by `value`, which
  /// broadcasts to it.
  AnyTensor slice_assign(std::span<const Range> ranges, const AnyTensor& value,
                         Location where = Location::current()) const;
  AnyTensor slice_fill(std::span<const Range> ranges, Scalar number,
                       Location where = Location::current()) const;
  AnyTensor slice_assign(std::initializer_list<Range> ranges, const AnyTensor& value,
                         Location where = Location::current()) const;
  AnyTensor slice_fill(std::initializer_list<Range> ranges, Scalar number,
                       Location where = Location::current()) const;
  /// Concatenates along `axis`; the shapes are equal except for that axis, whose size may be 0. At least one
  /// piece.
  static AnyTensor cat(std::span<const AnyTensor> pieces, std::int64_t axis,
                       Location where = Location::current());
  /// Joins tensors of one shape along a new axis. At least one.
  static AnyTensor stack(std::span<const AnyTensor> pieces, std::int64_t axis,
                         Location where = Location::current());
  /// Views of pieces of `axis`: of the given sizes, which add up to its size; or of `size` each, where the
  /// last may be smaller.
  std::vector<AnyTensor> split(std::span<const std::int64_t> sizes, std::int64_t axis,
                               Location where = Location::current()) const;
  std::vector<AnyTensor> split(std::initializer_list<std::int64_t> sizes, std::int64_t axis,
                               Location where = Location::current()) const;
  std::vector<AnyTensor> split(std::int64_t size, std::int64_t axis,
                               Location where = Location::current()) const;
  /// At most `count` views of equal pieces of `axis`; the last may be smaller.
  std::vector<AnyTensor> chunk(std::int64_t count, std::int64_t axis,
                               Location where = Location::current()) const;
  /// The parts at each index of an axis, which goes.
  std::vector<AnyTensor> unbind(std::int64_t axis = 0, Location where = Location::current()) const;
  /// Tiles the tensor along each axis: one count, zero or more, for each.
  AnyTensor repeat(const Dims& counts, Location where = Location::current()) const;
  /// Rotates `axis`: element i moves to i + shift, and elements that leave at one end come in at the other.
  AnyTensor roll(std::int64_t shift, std::int64_t axis, Location where = Location::current()) const;
  /// Moves axis `from` to position `to`; the other axes keep their order. A view.
  AnyTensor movedim(std::int64_t from, std::int64_t to, Location where = Location::current()) const;
  /// `value` (or `number`) where the mask is true, else this tensor's elements.
  AnyTensor mask_where(const AnyTensor& mask, const AnyTensor& value,
                       Location where = Location::current()) const;
  AnyTensor mask_fill(const AnyTensor& mask, Scalar number, Location where = Location::current()) const;

  // ---- reductions; reduced dimensions stay, with size 1, or go: x.sum({0, 2}, drop). Without axes
  // everything becomes one number. Sums and products of integers and truth values are i64 (of u64 u64).
#define SINTER_REDUCTION(name)                                                        \
  AnyTensor name(const Axes& axes, Location where = Location::current()) const;       \
  AnyTensor name(const Axes& axes, Drop, Location where = Location::current()) const; \
  AnyTensor name(Location where = Location::current()) const;
  SINTER_REDUCTION(sum)
  SINTER_REDUCTION(prod)
  SINTER_REDUCTION(mean)
  SINTER_REDUCTION(max)
  SINTER_REDUCTION(min)
  // Bool only.
  SINTER_REDUCTION(any)
  SINTER_REDUCTION(all)
#undef SINTER_REDUCTION
  /// The mean square distance from the mean, times n / (n - correction). Correction 1 (Bessel's) estimates
  /// the variance of the population that the n elements were sampled from; 0 gives the variance of the
  /// elements themselves. Where n <= correction it is infinite, or NaN of equal elements, as in PyTorch.
  /// `std` is its square root, whose gradient is 0 where all elements are equal.
  AnyTensor var(const Axes& axes, double correction = 1, Location where = Location::current()) const;
  AnyTensor std(const Axes& axes, double correction = 1, Location where = Location::current()) const;
  AnyTensor var(Location where = Location::current()) const;
  AnyTensor std(Location where = Location::current()) const;
  /// Index (i64) of the first largest element along one dimension; NaN counts as largest.
  AnyTensor argmax(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor argmin(std::int64_t axis, Location where = Location::current()) const;
  AnyTensor argmax(std::int64_t axis, Drop, Location where = Location::current()) const;
  AnyTensor argmin(std::int64_t axis, Drop, Location where = Location::current()) const;
  /// Of all elements, row by row.
  AnyTensor argmax(Location where = Location::current()) const;
  AnyTensor argmin(Location where = Location::current()) const;
  /// All dimensions, for reductions to a scalar: follow with reshape({}).
  Axes all_axes() const;

  // ---- indexed reads; an index out of range throws ShapeError when the result is read
  /// result[.., i, ..] = this[.., index[.., i, ..], ..]; index (i32 or i64) has this tensor's rank and,
  /// except along `axis`, sizes no larger than this tensor's.
  AnyTensor gather(std::int64_t axis, const AnyTensor& index, Location where = Location::current()) const;
  /// The slices along `axis` at the positions in `index` (rank 1).
  AnyTensor index_select(std::int64_t axis, const AnyTensor& index,
                         Location where = Location::current()) const;

  // ---- indexed sums; deterministic, and an index out of range throws ShapeError when the result is read
  /// This tensor with the slices of `source` along `axis` added at the positions in `index` (rank 1, one for
  /// each slice). Slices for one position are added up in the order in which they come.
  AnyTensor index_add(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                      Location where = Location::current()) const;
  /// result[.., index[.., i, ..], ..] += source[.., i, ..]; index (i32 or i64) has this tensor's and source's
  /// rank, sizes no larger than source's and, except along `axis`, no larger than this tensor's.
  AnyTensor scatter_add(std::int64_t axis, const AnyTensor& index, const AnyTensor& source,
                        Location where = Location::current()) const;

  /// Appends a dimension of size `classes` that is 1 at the index in the element and 0 elsewhere, in this
  /// dtype (i32 or i64); all 0 where the element is outside of [0, classes).
  AnyTensor one_hot(std::int64_t classes, Location where = Location::current()) const;

  // ---- triangles, in the last two dimensions; diagonal 0 is the main one, 1 the one to the right of it
  /// Zero above (below) the diagonal.
  AnyTensor tril(std::int64_t diagonal = 0, Location where = Location::current()) const;
  AnyTensor triu(std::int64_t diagonal = 0, Location where = Location::current()) const;
  /// Bool: true on and below (above) the diagonal.
  static AnyTensor tril_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                             const Device& device, Location where = Location::current());
  static AnyTensor triu_mask(std::int64_t rows, std::int64_t columns, std::int64_t diagonal,
                             const Device& device, Location where = Location::current());

  // ---- products
  /// (.., m, k) x (.., k, n) -> (.., m, n); leading dimensions broadcast. Floats only.
  AnyTensor matmul(const AnyTensor& other, Location where = Location::current()) const;
  /// Cross-correlation: this (n, c_in, h, w), weight (c_out, c_in / groups, kh, kw) -> (n, c_out, oh, ow).
  AnyTensor conv2d(const AnyTensor& weight, const Conv2dOptions& options,
                   Location where = Location::current()) const;

  // ---- autodiff
  /// A new leaf with this value: `backward()` of results computed from it returns its gradient. Needs a
  /// device with autodiff.
  AnyTensor require_grad(Location where = Location::current()) const;
  bool requires_grad() const { return static_cast<bool>(node_); }
  /// The same value without history, still on the autodiff device.
  AnyTensor detach() const;
  /// The same value on the device without autodiff.
  AnyTensor inner() const;
  /// Gradients of this one-element float tensor with respect to every leaf it depends on. Consumes the
  /// history: saved values are released and a second call throws AutodiffError, unless the options
  /// (autodiff.h) say otherwise.
  Gradients backward(Location where = Location::current()) const;
  Gradients backward(const BackwardOptions& options, Location where = Location::current()) const;

  // ---- for Sinter's own layers
  using ValueRef = detail::Ref<trace::Value>;
  using NodeRef = detail::Ref<autodiff::Node>;
  AnyTensor(ValueRef value, NodeRef node, bool autodiff)
      : value_(std::move(value)), node_(std::move(node)), autodiff_(autodiff) {}
  const ValueRef& value() const { return value_; }
  const NodeRef& node() const { return node_; }
  bool on_autodiff() const { return autodiff_; }

 private:
  ValueRef value_;
  NodeRef node_;
  bool autodiff_ = false;
};

/// Prints like NumPy, with shape, dtype and device (see PrintOptions). Reads what is shown.
SINTER_API std::string to_string(const AnyTensor& tensor);
SINTER_API std::ostream& operator<<(std::ostream& out, const AnyTensor& tensor);

}  // namespace sinter

// Need the class above.
#include <sinter/any_part.h>
#include <sinter/any_results.h>
#include <sinter/gradients.h>
