// Rotations of neighbouring columns, one after the other. For each target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/matrices/rotations.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/matrices/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::Sweep;

template <class T>
HWY_INLINE void rotate(T* columns, const Sweep* sweeps, std::size_t count, const T* turns) {
  constexpr std::int64_t kColumn = host::kRotatedBytes / sizeof(T);
  const hn::CappedTag<T, kColumn> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kVectors = kColumn / hn::MaxLanes(d);
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t s = 0; s < count; ++s) {
    const Sweep& sweep = sweeps[s];
    const std::int64_t step = sweep.step * kColumn;
    T* at = columns + sweep.first * kColumn;
    V x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = hn::Load(d, at + v * lanes);
    for (std::int64_t r = 0; r < sweep.count; ++r) {
      const V cosine = hn::Set(d, turns[0]), sine = hn::Set(d, turns[1]);
      turns += 2;
      T* const next = at + step;
      for (int v = 0; v < kVectors; ++v) {
        const V y = hn::Load(d, next + v * lanes);
        hn::Store(hn::MulAdd(sine, y, hn::Mul(cosine, x[v])), d, at + v * lanes);
        x[v] = hn::NegMulAdd(sine, x[v], hn::Mul(cosine, y));
      }
      at = next;
    }
    for (int v = 0; v < kVectors; ++v) hn::Store(x[v], d, at + v * lanes);
  }
}

// Dynamic dispatch needs a plain function for each type.
void rotate_f32(float* columns, const Sweep* sweeps, std::size_t count, const float* turns) {
  rotate(columns, sweeps, count, turns);
}
void rotate_f64(double* columns, const Sweep* sweeps, std::size_t count, const double* turns) {
  rotate(columns, sweeps, count, turns);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(rotate_f32);
HWY_EXPORT(rotate_f64);

namespace host {

template <>
void rotate_columns(float* columns, const Sweep* sweeps, std::size_t count, const float* turns) {
  HWY_DYNAMIC_DISPATCH(rotate_f32)(columns, sweeps, count, turns);
}
template <>
void rotate_columns(double* columns, const Sweep* sweeps, std::size_t count, const double* turns) {
  HWY_DYNAMIC_DISPATCH(rotate_f64)(columns, sweeps, count, turns);
}

}  // namespace host
}  // namespace sinter::runtime
#endif
