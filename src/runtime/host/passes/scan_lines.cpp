// Scans within vectors, by as many steps as doubling takes to get from one lane to all. Only the join with
// what stands before a vector waits for the vector before.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/passes/scan_lines.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/passes/scan_lines.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::ExtremeKey;
using host::ExtremeState;
using host::ScanNumber;

struct Add {
  template <class T>
  static T none() {
    return 0;
  }
  template <class T>
  static T join(T a, T b) {
    return a + b;
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE static V join(D, V a, V b) {
    return hn::Add(a, b);
  }
};
struct Multiply {
  template <class T>
  static T none() {
    return 1;
  }
  template <class T>
  static T join(T a, T b) {
    return a * b;
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE static V join(D, V a, V b) {
    return hn::Mul(a, b);
  }
};
struct Greater {
  template <class T>
  static T none() {
    return std::numeric_limits<T>::lowest();
  }
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE static V join(D, V a, V b) {
    return hn::Max(a, b);
  }
};

/// Joins each lane with all lanes before it.
template <class D, class Join>
class LaneScan {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  explicit LaneScan(D d) : d_(d), none_(hn::Set(d, Join::template none<T>())) {
    using Index = hwy::MakeSigned<T>;
    HWY_ALIGN Index from[HWY_MAX_BYTES / sizeof(T)];
    const std::size_t lanes = hn::Lanes(d);
    for (int step = 0; step < kSteps; ++step) {
      const std::size_t by = std::size_t{1} << step;
      for (std::size_t i = 0; i < lanes; ++i) from[i] = static_cast<Index>(i < by ? 0 : i - by);
      up_[step] = hn::SetTableIndices(d, from);
      first_[step] = hn::FirstN(d, by);
    }
    for (std::size_t i = 0; i < lanes; ++i) from[i] = static_cast<Index>(lanes - 1);
    last_ = hn::SetTableIndices(d, from);
  }

  HWY_INLINE V within(V v) const {
    const std::size_t lanes = hn::Lanes(d_);
#pragma GCC unroll 4
    for (int step = 0; step < kSteps; ++step)
      if ((std::size_t{1} << step) < lanes)
        v = Join::join(d_, hn::IfThenElse(first_[step], none_, hn::TableLookupLanes(v, up_[step])), v);
    return v;
  }
  /// The last lane in all of them.
  HWY_INLINE V last(V v) const { return hn::TableLookupLanes(v, last_); }

 private:
  static constexpr int kSteps = 4;  // up to 16 lanes

  D d_;
  V none_;
  decltype(hn::SetTableIndices(D(), static_cast<const hwy::MakeSigned<T>*>(nullptr))) up_[kSteps], last_;
  decltype(hn::FirstN(D(), 1)) first_[kSteps];
};

template <class D, class T>
HWY_INLINE hn::Vec<D> load_numbers(D d, const T* from) {
  if constexpr (std::is_same_v<T, float>)
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
  else
    return hn::LoadU(d, reinterpret_cast<const hn::TFromD<D>*>(from));
}
template <class D, class T>
HWY_INLINE void store_numbers(D d, hn::Vec<D> v, T* to) {
  if constexpr (std::is_same_v<T, float>)
    hn::StoreU(hn::DemoteTo(hn::Rebind<float, D>(), v), hn::Rebind<float, D>(), to);
  else
    hn::StoreU(v, d, reinterpret_cast<hn::TFromD<D>*>(to));
}

template <class Join, class T>
ScanNumber<T> scan_numbers(const T* x, std::int64_t n, ScanNumber<T> before, T* y) {
  using Number = ScanNumber<T>;
  const hn::ScalableTag<Number> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  Number state = before;
  if (y && n >= lanes) {
    const LaneScan<decltype(d), Join> scan(d);
    auto carried = hn::Set(d, before);
    for (; i + lanes <= n; i += lanes) {
      const auto v = scan.within(load_numbers(d, x + i));
      store_numbers(d, Join::join(d, carried, v), y + i);
      carried = Join::join(d, carried, scan.last(v));
    }
    state = hn::GetLane(carried);
  } else if (n >= lanes) {
    auto joined = hn::Set(d, Join::template none<Number>());
    for (; i + lanes <= n; i += lanes) joined = Join::join(d, joined, load_numbers(d, x + i));
    HWY_ALIGN Number each[HWY_MAX_BYTES / sizeof(Number)];
    hn::Store(joined, d, each);
    for (std::int64_t lane = 0; lane < lanes; ++lane) state = Join::join(state, each[lane]);
  }
  for (; i < n; ++i) {
    state = Join::join(state, static_cast<Number>(x[i]));
    if (y) y[i] = static_cast<T>(state);
  }
  return state;
}

/// host::extreme_key of each lane.
template <bool kMax, class D, class T>
HWY_INLINE hn::Vec<D> load_keys(D d, const T* from) {
  if constexpr (std::is_floating_point_v<T>) {
    const hn::Rebind<T, D> numbers;
    const auto x = hn::LoadU(numbers, from);
    const auto bits = hn::BitCast(d, x), most = hn::Set(d, std::numeric_limits<ExtremeKey<T>>::max());
    auto key = hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), most));
    key = hn::IfThenZeroElse(hn::RebindMask(d, hn::Eq(x, hn::Zero(numbers))), key);
    if constexpr (!kMax) key = hn::Not(key);
    return hn::IfThenElse(hn::RebindMask(d, hn::IsNaN(x)), most, key);
  } else {
    const auto x = hn::LoadU(d, from);
    if constexpr (kMax)
      return x;
    else
      return hn::Not(x);
  }
}

