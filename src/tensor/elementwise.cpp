// Elementwise operations: one function per arity; the op table defines the rest.
#include "src/tensor/elementwise.h"

#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using tensor::Operand;

constexpr double kBeyondE4m3 = 464;  // what is larger rounds to a NaN

[[noreturn]] void throw_only_numbers(Op op, const Location& where) {
  throw Error("[" + std::string(name_of(op)) + "] needs a tensor among its operands; both are numbers",
              where);
}

/// Whether tensors have different dtypes, or 16 or 8 bits where an Autocast scope has the op computed in f32.
/// Empty ones are somebody else's to complain about.
bool needs_casts(Op op, const Operand& a, const Operand& b) {
  const trace::Value* x = a.tensor ? a.tensor->value().get() : nullptr;
  const trace::Value* y = b.tensor ? b.tensor->value().get() : nullptr;
  if (x && y && x->dtype != y->dtype) return true;
  if (!tensor::autocasts() || !tensor::runs_wide(op)) return false;
  return (x && is_stored_float(x->dtype)) || (y && is_stored_float(y->dtype));
}

/// base^exponent by squares, which wrap around as products do.
AnyTensor integer_power(Operand base, Operand exponent, const Location& where) {
  using A = AnyTensor;
  if (base.tensor && exponent.tensor && base.tensor->dtype() != exponent.tensor->dtype()) {
    std::array<A, 2> casts;
    tensor::promote_operands("pow", base, exponent, casts, where);
    return integer_power(base, exponent, where);
  }
  const A& like = base.tensor ? *base.tensor : *exponent.tensor;
  const DType dtype = like.dtype();
  A square = base.tensor
                 ? *base.tensor
                 : A::full({}, tensor::fit("pow", base.scalar, dtype, where), dtype, like.device(), where);
  A result = A::full({}, 1, dtype, like.device(), where);
  if (!exponent.tensor) {
    std::int64_t rest = tensor::fit("pow", exponent.scalar, dtype, where).as_int();
    if (rest < 0 && !is_unsigned(dtype))
      throw Error("[pow] an integer to the power of " + std::to_string(rest) + " is no integer", where);
    result = result.expand(square.shape(), where);
    for (auto bits = static_cast<std::uint64_t>(rest); bits != 0; bits >>= 1) {
      if (bits & 1) result = A::mul(result, square, where);
      if (bits > 1) square = A::mul(square, square, where);
    }
    return result;
  }
  const A& powers = *exponent.tensor;
  const A first = square;
  const int bits = static_cast<int>(8 * size_of(dtype));
  for (int bit = 0; bit < bits; ++bit) {
    const A is_set = A::not_equal(A::logical_and(A::shift_right(powers, bit, where), 1, where), 0, where);
    result = A::where(is_set, A::mul(result, square, where), result, where);
    if (bit + 1 < bits) square = A::mul(square, square, where);
  }
  if (is_unsigned(dtype)) return result;
  // What is left of 1 / base^n, as in PyTorch.
  const A odd = A::not_equal(A::logical_and(powers, 1, where), 0, where);
  const A sign = A::where(odd, first, A::mul(first, first, where), where);
  const A is_unit = A::logical_or(A::equal(first, 1, where), A::equal(first, -1, where), where);
  const A below = A::where(is_unit, sign, A::full({}, 0, dtype, like.device(), where), where);
  return A::where(A::less(powers, 0, where), below, result, where);
}

/// Maximum or minimum. The rule of the op gives an operand equal to a number no gradient, which is relu's; of
/// a number that is a tensor the other operand gets half, as of any equal tensor.
AnyTensor extreme(Op op, const Operand& a, const Operand& b, const Location& where) {
  const AnyTensor* const x = a.tensor ? a.tensor : b.tensor;
  if ((a.tensor && b.tensor) || !x || !x->requires_grad()) return tensor::binary(op, a, b, where);
  const DType dtype = tensor::result_dtype(op, x->dtype(), where);
  const Scalar number = tensor::fit(name_of(op), a.tensor ? b.scalar : a.scalar, dtype, where);
  const AnyTensor other = AnyTensor::full({}, number, dtype, x->device(), where);
  return a.tensor ? tensor::binary(op, a, other, where) : tensor::binary(op, other, b, where);
}

}  // namespace

