// Householder's reflections: of columns, and of rows and columns down to three or two diagonals. For each
// target.
#include "src/runtime/host/targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "src/runtime/host/matrices/reflections.cpp"
#include <algorithm>
#include <cmath>

#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "src/runtime/host/matrices/kernels.h"

HWY_BEFORE_NAMESPACE();
namespace sinter::runtime::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
using host::kReflections;
using host::Padded;
using host::whole_units_of;

template <class T>
HWY_INLINE T sum_of_squares(std::int64_t n, const T* x) {
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    sums = hn::MulAdd(v, v, sums);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < n; ++i) sum += x[i] * x[i];
  return sum;
}

/// `reflect` where squares may overflow or underflow: by f64, scaled by a power of two. Of denormal elements
/// v would have few digits otherwise, and the reflection would not be orthogonal.
template <class T>
HWY_NOINLINE T reflect_scaled(std::int64_t n, T* x, T* scale) {
  double rest = 0, sum = 0;
  for (std::int64_t i = 1; i < n; ++i) rest = std::max(rest, std::abs(static_cast<double>(x[i])));
  double first = static_cast<double>(x[0]);
  x[0] = 1;
  if (rest == 0) {
    *scale = 0;
    return static_cast<T>(first);
  }
  for (std::int64_t i = 1; i < n; ++i) {
    const double part = static_cast<double>(x[i]) / rest;
    sum += part * part;
  }
  const double largest = std::max(rest, std::abs(first));
  const double by =
      std::isfinite(largest) ? std::ldexp(1.0, std::clamp(-std::ilogb(largest), -1000, 1000)) : 1;
  first *= by;
  const double left = -std::copysign(std::hypot(first, rest * by * std::sqrt(sum)), first);
  *scale = static_cast<T>((left - first) / left);
  for (std::int64_t i = 1; i < n; ++i) x[i] = static_cast<T>(static_cast<double>(x[i]) * by / (first - left));
  return static_cast<T>(left / by);
}

/// x [n] becomes v of the reflection that leaves nothing of it but its first element, which is returned.
/// `drops`: x is of a matrix with a largest element of about 1, beside which a rest that is very small is 0.
/// Of matrices of low rank nothing but rounding is left, of which denormal numbers would remain in the end,
/// which processors are slow with.
template <class T>
HWY_INLINE T reflect(std::int64_t n, T* x, T* scale, bool drops) {
  constexpr double kSmall = sizeof(T) == 4 ? 1e-30 : 1e-290, kLarge = sizeof(T) == 4 ? 1e30 : 1e290;
  const double first = static_cast<double>(x[0]), squares = static_cast<double>(sum_of_squares(n - 1, x + 1));
  if (drops && squares < kSmall) std::fill(x + 1, x + n, T{0});
  if (squares < kSmall || squares > kLarge) return reflect_scaled(n, x, scale);
  const double left = -std::copysign(std::sqrt(first * first + squares), first);
  *scale = static_cast<T>((left - first) / left);
  const T by = static_cast<T>(first - left);
  const hn::ScalableTag<T> d;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 1;
  for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Div(hn::LoadU(d, x + i), hn::Set(d, by)), d, x + i);
  for (; i < n; ++i) x[i] /= by;
  x[0] = 1;
  return static_cast<T>(left);
}

template <class T>
HWY_INLINE void reflect_all(std::int64_t m, std::int64_t n, T* a, T* scales) {
  const hn::CappedTag<T, kReflections> d;
  using V = hn::Vec<decltype(d)>;
  constexpr int kVectors = kReflections / hn::MaxLanes(d);
  const std::size_t lanes = hn::Lanes(d);
  Padded<T> column(1, m);
  T* const v = column.data();
  for (std::int64_t j = 0; j < n && j < m; ++j) {
    const std::int64_t rows = m - j;
    T* const from = a + j * kReflections;
    for (std::int64_t i = 0; i < rows; ++i) v[i] = from[i * kReflections + j];
    const T left = reflect(rows, v, scales + j, false);
    if (scales[j] != 0 && j + 1 < n) {
      V sums[kVectors];
      for (int c = 0; c < kVectors; ++c) sums[c] = hn::Zero(d);
      for (std::int64_t i = 0; i < rows; ++i) {
        const V factor = hn::Set(d, v[i]);
        for (int c = 0; c < kVectors; ++c)
          sums[c] = hn::MulAdd(factor, hn::Load(d, from + i * kReflections + c * lanes), sums[c]);
      }
      HWY_ALIGN T sum[kReflections];
      for (int c = 0; c < kVectors; ++c)
        hn::Store(hn::Mul(sums[c], hn::Set(d, scales[j])), d, sum + c * lanes);
      std::fill_n(sum, j + 1, T{0});
      for (int c = 0; c < kVectors; ++c) sums[c] = hn::Load(d, sum + c * lanes);
      for (std::int64_t i = 0; i < rows; ++i) {
        T* const row = from + i * kReflections;
        const V factor = hn::Set(d, v[i]);
        for (int c = 0; c < kVectors; ++c)
          hn::Store(hn::NegMulAdd(factor, sums[c], hn::Load(d, row + c * lanes)), d, row + c * lanes);
      }
    }
    from[j] = left;
    for (std::int64_t i = 1; i < rows; ++i) from[i * kReflections + j] = v[i];
  }
}

