// Tiles of some rows of vectors and as many elements of each lane. Compiled once per target.
#if defined(SINTER_HOST_FOURIER_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SINTER_HOST_FOURIER_TRANSPOSE_INL_H_
#undef SINTER_HOST_FOURIER_TRANSPOSE_INL_H_
#else
#define SINTER_HOST_FOURIER_TRANSPOSE_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <hwy/highway.h>

#include "src/runtime/host/fourier/passes.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
using LaneTag = hn::CappedTag<T, host::fourier::kMostLanes<T>>;

/// Rows of a tile: as many as a block of 16 bytes has elements. Tiles go through memory by blocks, each of
/// which has consecutive elements of one lane; only within blocks are elements moved.
template <class T>
inline constexpr int kTileRows = static_cast<int>(std::min<std::size_t>(16 / sizeof(T),
                                                                        hn::MaxLanes(LaneTag<T>())));

/// In each block of 16 bytes: element j of v[i] becomes element i of v[j].
template <class D, class V = hn::Vec<D>>
HWY_INLINE void transpose_blocks(D d, V* v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
    const auto low01 = hn::BitCast(wide, hn::InterleaveLower(d, v[0], v[1]));
    const auto low23 = hn::BitCast(wide, hn::InterleaveLower(d, v[2], v[3]));
    const auto high01 = hn::BitCast(wide, hn::InterleaveUpper(d, v[0], v[1]));
    const auto high23 = hn::BitCast(wide, hn::InterleaveUpper(d, v[2], v[3]));
    v[0] = hn::BitCast(d, hn::InterleaveLower(wide, low01, low23));
    v[1] = hn::BitCast(d, hn::InterleaveUpper(wide, low01, low23));
    v[2] = hn::BitCast(d, hn::InterleaveLower(wide, high01, high23));
    v[3] = hn::BitCast(d, hn::InterleaveUpper(wide, high01, high23));
  } else {
    const V low = hn::InterleaveLower(d, v[0], v[1]), high = hn::InterleaveUpper(d, v[0], v[1]);
    v[0] = low, v[1] = high;
  }
#else
  (void)d, (void)v;
#endif
}

/// Block b of the result is at `from(b)`.
template <class D, class From>
HWY_INLINE hn::Vec<D> load_blocks(D d, const From& from) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t kBlock = 16 / sizeof(hn::TFromD<D>);
  auto v = hn::LoadDup128(d, from(0));
#pragma GCC unroll 4
  for (std::size_t b = 1; b < hn::MaxLanes(D()) / kBlock; ++b)
    v = hn::IfThenElse(hn::FirstN(d, b * kBlock), v, hn::LoadDup128(d, from(static_cast<int>(b))));
  return v;
#else
  return hn::LoadU(d, from(0));
#endif
}

/// Block b goes to `to(b)`.
template <int kFirst = 0, class D, class To>
HWY_INLINE void store_blocks(D d, hn::Vec<D> v, const To& to) {
#if HWY_TARGET != HWY_SCALAR
  constexpr std::size_t kBlock = 16 / sizeof(hn::TFromD<D>);
  if constexpr (hn::MaxLanes(D()) > kBlock) {
    const hn::Half<D> half;
    store_blocks<kFirst>(half, hn::LowerHalf(half, v), to);
    store_blocks<kFirst + static_cast<int>(hn::MaxLanes(D()) / kBlock / 2)>(half, hn::UpperHalf(half, v), to);
    return;
  }
#endif
  if (auto* place = to(kFirst); place != nullptr) hn::StoreU(v, d, place);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
