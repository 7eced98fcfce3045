// The loops that apply an expression of the op table to a block. Compiled once per target.
#if defined(SINTER_HOST_LOOPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_LOOPS_INL_H_
#undef SINTER_HOST_LOOPS_INL_H_
#else
#define SINTER_HOST_LOOPS_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

#include <hwy/highway.h>

#include "src/runtime/host/interpreter/elementwise.h"
#include "src/runtime/host/maths/maths-inl.h"
#include "src/runtime/host/maths/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

/// A mask as bytes 0 and 1, one for each lane.
template <class D, class M>
HWY_INLINE auto bytes_of_mask(D, M mask) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 1) {
    const hn::Rebind<std::uint8_t, D> du;
    return hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, std::uint8_t{1}));
  } else if constexpr (sizeof(T) == 4) {
    const hn::Rebind<std::int32_t, D> di;
    const hn::Rebind<std::uint8_t, D> du;
    return hn::DemoteTo(du, hn::IfThenElseZero(hn::RebindMask(di, mask), hn::Set(di, 1)));
  } else {
    const hn::Rebind<std::uint64_t, D> di;
    const hn::Rebind<std::uint8_t, D> du;
    return hn::TruncateTo(du, hn::IfThenElseZero(hn::RebindMask(di, mask), hn::Set(di, std::uint64_t{1})));
  }
}

/// The mask of bytes that are not 0.
template <class D, class VB>
HWY_INLINE auto mask_of_bytes(D d, VB bytes) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 1) {
    return hn::Ne(bytes, hn::Zero(d));
  } else if constexpr (sizeof(T) == 2) {
    const hn::Rebind<std::uint16_t, D> du;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(du, bytes), hn::Zero(du)));
  } else if constexpr (sizeof(T) == 4) {
    const hn::Rebind<std::uint32_t, D> du;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(du, bytes), hn::Zero(du)));
  } else {
    const hn::Rebind<std::uint64_t, D> du;
    const hn::Rebind<std::uint32_t, D> dh;
    return hn::RebindMask(d, hn::Ne(hn::PromoteTo(du, hn::PromoteTo(dh, bytes)), hn::Zero(du)));
  }
}

/// An operand: a block, or one value.
template <bool kScalar, class D>
struct Operand {
  using T = hn::TFromD<D>;
  const T* at;
  hn::Vec<D> value;
  HWY_INLINE Operand(D d, const void* from) : at(static_cast<const T*>(from)) {
    if constexpr (kScalar) value = hn::Set(d, at[0]);
  }
  HWY_INLINE hn::Vec<D> load(D d, std::size_t i) const {
    if constexpr (kScalar)
      return value;
    else
      return hn::LoadU(d, at + i);
  }
  HWY_INLINE hn::Vec<D> load_some(D d, std::size_t i, std::size_t n) const {
    if constexpr (kScalar)
      return value;
    else
      return HWY_NAMESPACE::load_some(d, at + i, n);
  }
};

template <bool kMask, class D, class R>
HWY_INLINE void store_result(D d, R result, void* out, std::size_t i) {
  if constexpr (kMask) {
    hn::StoreU(bytes_of_mask(d, result), hn::Rebind<std::uint8_t, D>(), static_cast<std::uint8_t*>(out) + i);
  } else {
    hn::StoreU(result, d, static_cast<hn::TFromD<D>*>(out) + i);
  }
}
template <bool kMask, class D, class R>
HWY_INLINE void store_some_result(D d, R result, void* out, std::size_t i, std::size_t n) {
  if constexpr (kMask) {
    store_some(bytes_of_mask(d, result), hn::Rebind<std::uint8_t, D>(), static_cast<std::uint8_t*>(out) + i,
               n);
  } else {
    store_some(result, d, static_cast<hn::TFromD<D>*>(out) + i, n);
  }
}

