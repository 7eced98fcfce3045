// A term of a gradient formula: a tensor or a number, with the source location of the forward op, which all
// ops of its gradient carry as well.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include <sinter/any_tensor.h>

namespace sinter::autodiff {

class Term {
 public:
  Term() = default;
  Term(AnyTensor tensor, const Location& where) : tensor_(std::move(tensor)), where_(where) {}
  Term(Scalar scalar, const Location& where) : scalar_(scalar), where_(where) {}
  /// A tensor known to be all ones: multiplying by it records no op.
  static Term ones(AnyTensor tensor, const Location& where) {
    Term term(std::move(tensor), where);
    term.ones_ = true;
    return term;
  }
  /// The gradient of what has no effect: nothing is recorded for it, or for what it is multiplied with.
  static Term zero() {
    Term term;
    term.zero_ = true;
    return term;
  }
  /// The gradient of a part of a tensor, the box that begins at `start`; all around it is zero. Only as what
  /// a rule returns: the parts of a tensor are joined when all have come. Refers to `start`, which stands in
  /// the node.
  static Term part(AnyTensor tensor, std::span<const std::int64_t> start, const Location& where) {
    Term term(std::move(tensor), where);
    term.start_ = start;
    term.part_ = true;
    return term;
  }
  /// The same value with the location of another op.
  Term at(const Location& where) const& { return Term(*this).at(where); }
  Term at(const Location& where) && {
    where_ = where;
    return std::move(*this);
  }
  /// A term for `tensor`, a view or repetition of this term's elements, which is all ones if this one is.
  Term spread(AnyTensor tensor) const {
    Term term(std::move(tensor), where_);
    term.ones_ = ones_;
    return term;
  }

  const AnyTensor& tensor() const { return tensor_; }
  AnyTensor take() && { return std::move(tensor_); }
  const Location& where() const { return where_; }
  bool is_scalar() const { return !tensor_.defined(); }
  bool is_zero() const { return zero_; }
  bool is_part() const { return part_; }
  std::span<const std::int64_t> start() const { return start_; }
  double number() const { return scalar_.as_double(); }
  AnyTensor::Operand operand() const {
    return is_scalar() ? AnyTensor::Operand(scalar_) : AnyTensor::Operand(tensor_);
  }

  /// The term f(tensor, location).
  template <class F>
  Term with(F f) const {
    return {f(tensor_, where_), where_};
  }

  friend Term operator+(const Term& a, const Term& b) {
    if (a.is_scalar() && b.is_scalar()) return {Scalar(a.number() + b.number()), a.where_};
    return {AnyTensor::add(a.operand(), b.operand(), a.where_), a.where_};
  }
  friend Term operator-(const Term& a, const Term& b) {
    if (a.is_scalar() && b.is_scalar()) return {Scalar(a.number() - b.number()), a.where_};
    return {AnyTensor::sub(a.operand(), b.operand(), a.where_), a.where_};
  }
  friend Term operator*(const Term& a, const Term& b) {
    if (a.is_scalar() && b.is_scalar()) return {Scalar(a.number() * b.number()), a.where_};
    if (a.ones_ && a.is_like(b)) return {b.tensor_, a.where_};
    if (b.ones_ && b.is_like(a)) return a;
    return {AnyTensor::mul(a.operand(), b.operand(), a.where_), a.where_};
  }
  friend Term operator/(const Term& a, const Term& b) {
    if (a.is_scalar() && b.is_scalar()) return {Scalar(a.number() / b.number()), a.where_};
    return {AnyTensor::div(a.operand(), b.operand(), a.where_), a.where_};
  }
  friend Term operator+(const Term& a, double b) { return a + Term(Scalar(b), a.where_); }
  friend Term operator-(const Term& a, double b) { return a - Term(Scalar(b), a.where_); }
  friend Term operator*(const Term& a, double b) { return a * Term(Scalar(b), a.where_); }
  friend Term operator-(double a, const Term& b) { return Term(Scalar(a), b.where_) - b; }
  friend Term operator-(const Term& a) {
    if (a.is_scalar()) return {Scalar(-a.number()), a.where_};
    return {a.tensor_.neg(a.where_), a.where_};
  }

 private:
  bool is_like(const Term& b) const {
    return !b.is_scalar() && b.tensor_.shape() == tensor_.shape() && b.tensor_.dtype() == tensor_.dtype();
  }

  AnyTensor tensor_;
  Scalar scalar_ = 0;
  Location where_;
  std::span<const std::int64_t> start_;  // of a part
  bool part_ = false;
  bool ones_ = false;
  bool zero_ = false;
};

inline Term equal(const Term& a, const Term& b) {
  return {AnyTensor::equal(a.operand(), b.operand(), a.where()), a.where()};
}
inline Term equal(const Term& a, double b) { return equal(a, Term(Scalar(b), a.where())); }
inline Term less(const Term& a, const Term& b) {
  return {AnyTensor::less(a.operand(), b.operand(), a.where()), a.where()};
}
/// `a` where the condition holds, else `b`.
inline Term choose(const Term& condition, const Term& a, const Term& b) {
  return {AnyTensor::where(condition.tensor(), a.operand(), b.operand(), a.where()), a.where()};
}
inline Term choose(const Term& condition, const Term& a, double b) {
  return choose(condition, a, Term(Scalar(b), a.where()));
}
inline Term choose(const Term& condition, double a, const Term& b) {
  return choose(condition, Term(Scalar(a), b.where()), b);
}

inline Term exp(const Term& x) { return {x.tensor().exp(x.where()), x.where()}; }
inline Term log(const Term& x) {
  if (x.is_scalar()) return {Scalar(__builtin_log(x.number())), x.where()};
  return {x.tensor().log(x.where()), x.where()};
}
inline Term rsqrt(const Term& x) { return {x.tensor().rsqrt(x.where()), x.where()}; }
inline Term square(const Term& x) { return x * x; }
inline Term pow(const Term& a, const Term& b) {
  return {AnyTensor::pow(a.operand(), b.operand(), a.where()), a.where()};
}
inline Term sum(const Term& x, const Axes& axes) { return {x.tensor().sum(axes, x.where()), x.where()}; }
inline Term expand(const Term& x, const Shape& shape) {
  return x.spread(x.tensor().expand(shape, x.where()));
}
inline Term reshape(const Term& x, const Shape& shape) {
  return x.spread(x.tensor().reshape(shape, x.where()));
}

}  // namespace sinter::autodiff