/// Two products of a column and a row that a matrix is to lose: those of v and w, and of z and u.
template <class T>
struct Pending {
  const T *v, *w, *z, *u;
};

/// Takes what is pending from kRows rows of a, columns [from, to), and adds x[i] times each of them to `sum`.
template <int kRows, class T>
HWY_INLINE void update_rows(T* a, std::int64_t a_row, std::int64_t i, std::int64_t from, std::int64_t to,
                            const Pending<T>& p, const T* x, T* sum) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  V v[kRows], z[kRows], f[kRows];
  for (int r = 0; r < kRows; ++r) {
    v[r] = hn::Set(d, p.v[i + r]);
    z[r] = hn::Set(d, p.z[i + r]);
    f[r] = hn::Set(d, x[i + r]);
  }
  T* const rows = a + i * a_row;
  for (std::int64_t c = from; c < to; c += lanes) {
    const V w = hn::Load(d, p.w + c), u = hn::Load(d, p.u + c);
    V s = hn::Load(d, sum + c);
    for (int r = 0; r < kRows; ++r) {
      V y = hn::Load(d, rows + r * a_row + c);
      y = hn::NegMulAdd(z[r], u, hn::NegMulAdd(v[r], w, y));
      hn::Store(y, d, rows + r * a_row + c);
      s = hn::MulAdd(f[r], y, s);
    }
    hn::Store(s, d, sum + c);
  }
}

/// The same for rows [first, n), with sums from 0.
template <class T>
HWY_INLINE void update_all(T* a, std::int64_t a_row, std::int64_t first, std::int64_t n, std::int64_t from,
                           std::int64_t to, const Pending<T>& p, const T* x, T* sum) {
  std::fill(sum, sum + to, T{0});
  std::int64_t i = first;
  for (; i + 4 <= n; i += 4) update_rows<4>(a, a_row, i, from, to, p, x, sum);
  for (; i < n; ++i) update_rows<1>(a, a_row, i, from, to, p, x, sum);
}

/// out[r] = row i + r of a, columns [from, to), times x.
template <int kRows, class T>
HWY_INLINE void multiply_rows_by(const T* a, std::int64_t a_row, std::int64_t i, std::int64_t from,
                                 std::int64_t to, const T* x, T* out) {
  const hn::ScalableTag<T> d;
  using V = hn::Vec<decltype(d)>;
  V sums[kRows];
  for (int r = 0; r < kRows; ++r) sums[r] = hn::Zero(d);
  for (std::int64_t c = from; c < to; c += static_cast<std::int64_t>(hn::Lanes(d)))
    for (int r = 0; r < kRows; ++r)
      sums[r] = hn::MulAdd(hn::Load(d, a + (i + r) * a_row + c), hn::Load(d, x + c), sums[r]);
  for (int r = 0; r < kRows; ++r) out[i + r] = hn::GetLane(hn::SumOfLanes(d, sums[r]));
}

template <class T>
HWY_INLINE void to_three_diagonals(std::int64_t n, T* a, std::int64_t a_row, double* diagonal, double* beside,
                                   T* scales) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const std::int64_t end = whole_units_of(n);
  Padded<T> vectors(4, n);
  T *v = vectors.row(0), *w = vectors.row(1), *next = vectors.row(2), *sum = vectors.row(3);
  for (std::int64_t k = 0; k < n; ++k) {
    T* const row = a + k * a_row;
    for (std::int64_t c = k; c < n; ++c) row[c] -= v[k] * w[c] + w[k] * v[c];
    diagonal[k] = static_cast<double>(row[k]);
    std::fill_n(next, end, T{0});
    if (k + 1 < n) {
      std::copy(row + k + 1, row + n, next + k + 1);
      beside[k] = static_cast<double>(reflect(n - k - 1, next + k + 1, scales + k, true));
      const std::int64_t from = (k + 1) / lanes * lanes;
      update_all(a, a_row, k + 1, n, from, end, Pending<T>{v, w, w, v}, next, sum);
      // H A H with A' = A - v w^T - w v^T of p = scale A v and w = p - scale / 2 (p v) v.
      T dot = 0;
      for (std::int64_t c = k + 1; c < n; ++c) {
        sum[c] *= scales[k];
        dot += sum[c] * next[c];
      }
      dot *= scales[k] / 2;
      std::fill_n(sum, k + 1, T{0});
      for (std::int64_t c = k + 1; c < n; ++c) sum[c] -= dot * next[c];
    }
    std::copy_n(next, end, row);
    std::swap(v, next);
    std::swap(w, sum);
  }
}

