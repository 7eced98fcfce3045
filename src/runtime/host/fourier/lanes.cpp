#include "src/runtime/host/fourier/lanes.h"

#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/fourier/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/fourier/butterflies-inl.h"
#include "src/runtime/host/fourier/transpose-inl.h"
#include "src/runtime/host/maths/partial-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::fourier::Lines;

template <class T>
void load_any(const Lines<const T>& lines, std::int64_t count, T* rows, std::int64_t row_step) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t j = 0;
  if (lines.lie_together) {
    const T* from = lines.first[0];
    if (lines.count == lanes)
      for (; j < count; ++j) hn::StoreU(hn::LoadU(d, from + j * lines.step), d, rows + j * row_step);
    for (; j < count; ++j)
      hn::StoreU(load_some(d, from + j * lines.step, static_cast<std::size_t>(lines.count)), d,
                 rows + j * row_step);
    return;
  }
  if (lines.step == 1)
    for (; j + kTileRows<T> <= count; j += kTileRows<T>) {
      hn::Vec<decltype(d)> v[kTileRows<T>];
#pragma GCC unroll 4
      for (int i = 0; i < kTileRows<T>; ++i)
        v[i] = load_blocks(d, [&](int b) HWY_ATTR {
          return lines.first[static_cast<std::size_t>(b * kTileRows<T> + i)] + j;
        });
      transpose_blocks(d, v);
#pragma GCC unroll 4
      for (int i = 0; i < kTileRows<T>; ++i) hn::StoreU(v[i], d, rows + (j + i) * row_step);
    }
  for (; j < count; ++j)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      rows[j * row_step + lane] = lines.first[static_cast<std::size_t>(lane)][j * lines.step];
}

template <class T>
void store_any(const Lines<T>& lines, std::int64_t count, const T* rows, std::int64_t row_step, T factor) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto by = hn::Set(d, factor);
  std::int64_t j = 0;
  if (lines.lie_together) {
    T* to = lines.first[0];
    for (; j < count; ++j) {
      const auto v = hn::Mul(by, hn::LoadU(d, rows + j * row_step));
      if (lines.count == lanes)
        hn::StoreU(v, d, to + j * lines.step);
      else
        store_some(v, d, to + j * lines.step, static_cast<std::size_t>(lines.count));
    }
    return;
  }
  if (lines.step == 1)
    for (; j + kTileRows<T> <= count; j += kTileRows<T>) {
      hn::Vec<decltype(d)> v[kTileRows<T>];
#pragma GCC unroll 4
      for (int i = 0; i < kTileRows<T>; ++i) v[i] = hn::Mul(by, hn::LoadU(d, rows + (j + i) * row_step));
      transpose_blocks(d, v);
#pragma GCC unroll 4
      for (int i = 0; i < kTileRows<T>; ++i)
        store_blocks(d, v[i], [&](int b) HWY_ATTR -> T* {
          const int lane = b * kTileRows<T> + i;
          return lane < lines.count ? lines.first[static_cast<std::size_t>(lane)] + j : nullptr;
        });
    }
  for (; j < count; ++j)
    for (std::int64_t lane = 0; lane < lines.count; ++lane)
      lines.first[static_cast<std::size_t>(lane)][j * lines.step] = factor * rows[j * row_step + lane];
}

template <class T>
HWY_INLINE Number<hn::Vec<LaneTag<T>>> row_at(const T* rows, std::int64_t k) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  return {hn::LoadU(d, rows + 2 * lanes * k), hn::LoadU(d, rows + 2 * lanes * k + lanes)};
}
template <class T, class V>
HWY_INLINE void put_row(T* rows, std::int64_t k, V re, V im) {
  const LaneTag<T> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::StoreU(re, d, rows + 2 * lanes * k);
  hn::StoreU(im, d, rows + 2 * lanes * k + lanes);
}

