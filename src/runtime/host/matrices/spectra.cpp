// Eigenvalues of symmetric matrices and singular values: reflections leave two or three diagonals, rotations
// one.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "src/runtime/host/matrices/decompose.h"
#include "src/runtime/host/matrices/iterations.h"
#include "src/runtime/host/matrices/orthogonal.h"
#include "src/runtime/host/matrices/share.h"

namespace sinter::runtime::host {
namespace {

/// What counts as 0 beside a largest element of 1. Scalars are f64 also where vectors are f32.
template <class T>
constexpr double kPrecision = static_cast<double>(std::numeric_limits<T>::epsilon()) /
                              (sizeof(T) == 4 ? 8 : 2);

/// The places of values in the order that results have.
template <class Less>
std::vector<std::int64_t> order_by(std::int64_t n, Less less) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::stable_sort(order.begin(), order.end(), less);
  return order;
}

/// Column j of `to` becomes signs[order[j]] times column order[j] of `from`, or row j, if `rows`.
template <class T>
void copy_columns(ThreadPool& pool, const RotatedColumns<T>& from, std::int64_t n,
                  const std::vector<std::int64_t>& order, const T* signs, bool rows, T* to) {
  constexpr std::int64_t kRows = RotatedColumns<T>::kRows;
  share(pool, n * n * 4, from.pieces(), [&](std::int64_t piece) {
    const std::int64_t first = piece * kRows, count = std::min(kRows, n - first);
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t place = order[static_cast<std::size_t>(j)];
      const T* const column = from.piece(piece, place);
      T* const out = rows ? to + j * n + first : to + first * n + j;
      const std::int64_t step = rows ? 1 : n;
      for (std::int64_t i = 0; i < count; ++i) out[i * step] = signs[place] * column[i];
    }
  });
}

/// Of a square matrix, all of it finite.
template <class T>
bool svd_of_square(ThreadPool& pool, std::int64_t n, const T* a, T* u, T* s, T* vh) {
  double largest = 0;
  for (std::int64_t i = 0; i < n * n; ++i) largest = std::max(largest, std::abs(static_cast<double>(a[i])));
  const double scale = scale_for(largest);
  Padded<T> right(n, n), left(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      right.row(i)[j] = static_cast<T>(static_cast<double>(a[i * n + j]) * scale);
  std::vector<double> diagonal(static_cast<std::size_t>(n)), beside(diagonal.size());
  std::vector<T> left_scales(diagonal.size()), right_scales(diagonal.size());
  bidiagonalise(n, right.data(), right.stride(), left.data(), diagonal.data(), beside.data(),
                left_scales.data(), right_scales.data());
  RotatedColumns<T> of_u(
      pool, n, n, product_of_reflections(pool, n, n, n, 0, left.data(), left.stride(), left_scales.data()));
  RotatedColumns<T> of_v(
      pool, n, n,
      product_of_reflections(pool, n, n, n - 1, 1, right.data(), right.stride(), right_scales.data()));
  if (!diagonalise_bidiagonal(n, diagonal.data(), beside.data(), kPrecision<T>, of_u, of_v)) return false;

  const auto value = [&](std::int64_t i) { return diagonal[static_cast<std::size_t>(i)]; };
  const std::vector<std::int64_t> order =
      order_by(n, [&](std::int64_t i, std::int64_t j) { return std::abs(value(i)) > std::abs(value(j)); });
  std::vector<T> signs(diagonal.size(), T{1});
  copy_columns(pool, of_u, n, order, signs.data(), false, u);
  for (std::int64_t i = 0; i < n; ++i) {
    if (value(i) < 0) signs[static_cast<std::size_t>(i)] = -1;
    s[i] = static_cast<T>(std::abs(value(order[static_cast<std::size_t>(i)])) / scale);
  }
  copy_columns(pool, of_v, n, order, signs.data(), true, vh);
  return true;
}

/// Of a matrix that is at least as high as wide.
template <class T>
bool svd_of_tall(ThreadPool& pool, std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vh) {
  if (m == n) return svd_of_square(pool, n, a, u, s, vh);
  std::vector<T> q(static_cast<std::size_t>(m * n)), r(static_cast<std::size_t>(n * n)), inner(r.size());
  qr(pool, m, n, a, q.data(), r.data());
  if (!svd_of_square(pool, n, r.data(), inner.data(), s, vh)) return false;
  multiply(pool, Combine::Assign, m, n, n, Part<T>{q.data(), n}, Part<T>{inner.data(), n}, u, n);
  return true;
}

/// to [n, m] becomes from [m, n], transposed.
template <class T>
void transpose_all(std::int64_t m, std::int64_t n, const T* from, T* to) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) to[j * m + i] = from[i * n + j];
}

}  // namespace

