// Operators of tensors that do not go together, so that the compiler says what to do in one line.
#pragma once

#include <cstddef>
#include <type_traits>

#include <sinter/detail/typed.h>

namespace sinter {
namespace detail {

// Never defined: their names are what the message is.
struct Ranks_differ_unsqueeze_the_operand_that_lacks_an_axis;
struct Kinds_differ_cast_one_of_the_operands;

template <std::size_t A, std::size_t B>
concept OtherRanks = A != B&& A != 0 && B != 0;

}  // namespace detail

#define SINTER_MISMATCH(symbol)                                                                           \
  template <std::size_t A, std::size_t B, class Kind>                                                     \
  requires detail::OtherRanks<A, B> detail::Ranks_differ_unsqueeze_the_operand_that_lacks_an_axis&        \
  operator symbol(const Tensor<A, Kind>&, const Tensor<B, Kind>&) = delete;                               \
  template <std::size_t A, std::size_t B, class KindA, class KindB>                                       \
  requires(!std::is_same_v<KindA, KindB>) detail::Kinds_differ_cast_one_of_the_operands& operator symbol( \
      const Tensor<A, KindA>&, const Tensor<B, KindB>&) = delete;
SINTER_MISMATCH(+)
SINTER_MISMATCH(-)
SINTER_MISMATCH(*)
SINTER_MISMATCH(/)
SINTER_MISMATCH(%)
SINTER_MISMATCH(==)
SINTER_MISMATCH(!=)
SINTER_MISMATCH(<)
SINTER_MISMATCH(<=)
SINTER_MISMATCH(>)
SINTER_MISMATCH(>=)
SINTER_MISMATCH(+=)
SINTER_MISMATCH(-=)
SINTER_MISMATCH(*=)
SINTER_MISMATCH(/=)
#undef SINTER_MISMATCH

}  // namespace sinter