Operand tensor::seen_as(const AnyTensor& x, const Shape& shape, AnyTensor& view, const Location& where) {
  if (x.value()->shape == shape) return x;
  view = tensor::broadcast_to(x, shape, where);
  return view;
}

AnyTensor tensor::unary(Op op, const AnyTensor& x, const Location& where) {
  const trace::Value& value = tensor::value_of(name_of(op), x, where);
  if (tensor::autocasts() && is_stored_float(value.dtype) && tensor::runs_wide(op))
    return unary(op, tensor::autocast_wide(x, where), where);
  const Operand operands[] = {x};
  return tensor::apply(op, operands, {}, {}, value.shape, tensor::result_dtype(op, value.dtype, where),
                       where);
}

AnyTensor tensor::binary(Op op, Operand a, Operand b, const Location& where) {
  const std::string_view name = name_of(op);
  if (needs_casts(op, a, b)) {
    std::array<AnyTensor, 2> casts;
    tensor::promote_operands(name, a, b, casts, where);
    if (tensor::autocasts() && tensor::runs_wide(op)) {
      if (a.tensor) a = Operand(casts[0] = tensor::autocast_wide(*a.tensor, where));
      if (b.tensor) b = Operand(casts[1] = tensor::autocast_wide(*b.tensor, where));
    }
    return binary(op, a, b, where);
  }
  if (a.tensor && b.tensor) {
    const trace::Value& x = tensor::value_of(name, *a.tensor, where);
    const trace::Value& y = tensor::value_of(name, *b.tensor, where);
    const DType dtype = tensor::result_dtype(op, x.dtype, where);
    if (x.shape == y.shape) {
      const Operand operands[] = {a, b};
      return tensor::apply(op, operands, {}, {}, x.shape, dtype, where);
    }
    const Shape shape = tensor::broadcast(name, x.shape, y.shape, where);
    AnyTensor view_a, view_b;
    const Operand operands[] = {tensor::seen_as(*a.tensor, shape, view_a, where),
                                tensor::seen_as(*b.tensor, shape, view_b, where)};
    return tensor::apply(op, operands, {}, {}, shape, dtype, where);
  }
  if (!a.tensor && !b.tensor) throw_only_numbers(op, where);
  const trace::Value& value = tensor::value_of(name, a.tensor ? *a.tensor : *b.tensor, where);
  const DType dtype = tensor::result_dtype(op, value.dtype, where);
  Scalar& number = a.tensor ? b.scalar : a.scalar;
  number = tensor::fit(name, number, value.dtype, where);
  // Compared numbers are rounded to the dtype, which makes NaN of what is beyond f8_e4m3.
  if (value.dtype == DType::f8_e4m3 && info(op).rule == DTypeRule::Compare &&
      std::abs(number.as_double()) > kBeyondE4m3) {
    const AnyTensor wide = (a.tensor ? *a.tensor : *b.tensor).cast(DType::f32, where);
    return a.tensor ? binary(op, wide, b, where) : binary(op, a, wide, where);
  }
  const Operand operands[] = {a, b};
  return tensor::apply(op, operands, {}, {}, value.shape, dtype, where);
}

void tensor::promote_operands(std::string_view op, Operand& a, Operand& b, std::array<AnyTensor, 2>& casts,
                              const Location& where) {
  if (!a.tensor || !b.tensor) return;
  const DType x = value_of(op, *a.tensor, where).dtype, y = value_of(op, *b.tensor, where).dtype;
  if (x == y) return;
  const DType common = promoted_dtype(op, x, y, where);
  if (x != common) a = Operand(casts[0] = a.tensor->cast(common, where));
  if (y != common) b = Operand(casts[1] = b.tensor->cast(common, where));
}