template <class T>
Refusal symmetric_eigen(ThreadPool& pool, std::int64_t n, const T* a, T* values, T* vectors) {
  constexpr const char* kNotFound = "has eigenvalues that were not found";
  double largest = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      const double x = std::abs(static_cast<double>(a[i * n + j]));
      if (!std::isfinite(x)) return kNotFound;
      largest = std::max(largest, x);
    }
  const double scale = scale_for(largest);
  Padded<T> whole(n, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j)
      whole.row(i)[j] = whole.row(j)[i] = static_cast<T>(static_cast<double>(a[i * n + j]) * scale);
  std::vector<double> diagonal(static_cast<std::size_t>(n)), beside(diagonal.size());
  std::vector<T> scales(diagonal.size());
  tridiagonalise(n, whole.data(), whole.stride(), diagonal.data(), beside.data(), scales.data());
  RotatedColumns<T> rotated(
      pool, n, n, product_of_reflections(pool, n, n, n - 1, 1, whole.data(), whole.stride(), scales.data()));
  if (!diagonalise_symmetric(n, diagonal.data(), beside.data(), kPrecision<T>, rotated)) return kNotFound;

  const auto value = [&](std::int64_t i) { return diagonal[static_cast<std::size_t>(i)]; };
  const std::vector<std::int64_t> order =
      order_by(n, [&](std::int64_t i, std::int64_t j) { return value(i) < value(j); });
  for (std::int64_t i = 0; i < n; ++i)
    values[i] = static_cast<T>(value(order[static_cast<std::size_t>(i)]) / scale);
  const std::vector<T> signs(diagonal.size(), T{1});
  copy_columns(pool, rotated, n, order, signs.data(), false, vectors);
  return nullptr;
}

template <class T>
Refusal svd(ThreadPool& pool, std::int64_t m, std::int64_t n, const T* a, T* u, T* s, T* vh) {
  if (!std::all_of(a, a + m * n, [](T x) { return std::isfinite(x); }))
    return "has elements that are NaN or infinite";
  bool found = true;
  if (m >= n) {
    found = svd_of_tall(pool, m, n, a, u, s, vh);
  } else {
    std::vector<T> across(static_cast<std::size_t>(m * n)), v(across.size()),
        uh(static_cast<std::size_t>(m * m));
    transpose_all(m, n, a, across.data());
    found = svd_of_tall(pool, n, m, across.data(), v.data(), s, uh.data());
    transpose_all(m, m, uh.data(), u);
    transpose_all(n, m, v.data(), vh);
  }
  return found ? nullptr : "has singular values that were not found";
}

template Refusal symmetric_eigen(ThreadPool&, std::int64_t, const float*, float*, float*);
template Refusal symmetric_eigen(ThreadPool&, std::int64_t, const double*, double*, double*);
template Refusal svd(ThreadPool&, std::int64_t, std::int64_t, const float*, float*, float*, float*);
template Refusal svd(ThreadPool&, std::int64_t, std::int64_t, const double*, double*, double*, double*);

}  // namespace sinter::runtime::host
