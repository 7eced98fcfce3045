// Elementwise operations: one function per arity; the op table defines the rest.
#include "src/tensor/apply.h"
#include "src/tensor/autocast.h"
#include "src/tensor/check.h"

namespace sinter {

namespace {

using tensor::Operand;

AnyTensor unary(Op op, const AnyTensor& x, const Location& where) {
  const trace::Value& value = tensor::value_of(name_of(op), x, where);
  if (tensor::autocasts() && is_half(value.dtype) && tensor::runs_wide(op))
    return unary(op, tensor::autocast_wide(x, where), where);
  const Operand operands[] = {x};
  return tensor::apply(op, operands, {}, {}, value.shape, tensor::result_dtype(op, value.dtype, where),
                       where);
}

[[noreturn]] void throw_only_numbers(Op op, const Location& where) {
  throw Error("[" + std::string(name_of(op)) + "] needs a tensor among its operands; both are numbers",
              where);
}

AnyTensor binary(Op op, Operand a, Operand b, const Location& where);

/// The same with the operands' dtypes as the scope's table says, which are not those that they have.
AnyTensor binary_as(DType dtype, Op op, Operand a, Operand b, const Location& where) {
  AnyTensor cast_a, cast_b;
  if (a.tensor) a = Operand(cast_a = a.tensor->cast(dtype, where));
  if (b.tensor) b = Operand(cast_b = b.tensor->cast(dtype, where));
  return binary(op, a, b, where);
}

/// The dtype that operands of an op are cast to inside of an Autocast scope: the first one's own, mostly.
DType autocast_of(Op op, const Operand& a, const Operand& b, const Location& where) {
  const std::string_view name = name_of(op);
  const DType first = tensor::value_of(name, a.tensor ? *a.tensor : *b.tensor, where).dtype;
  const DType second = a.tensor && b.tensor ? tensor::value_of(name, *b.tensor, where).dtype : first;
  const DType common = tensor::autocast_common(first, second);
  return is_half(common) && tensor::runs_wide(op) ? DType::f32 : common;
}

AnyTensor binary(Op op, Operand a, Operand b, const Location& where) {
  const std::string_view name = name_of(op);
  if (tensor::autocasts() && (a.tensor || b.tensor)) {
    const DType dtype = autocast_of(op, a, b, where);
    const auto differs = [&](const Operand& x) {
      return x.tensor && is_float(x.tensor->dtype()) && x.tensor->dtype() != dtype;
    };
    if (is_float(dtype) && (differs(a) || differs(b))) return binary_as(dtype, op, a, b, where);
  }
  if (a.tensor && b.tensor) {
    const trace::Value& x = tensor::value_of(name, *a.tensor, where);
    const trace::Value& y = tensor::value_of(name, *b.tensor, where);
    tensor::check_same_dtype(name, x.dtype, y.dtype, where);
    const DType dtype = tensor::result_dtype(op, x.dtype, where);
    if (x.shape == y.shape) {
      const Operand operands[] = {a, b};
      return tensor::apply(op, operands, {}, {}, x.shape, dtype, where);
    }
    const Shape shape = tensor::broadcast(name, x.shape, y.shape, where);
    const AnyTensor wide_a = tensor::broadcast_to(*a.tensor, shape, where);
    const AnyTensor wide_b = tensor::broadcast_to(*b.tensor, shape, where);
    const Operand operands[] = {wide_a, wide_b};
    return tensor::apply(op, operands, {}, {}, shape, dtype, where);
  }
  if (!a.tensor && !b.tensor) throw_only_numbers(op, where);
  const trace::Value& value = tensor::value_of(name, a.tensor ? *a.tensor : *b.tensor, where);
  const DType dtype = tensor::result_dtype(op, value.dtype, where);
  Scalar& number = a.tensor ? b.scalar : a.scalar;
  number = tensor::fit(name, number, value.dtype, where);
  const Operand operands[] = {a, b};
  return tensor::apply(op, operands, {}, {}, value.shape, dtype, where);
}

}  // namespace

AnyTensor AnyTensor::neg(Location where) const { return unary(Op::Neg, *this, where); }
AnyTensor AnyTensor::abs(Location where) const { return unary(Op::Abs, *this, where); }
AnyTensor AnyTensor::sign(Location where) const { return unary(Op::Sign, *this, where); }
AnyTensor AnyTensor::exp(Location where) const { return unary(Op::Exp, *this, where); }
AnyTensor AnyTensor::log(Location where) const { return unary(Op::Log, *this, where); }
AnyTensor AnyTensor::log1p(Location where) const { return unary(Op::Log1p, *this, where); }
AnyTensor AnyTensor::expm1(Location where) const { return unary(Op::Expm1, *this, where); }
AnyTensor AnyTensor::sqrt(Location where) const { return unary(Op::Sqrt, *this, where); }
AnyTensor AnyTensor::rsqrt(Location where) const { return unary(Op::Rsqrt, *this, where); }
AnyTensor AnyTensor::recip(Location where) const { return unary(Op::Recip, *this, where); }
AnyTensor AnyTensor::square(Location where) const { return binary(Op::Mul, *this, *this, where); }
AnyTensor AnyTensor::sin(Location where) const { return unary(Op::Sin, *this, where); }
AnyTensor AnyTensor::cos(Location where) const { return unary(Op::Cos, *this, where); }
AnyTensor AnyTensor::tan(Location where) const { return unary(Op::Tan, *this, where); }
AnyTensor AnyTensor::asin(Location where) const { return unary(Op::Asin, *this, where); }
AnyTensor AnyTensor::acos(Location where) const { return unary(Op::Acos, *this, where); }
AnyTensor AnyTensor::atan(Location where) const { return unary(Op::Atan, *this, where); }
AnyTensor AnyTensor::sinh(Location where) const { return unary(Op::Sinh, *this, where); }
AnyTensor AnyTensor::cosh(Location where) const { return unary(Op::Cosh, *this, where); }
AnyTensor AnyTensor::asinh(Location where) const { return unary(Op::Asinh, *this, where); }
AnyTensor AnyTensor::acosh(Location where) const { return unary(Op::Acosh, *this, where); }
AnyTensor AnyTensor::atanh(Location where) const { return unary(Op::Atanh, *this, where); }
AnyTensor AnyTensor::tanh(Location where) const { return unary(Op::Tanh, *this, where); }
AnyTensor AnyTensor::sigmoid(Location where) const { return unary(Op::Sigmoid, *this, where); }
AnyTensor AnyTensor::erf(Location where) const { return unary(Op::Erf, *this, where); }
AnyTensor AnyTensor::floor(Location where) const { return unary(Op::Floor, *this, where); }
AnyTensor AnyTensor::ceil(Location where) const { return unary(Op::Ceil, *this, where); }
AnyTensor AnyTensor::round(Location where) const { return unary(Op::Round, *this, where); }
AnyTensor AnyTensor::trunc(Location where) const { return unary(Op::Trunc, *this, where); }
AnyTensor AnyTensor::is_nan(Location where) const { return unary(Op::IsNan, *this, where); }
AnyTensor AnyTensor::logical_not(Location where) const { return unary(Op::Not, *this, where); }

AnyTensor AnyTensor::cast(DType dtype, Location where) const {
  const trace::Value& value = tensor::value_of("cast", *this, where);
  if (value.dtype == dtype) return *this;
  tensor::check_supported("cast", dtype, device(), where);
  const Operand operands[] = {*this};
  return tensor::apply(Op::Cast, operands, {}, {}, value.shape, dtype, where);
}

AnyTensor AnyTensor::add(Operand a, Operand b, Location where) { return binary(Op::Add, a, b, where); }
AnyTensor AnyTensor::sub(Operand a, Operand b, Location where) { return binary(Op::Sub, a, b, where); }
AnyTensor AnyTensor::mul(Operand a, Operand b, Location where) { return binary(Op::Mul, a, b, where); }
AnyTensor AnyTensor::div(Operand a, Operand b, Location where) { return binary(Op::Div, a, b, where); }
AnyTensor AnyTensor::remainder(Operand a, Operand b, Location where) {
  return binary(Op::Remainder, a, b, where);
}
AnyTensor AnyTensor::pow(Operand a, Operand b, Location where) { return binary(Op::Pow, a, b, where); }
AnyTensor AnyTensor::atan2(Operand a, Operand b, Location where) { return binary(Op::Atan2, a, b, where); }
AnyTensor AnyTensor::maximum(Operand a, Operand b, Location where) {
  return binary(Op::Maximum, a, b, where);
}
AnyTensor AnyTensor::minimum(Operand a, Operand b, Location where) {
  return binary(Op::Minimum, a, b, where);
}
AnyTensor AnyTensor::equal(Operand a, Operand b, Location where) { return binary(Op::Equal, a, b, where); }
AnyTensor AnyTensor::not_equal(Operand a, Operand b, Location where) {
  return binary(Op::NotEqual, a, b, where);
}
AnyTensor AnyTensor::less(Operand a, Operand b, Location where) { return binary(Op::Less, a, b, where); }
AnyTensor AnyTensor::less_equal(Operand a, Operand b, Location where) {
  return binary(Op::LessEqual, a, b, where);
}
AnyTensor AnyTensor::logical_and(Operand a, Operand b, Location where) {
  return binary(Op::And, a, b, where);
}
AnyTensor AnyTensor::logical_or(Operand a, Operand b, Location where) { return binary(Op::Or, a, b, where); }
AnyTensor AnyTensor::logical_xor(Operand a, Operand b, Location where) {
  return binary(Op::Xor, a, b, where);
}

AnyTensor AnyTensor::shift_left(Operand a, Operand b, Location where) {
  return binary(Op::ShiftLeft, a, b, where);
}
AnyTensor AnyTensor::shift_right(Operand a, Operand b, Location where) {
  return binary(Op::ShiftRight, a, b, where);
}

AnyTensor AnyTensor::where(const AnyTensor& condition, Operand a, Operand b, Location where) {
  const trace::Value& mask = tensor::value_of("where", condition, where);
  if (mask.dtype != DType::boolean)
    throw DTypeError("[where] the condition is bool, not " + std::string(name_of(mask.dtype)), where);
  if (!a.tensor && !b.tensor) throw_only_numbers(Op::Where, where);
  if (tensor::autocasts() && a.tensor && b.tensor) {
    const DType first = tensor::value_of("where", *a.tensor, where).dtype;
    const DType second = tensor::value_of("where", *b.tensor, where).dtype;
    const DType common = tensor::autocast_common(first, second);
    if (first != second && is_float(first) && is_float(second))
      return AnyTensor::where(condition, a.tensor->cast(common, where), b.tensor->cast(common, where), where);
  }
  const trace::Value& chosen = tensor::value_of("where", a.tensor ? *a.tensor : *b.tensor, where);
  const DType dtype = tensor::result_dtype(Op::Where, chosen.dtype, where);
  Shape shape = tensor::broadcast("where", mask.shape, chosen.shape, where);
  if (a.tensor && b.tensor) {
    const trace::Value& other = tensor::value_of("where", *b.tensor, where);
    tensor::check_same_dtype("where", dtype, other.dtype, where);
    shape = tensor::broadcast("where", shape, other.shape, where);
  }
  const AnyTensor wide = tensor::broadcast_to(condition, shape, where);
  AnyTensor wide_a, wide_b;
  if (a.tensor) {
    wide_a = tensor::broadcast_to(*a.tensor, shape, where);
    a.tensor = &wide_a;
  } else {
    a.scalar = tensor::fit("where", a.scalar, dtype, where);
  }
  if (b.tensor) {
    wide_b = tensor::broadcast_to(*b.tensor, shape, where);
    b.tensor = &wide_b;
  } else {
    b.scalar = tensor::fit("where", b.scalar, dtype, where);
  }
  const Operand operands[] = {wide, a, b};
  return tensor::apply(Op::Where, operands, {}, {}, shape, dtype, where);
}

}  // namespace sinter
