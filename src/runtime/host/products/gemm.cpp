// Register-blocked matrix product over vectors, for each target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/products/gemm.cpp"
#include <algorithm>
#include <type_traits>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/maths/widen-inl.h"
#include "src/runtime/host/products/gemm.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most two vectors of columns per row: 24 accumulators, of AVX-512's 32 registers. Targets with 16
// registers process a panel of 12 rows in two halves.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
constexpr int kRowsAtOnce = 12;
#else
constexpr int kRowsAtOnce = 6;
#endif

template <class T>
std::int64_t panel_columns() {
  return static_cast<std::int64_t>(2 * hn::Lanes(hn::ScalableTag<T>()));
}

/// Multiplies kRows rows, with element (i, p) at a[i * a_row + p * a_step], by kVectors vectors of columns.
template <int kRows, int kVectors, class T>
HWY_INLINE void multiply_rows(std::int64_t a_row, std::int64_t a_step, std::int64_t columns, std::int64_t k,
                              const T* HWY_RESTRICT a, const T* HWY_RESTRICT b, std::int64_t b_row,
                              T* HWY_RESTRICT c, std::int64_t c_row, bool accumulate) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  V s[kRows][kVectors];
  // Prefetches the results' cache lines while the sums are computed.
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
    const char* to = reinterpret_cast<const char*>(c + i * c_row);
    __builtin_prefetch(to, 1);
    if (kVectors > 1) __builtin_prefetch(to + HWY_MAX_BYTES, 1);
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) s[i][v] = hn::Zero(d);
  }
  for (std::int64_t p = 0; p < k; ++p) {
    V y[kVectors];
#pragma GCC unroll 2
    for (int v = 0; v < kVectors; ++v) y[v] = hn::LoadU(d, b + v * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      const V x = hn::Set(d, a[i * a_row]);
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) s[i][v] = hn::MulAdd(x, y[v], s[i][v]);
    }
    a += a_step;
    b += b_row;
  }
  if (columns == static_cast<std::int64_t>(kVectors * lanes)) {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      T* to = c + i * c_row;
#pragma GCC unroll 2
      for (int v = 0; v < kVectors; ++v) {
        if (accumulate) s[i][v] = hn::Add(s[i][v], hn::LoadU(d, to + v * lanes));
        hn::StoreU(s[i][v], d, to + v * lanes);
      }
    }
    return;
  }
#pragma GCC unroll 2
  for (int v = 0; v < kVectors; ++v) {
    const std::int64_t left = columns - static_cast<std::int64_t>(v * lanes);
    if (left <= 0) break;
    const std::size_t count = std::min(static_cast<std::size_t>(left), lanes);
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
      T* to = c + i * c_row + v * lanes;
      if (accumulate) s[i][v] = hn::Add(s[i][v], load_some(d, to, count));
      store_some(s[i][v], d, to, count);
    }
  }
}

/// `side`: the stride between rows of A; 0 for the packed form, where the stride is 1.
template <int kRows, int kVectors, bool kPacked, class T>
HWY_NOINLINE void multiply_vectors(std::int64_t side, std::int64_t step, std::int64_t columns, std::int64_t k,
                                   const T* a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                                   bool accumulate) {
  const std::int64_t a_row = kPacked ? 1 : side;
  if constexpr (kRows > kRowsAtOnce) {
    constexpr int kHalf = kRows / 2;
    multiply_rows<kHalf, kVectors>(a_row, step, columns, k, a, b, b_row, c, c_row, accumulate);
    multiply_rows<kHalf, kVectors>(a_row, step, columns, k, a + kHalf * a_row, b, b_row, c + kHalf * c_row,
                                   c_row, accumulate);
  } else {
    multiply_rows<kRows, kVectors>(a_row, step, columns, k, a, b, b_row, c, c_row, accumulate);
  }
}

