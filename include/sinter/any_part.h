// What x(...) gives for a tensor without a rank in its type that can be assigned to.
#pragma once

#include <array>
#include <cstddef>
#include <utility>

#include <sinter/any_tensor.h>
#include <sinter/detail/api.h>
#include <sinter/index.h>

namespace sinter {

/// The part itself and, as long as it has no name, a place to assign to: x(0, all) = row; x(s(0, 2)) += 1.
class SINTER_API AnyPart : public AnyTensor {
 public:
  using Indices = std::array<Index, kMaxRank>;

  AnyPart(AnyTensor& whole, const Indices& indices, const Location& where);
  AnyPart(const AnyPart&) = delete;

  AnyPart& operator=(const AnyTensor& other) & {
    static_cast<AnyTensor&>(*this) = other;
    return *this;
  }
  void operator=(Operand value) && { assign(value); }
  void operator=(const AnyPart& value) && { assign(value); }
#define SINTER_ASSIGNMENT(symbol, name)                                            \
  void operator symbol(OperatorOperand value)&& {                                  \
    assign(AnyTensor::name(*this, value, value.where).cast(dtype(), value.where)); \
  }                                                                                \
  AnyTensor& operator symbol(OperatorOperand value)& { return static_cast<AnyTensor&>(*this) symbol value; }
  SINTER_ASSIGNMENT(+=, add)
  SINTER_ASSIGNMENT(-=, sub)
  SINTER_ASSIGNMENT(*=, mul)
  SINTER_ASSIGNMENT(/=, div)
#undef SINTER_ASSIGNMENT

 private:
  void assign(Operand value);

  AnyTensor& whole_;
  Indices indices_;
  Location where_;
};

}  // namespace sinter
