// The host's vector functions over i32, i64 and truth values, and selection, for each target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/interpreter/elementwise_integer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/interpreter/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {

/// out = condition ? a : b.
template <class T, bool kScalarA, bool kScalarB>
HWY_NOINLINE void where_loop(void* out, const void* condition, const void* a, const void* b, std::size_t n) {
  using D = hn::ScalableTag<T>;
  const D d;
  const hn::Rebind<std::uint8_t, D> db;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint8_t* bytes = static_cast<const std::uint8_t*>(condition);
  const Operand<kScalarA, D> x(d, a);
  const Operand<kScalarB, D> y(d, b);
  std::size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto mask = mask_of_bytes(d, hn::LoadU(db, bytes + i));
    store_result<false>(d, sn_where(d, mask, x.load(d, i), y.load(d, i)), out, i);
  }
  if (i < n) {
    const std::size_t rest = n - i;
    const auto mask = mask_of_bytes(d, load_some(db, bytes + i, rest));
    const auto value = sn_where(d, mask, x.load_some(d, i, rest), y.load_some(d, i, rest));
    store_some_result<false>(d, value, out, i, rest);
  }
}

template <class T>
void add_where(host::BlockFunctions& functions, DType dtype) {
  using host::Form;
  auto& forms = functions.elementwise[static_cast<std::size_t>(Op::Where)][static_cast<std::size_t>(dtype)];
  forms[static_cast<int>(Form::VVV)] = &where_loop<T, false, false>;
  forms[static_cast<int>(Form::VVS)] = &where_loop<T, false, true>;
  forms[static_cast<int>(Form::VSV)] = &where_loop<T, true, false>;
  forms[static_cast<int>(Form::VSS)] = &where_loop<T, true, true>;
}

void add_integer_functions(host::BlockFunctions& functions) {
  add_elementwise<DType::i32, std::int32_t>(functions);
  add_elementwise<DType::i64, std::int64_t>(functions);
  add_elementwise<DType::boolean, std::uint8_t>(functions);
  add_reductions<DType::i32, std::int32_t>(functions);
  add_reductions<DType::i64, std::int64_t>(functions);
  add_reductions<DType::boolean, std::uint8_t>(functions);
  add_where<std::uint32_t>(functions, DType::f32);
  add_where<std::uint64_t>(functions, DType::f64);
  add_where<std::uint32_t>(functions, DType::i32);
  add_where<std::uint64_t>(functions, DType::i64);
  for (DType dtype : {DType::i8, DType::u8, DType::f8_e4m3, DType::f8_e5m2})
    add_where<std::uint8_t>(functions, dtype);
  for (DType dtype : {DType::bf16, DType::f16, DType::i16, DType::u16})
    add_where<std::uint16_t>(functions, dtype);
  add_where<std::uint32_t>(functions, DType::u32);
  add_where<std::uint64_t>(functions, DType::u64);
  add_where<std::uint8_t>(functions, DType::boolean);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(add_integer_functions);
void host::add_integer_functions(BlockFunctions& functions) {
  HWY_DYNAMIC_DISPATCH(add_integer_functions)(functions);
}
}  // namespace sinter::runtime
#endif