template <int kRows, class T>
void multiply_all(std::int64_t side, std::int64_t step, std::int64_t columns, std::int64_t k, const T* a,
                  const T* b, std::int64_t b_row, T* c, std::int64_t c_row, bool accumulate) {
  const bool one = columns <= static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const auto multiply =
      side == 0 ? (one ? multiply_vectors<kRows, 1, true, T> : multiply_vectors<kRows, 2, true, T>)
                : (one ? multiply_vectors<kRows, 1, false, T> : multiply_vectors<kRows, 2, false, T>);
  multiply(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
}

template <class T>
void multiply_any(std::int64_t rows, std::int64_t side, std::int64_t step, std::int64_t columns,
                  std::int64_t k, const T* a, const T* b, std::int64_t b_row, T* c, std::int64_t c_row,
                  bool accumulate) {
  switch (rows) {
    case 12: return multiply_all<12>(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
    case 8: return multiply_all<8>(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
    case 4: return multiply_all<4>(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
    case 2: return multiply_all<2>(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
    default: return multiply_all<1>(side, step, columns, k, a, b, b_row, c, c_row, accumulate);
  }
}

/// Transposes a 4 by 4 tile.
template <class T, class From>
HWY_INLINE void transpose_4x4(const From* from, std::int64_t from_row, T* to, std::int64_t to_row) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const hn::FixedTag<T, 4> d;
    const hn::RepartitionToWide<hn::RebindToUnsigned<decltype(d)>> dw;
    const auto r0 = load_wide(d, from), r1 = load_wide(d, from + from_row);
    const auto r2 = load_wide(d, from + 2 * from_row), r3 = load_wide(d, from + 3 * from_row);
    const auto low01 = hn::BitCast(dw, hn::InterleaveLower(d, r0, r1));
    const auto low23 = hn::BitCast(dw, hn::InterleaveLower(d, r2, r3));
    const auto high01 = hn::BitCast(dw, hn::InterleaveUpper(d, r0, r1));
    const auto high23 = hn::BitCast(dw, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, low01, low23)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, low01, low23)), d, to + to_row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dw, high01, high23)), d, to + 2 * to_row);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dw, high01, high23)), d, to + 3 * to_row);
    return;
  }
#endif
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) to[j * to_row + i] = from[i * from_row + j];
}

/// Copies `count` elements; panels have few per row, for which calling memcpy costs more than the copy.
template <class T, class From>
HWY_INLINE void copy_few(const From* HWY_RESTRICT from, T* HWY_RESTRICT to, std::size_t count) {
  const hn::ScalableTag<T> d;
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
  if constexpr (std::is_same_v<T, From>) {
    for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
      const std::size_t some = std::min(count - i, hn::Lanes(d));
      store_some(load_some(d, from + i, some), d, to + i, some);
    }
    return;
  }
#endif
  const hn::CappedTag<T, 4> few;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) hn::StoreU(load_wide(d, from + i), d, to + i);
  for (; i + hn::Lanes(few) <= count; i += hn::Lanes(few)) hn::StoreU(load_wide(few, from + i), few, to + i);
  for (; i < count; ++i) to[i] = from[i];
}

template <class T, class From>
void pack_panel(T* to, const From* from, std::int64_t lane_stride, std::int64_t k_stride, std::int64_t lanes,
                std::int64_t width, std::int64_t k) {
  std::int64_t done = 0;  // lanes
  if (lane_stride == 1) {
    for (std::int64_t p = 0; p < k; ++p)
      copy_few(from + p * k_stride, to + p * width, static_cast<std::size_t>(lanes));
    done = lanes;
  } else if (k_stride == 1) {
    for (; done + 4 <= lanes; done += 4) {
      const From* rows = from + done * lane_stride;
      std::int64_t p = 0;
      for (; p + 4 <= k; p += 4) transpose_4x4(rows + p, lane_stride, to + p * width + done, width);
      for (; p < k; ++p)
        for (int i = 0; i < 4; ++i) to[p * width + done + i] = rows[i * lane_stride + p];
    }
  }
  for (std::int64_t p = 0; p < k && (done < lanes || lanes < width); ++p) {
    for (std::int64_t j = done; j < lanes; ++j) to[p * width + j] = from[j * lane_stride + p * k_stride];
    std::fill(to + p * width + lanes, to + (p + 1) * width, T{0});
  }
}

