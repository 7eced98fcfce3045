// Triangles of few rows: systems, Cholesky's factorisation, elimination. For each target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/matrices/few_rows.cpp"
#include <cmath>
#include <utility>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/matrices/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::kFewRows;
using host::kUnit;
using host::Triangle;

template <int kVectors, class T>
HWY_INLINE void solve_columns(std::int64_t n, const Triangle<T>& triangle, T* b, std::int64_t b_row) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::size_t lanes = hn::Lanes(d);
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = triangle.upper ? n - 1 - step : step;
    T* const row = b + i * b_row;
    const T* const factors = triangle.data + i * triangle.row;
    V x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = hn::Load(d, row + v * lanes);
    for (std::int64_t j = triangle.upper ? n - 1 : 0; j != i; j += triangle.upper ? -1 : 1) {
      const V factor = hn::Set(d, factors[j * triangle.column]);
      for (int v = 0; v < kVectors; ++v)
        x[v] = hn::NegMulAdd(factor, hn::Load(d, b + j * b_row + v * lanes), x[v]);
    }
    if (!triangle.unit) {
      const V by = hn::Set(d, factors[i * triangle.column]);
      for (int v = 0; v < kVectors; ++v) x[v] = hn::Div(x[v], by);
    }
    for (int v = 0; v < kVectors; ++v) hn::Store(x[v], d, row + v * lanes);
  }
}

template <class T>
HWY_INLINE void solve_rows(std::int64_t n, std::int64_t columns, const Triangle<T>& triangle, T* b,
                           std::int64_t b_row) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  std::int64_t j = 0;
  for (; j + 4 * lanes <= columns; j += 4 * lanes) solve_columns<4>(n, triangle, b + j, b_row);
  for (; j < columns; j += lanes) solve_columns<1>(n, triangle, b + j, b_row);
}

template <class T>
HWY_INLINE bool cholesky_rows(std::int64_t n, T* a, std::int64_t a_row) {
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < n; ++j) {
    T* const row = a + j * a_row;
    if (row[j] <= 0) return false;  // NaN goes on
    const T root = std::sqrt(row[j]);
    const auto by = hn::Set(d, root);
    for (std::int64_t c = j / lanes * lanes; c < n; c += lanes)
      hn::Store(hn::Div(hn::Load(d, row + c), by), d, row + c);
    row[j] = root;
    for (std::int64_t i = j + 1; i < n; ++i) {
      T* const other = a + i * a_row;
      const auto factor = hn::Set(d, row[i]);
      for (std::int64_t c = i / lanes * lanes; c < n; c += lanes)
        hn::Store(hn::NegMulAdd(factor, hn::Load(d, row + c), hn::Load(d, other + c)), d, other + c);
    }
  }
  return true;
}

template <class T>
HWY_INLINE void factor_rows(std::int64_t m, std::int64_t n, T* a, std::int64_t* pivots) {
  const hn::CappedTag<T, kUnit> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kVectors = kUnit / hn::MaxLanes(d);
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t j = 0; j < n && j < m; ++j) {
    std::int64_t pivot = j;
    T largest = std::abs(a[j * kUnit + j]);
    for (std::int64_t i = j + 1; i < m; ++i) {
      const T size = std::abs(a[i * kUnit + j]);
      if (size > largest || size != size) {  // a NaN makes NaN of what follows
        largest = size;
        pivot = i;
      }
    }
    pivots[j] = pivot;
    T* const row = a + j * kUnit;
    if (pivot != j)
      for (std::int64_t c = 0; c < kUnit; ++c) std::swap(row[c], a[pivot * kUnit + c]);
    const T divisor = row[j];
    if (divisor == 0) continue;
    // The row behind its pivot; what is before it belongs to L.
    HWY_ALIGN T behind[kUnit] = {};
    for (std::int64_t c = j + 1; c < n; ++c) behind[c] = row[c];
    V x[kVectors];
    for (int v = 0; v < kVectors; ++v) x[v] = hn::Load(d, behind + v * lanes);
    HWY_ALIGN T at[kUnit] = {};
    at[j] = 1;
    V place[kVectors];
    for (int v = 0; v < kVectors; ++v) place[v] = hn::Load(d, at + v * lanes);
    for (std::int64_t i = j + 1; i < m; ++i) {
      T* const other = a + i * kUnit;
      const V factor = hn::Set(d, other[j] / divisor);
      for (int v = 0; v < kVectors; ++v) {
        const V y = hn::NegMulAdd(factor, x[v], hn::Load(d, other + v * lanes));
        hn::Store(hn::IfThenElse(hn::Eq(place[v], hn::Set(d, T{1})), factor, y), d, other + v * lanes);
      }
    }
  }
}

// Dynamic dispatch needs a plain function for each type.
void solve_f32(std::int64_t n, std::int64_t columns, const Triangle<float>& t, float* b, std::int64_t b_row) {
  solve_rows(n, columns, t, b, b_row);
}
void solve_f64(std::int64_t n, std::int64_t columns, const Triangle<double>& t, double* b,
               std::int64_t b_row) {
  solve_rows(n, columns, t, b, b_row);
}
bool cholesky_f32(std::int64_t n, float* a, std::int64_t a_row) { return cholesky_rows(n, a, a_row); }
bool cholesky_f64(std::int64_t n, double* a, std::int64_t a_row) { return cholesky_rows(n, a, a_row); }
void factor_f32(std::int64_t m, std::int64_t n, float* a, std::int64_t* pivots) {
  factor_rows(m, n, a, pivots);
}
void factor_f64(std::int64_t m, std::int64_t n, double* a, std::int64_t* pivots) {
  factor_rows(m, n, a, pivots);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(solve_f32);
HWY_EXPORT(solve_f64);
HWY_EXPORT(cholesky_f32);
HWY_EXPORT(cholesky_f64);
HWY_EXPORT(factor_f32);
HWY_EXPORT(factor_f64);

namespace host {

template <>
void solve_few(std::int64_t n, std::int64_t columns, const Triangle<float>& triangle, float* b,
               std::int64_t b_row) {
  HWY_DYNAMIC_DISPATCH(solve_f32)(n, columns, triangle, b, b_row);
}
template <>
void solve_few(std::int64_t n, std::int64_t columns, const Triangle<double>& triangle, double* b,
               std::int64_t b_row) {
  HWY_DYNAMIC_DISPATCH(solve_f64)(n, columns, triangle, b, b_row);
}
template <>
bool cholesky_few(std::int64_t n, float* a, std::int64_t a_row) {
  return HWY_DYNAMIC_DISPATCH(cholesky_f32)(n, a, a_row);
}
template <>
bool cholesky_few(std::int64_t n, double* a, std::int64_t a_row) {
  return HWY_DYNAMIC_DISPATCH(cholesky_f64)(n, a, a_row);
}
template <>
void factor_few(std::int64_t m, std::int64_t n, float* a, std::int64_t* pivots) {
  HWY_DYNAMIC_DISPATCH(factor_f32)(m, n, a, pivots);
}
template <>
void factor_few(std::int64_t m, std::int64_t n, double* a, std::int64_t* pivots) {
  HWY_DYNAMIC_DISPATCH(factor_f64)(m, n, a, pivots);
}

}  // namespace host
}  // namespace sinter::runtime
#endif