AnyTensor AnyTensor::neg(Location where) const { return tensor::unary(Op::Neg, *this, where); }
AnyTensor AnyTensor::abs(Location where) const { return tensor::unary(Op::Abs, *this, where); }
AnyTensor AnyTensor::sign(Location where) const { return tensor::unary(Op::Sign, *this, where); }
AnyTensor AnyTensor::exp(Location where) const { return tensor::unary(Op::Exp, *this, where); }
AnyTensor AnyTensor::log(Location where) const { return tensor::unary(Op::Log, *this, where); }
AnyTensor AnyTensor::log1p(Location where) const { return tensor::unary(Op::Log1p, *this, where); }
AnyTensor AnyTensor::expm1(Location where) const { return tensor::unary(Op::Expm1, *this, where); }
AnyTensor AnyTensor::sqrt(Location where) const { return tensor::unary(Op::Sqrt, *this, where); }
AnyTensor AnyTensor::rsqrt(Location where) const { return tensor::unary(Op::Rsqrt, *this, where); }
AnyTensor AnyTensor::recip(Location where) const { return tensor::unary(Op::Recip, *this, where); }
AnyTensor AnyTensor::square(Location where) const { return tensor::binary(Op::Mul, *this, *this, where); }
AnyTensor AnyTensor::sin(Location where) const { return tensor::unary(Op::Sin, *this, where); }
AnyTensor AnyTensor::cos(Location where) const { return tensor::unary(Op::Cos, *this, where); }
AnyTensor AnyTensor::tan(Location where) const { return tensor::unary(Op::Tan, *this, where); }
AnyTensor AnyTensor::asin(Location where) const { return tensor::unary(Op::Asin, *this, where); }
AnyTensor AnyTensor::acos(Location where) const { return tensor::unary(Op::Acos, *this, where); }
AnyTensor AnyTensor::atan(Location where) const { return tensor::unary(Op::Atan, *this, where); }
AnyTensor AnyTensor::sinh(Location where) const { return tensor::unary(Op::Sinh, *this, where); }
AnyTensor AnyTensor::cosh(Location where) const { return tensor::unary(Op::Cosh, *this, where); }
AnyTensor AnyTensor::asinh(Location where) const { return tensor::unary(Op::Asinh, *this, where); }
AnyTensor AnyTensor::acosh(Location where) const { return tensor::unary(Op::Acosh, *this, where); }
AnyTensor AnyTensor::atanh(Location where) const { return tensor::unary(Op::Atanh, *this, where); }
AnyTensor AnyTensor::tanh(Location where) const { return tensor::unary(Op::Tanh, *this, where); }
AnyTensor AnyTensor::sigmoid(Location where) const { return tensor::unary(Op::Sigmoid, *this, where); }
AnyTensor AnyTensor::erf(Location where) const { return tensor::unary(Op::Erf, *this, where); }
AnyTensor AnyTensor::ndtr(Location where) const { return tensor::unary(Op::Ndtr, *this, where); }
AnyTensor AnyTensor::floor(Location where) const { return tensor::unary(Op::Floor, *this, where); }
AnyTensor AnyTensor::ceil(Location where) const { return tensor::unary(Op::Ceil, *this, where); }
AnyTensor AnyTensor::round(Location where) const { return tensor::unary(Op::Round, *this, where); }
AnyTensor AnyTensor::trunc(Location where) const { return tensor::unary(Op::Trunc, *this, where); }
AnyTensor AnyTensor::is_nan(Location where) const { return tensor::unary(Op::IsNan, *this, where); }
AnyTensor AnyTensor::logical_not(Location where) const { return tensor::unary(Op::Not, *this, where); }

AnyTensor AnyTensor::cast(DType dtype, Location where) const {
  const trace::Value& value = tensor::value_of("cast", *this, where);
  if (value.dtype == dtype) return *this;
  tensor::check_supported("cast", dtype, device(), where);
  const Operand operands[] = {*this};
  return tensor::apply(Op::Cast, operands, {}, {}, value.shape, dtype, where);
}

