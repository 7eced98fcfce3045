// Cholesky's factorisation and Gaussian elimination. Both divide matrices in halves of columns, so that
// nearly all of the work is products (Toledo, "Locality of reference in LU decomposition with partial
// pivoting", 1997).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "src/runtime/host/matrices/decompose.h"
#include "src/runtime/host/matrices/kernels.h"
#include "src/runtime/host/matrices/padded.h"
#include "src/runtime/host/matrices/product.h"
#include "src/runtime/host/products/gemm.h"

namespace sinter::runtime::host {
namespace {

constexpr const char* kSingular = "is singular";
constexpr const char* kNotFinite = "has elements that are NaN or infinite";

/// Of at least n / 2 columns, and whole units.
std::int64_t first_half(std::int64_t n) { return whole_units_of(n / 2); }

/// to[j, i] = from[i, j] for i >= j at least, if `lower`, or for i <= j.
template <class T>
void transpose(ThreadPool& pool, std::int64_t n, bool lower, const T* from, std::int64_t from_row, T* to,
               std::int64_t to_row) {
  constexpr std::int64_t kRows = 64;
  const auto work = [&](std::size_t piece, std::size_t) {
    T tile[kRows * kUnit];
    const std::int64_t first = static_cast<std::int64_t>(piece) * kRows, last = std::min(n, first + kRows);
    for (std::int64_t i = first; i < last; i += kUnit) {
      const std::int64_t rows = std::min(kUnit, n - i), end = lower ? std::min(n, i + rows) : n;
      for (std::int64_t j = lower ? 0 : i; j < end; j += kRows) {
        const std::int64_t columns = std::min(kRows, end - j);
        pack_panel(tile, from + i * from_row + j, from_row, 1, rows, kUnit, columns);
        for (std::int64_t c = 0; c < columns; ++c)
          std::copy_n(tile + c * kUnit, rows, to + (j + c) * to_row + i);
      }
    }
  };
  pool.run(static_cast<std::size_t>((n + kRows - 1) / kRows), work);
}

template <class T>
void solve_columns(ThreadPool& pool, std::int64_t n, std::int64_t columns, const Triangle<T>& triangle, T* b,
                   std::int64_t b_row) {
  if (n <= kFewRows) return solve_few(n, columns, triangle, b, b_row);
  const std::int64_t half = first_half(n);
  const T* const corner = triangle.data + half * (triangle.row + triangle.column);
  const Triangle<T> last{corner, triangle.row, triangle.column, triangle.upper, triangle.unit};
  T* const b_last = b + half * b_row;
  if (triangle.upper) {
    solve_columns(pool, n - half, columns, last, b_last, b_row);
    const Part<T> beside{triangle.data + half * triangle.column, triangle.row, triangle.column};
    multiply(pool, Combine::Subtract, half, columns, n - half, beside, {b_last, b_row}, b, b_row);
    solve_columns(pool, half, columns, triangle, b, b_row);
  } else {
    solve_columns(pool, half, columns, triangle, b, b_row);
    const Part<T> below{triangle.data + half * triangle.row, triangle.row, triangle.column};
    multiply(pool, Combine::Subtract, n - half, columns, half, below, {b, b_row}, b_last, b_row);
    solve_columns(pool, n - half, columns, last, b_last, b_row);
  }
}

/// b [n, columns], whole units of columns, becomes the solution.
template <class T>
void solve_triangle(ThreadPool& pool, std::int64_t n, std::int64_t columns, const Triangle<T>& triangle, T* b,
                    std::int64_t b_row) {
  constexpr std::int64_t kColumns = 128;
  const std::int64_t pieces = (columns + kColumns - 1) / kColumns;
  const auto work = [&](std::size_t piece, std::size_t) {
    const std::int64_t from = static_cast<std::int64_t>(piece) * kColumns;
    solve_columns(pool, n, std::min(kColumns, columns - from), triangle, b + from, b_row);
  };
  if (n <= kFewRows)
    for (std::int64_t piece = 0; piece < pieces; ++piece) work(static_cast<std::size_t>(piece), 0);
  else
    pool.run(static_cast<std::size_t>(pieces), work);
}

/// The upper triangle of a becomes U with A = U^T U.
template <class T>
bool factor_definite(ThreadPool& pool, std::int64_t n, T* a, std::int64_t a_row) {
  if (n <= 2 * kFewRows) return cholesky_few(n, a, a_row);
  const std::int64_t half = first_half(n);
  T *const beside = a + half, *const last = a + half * a_row + half;
  if (!factor_definite(pool, half, a, a_row)) return false;
  solve_triangle(pool, half, whole_units_of(n - half), Triangle<T>{a, 1, a_row, false, false}, beside, a_row);
  multiply(pool, Combine::Subtract, n - half, n - half, half, Part<T>{beside, 1, a_row}, {beside, a_row},
           last, a_row, true);
  return factor_definite(pool, n - half, last, a_row);
}

template <class T>
void exchange_rows(std::int64_t first, std::int64_t last, const std::int64_t* pivots, std::int64_t columns,
                   T* a, std::int64_t a_row) {
  for (std::int64_t i = first; i < last; ++i)
    if (pivots[i] != i) std::swap_ranges(a + i * a_row, a + i * a_row + columns, a + pivots[i] * a_row);
}

/// L and U of a [m, n], m >= n, in its place.
template <class T>
void eliminate(ThreadPool& pool, std::int64_t m, std::int64_t n, T* a, std::int64_t a_row,
               std::int64_t* pivots) {
  if (n <= kUnit) {
    // Columns of few sets of a cache, otherwise.
    Padded<T> panel(m, kUnit);
    for (std::int64_t i = 0; i < m; ++i) std::copy_n(a + i * a_row, n, panel.row(i));
    factor_few(m, n, panel.data(), pivots);
    for (std::int64_t i = 0; i < m; ++i) std::copy_n(panel.row(i), n, a + i * a_row);
    return;
  }
  const std::int64_t half = first_half(n), others = n - half;
  T *const beside = a + half, *const below = a + half * a_row;
  eliminate(pool, m, half, a, a_row, pivots);
  exchange_rows(0, half, pivots, others, beside, a_row);
  solve_triangle(pool, half, whole_units_of(others), Triangle<T>{a, a_row, 1, false, true}, beside, a_row);
  multiply(pool, Combine::Subtract, m - half, others, half, {below, a_row}, {beside, a_row}, below + half,
           a_row);
  eliminate(pool, m - half, others, below + half, a_row, pivots + half);
  for (std::int64_t i = half; i < n; ++i) pivots[i] += half;
  exchange_rows(half, n, pivots, half, a, a_row);
}

template <class T>
struct Elimination {
  Padded<T> factors;
  std::vector<std::int64_t> pivots;

