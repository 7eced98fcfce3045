// Scans of elements that lie side by side, a vector at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace sinter::runtime::host {

/// What elements are added up and multiplied in. f32 is rounded once for each result; integers wrap around,
/// which only those without a sign may do.
template <class T>
using ScanNumber = std::conditional_t<
    std::is_same_v<T, float>, double,
    typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type>;

/// An integer for each element, the greater the more it is an extreme: NaN is the greatest, both zeros are
/// alike.
template <class T>
using ExtremeKey = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

template <bool kMax, class T>
ExtremeKey<T> extreme_key(T x) {
  using Key = ExtremeKey<T>;
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return std::numeric_limits<Key>::max();
    const auto bits = std::bit_cast<Key>(x == 0 ? T{0} : x);
    const Key key = bits < 0 ? bits ^ std::numeric_limits<Key>::max() : bits;
    return kMax ? key : ~key;
  } else {
    return kMax ? x : ~x;
  }
}

/// The last of the greatest keys so far.
template <class T>
struct ExtremeState {
  ExtremeKey<T> key;
  std::int32_t position;
};

// y[i] = x[0], .. x[i] joined, behind what stands before them; gives what all come to. Without y that alone.

template <class T>
[[gnu::visibility("hidden")]] ScanNumber<T> scan_sums(const T* x, std::int64_t n, ScanNumber<T> before, T* y);
template <class T>
[[gnu::visibility("hidden")]] ScanNumber<T> scan_products(const T* x, std::int64_t n, ScanNumber<T> before,
                                                          T* y);
/// x[0] has the position `first`, which is greater than any before it.
template <class T>
[[gnu::visibility("hidden")]] ExtremeState<T> scan_greatest(const T* x, std::int64_t n, std::int32_t first,
                                                            ExtremeState<T> before, std::int32_t* y);
template <class T>
[[gnu::visibility("hidden")]] ExtremeState<T> scan_least(const T* x, std::int64_t n, std::int32_t first,
                                                         ExtremeState<T> before, std::int32_t* y);

}  // namespace sinter::runtime::host