// Dynamic dispatch needs a plain function for each type.
std::int64_t columns_f32() { return panel_columns<float>(); }
std::int64_t columns_f64() { return panel_columns<double>(); }
void pack_f32(float* to, const float* from, std::int64_t lane_stride, std::int64_t k_stride,
              std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack_panel(to, from, lane_stride, k_stride, lanes, width, k);
}
void pack_f64(double* to, const double* from, std::int64_t lane_stride, std::int64_t k_stride,
              std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack_panel(to, from, lane_stride, k_stride, lanes, width, k);
}
void pack_bf16(float* to, const bfloat16* from, std::int64_t lane_stride, std::int64_t k_stride,
               std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack_panel(to, from, lane_stride, k_stride, lanes, width, k);
}
void pack_f16(float* to, const float16* from, std::int64_t lane_stride, std::int64_t k_stride,
              std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack_panel(to, from, lane_stride, k_stride, lanes, width, k);
}
void pack_i8(float* to, const std::int8_t* from, std::int64_t lane_stride, std::int64_t k_stride,
             std::int64_t lanes, std::int64_t width, std::int64_t k) {
  pack_panel(to, from, lane_stride, k_stride, lanes, width, k);
}
void multiply_f32(std::int64_t rows, std::int64_t side, std::int64_t step, std::int64_t columns,
                  std::int64_t k, const float* a, const float* b, std::int64_t b_row, float* c,
                  std::int64_t c_row, bool accumulate) {
  multiply_any(rows, side, step, columns, k, a, b, b_row, c, c_row, accumulate);
}
void multiply_f64(std::int64_t rows, std::int64_t side, std::int64_t step, std::int64_t columns,
                  std::int64_t k, const double* a, const double* b, std::int64_t b_row, double* c,
                  std::int64_t c_row, bool accumulate) {
  multiply_any(rows, side, step, columns, k, a, b, b_row, c, c_row, accumulate);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(columns_f32);
HWY_EXPORT(columns_f64);
HWY_EXPORT(pack_f32);
HWY_EXPORT(pack_f64);
HWY_EXPORT(pack_bf16);
HWY_EXPORT(pack_f16);
HWY_EXPORT(pack_i8);
HWY_EXPORT(multiply_f32);
HWY_EXPORT(multiply_f64);

namespace host {

std::vector<std::int64_t> row_panels(std::int64_t m) {
  std::vector<std::int64_t> panels;
  while (m > 0) {
    std::int64_t rows = m >= 12 ? 12 : m >= 8 ? 8 : m >= 4 ? 4 : m >= 2 ? 2 : 1;
    if (m == 16) rows = 8;  // two of 8 are faster than 12 and 4
    panels.push_back(rows);
    m -= rows;
  }
  return panels;
}

template <>
std::int64_t panel_columns<float>() {
  return HWY_DYNAMIC_DISPATCH(columns_f32)();
}
template <>
std::int64_t panel_columns<double>() {
  return HWY_DYNAMIC_DISPATCH(columns_f64)();
}
template <>
void pack_panel(float* to, const float* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(pack_f32)(to, from, lane_stride, k_stride, lanes, width, k);
}
template <>
void pack_panel(double* to, const double* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(pack_f64)(to, from, lane_stride, k_stride, lanes, width, k);
}
template <>
void pack_panel(float* to, const bfloat16* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(pack_bf16)(to, from, lane_stride, k_stride, lanes, width, k);
}
template <>
void pack_panel(float* to, const float16* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(pack_f16)(to, from, lane_stride, k_stride, lanes, width, k);
}
template <>
void pack_panel(float* to, const std::int8_t* from, std::int64_t lane_stride, std::int64_t k_stride,
                std::int64_t lanes, std::int64_t width, std::int64_t k) {
  HWY_DYNAMIC_DISPATCH(pack_i8)(to, from, lane_stride, k_stride, lanes, width, k);
}
template <>
void multiply_panel<float>(std::int64_t rows, std::int64_t columns, std::int64_t k, const float* a,
                           const float* b, std::int64_t b_row, float* c, std::int64_t c_row,
                           bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_f32)(rows, 0, rows, columns, k, a, b, b_row, c, c_row, accumulate);
}
template <>
void multiply_strided<float>(std::int64_t rows, std::int64_t columns, std::int64_t k, const float* a,
                             std::int64_t a_row, std::int64_t a_column, const float* b, std::int64_t b_row,
                             float* c, std::int64_t c_row, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_f32)
  (rows, a_row == 1 ? 0 : a_row, a_column, columns, k, a, b, b_row, c, c_row, accumulate);
}
template <>
void multiply_panel<double>(std::int64_t rows, std::int64_t columns, std::int64_t k, const double* a,
                            const double* b, std::int64_t b_row, double* c, std::int64_t c_row,
                            bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_f64)(rows, 0, rows, columns, k, a, b, b_row, c, c_row, accumulate);
}
template <>
void multiply_strided<double>(std::int64_t rows, std::int64_t columns, std::int64_t k, const double* a,
                              std::int64_t a_row, std::int64_t a_column, const double* b, std::int64_t b_row,
                              double* c, std::int64_t c_row, bool accumulate) {
  HWY_DYNAMIC_DISPATCH(multiply_f64)
  (rows, a_row == 1 ? 0 : a_row, a_column, columns, k, a, b, b_row, c, c_row, accumulate);
}

}  // namespace host
}  // namespace sinter::runtime
#endif