template <class T>
void part_any(T* rows, std::int64_t h, const T* turns) {
  const LaneTag<T> d;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    const auto a = row_at(rows, k), b = row_at(rows, k == 0 ? 0 : h - k);
    const auto t = times(Number<hn::Vec<decltype(d)>>{hn::Sub(a.re, b.re), hn::Add(a.im, b.im)},
                         {hn::Set(d, turns[2 * k]), hn::Set(d, turns[2 * k + 1])});
    const auto re = hn::Add(a.re, b.re), im = hn::Sub(a.im, b.im);
    put_row(rows, h - k, hn::Sub(re, t.im), hn::Neg(hn::Add(im, t.re)));
    put_row(rows, k, hn::Add(re, t.im), hn::Sub(im, t.re));
  }
}

template <class T>
void join_any(T* rows, std::int64_t h, const T* turns) {
  const LaneTag<T> d;
  for (std::int64_t k = 0; 2 * k <= h; ++k) {
    auto a = row_at(rows, k), b = row_at(rows, h - k);
    if (k == 0) a.im = b.im = hn::Zero(d);
    const auto t = times(Number<hn::Vec<decltype(d)>>{hn::Sub(a.re, b.re), hn::Add(a.im, b.im)},
                         {hn::Set(d, turns[2 * k]), hn::Set(d, -turns[2 * k + 1])});
    const auto re = hn::Add(a.re, b.re), im = hn::Sub(a.im, b.im);
    put_row(rows, h - k, hn::Add(re, t.im), hn::Sub(t.re, im));
    put_row(rows, k, hn::Sub(re, t.im), hn::Add(im, t.re));
  }
}

// Dynamic dispatch needs a plain function for each type.
#define SINTER_FOURIER_LANES(T, suffix)                                                                 \
  void load_##suffix(const Lines<const T>& lines, std::int64_t count, T* rows, std::int64_t row_step) { \
    load_any(lines, count, rows, row_step);                                                             \
  }                                                                                                     \
  void store_##suffix(const Lines<T>& lines, std::int64_t count, const T* rows, std::int64_t row_step,  \
                      T factor) {                                                                       \
    store_any(lines, count, rows, row_step, factor);                                                    \
  }                                                                                                     \
  void part_##suffix(T* rows, std::int64_t h, const T* turns) { part_any(rows, h, turns); }             \
  void join_##suffix(T* rows, std::int64_t h, const T* turns) { join_any(rows, h, turns); }
SINTER_FOURIER_LANES(float, f32)
SINTER_FOURIER_LANES(double, f64)
#undef SINTER_FOURIER_LANES

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {

#define SINTER_FOURIER_LANES(T, suffix)                                                              \
  HWY_EXPORT(load_##suffix);                                                                         \
  HWY_EXPORT(store_##suffix);                                                                        \
  HWY_EXPORT(part_##suffix);                                                                         \
  HWY_EXPORT(join_##suffix);                                                                         \
  namespace host::fourier {                                                                          \
  template <>                                                                                        \
  void load_lines(const Lines<const T>& lines, std::int64_t count, T* rows, std::int64_t row_step) { \
    HWY_DYNAMIC_DISPATCH(load_##suffix)(lines, count, rows, row_step);                               \
  }                                                                                                  \
  template <>                                                                                        \
  void store_lines(const Lines<T>& lines, std::int64_t count, const T* rows, std::int64_t row_step,  \
                   T factor) {                                                                       \
    HWY_DYNAMIC_DISPATCH(store_##suffix)(lines, count, rows, row_step, factor);                      \
  }                                                                                                  \
  template <>                                                                                        \
  void part_mirrored(T* rows, std::int64_t h, const T* turns) {                                      \
    HWY_DYNAMIC_DISPATCH(part_##suffix)(rows, h, turns);                                             \
  }                                                                                                  \
  template <>                                                                                        \
  void join_mirrored(T* rows, std::int64_t h, const T* turns) {                                      \
    HWY_DYNAMIC_DISPATCH(join_##suffix)(rows, h, turns);                                             \
  }                                                                                                  \
  }
SINTER_FOURIER_LANES(float, f32)
SINTER_FOURIER_LANES(double, f64)
#undef SINTER_FOURIER_LANES

}  // namespace sinter::runtime
#endif