/// out = F(a, b); unary ops ignore b. kMask: F returns a mask.
template <class F, class T, bool kMask, int kArity, host::Form form>
HWY_NOINLINE void block_loop(void* out, const void* a, const void* b, const void*, std::size_t n) {
  const hn::ScalableTag<T> d;
  using D = decltype(d);
  const std::size_t lanes = hn::Lanes(d);
  const F f;
  const Operand<form == host::Form::SV, hn::ScalableTag<T>> x(d, a);
  const Operand<kArity == 1 || form == host::Form::VS, hn::ScalableTag<T>> y(d, kArity == 1 ? a : b);
  static_assert(std::is_same_v<std::remove_const_t<D>, hn::ScalableTag<T>>);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) store_result<kMask>(d, f(d, x.load(d, i), y.load(d, i)), out, i);
  if (i < n) {
    const std::size_t rest = n - i;
    store_some_result<kMask>(d, f(d, x.load_some(d, i, rest), y.load_some(d, i, rest)), out, i, rest);
  }
}

/// lanes[i % kLanes] = F(lanes[i % kLanes], a[i]).
template <class F, class T>
HWY_NOINLINE void accumulate_loop(void* lanes_of_row, const void* from, std::size_t n) {
  const hn::CappedTag<T, host::kLanes> d;
  constexpr std::size_t kMost = host::kLanes;
  const std::size_t width = hn::Lanes(d);
  const F f;
  T* lanes = static_cast<T*>(lanes_of_row);
  const T* a = static_cast<const T*>(from);
  std::size_t i = 0;
  if (n >= kMost) {
    // Four vectors at a time stay in registers on every target; each accumulates its own lanes.
    const std::size_t whole = n / kMost * kMost;
    for (std::size_t group = 0; group < kMost; group += 4 * width) {
      if (4 * width <= kMost) {
        auto s0 = hn::LoadU(d, lanes + group);
        auto s1 = hn::LoadU(d, lanes + group + width);
        auto s2 = hn::LoadU(d, lanes + group + 2 * width);
        auto s3 = hn::LoadU(d, lanes + group + 3 * width);
        for (i = group; i < whole; i += kMost) {
          s0 = f(d, s0, hn::LoadU(d, a + i));
          s1 = f(d, s1, hn::LoadU(d, a + i + width));
          s2 = f(d, s2, hn::LoadU(d, a + i + 2 * width));
          s3 = f(d, s3, hn::LoadU(d, a + i + 3 * width));
        }
        hn::StoreU(s0, d, lanes + group);
        hn::StoreU(s1, d, lanes + group + width);
        hn::StoreU(s2, d, lanes + group + 2 * width);
        hn::StoreU(s3, d, lanes + group + 3 * width);
      } else {
        for (std::size_t part = group; part < kMost; part += width) {
          auto s = hn::LoadU(d, lanes + part);
          for (i = part; i < whole; i += kMost) s = f(d, s, hn::LoadU(d, a + i));
          hn::StoreU(s, d, lanes + part);
        }
      }
    }
    i = whole;
  }
  std::size_t lane = 0;
  for (; i + width <= n; i += width, lane += width)
    hn::StoreU(f(d, hn::LoadU(d, lanes + lane), hn::LoadU(d, a + i)), d, lanes + lane);
  if (i < n) {
    const std::size_t rest = n - i;
    store_some(f(d, load_some(d, lanes + lane, rest), load_some(d, a + i, rest)), d, lanes + lane, rest);
  }
}

/// Combines halves of the lanes until one is left; the order is the same for every vector width.
template <class F, class T>
HWY_NOINLINE void fold_lanes(void* out, void* lanes_of_row) {
  const hn::CappedTag<T, host::kLanes> d;
  const hn::CappedTag<T, 1> d1;
  const F f;
  T* lanes = static_cast<T*>(lanes_of_row);
  std::size_t half = host::kLanes / 2;
  for (; half >= hn::Lanes(d); half /= 2)
    for (std::size_t i = 0; i < half; i += hn::Lanes(d))
      hn::StoreU(f(d, hn::LoadU(d, lanes + i), hn::LoadU(d, lanes + half + i)), d, lanes + i);
  for (; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i)
      hn::StoreU(f(d1, hn::LoadU(d1, lanes + i), hn::LoadU(d1, lanes + half + i)), d1, lanes + i);
  static_cast<T*>(out)[0] = lanes[0];
}

// ---- the expressions of the table, as function objects