AnyTensor AnyTensor::add(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Add, a, b, where);
}
AnyTensor AnyTensor::sub(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Sub, a, b, where);
}
AnyTensor AnyTensor::mul(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Mul, a, b, where);
}
AnyTensor AnyTensor::div(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Div, a, b, where);
}
AnyTensor AnyTensor::remainder(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Remainder, a, b, where);
}
AnyTensor AnyTensor::pow(Operand a, Operand b, Location where) {
  const bool has_float = (a.tensor && !is_int(tensor::value_of("pow", *a.tensor, where).dtype)) ||
                         (b.tensor && !is_int(tensor::value_of("pow", *b.tensor, where).dtype));
  if (!has_float && (a.tensor || b.tensor)) return integer_power(a, b, where);
  return tensor::binary(Op::Pow, a, b, where);
}
AnyTensor AnyTensor::atan2(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Atan2, a, b, where);
}
AnyTensor AnyTensor::maximum(Operand a, Operand b, Location where) {
  return extreme(Op::Maximum, a, b, where);
}
AnyTensor AnyTensor::minimum(Operand a, Operand b, Location where) {
  return extreme(Op::Minimum, a, b, where);
}
AnyTensor AnyTensor::equal(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Equal, a, b, where);
}
AnyTensor AnyTensor::not_equal(Operand a, Operand b, Location where) {
  return tensor::binary(Op::NotEqual, a, b, where);
}
AnyTensor AnyTensor::less(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Less, a, b, where);
}
AnyTensor AnyTensor::less_equal(Operand a, Operand b, Location where) {
  return tensor::binary(Op::LessEqual, a, b, where);
}
AnyTensor AnyTensor::logical_and(Operand a, Operand b, Location where) {
  return tensor::binary(Op::And, a, b, where);
}
AnyTensor AnyTensor::logical_or(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Or, a, b, where);
}
AnyTensor AnyTensor::logical_xor(Operand a, Operand b, Location where) {
  return tensor::binary(Op::Xor, a, b, where);
}

AnyTensor AnyTensor::shift_left(Operand a, Operand b, Location where) {
  return tensor::binary(Op::ShiftLeft, a, b, where);
}
AnyTensor AnyTensor::shift_right(Operand a, Operand b, Location where) {
  return tensor::binary(Op::ShiftRight, a, b, where);
}

AnyTensor AnyTensor::where(const AnyTensor& condition, Operand a, Operand b, Location where) {
  const trace::Value& mask = tensor::value_of("where", condition, where);
  if (mask.dtype != DType::boolean)
    throw DTypeError("[where] the condition is bool, not " + std::string(name_of(mask.dtype)), where);
  if (!a.tensor && !b.tensor) throw_only_numbers(Op::Where, where);
  std::array<AnyTensor, 2> casts;
  tensor::promote_operands("where", a, b, casts, where);
  const trace::Value& chosen = tensor::value_of("where", a.tensor ? *a.tensor : *b.tensor, where);
  const DType dtype = tensor::result_dtype(Op::Where, chosen.dtype, where);
  Shape shape = tensor::broadcast("where", mask.shape, chosen.shape, where);
  if (a.tensor && b.tensor) {
    shape = tensor::broadcast("where", shape, b.tensor->shape(), where);
  }
  AnyTensor view, view_a, view_b;
  const auto fitted = [&](const Operand& x, AnyTensor& view_of_x) -> Operand {
    return x.tensor ? tensor::seen_as(*x.tensor, shape, view_of_x, where)
                    : tensor::fit("where", x.scalar, dtype, where);
  };
  const Operand operands[] = {tensor::seen_as(condition, shape, view, where), fitted(a, view_a),
                              fitted(b, view_b)};
  return tensor::apply(Op::Where, operands, {}, {}, shape, dtype, where);
}

}  // namespace sinter