  Elimination(ThreadPool& pool, std::int64_t n, const T* a)
      : factors(n, n), pivots(static_cast<std::size_t>(n)) {
    for (std::int64_t i = 0; i < n; ++i) std::copy_n(a + i * n, n, factors.row(i));
    eliminate(pool, n, n, factors.data(), factors.stride(), pivots.data());
  }

  /// Why systems of the matrix have no solution. A NaN or an infinity anywhere in it is in a pivot in the
  /// end, or makes one 0.
  Refusal refusal(const T* a) const {
    const std::int64_t n = static_cast<std::int64_t>(pivots.size());
    for (std::int64_t i = 0; i < n; ++i) {
      const T pivot = factors.row(i)[i];
      if (std::isfinite(pivot) && pivot != 0) continue;
      if (!std::all_of(a, a + n * n, [](T x) { return std::isfinite(x); })) return kNotFinite;
      if (!(std::abs(pivot) > 0)) return kSingular;
    }
    return nullptr;
  }

  /// b becomes the solution.
  void solve(ThreadPool& pool, std::int64_t m, Padded<T>& b) const {
    const std::int64_t n = static_cast<std::int64_t>(pivots.size()), columns = whole_units_of(m);
    const std::int64_t row = factors.stride();
    exchange_rows(0, n, pivots.data(), m, b.data(), b.stride());
    solve_triangle(pool, n, columns, Triangle<T>{factors.data(), row, 1, false, true}, b.data(), b.stride());
    solve_triangle(pool, n, columns, Triangle<T>{factors.data(), row, 1, true, false}, b.data(), b.stride());
  }
};

template <class T>
Padded<T> padded(std::int64_t rows, std::int64_t columns, const T* from) {
  Padded<T> to(rows, columns);
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from + i * columns, columns, to.row(i));
  return to;
}
template <class T>
void copy_out(std::int64_t rows, std::int64_t columns, const Padded<T>& from, T* to) {
  for (std::int64_t i = 0; i < rows; ++i) std::copy_n(from.row(i), columns, to + i * columns);
}

}  // namespace

template <class T>
Refusal cholesky(ThreadPool& pool, std::int64_t n, const T* a, T* l) {
  Padded<T> upper(n, n);
  transpose(pool, n, true, a, n, upper.data(), upper.stride());
  if (!factor_definite(pool, n, upper.data(), upper.stride())) return "is not positive definite";
  transpose(pool, n, false, upper.data(), upper.stride(), l, n);
  for (std::int64_t i = 0; i < n; ++i) std::fill(l + i * n + i + 1, l + (i + 1) * n, T{0});
  return nullptr;
}