#define SINTER_ELEMENTWISE(op, name, arity, rule, text, host_expression, llvm)          \
  struct Expression##op {                                                               \
    template <class D, class A, class B>                                                \
    HWY_INLINE auto operator()([[maybe_unused]] D d, A a, [[maybe_unused]] B b) const { \
      if constexpr (DTypeRule::rule != DTypeRule::Select) {                             \
        return SINTER_WITHOUT_THIRD(host_expression);                                   \
      }                                                                                 \
    }                                                                                   \
  };
#define SINTER_STRUCTURAL(op, name, arity, op_class)
#define SINTER_WITHOUT_THIRD(...) \
  [&](auto c) HWY_ATTR {          \
    (void)c;                      \
    return __VA_ARGS__;           \
  }(a)
#include "src/trace/ops.def"
#undef SINTER_WITHOUT_THIRD
#undef SINTER_ELEMENTWISE
#undef SINTER_STRUCTURAL

/// Adds the loops of one op for element type T to the table.
template <class F, class T, bool kMask, int kArity>
void add_block_loops(host::BlockFunction (&forms)[host::kForms]) {
  using host::Form;
  forms[static_cast<int>(Form::VV)] = &block_loop<F, T, kMask, kArity, Form::VV>;
  if constexpr (kArity == 2) {
    forms[static_cast<int>(Form::VS)] = &block_loop<F, T, kMask, kArity, Form::VS>;
    forms[static_cast<int>(Form::SV)] = &block_loop<F, T, kMask, kArity, Form::SV>;
  }
}

/// True iff the dtype rule admits operands of `dtype`. Truth values are bytes here.
constexpr bool takes(DTypeRule rule, DType dtype) {
  switch (rule) {
    case DTypeRule::Same: return dtype != DType::boolean;
    case DTypeRule::Float:
    case DTypeRule::Bool: return is_float(dtype);
    case DTypeRule::Compare: return true;
    case DTypeRule::Logic: return !is_float(dtype);
    case DTypeRule::Integer: return dtype == DType::i32 || dtype == DType::i64;
    default: return false;
  }
}
constexpr bool gives_mask(DTypeRule rule) { return rule == DTypeRule::Compare || rule == DTypeRule::Bool; }

/// Adds all ops that accept operands of `dtype`, whose elements are T in memory.
template <DType dtype, class T>
void add_elementwise(host::BlockFunctions& functions) {
  constexpr std::size_t at = static_cast<std::size_t>(dtype);
#define SINTER_ELEMENTWISE(op, name, arity, rule, text, host_expression, llvm) \
  if constexpr (takes(DTypeRule::rule, dtype) && arity <= 2)                   \
    add_block_loops<Expression##op, T, gives_mask(DTypeRule::rule), arity>(    \
        functions.elementwise[static_cast<std::size_t>(Op::op)][at]);
#define SINTER_STRUCTURAL(op, name, arity, op_class)
#include "src/trace/ops.def"
#undef SINTER_ELEMENTWISE
#undef SINTER_STRUCTURAL
}

/// Adds a reduction that combines by the table's expression F.
template <class F, class T>
void add_reduction(host::BlockFunctions& functions, Op reduction, DType dtype) {
  functions.accumulate[static_cast<std::size_t>(reduction)][static_cast<std::size_t>(dtype)] =
      &accumulate_loop<F, T>;
  functions.fold[static_cast<std::size_t>(reduction)][static_cast<std::size_t>(dtype)] = &fold_lanes<F, T>;
}
template <DType dtype, class T>
void add_reductions(host::BlockFunctions& functions) {
  if constexpr (dtype == DType::boolean) {
    add_reduction<ExpressionOr, T>(functions, Op::Max, dtype);
    add_reduction<ExpressionAnd, T>(functions, Op::Min, dtype);
  } else {
    add_reduction<ExpressionAdd, T>(functions, Op::Sum, dtype);
    add_reduction<ExpressionMul, T>(functions, Op::Prod, dtype);
    add_reduction<ExpressionMaximum, T>(functions, Op::Max, dtype);
    add_reduction<ExpressionMinimum, T>(functions, Op::Min, dtype);
  }
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SINTER_HOST_LOOPS_INL_H_
