// Loads of elements that are stored in fewer bits than they are computed in. Included once for each target.
#if defined(SINTER_RUNTIME_HOST_MATHS_WIDEN_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_RUNTIME_HOST_MATHS_WIDEN_INL_H
#undef SINTER_RUNTIME_HOST_MATHS_WIDEN_INL_H
#else
#define SINTER_RUNTIME_HOST_MATHS_WIDEN_INL_H
#endif

#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include <sinter/half.h>

#include "src/runtime/host/maths/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A vector of elements as they are computed.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_wide(D d, const T* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const bfloat16* from) {
  const hn::RebindToUnsigned<D> bits;
  const hn::Rebind<std::uint16_t, D> halves;
  const auto upper = hn::LoadU(halves, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(bits, upper)));
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const float16* from) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  const hn::Rebind<hwy::float16_t, D> halves;
  return hn::PromoteTo(d, hn::LoadU(halves, reinterpret_cast<const hwy::float16_t*>(from)));
#else
  // Highway's own conversion takes infinities and NaNs for numbers where there is no instruction for it.
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)];
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
#endif
}
template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const std::int8_t* from) {
  const hn::RebindToSigned<D> whole;
  const hn::Rebind<std::int8_t, D> bytes;
  return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(bytes, from)));
}

/// The first n < Lanes(d) of them; memory after them is not accessed.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some_wide(D d, const T* from, std::size_t n) {
  return load_some(d, from, n);
}
template <class D>
HWY_INLINE hn::Vec<D> load_some_lanes(D d, const auto* from, std::size_t n) {
  HWY_ALIGN float lanes[HWY_MAX_BYTES / sizeof(float)] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
}
template <class D>
HWY_INLINE hn::Vec<D> load_some_wide(D d, const bfloat16* from, std::size_t n) {
  return load_some_lanes(d, from, n);
}
template <class D>
HWY_INLINE hn::Vec<D> load_some_wide(D d, const float16* from, std::size_t n) {
  return load_some_lanes(d, from, n);
}
template <class D>
HWY_INLINE hn::Vec<D> load_some_wide(D d, const std::int8_t* from, std::size_t n) {
  return load_some_lanes(d, from, n);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