template <class T>
HWY_INLINE void to_two_diagonals(std::int64_t n, T* a, std::int64_t a_row, T* left, double* diagonal,
                                 double* beside, T* left_scales, T* right_scales) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  const std::int64_t end = whole_units_of(n);
  Padded<T> vectors(5, n);
  T *w = vectors.row(0), *z = vectors.row(1), *sum = vectors.row(2), *next = vectors.row(3);
  const T *v = vectors.row(4), *u = vectors.row(4);  // zeros
  for (std::int64_t k = 0; k < n; ++k) {
    T *const row = a + k * a_row, *const column = left + k * a_row;
    for (std::int64_t i = k; i < n; ++i) column[i] = a[i * a_row + k] - v[i] * w[k] - z[i] * u[k];
    diagonal[k] = static_cast<double>(reflect(n - k, column + k, left_scales + k, true));
    if (k + 1 == n) {
      std::fill_n(row, end, T{0});
      break;
    }
    const std::int64_t from = (k + 1) / lanes * lanes;
    update_all(a, a_row, k, n, from, end, Pending<T>{v, w, z, u}, column, sum);
    // H A = A - v sum^T, of which row k is reflected.
    for (std::int64_t c = k + 1; c < n; ++c) sum[c] *= left_scales[k];
    std::fill_n(sum, k + 1, T{0});
    std::fill_n(row, k + 1, T{0});
    for (std::int64_t c = k + 1; c < n; ++c) row[c] -= sum[c];
    beside[k] = static_cast<double>(reflect(n - k - 1, row + k + 1, right_scales + k, true));
    std::int64_t i = k + 1;
    for (; i + 4 <= n; i += 4) multiply_rows_by<4>(a, a_row, i, from, end, row, next);
    for (; i < n; ++i) multiply_rows_by<1>(a, a_row, i, from, end, row, next);
    T dot = 0;
    for (std::int64_t c = k + 1; c < n; ++c) dot += sum[c] * row[c];
    for (i = k + 1; i < n; ++i) next[i] = right_scales[k] * (next[i] - column[i] * dot);
    std::swap(w, sum);
    std::swap(z, next);
    v = column;
    u = row;
  }
}

// Dynamic dispatch needs a plain function for each type.
void columns_f32(std::int64_t m, std::int64_t n, float* a, float* scales) { reflect_all(m, n, a, scales); }
void columns_f64(std::int64_t m, std::int64_t n, double* a, double* scales) { reflect_all(m, n, a, scales); }
void three_f32(std::int64_t n, float* a, std::int64_t a_row, double* diagonal, double* beside,
               float* scales) {
  to_three_diagonals(n, a, a_row, diagonal, beside, scales);
}
void three_f64(std::int64_t n, double* a, std::int64_t a_row, double* diagonal, double* beside,
               double* scales) {
  to_three_diagonals(n, a, a_row, diagonal, beside, scales);
}
void two_f32(std::int64_t n, float* a, std::int64_t a_row, float* left, double* diagonal, double* beside,
             float* left_scales, float* right_scales) {
  to_two_diagonals(n, a, a_row, left, diagonal, beside, left_scales, right_scales);
}
void two_f64(std::int64_t n, double* a, std::int64_t a_row, double* left, double* diagonal, double* beside,
             double* left_scales, double* right_scales) {
  to_two_diagonals(n, a, a_row, left, diagonal, beside, left_scales, right_scales);
}

}  // namespace sinter::runtime::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sinter::runtime {
HWY_EXPORT(columns_f32);
HWY_EXPORT(columns_f64);
HWY_EXPORT(three_f32);
HWY_EXPORT(three_f64);
HWY_EXPORT(two_f32);
HWY_EXPORT(two_f64);

namespace host {

template <>
void reflect_columns(std::int64_t m, std::int64_t n, float* a, float* scales) {
  HWY_DYNAMIC_DISPATCH(columns_f32)(m, n, a, scales);
}
template <>
void reflect_columns(std::int64_t m, std::int64_t n, double* a, double* scales) {
  HWY_DYNAMIC_DISPATCH(columns_f64)(m, n, a, scales);
}
template <>
void tridiagonalise(std::int64_t n, float* a, std::int64_t a_row, double* diagonal, double* beside,
                    float* scales) {
  HWY_DYNAMIC_DISPATCH(three_f32)(n, a, a_row, diagonal, beside, scales);
}
template <>
void tridiagonalise(std::int64_t n, double* a, std::int64_t a_row, double* diagonal, double* beside,
                    double* scales) {
  HWY_DYNAMIC_DISPATCH(three_f64)(n, a, a_row, diagonal, beside, scales);
}
template <>
void bidiagonalise(std::int64_t n, float* a, std::int64_t a_row, float* left, double* diagonal,
                   double* beside, float* left_scales, float* right_scales) {
  HWY_DYNAMIC_DISPATCH(two_f32)(n, a, a_row, left, diagonal, beside, left_scales, right_scales);
}
template <>
void bidiagonalise(std::int64_t n, double* a, std::int64_t a_row, double* left, double* diagonal,
                   double* beside, double* left_scales, double* right_scales) {
  HWY_DYNAMIC_DISPATCH(two_f64)(n, a, a_row, left, diagonal, beside, left_scales, right_scales);
}

}  // namespace host
}  // namespace sinter::runtime
#endif
