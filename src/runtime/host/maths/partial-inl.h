// Loads and stores of the first lanes of a vector. Compiled once per target.
#if defined(SINTER_HOST_PARTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_PARTIAL_INL_H_
#undef SINTER_HOST_PARTIAL_INL_H_
#else
#define SINTER_HOST_PARTIAL_INL_H_
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// The memory after the first n lanes may belong to another thread or not exist. Only AVX-512 is known to have
// masked instructions for every type that do not access it; elsewhere a masked store may read and write all
// lanes.
// The first n < Lanes(d) elements; memory after them is not accessed.
template <class D, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> load_some(D d, const T* from, std::size_t n) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  return hn::MaskedLoad(hn::FirstN(d, n), d, from);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)] = {};
  for (std::size_t i = 0; i < n; ++i) lanes[i] = from[i];
  return hn::Load(d, lanes);
#endif
}
template <class D, class T = hn::TFromD<D>>
HWY_INLINE void store_some(hn::Vec<D> v, D d, T* to, std::size_t n) {
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  hn::BlendedStore(v, hn::FirstN(d, n), d, to);
#else
  HWY_ALIGN T lanes[HWY_MAX_BYTES / sizeof(T)];
  hn::Store(v, d, lanes);
  for (std::size_t i = 0; i < n; ++i) to[i] = lanes[i];
#endif
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