template <bool kMax, class T>
ExtremeState<T> scan_extremes(const T* x, std::int64_t n, std::int32_t first, ExtremeState<T> before,
                              std::int32_t* y) {
  using Key = ExtremeKey<T>;
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  ExtremeState<T> state = before;
  if (n >= lanes) {
    const LaneScan<decltype(d), Greater> scan(d);
    auto key = hn::Set(d, before.key), place = hn::Set(d, static_cast<Key>(before.position)),
         here = hn::Iota(d, static_cast<Key>(first));
    const auto none = hn::Set(d, Greater::none<Key>()), step = hn::Set(d, static_cast<Key>(lanes));
    for (; i + lanes <= n; i += lanes, here = hn::Add(here, step)) {
      // Of the elements that are the greatest when they come, the last one is the extreme.
      const auto own = load_keys<kMax>(d, x + i);
      const auto within = scan.within(own), greatest = hn::Max(key, within);
      const auto places = hn::Max(place, scan.within(hn::IfThenElse(hn::Eq(own, greatest), here, none)));
      if (y) {
        if constexpr (sizeof(Key) == sizeof(std::int32_t)) {
          hn::StoreU(places, d, y + i);
        } else {
          HWY_ALIGN Key each[HWY_MAX_BYTES / sizeof(Key)];
          hn::Store(places, d, each);
          for (std::int64_t lane = 0; lane < lanes; ++lane)
            y[i + lane] = static_cast<std::int32_t>(each[lane]);
        }
      }
      key = hn::Max(key, scan.last(within));
      place = scan.last(places);
    }
    state = {hn::GetLane(key), static_cast<std::int32_t>(hn::GetLane(place))};
  }
  for (; i < n; ++i) {
    const Key own = host::extreme_key<kMax>(x[i]);
    if (own >= state.key) state = {own, first + static_cast<std::int32_t>(i)};
    if (y) y[i] = state.position;
  }
  return state;
}

// Dynamic dispatch needs a plain function for each type.
#define SINTER_SCANS(name, T)                                                                             \
  ScanNumber<T> sums_##name(const T* x, std::int64_t n, ScanNumber<T> before, T* y) {                     \
    return scan_numbers<Add>(x, n, before, y);                                                            \
  }                                                                                                       \
  ScanNumber<T> products_##name(const T* x, std::int64_t n, ScanNumber<T> before, T* y) {                 \
    return scan_numbers<Multiply>(x, n, before, y);                                                       \
  }                                                                                                       \
  ExtremeState<T> greatest_##name(const T* x, std::int64_t n, std::int32_t first, ExtremeState<T> before, \
                                  std::int32_t* y) {                                                      \
    return scan_extremes<true>(x, n, first, before, y);                                                   \
  }                                                                                                       \
  ExtremeState<T> least_##name(const T* x, std::int64_t n, std::int32_t first, ExtremeState<T> before,    \
                               std::int32_t* y) {                                                         \
    return scan_extremes<false>(x, n, first, before, y);                                                  \
  }
SINTER_SCANS(f32, float)
SINTER_SCANS(f64, double)
SINTER_SCANS(i32, std::int32_t)
SINTER_SCANS(i64, std::int64_t)
#undef SINTER_SCANS

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
#define SINTER_SCANS(name, T)                                                                       \
  HWY_EXPORT(sums_##name);                                                                          \
  HWY_EXPORT(products_##name);                                                                      \
  HWY_EXPORT(greatest_##name);                                                                      \
  HWY_EXPORT(least_##name);                                                                         \
  template <>                                                                                       \
  host::ScanNumber<T> host::scan_sums(const T* x, std::int64_t n, ScanNumber<T> before, T* y) {     \
    return HWY_DYNAMIC_DISPATCH(sums_##name)(x, n, before, y);                                      \
  }                                                                                                 \
  template <>                                                                                       \
  host::ScanNumber<T> host::scan_products(const T* x, std::int64_t n, ScanNumber<T> before, T* y) { \
    return HWY_DYNAMIC_DISPATCH(products_##name)(x, n, before, y);                                  \
  }                                                                                                 \
  template <>                                                                                       \
  host::ExtremeState<T> host::scan_greatest(const T* x, std::int64_t n, std::int32_t first,         \
                                            ExtremeState<T> before, std::int32_t* y) {              \
    return HWY_DYNAMIC_DISPATCH(greatest_##name)(x, n, first, before, y);                           \
  }                                                                                                 \
  template <>                                                                                       \
  host::ExtremeState<T> host::scan_least(const T* x, std::int64_t n, std::int32_t first,            \
                                         ExtremeState<T> before, std::int32_t* y) {                 \
    return HWY_DYNAMIC_DISPATCH(least_##name)(x, n, first, before, y);                              \
  }
SINTER_SCANS(f32, float)
SINTER_SCANS(f64, double)
SINTER_SCANS(i32, std::int32_t)
SINTER_SCANS(i64, std::int64_t)
#undef SINTER_SCANS
}  // namespace sinter::runtime
#endif