template <class T>
Refusal solve(ThreadPool& pool, std::int64_t n, std::int64_t m, const T* a, const T* b, T* x) {
  const Elimination<T> factors(pool, n, a);
  if (const Refusal refusal = factors.refusal(a)) return refusal;
  Padded<T> solution = padded(n, m, b);
  factors.solve(pool, m, solution);
  copy_out(n, m, solution, x);
  return nullptr;
}

template <class T>
Refusal solve_triangular(ThreadPool& pool, bool upper, std::int64_t n, std::int64_t m, const T* a, const T* b,
                         T* x) {
  for (std::int64_t i = 0; i < n; ++i)
    if (a[i * n + i] == 0) return kSingular;
  Padded<T> solution = padded(n, m, b);
  solve_triangle(pool, n, whole_units_of(m), Triangle<T>{a, n, 1, upper, false}, solution.data(),
                 solution.stride());
  copy_out(n, m, solution, x);
  return nullptr;
}

template <class T>
Refusal inverse(ThreadPool& pool, std::int64_t n, const T* a, T* x) {
  const Elimination<T> factors(pool, n, a);
  if (const Refusal refusal = factors.refusal(a)) return refusal;
  Padded<T> solution(n, n);
  for (std::int64_t i = 0; i < n; ++i) solution.row(i)[i] = 1;
  factors.solve(pool, n, solution);
  copy_out(n, n, solution, x);
  return nullptr;
}

template <class T>
void determinant(ThreadPool& pool, std::int64_t n, const T* a, T* sign, T* logarithm, T* value) {
  const Elimination<T> factors(pool, n, a);
  double sign_of_all = 1, sum = 0, product = 1;
  for (std::int64_t i = 0; i < n; ++i) {
    const double pivot = static_cast<double>(factors.factors.row(i)[i]);
    if (factors.pivots[static_cast<std::size_t>(i)] != i) sign_of_all = -sign_of_all;
    sign_of_all *= pivot < 0 ? -1.0 : pivot > 0 ? 1.0 : pivot;  // NaN stays
    sum += std::log(std::abs(pivot));
    product *= std::abs(pivot);
  }
  // A pivot of 0 eliminates nothing, so that what is no number beside it is still to be found.
  if (product == 0 && !std::all_of(a, a + n * n, [](T x) { return std::isfinite(x); }))
    sign_of_all = sum = std::numeric_limits<double>::quiet_NaN();
  *sign = static_cast<T>(sign_of_all);
  *logarithm = static_cast<T>(sum);
  *value = static_cast<T>(sign_of_all * product);
}

template <class T>
void lu(ThreadPool& pool, std::int64_t n, const T* a, T* p, T* l, T* u) {
  const Elimination<T> factors(pool, n, a);
  std::vector<std::int64_t> order(factors.pivots.size());
  for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
  exchange_rows(0, n, factors.pivots.data(), 1, order.data(), 1);
  std::fill_n(p, n * n, T{0});
  for (std::int64_t i = 0; i < n; ++i) {
    const T* const row = factors.factors.row(i);
    T *const lower = l + i * n, *const upper = u + i * n;
    p[order[static_cast<std::size_t>(i)] * n + i] = 1;  // row i of P^T A is row order[i] of A
    std::copy_n(row, i, lower);
    lower[i] = 1;
    std::fill(lower + i + 1, lower + n, T{0});
    std::fill_n(upper, i, T{0});
    std::copy(row + i, row + n, upper + i);
  }
}

#define SINTER_DECOMPOSE(T)                                                                                 \
  template Refusal cholesky(ThreadPool&, std::int64_t, const T*, T*);                                       \
  template Refusal solve(ThreadPool&, std::int64_t, std::int64_t, const T*, const T*, T*);                  \
  template Refusal solve_triangular(ThreadPool&, bool, std::int64_t, std::int64_t, const T*, const T*, T*); \
  template Refusal inverse(ThreadPool&, std::int64_t, const T*, T*);                                        \
  template void determinant(ThreadPool&, std::int64_t, const T*, T*, T*, T*);                               \
  template void lu(ThreadPool&, std::int64_t, const T*, T*, T*, T*);
SINTER_DECOMPOSE(float)
SINTER_DECOMPOSE(double)
#undef SINTER_DECOMPOSE

}  // namespace sinter::runtime::host
